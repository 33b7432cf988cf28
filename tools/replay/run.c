// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Plays a log on all resources in turn in each round: noise of the machine
 * affects each of them.  One thread plays the events of all threads in their
 * order.  The memory is not touched, so only the allocator is measured.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <dray/dray.h>

#include "replay.h"

#define STEP 65536 /* events between two looks at the clock */

struct contender {
	const char *name;
	bool on_pool;
	int (*make)(struct dray_pool *pool, struct dray_resource **out);
	double *nanoseconds; /* per event, for each round */
	uint64_t failed; /* allocations, in the last round */
	uint64_t peak; /* bytes of the pool, in the last round */
};

static int make_malloc(struct dray_pool *pool, struct dray_resource **out)
{
	(void)pool;
	return dray_resource_malloc(out);
}

const char *const run_resources[] = { "pool", "malloc", NULL };

static const struct contender contenders[] = {
	{ .on_pool = true, .make = dray_resource_pool },
	{ .on_pool = false, .make = make_malloc },
};

/* Plays the events from @i to @end; returns nanoseconds. */
static int64_t play_some(const struct replay_log *log, size_t i, size_t end,
			 struct dray_resource *resource, void **blocks,
			 uint64_t *failed)
{
	int64_t start = progress_clock();

	for (; i < end; i++) {
		const struct log_event *event = &log->events[i];
		void **block = &blocks[event->slot];

		if (event->frees) {
			dray_resource_deallocate(resource, *block,
						 (size_t)event->size, 0);
			*block = NULL;
		} else if (dray_resource_allocate(resource, (size_t)event->size,
						  0, 0, block)) {
			*block = NULL;
			++*failed;
		}
	}
	return progress_clock() - start;
}

static void give_back_all(const struct replay_log *log,
			  struct dray_resource *resource, void **blocks)
{
	size_t i;

	for (i = 0; i < log->count; i++) {
		const struct log_event *event = &log->events[i];

		if (event->frees || !blocks[event->slot])
			continue;
		dray_resource_deallocate(resource, blocks[event->slot],
					 (size_t)event->size, 0);
		blocks[event->slot] = NULL;
	}
}

static void run_play(const struct replay_log *log, struct contender *contender,
		     struct dray_resource *resource, void **blocks,
		     unsigned int round, unsigned int rounds)
{
	int64_t spent = 0;
	size_t i, end;

	contender->failed = 0;
	for (i = 0; i < log->count; i = end) {
		end = log->count - i > STEP ? i + STEP : log->count;
		spent += play_some(log, i, end, resource, blocks,
				   &contender->failed);
		progress(contender->name, (uint64_t)log->count * round + end,
			 (uint64_t)log->count * rounds);
	}
	contender->nanoseconds[round] =
		log->count ? (double)spent / (double)log->count : 0;
	give_back_all(log, resource, blocks);
}

static bool play_on(const struct replay_log *log, struct contender *contender,
		    struct dray_node *node, const struct settings *settings,
		    void **blocks, unsigned int round)
{
	const struct dray_pool_options options = {
		.name = "replay",
		.limit = settings->limit,
	};
	struct dray_resource *resource = NULL;
	struct dray_pool *pool = NULL;
	struct dray_pool_stats stats = { .size = sizeof(stats) };
	int ret = 0;

	if (contender->on_pool)
		ret = dray_pool_create(node, &options, &pool);
	if (!ret)
		ret = contender->make(pool, &resource);
	if (!ret) {
		run_play(log, contender, resource, blocks, round,
			 settings->rounds);
		if (pool) {
			dray_pool_stats(pool, &stats);
			contender->peak = stats.peak;
		}
	} else {
		complain("%s: %s", contender->name, dray_last_error());
	}
	dray_resource_unref(resource);
	dray_pool_close(pool);
	return !ret;
}

static int run_ascending(const void *a, const void *b)
{
	const double *first = a, *second = b;

	return (*first > *second) - (*first < *second);
}

