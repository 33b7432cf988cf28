// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Facts about dray/ucx.h; prints TAP.
 *
 *	rdma shm|tcp|rxe [messages|tickets|deaths|module|machine]...
 */
#include <stdio.h>

#include "facts.h"

static const struct {
	const char *name;
	const struct fact *facts;
} tables[] = {
	{ "messages", message_facts }, { "tickets", ticket_facts },
	{ "deaths", death_facts },     { "module", module_facts },
	{ "machine", machine_facts },
};

int main(int argc, char **argv)
{
	enum {
		TABLES = sizeof(tables) / sizeof(tables[0])
	};
	const struct fact *chosen[TABLES];
	int i, k, count = 0;

	if (argc < 2)
		return 2;
	pair_errors = strcmp(argv[1], "shm");
	pair_keys = !strcmp(argv[1], "rxe");
	for (i = 0; i < TABLES; i++)
		for (k = argc > 2 ? 2 : 1; k < argc; k++)
			if (argc == 2 || !strcmp(argv[k], tables[i].name))
				chosen[count++] = tables[i].facts;
	return facts_run(chosen, count);
}
