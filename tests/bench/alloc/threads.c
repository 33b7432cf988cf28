// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Two threads at once: each with blocks of its own, or one that allocates and
 * one that frees.  In real time, since waiting for each other is part of it.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include "contender.h"
#include "region.h"
#include "workload.h"

#define THREADS 2
#define PAIRS ((size_t)500000)
#define REPLACEMENTS ((size_t)500000)
#define PASSED ((size_t)500000)

static pthread_barrier_t start;
static size_t pair_size;
static struct churn churns[THREADS];

struct both {
	void (*prepare)(size_t self);
	void (*run)(size_t self);
	size_t self;
	uint64_t begin, end;
};

static void *run_one(void *argument)
{
	struct both *both = argument;

	check(contender_thread(), "thread");
	both->prepare(both->self);
	pthread_barrier_wait(&start);
	both->begin = now(CLOCK_MONOTONIC);
	both->run(both->self);
	both->end = now(CLOCK_MONOTONIC);
	return NULL;
}

/* In two threads, each of which does it @count times; ns for one time. */
static double run_both(void (*prepare)(size_t self), void (*run)(size_t self),
		       size_t count)
{
	uint64_t begin = UINT64_MAX, end = 0;
	struct both both[THREADS];
	pthread_t threads[THREADS];
	size_t i;

	region_prepare();
	pthread_barrier_init(&start, NULL, THREADS);
	for (i = 0; i < THREADS; i++) {
		both[i] = (struct both){ prepare, run, i, 0, 0 };
		check(pthread_create(&threads[i], NULL, run_one, &both[i]),
		      "thread");
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		begin = both[i].begin < begin ? both[i].begin : begin;
		end = both[i].end > end ? both[i].end : end;
	}
	return (double)(end - begin) / (double)count;
}

static void pairs(size_t count)
{
	while (count--)
		contender_free(check_block(contender_alloc(pair_size)));
}

static void prepare_pairs(size_t self)
{
	pairs(PAIRS / 50);
}

static void run_pairs(size_t self)
{
	pairs(PAIRS);
}

void workload_pair_both(size_t size)
{
	pair_size = size;
	printf("ns %.3f\n", run_both(prepare_pairs, run_pairs, PAIRS));
}

static void prepare_churn(size_t self)
{
	churn_begin(&churns[self], self + 1);
}

static void run_churn(size_t self)
{
	churn_run(&churns[self], REPLACEMENTS);
}

void workload_mixed_both(size_t number)
{
	printf("ns %.3f\n", run_both(prepare_churn, run_churn, REPLACEMENTS));
}

/* From the first thread to the second; each writes one of the two counts. */
#define RING 1024

static void *ring[RING];
static _Alignas(64) _Atomic size_t pushed;
static _Alignas(64) _Atomic size_t popped;
static struct sizes pass_sizes;

static void wait_a_little(unsigned int *spins)
{
	/* Not for ever: there may be one processor for both. */
	if (++*spins % 256 == 0)
		sched_yield();
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

static void produce(size_t count)
{
	uint64_t random = 1;
	unsigned int spins = 0;
	size_t at = atomic_load(&pushed), end = at + count;

	for (; at < end; at++) {
		void *block = check_block(
			contender_alloc(random_size(&pass_sizes, &random)));

		while (at - atomic_load_explicit(&popped,
						 memory_order_acquire) ==
		       RING)
			wait_a_little(&spins);
		ring[at % RING] = block;
		atomic_store_explicit(&pushed, at + 1, memory_order_release);
	}
}

static void consume(size_t count)
{
	unsigned int spins = 0;
	size_t at = atomic_load(&popped), end = at + count;

	for (; at < end; at++) {
		while (atomic_load_explicit(&pushed, memory_order_acquire) ==
		       at)
			wait_a_little(&spins);
		contender_free(ring[at % RING]);
		atomic_store_explicit(&popped, at + 1, memory_order_release);
	}
}

static void prepare_pass(size_t self)
{
	if (self)
		consume(PASSED / 10);
	else
		produce(PASSED / 10);
}

static void run_pass(size_t self)
{
	if (self)
		consume(PASSED);
	else
		produce(PASSED);
}

void workload_pass(size_t number)
{
	sizes_init(&pass_sizes, 64, 4 * KIB);
	printf("ns %.3f\n", run_both(prepare_pass, run_pass, PASSED));
}
