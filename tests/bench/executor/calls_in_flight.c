// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Times work beside queued calls, and prints lines "WORK<tab>COUNT<tab>NANOSECONDS" for
 * each count of calls in flight:
 *
 *	call	a call of the CPU on another queue, submitted and waited for
 *	wait	dray_view_wait() for memory that no call has
 *	copy	dray_copy() of 64 bytes by the CPU
 *
 * None of them should grow with the count.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <dray/array.h>
#include <dray/array/executor.h>

#define ROUNDS 20
#define TURNS 200 /* in a round */
#define BYTES 64

static const uint32_t counts[] = { 1, 1000, 100000 };

static struct {
	struct dray_node *node;
	struct dray_queue *copies;
	struct dray_call_queue *busy, *free;
	struct dray_ufunc *ufunc;
	_Atomic(struct dray_call *) held; /* the first of the busy queue */
	struct dray_view memory[4]; /* of busy calls, then of others */
} bench;

static void check(const char *step, int ret)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "%s: %s\n", step, dray_last_error());
	exit(EXIT_FAILURE);
}

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static int take_any(void *context, const struct dray_call *call)
{
	(void)context;
	(void)call;
	return 0;
}

/* Keeps the first call, and ends the others, which waited for it, at once. */
static int hold_first(void *context, struct dray_call *call)
{
	(void)context;
	if (atomic_load(&bench.held))
		dray_call_end(call, 0);
	else
		atomic_store(&bench.held, call);
	return 0;
}

static void make_queues(void)
{
	static const struct dray_executor_functions functions = {
		sizeof(functions), take_any, hold_first, NULL
	};
	const struct dray_call_queue_options options = {
		.size = sizeof(options),
		.depth = 1u << 20,
	};
	static const struct dray_call_cost nothing = { { 1, 1 }, { 0, 0 } };
	const dray_dtype dtypes[] = { DRAY_UINT8, DRAY_UINT8 };
	struct dray_executor *executor;

	check("executor",
	      dray_executor_create("holds", &functions, NULL, &executor));
	check("queue",
	      dray_call_queue_create(&executor, 1, &options, &bench.busy));
	/* It takes all calls, however long the first one is held. */
	check("cost",
	      dray_executor_set_cost(executor, bench.ufunc, dtypes, &nothing));
	dray_executor_unref(executor);
	check("queue", dray_call_queue_create(NULL, 0, NULL, &bench.free));
	check("queue", dray_queue_create(bench.node, NULL, &bench.copies));
}

static void make_memory(void)
{
	static char bytes[4][BYTES];
	const int64_t count = BYTES;
	int i;

	for (i = 0; i < 4; i++)
		check("view", dray_view_init(&bench.memory[i], bytes[i],
					     DRAY_UINT8, 1, &count, NULL));
}

static void submit(struct dray_call_queue *queue, const struct dray_view *from,
		   const struct dray_view *to, struct dray_event **event)
{
	check("submit", dray_call_queue_submit(queue, bench.ufunc, &from, &to,
					       NULL, NULL, event));
}

static void time_call(void)
{
	submit(bench.free, &bench.memory[2], &bench.memory[3], NULL);
}

static void time_wait(void)
{
	check("wait", dray_view_wait(&bench.memory[3], DRAY_ACCESS_WRITE, 0));
}

static void time_copy(void)
{
	check("copy", dray_copy(bench.copies, &bench.memory[3],
				&bench.memory[2], DRAY_COPY_CPU, NULL));
}

static const struct work {
	const char *name;
	void (*run)(void);
} works[] = {
	{ "call", time_call },
	{ "wait", time_wait },
	{ "copy", time_copy },
};

static void time_work(const struct work *work, uint32_t count)
{
	uint64_t begin;
	int round, turn;

	for (round = 0; round < ROUNDS; round++) {
		begin = now_ns();
		for (turn = 0; turn < TURNS; turn++)
			work->run();
		printf("%s\t%u\t%llu\n", work->name, count,
		       (unsigned long long)(now_ns() - begin) / TURNS);
	}
}

/* Measures beside @count calls, and ends them. */
static void measure(uint32_t count)
{
	struct dray_event *last = NULL;
	uint32_t i;

	for (i = 0; i < count; i++) {
		dray_event_unref(last);
		submit(bench.busy, &bench.memory[0], &bench.memory[1], &last);
	}
	for (i = 0; i < sizeof(works) / sizeof(works[0]); i++)
		time_work(&works[i], count);
	if (!last)
		return;
	while (!atomic_load(&bench.held))
		;
	dray_call_end(atomic_load(&bench.held), 0);
	check("end", dray_event_wait(last, -1));
	dray_event_unref(last);
	atomic_store(&bench.held, NULL);
}

int main(void)
{
	uint32_t i;

	check("node", dray_node_open("host", &bench.node));
	bench.ufunc = dray_ufunc_find("positive");
	make_memory();
	make_queues();
	/* The CPU is measured, so that it is not tried first. */
	time_call();
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		measure(counts[i]);
	dray_call_queue_destroy(bench.busy);
	dray_call_queue_destroy(bench.free);
	dray_queue_destroy(bench.copies);
	dray_node_unref(bench.node);
	return 0;
}
