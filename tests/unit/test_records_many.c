// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ipc: what one record more costs among thousands, in steps of the processor,
 * which a process counts that traces another one; and the chains in which they
 * are found.
 *
 * Not where an atomic operation is a loop around a reservation, as on arm64:
 * each step loses the reservation, so that the loop has no end.
 */
#include <inttypes.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <time.h>

#include "../selftests/step.h"
#include "base/address_chain.h"
#include "records.h"

#define MOST 16000
#define FEW 100

static unsigned char *bytes; /* MOST of them in a buffer of their own */

#if defined(__x86_64__) || defined(__i386__)
#define CAN_STEP 1
#else
#define CAN_STEP 0
#endif

/*
 * The time: the kernel's own function for it begins anew where a clock tick comes
 * meanwhile, and between a few steps of a process that is traced one always does.
 */
WRAPPED(int, clock_gettime, (clockid_t clock, struct timespec *now))
{
	*now = (struct timespec){ .tv_sec = 1 };
	return 0;
}

/* An emulated machine takes its time for each step. */
static int many(void)
{
	return on_kernel() ? 2000 : MOST;
}

static void make_and_revoke(void)
{
	struct dray_ipc_record record = export_of(bytes, 2, 0), again;

	again = export_of(bytes, 2, 0);
	assert_memory_equal(&record, &again, sizeof(record));
	assert_works(dray_ipc_revoke(&record));
}

static void make_and_free(void)
{
	unsigned char *block = take(pool, 100, 0);

	export_of(block, 100, 0);
	dray_pool_free(pool, block);
}

static void open_and_close(void)
{
	struct dray_ipc_record record = export_of(bytes + 1, 1, 0);
	struct dray_ipc_memory *memory;

	assert_works(dray_ipc_open(&record, NULL, &memory));
	dray_ipc_close(memory);
}

#define UNTRACED 3

/* In a child: stops before and behind, for who traces it. */
static int stop_around(int n, void (*work)(void))
{
	struct dray_ipc_memory *memory;
	struct dray_ipc_record record;
	struct dray_buffer *buffer;

	STEP_EQ(0, dray_buffer_alloc(node, MOST, NULL, &buffer));
	bytes = dray_buffer_data(buffer);
	take(pool, 100, 0); /* the pool keeps its region */
	for (int i = 0; i < n; i++) {
		STEP_EQ(0, dray_ipc_export(bytes + i, 1, 0, &record));
		STEP_EQ(0, dray_ipc_open(&record, NULL, &memory));
	}
	work(); /* once before: what only the first time costs */
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		return UNTRACED;
	raise(SIGSTOP);
	work();
	raise(SIGSTOP);
	return 0;
}

/* Steps of the work among @n records that are open. */
static uint64_t steps_among(int n, void (*work)(void))
{
	uint64_t steps = 0;
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (!child)
		_exit(stop_around(n, work));
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == UNTRACED)
		skip(); /* a process may not be traced here */
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	for (;; steps++) {
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL),
				 0);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSTOPPED(status));
		if (WSTOPSIG(status) == SIGSTOP)
			break;
		assert_int_equal(WSTOPSIG(status), SIGTRAP);
	}
	assert_int_equal(ptrace(PTRACE_CONT, child, NULL, NULL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	return steps;
}

static void costs_the_same(void (*work)(void))
{
	uint64_t among_few, among_many;

	if (!CAN_STEP)
		skip();
	among_few = steps_among(FEW, work);
	among_many = steps_among(many(), work);
	print_message("among %d: %" PRIu64 " steps, among %d: %" PRIu64 "\n",
		      FEW, among_few, many(), among_many);
	/* A look at each of them is more than a step. */
	assert_true(among_few > 0);
	assert_in_range(among_many, 1,
			among_few + (uint64_t)(many() - FEW) / 4);
}

BRIEF(RECORDS_FACT(to_make_and_revoke_one_costs_the_same_among_thousands),
      costs_the_same(make_and_revoke));
BRIEF(RECORDS_FACT(to_free_a_block_with_one_costs_the_same_among_thousands),
      costs_the_same(make_and_free));
BRIEF(RECORDS_FACT(to_open_and_close_one_costs_the_same_among_thousands),
      costs_the_same(open_and_close));

struct chained {
	int value;
	struct dray_address_link link;
};

/* The values at an address, one digit each, the first one in front. */
static int values_at(const struct dray_address_table *heads, uint64_t address)
{
	struct dray_address_link *link = dray_address_get(heads, address);
	int values = 0;

	for (; link; link = link->next)
		values = 10 * values +
			 DRAY_LINKED(link, struct chained, link)->value;
	return values;
}

FACT(what_shares_an_address_leaves_its_chain_from_anywhere)
{
	struct dray_address_table heads = { .slots = NULL };
	struct chained chained[] = {
		{ .value = 1 }, { .value = 2 }, { .value = 3 }, { .value = 4 }
	};

	assert_int_equal(values_at(&heads, 7), 0);
	for (int i = 0; i < 4; i++) {
		assert_true(dray_address_reserve(&heads));
		dray_address_join(&heads, 7, &chained[i].link);
	}
	assert_int_equal(heads.count, 1);
	assert_int_equal(values_at(&heads, 7), 4321);
	dray_address_leave(&heads, &chained[2].link);
	assert_int_equal(values_at(&heads, 7), 421);
	dray_address_leave(&heads, &chained[3].link);
	assert_int_equal(values_at(&heads, 7), 21);
	dray_address_leave(&heads, &chained[0].link);
	assert_int_equal(values_at(&heads, 7), 2);
	dray_address_leave(&heads, &chained[1].link);
	assert_int_equal(values_at(&heads, 7), 0);
	assert_int_equal(heads.count, 0);
	assert_null(
		DRAY_LINKED(dray_address_get(&heads, 7), struct chained, link));
	dray_address_end(&heads);
}

FACTS_SHARE(set_up, tear_down)