static void run_print_text(const struct replay_log *log,
			   const struct contender *rows, size_t count,
			   unsigned int rounds)
{
	size_t i;

	printf("events:    %zu (%" PRIu32 " allocations, %" PRIu64
	       " failed ones left out)\n",
	       log->count, log->slots, log->failures);
	printf("peak:      %" PRIu64 " bytes\n", log->peak);
	printf("not freed: %" PRIu64 " block%s, %" PRIu64 " byte%s\n",
	       log->left_blocks, log->left_blocks == 1 ? "" : "s",
	       log->left_bytes, log->left_bytes == 1 ? "" : "s");
	if (log->unknown_frees)
		printf("left out:  %" PRIu64
		       " frees without an allocation in the log\n",
		       log->unknown_frees);
	if (log->lost_frees)
		printf("added:     %" PRIu64 " frees that the log lacks\n",
		       log->lost_frees);
	printf("\n%-8s  %8s  %8s  %8s  %6s  %s\n", "RESOURCE", "NS/EVENT",
	       "MIN", "MAX", "FAILED", "PEAK");
	for (i = 0; i < count; i++) {
		const double *ns = rows[i].nanoseconds;

		printf("%-8s  %8.1f  %8.1f  %8.1f  %6" PRIu64 "  ",
		       rows[i].name, ns[rounds / 2], ns[0], ns[rounds - 1],
		       rows[i].failed);
		if (rows[i].on_pool)
			printf("%" PRIu64 "\n", rows[i].peak);
		else
			puts("-");
	}
}

static void run_print_json(const struct replay_log *log,
			   const struct contender *rows, size_t count,
			   unsigned int rounds)
{
	size_t i;

	printf("{\"events\": %zu, \"allocations\": %" PRIu32
	       ", \"failures\": %" PRIu64 ", \"peak\": %" PRIu64
	       ", \"left_blocks\": %" PRIu64 ", \"left_bytes\": %" PRIu64
	       ", \"unknown_frees\": %" PRIu64 ", \"lost_frees\": %" PRIu64
	       ", \"rows\": [",
	       log->count, log->slots, log->failures, log->peak,
	       log->left_blocks, log->left_bytes, log->unknown_frees,
	       log->lost_frees);
	for (i = 0; i < count; i++) {
		const double *ns = rows[i].nanoseconds;

		printf("%s{\"name\": \"%s\", \"unit\": \"ns/event\", "
		       "\"median\": %.2f, \"min\": %.2f, \"max\": %.2f, "
		       "\"n\": %u, \"failed\": %" PRIu64 ", \"peak\": ",
		       i ? ", " : "", rows[i].name, ns[rounds / 2], ns[0],
		       ns[rounds - 1], rounds, rows[i].failed);
		if (rows[i].on_pool)
			printf("%" PRIu64 "}", rows[i].peak);
		else
			printf("null}");
	}
	puts("]}");
}

/* Plays all rounds; sorts the times in @rows. */
static bool play_rounds(const struct replay_log *log,
			const struct settings *settings, struct dray_node *node,
			struct contender *rows, size_t count)
{
	void **blocks = memory_new(log->slots, sizeof(*blocks));
	bool fine = true;
	unsigned int round;
	size_t i;

	for (round = 0; fine && round < settings->rounds; round++)
		for (i = 0; fine && i < count; i++)
			fine = play_on(log, &rows[i], node, settings, blocks,
				       round);
	for (i = 0; i < count; i++)
		qsort(rows[i].nanoseconds, settings->rounds,
		      sizeof(*rows[i].nanoseconds), run_ascending);
	progress_end();
	free(blocks);
	return fine;
}

bool run(const struct replay_log *log, const struct settings *settings)
{
	struct contender rows[3];
	struct dray_node *node;
	size_t count = 0, i;
	bool fine;

	if (dray_node_open(settings->node, &node)) {
		complain("%s", dray_last_error());
		return false;
	}
	for (i = 0; run_resources[i]; i++) {
		if (!(settings->resources & 1u << i))
			continue;
		rows[count] = contenders[i];
		rows[count].name = run_resources[i];
		rows[count++].nanoseconds =
			memory_new(settings->rounds, sizeof(double));
	}
	fine = play_rounds(log, settings, node, rows, count);
	if (fine)
		(settings->json ? run_print_json : run_print_text)(
			log, rows, count, settings->rounds);
	for (i = 0; i < count; i++)
		free(rows[i].nanoseconds);
	dray_node_unref(node);
	return fine;
}
