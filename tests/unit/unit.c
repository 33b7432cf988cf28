// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Runs the facts that a unit test's file has registered. */
#include "unit.h"

struct unit_group unit_group;
static struct unit_fact *facts;

/* Constructors come in an order that the compiler chooses. */
void unit_add(struct unit_fact *fact)
{
	struct unit_fact **place = &facts;

	while (*place && (*place)->line < fact->line)
		place = &(*place)->next;
	fact->next = *place;
	*place = fact;
}

/* Copies the facts that hold here to @tests, or counts them if it is NULL. */
static size_t choose(struct CMUnitTest *tests)
{
	const struct unit_fact *fact;
	size_t count = 0;

	if (unit_group.where && !unit_group.where())
		return 0;
	for (fact = facts; fact; fact = fact->next) {
		if (fact->where && !fact->where())
			continue;
		if (tests)
			tests[count] = fact->test;
		count++;
	}
	return count;
}

int unit_run(const char *pattern)
{
	size_t count = choose(NULL);
	struct CMUnitTest *tests = calloc(count + 1, sizeof(*tests));
	int failed;

	if (!tests)
		return EXIT_FAILURE;
	if (!count)
		puts("1..0 # SKIP not about this kind of node");
	choose(tests);
	cmocka_set_test_filter(pattern);
	failed = count ? _cmocka_run_group_tests("facts", tests, count,
						 unit_group.setup,
						 unit_group.teardown)
		       : 0;
	free(tests);
	return failed;
}

/* A program with another command line has its own. */
__attribute__((weak)) int main(int argc, char **argv)
{
	return unit_run(argc > 1 ? argv[1] : NULL);
}
