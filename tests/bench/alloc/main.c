// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * usage: alloc-CONTENDER WORKLOAD [NUMBER]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contender.h"
#include "region.h"
#include "workload.h"

void *region;

static const struct {
	const char *name;
	void (*run)(size_t number);
	bool painted, opens;
} workloads[] = {
	{ .name = "pair", .run = workload_pair },
	{ .name = "mixed", .run = workload_mixed },
	{ .name = "worst", .run = workload_worst, .opens = true },
	{ .name = "fill", .run = workload_fill },
	{ .name = "reach", .run = workload_reach },
	{ .name = "lines", .run = workload_lines, .painted = true },
	{ .name = "pair-both", .run = workload_pair_both },
	{ .name = "mixed-both", .run = workload_mixed_both },
	{ .name = "pass", .run = workload_pass },
};

void check(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(error < 0 ? -error : error));
	exit(1);
}

void *check_block(void *block)
{
	if (!block) {
		fprintf(stderr, "no block\n");
		exit(1);
	}
	return block;
}

void sizes_init(struct sizes *sizes, double least, double most)
{
	for (size_t i = 0; i < SIZES; i++)
		sizes->bytes[i] =
			(uint32_t)(least * pow(most / least,
					       ((double)i + 0.5) / SIZES));
}

void contender_begin(bool painted)
{
	check(contender_open(REGION, painted, &region), "open");
	check(contender_thread(), "thread");
}

void region_prepare(void)
{
	if (region)
		check(region_touch(region, REGION), "touching the region");
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++) {
		if (argc < 2 || strcmp(argv[1], workloads[i].name))
			continue;
		if (!workloads[i].opens)
			contender_begin(workloads[i].painted);
		workloads[i].run(argc > 2 ? strtoul(argv[2], NULL, 10) : 0);
		return 0;
	}
	fprintf(stderr, "usage: %s WORKLOAD [NUMBER]\n", argv[0]);
	return 2;
}
