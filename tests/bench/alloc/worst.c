// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The slowest of ten million calls that replace one block of many.
 *
 * Real time, since nothing else is short enough for a call: a clock tick or
 * another program that gets the processor meanwhile makes any call slow.  So
 * the same calls are made by several processes, each with the allocator fresh
 * and everything at the same addresses, and a call's time is the shortest that
 * it took in any of them.  What the allocator does in a call it does in all.
 *
 * Before, the allocator has held the whole region, each page of which has been
 * touched: neither growth nor a first touch is in the times.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "contender.h"
#include "region.h"
#include "workload.h"

#define CALLS ((size_t)10000000)
#define PROCESSES 3

/* In nanoseconds; shared by the processes. */
static uint32_t *times;

static struct churn live;

static void grow(void)
{
	static void *blocks[1 << 20];
	size_t bytes = 0, count = 0, size;
	struct sizes *sizes = &live.sizes;
	uint64_t random = 7;

	sizes_init(sizes, 64, 256 * KIB);
	while (bytes < REGION) {
		size = random_size(sizes, &random);
		blocks[count] = contender_alloc(size);
		if (!blocks[count])
			break;
		count++;
		bytes += size;
	}
	while (count)
		contender_free(blocks[--count]);
}

static void note(size_t call, uint64_t time)
{
	if (time < times[call])
		times[call] = (uint32_t)time;
}

static void run(void)
{
	contender_begin(false);
	region_prepare();
	grow();
	churn_begin(&live, 1);
	for (size_t call = 0; call < CALLS; call += 2) {
		uint64_t random = random_next(&live.random), begin, end;
		void **slot = &live.slots[random >> 16 & (SLOTS - 1)];
		size_t size = live.sizes.bytes[random >> 32 & (SIZES - 1)];

		begin = now(CLOCK_MONOTONIC);
		contender_free(*slot);
		end = now(CLOCK_MONOTONIC);
		note(call, end - begin);

		begin = now(CLOCK_MONOTONIC);
		*slot = contender_alloc(size);
		end = now(CLOCK_MONOTONIC);
		note(call + 1, end - begin);
		check_block(*slot);
	}
}

static void run_in_a_process(void)
{
	pid_t child = fork();
	int status;

	if (!child) {
		run();
		_exit(0);
	}
	check(child < 0 || waitpid(child, &status, 0) != child, "fork");
	if (WIFSIGNALED(status))
		raise(WTERMSIG(status));
	if (status)
		exit(1);
}

/* The value that @above of the times are greater than, by halves of 16 bits. */
static uint32_t all_but(size_t above)
{
	static uint32_t counts[2][1 << 16];
	uint32_t upper = 1 << 16, lower = 1 << 16;
	size_t call;

	memset(counts, 0, sizeof(counts));
	for (call = 0; call < CALLS; call++)
		counts[0][times[call] >> 16]++;
	while (counts[0][--upper] <= above)
		above -= counts[0][upper];
	for (call = 0; call < CALLS; call++)
		if (times[call] >> 16 == upper)
			counts[1][times[call] & 0xffff]++;
	while (counts[1][--lower] <= above)
		above -= counts[1][lower];
	return upper << 16 | lower;
}

void workload_worst(size_t number)
{
	times = mmap(NULL, CALLS * sizeof(times[0]), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	check(times == MAP_FAILED, "memory for the times");
	memset(times, 0xff, CALLS * sizeof(times[0]));
	for (int i = 0; i < PROCESSES; i++) {
		run_in_a_process();
		if (!i)
			printf("once %u\n", all_but(CALLS / 10000));
	}
	printf("p99.99 %u\n", all_but(CALLS / 10000));
	printf("most %u\n", all_but(0));
}
