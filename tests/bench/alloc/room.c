// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * What can be had of a region, by the plain calls alone: nothing is flushed,
 * collected or trimmed in between.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "contender.h"
#include "region.h"
#include "workload.h"

#define ROUNDS 6
#define MOST_BLOCKS ((size_t)1 << 20)
#define MOST_THREADS 16

/* What an idle thread has used before: so many blocks of each size. */
#define IDLE_STEP 64
#define IDLE_SIZES 64
#define IDLE_EACH 64

static struct {
	void *block;
	size_t size;
} held[MOST_BLOCKS];
static size_t held_count, held_bytes;

/* A block of the region, or NULL; one of elsewhere would be no answer. */
static void *take(size_t size)
{
	uint8_t *block = contender_alloc(size), *start = region;

	if (block && (block < start || size > REGION ||
		      block > start + (REGION - size))) {
		fprintf(stderr, "a block outside of the region\n");
		exit(1);
	}
	return block;
}

static bool hold(size_t size)
{
	void *block = held_count < MOST_BLOCKS ? take(size) : NULL;

	if (!block)
		return false;
	held[held_count].block = block;
	held[held_count++].size = size;
	held_bytes += size;
	return true;
}

static void let_go(size_t i)
{
	contender_free(held[i].block);
	held_bytes -= held[i].size;
	held[i] = held[--held_count];
}

static double percent(void)
{
	return (double)held_bytes * 100 / REGION;
}

static void fill(const struct sizes *sizes, uint64_t *random)
{
	while (hold(random_size(sizes, random)))
		;
}

static void free_half(uint64_t *random)
{
	size_t i = held_count;

	while (i--)
		if (random_next(random) >> 63)
			let_go(i);
}

static size_t largest(void)
{
	const size_t page = 4 * KIB;
	size_t least = 0, most = REGION / page + 1, middle;
	void *block;

	/* At once where it is everything. */
	for (middle = most - 1; most - least > 1;
	     middle = least + (most - least) / 2) {
		block = take(middle * page);
		if (block) {
			contender_free(block);
			least = middle;
		} else {
			most = middle;
		}
	}
	return least * page;
}

static pthread_barrier_t used, over;

static void use(void)
{
	static _Thread_local void *blocks[IDLE_SIZES * IDLE_EACH];
	size_t i;

	for (i = 0; i < IDLE_SIZES * IDLE_EACH; i++)
		blocks[i] = check_block(take((i % IDLE_SIZES + 1) * IDLE_STEP));
	for (i = 0; i < IDLE_SIZES * IDLE_EACH; i++)
		contender_free(blocks[i]);
}

static void *idle(void *unused)
{
	check(contender_thread(), "thread");
	use();
	pthread_barrier_wait(&used);
	pthread_barrier_wait(&over);
	return NULL;
}

static pthread_t threads[MOST_THREADS];

/* Threads that have freed all they had, and live on. */
static void idle_begin(size_t count)
{
	check(count > MOST_THREADS ? -1 : 0, "so many threads");
	pthread_barrier_init(&used, NULL, (unsigned int)count + 1);
	pthread_barrier_init(&over, NULL, (unsigned int)count + 1);
	for (size_t i = 0; i < count; i++)
		check(pthread_create(&threads[i], NULL, idle, NULL), "thread");
	pthread_barrier_wait(&used);
}

static void idle_end(size_t count)
{
	pthread_barrier_wait(&over);
	for (size_t i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static void need_region(void)
{
	if (!region) {
		fprintf(stderr, "this contender has no region\n");
		exit(1);
	}
}

void workload_fill(size_t idle_threads)
{
	static struct sizes sizes;
	uint64_t random = 1;
	int round;

	need_region();
	idle_begin(idle_threads);
	sizes_init(&sizes, 64, 256 * KIB);
	fill(&sizes, &random);
	printf("filled %.3f\n", percent());
	for (round = 0; round < ROUNDS; round++) {
		free_half(&random);
		fill(&sizes, &random);
	}
	printf("refilled %.3f\n", percent());
	while (held_count)
		let_go(held_count - 1);
	printf("largest %.3f\n", (double)largest() / MIB);
	idle_end(idle_threads);
}

/* Of blocks that are too large for any cache of small ones. */
void workload_reach(size_t idle_threads)
{
	need_region();
	idle_begin(idle_threads);
	while (hold(64 * KIB))
		;
	printf("kib %zu\n", held_bytes / KIB);
	idle_end(idle_threads);
}

void workload_lines(size_t number)
{
	static struct sizes sizes;
	uint64_t random = 1;
	int i;

	need_region();
	sizes_init(&sizes, 64, 4 * KIB);
	for (i = 0; i < 20000; i++)
		if (!hold(random_size(&sizes, &random)))
			check_block(NULL);
	while (held_count)
		let_go(held_count - 1);
	printf("lines %zu\n", region_lost(region, REGION));
}
