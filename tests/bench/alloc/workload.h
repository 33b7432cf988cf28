/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Workloads: what is done with a contender, which is fresh for each.  Every
 * one prints lines of a name and a value.
 */
#ifndef BENCH_ALLOC_WORKLOAD_H
#define BENCH_ALLOC_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)

#define REGION (1024 * MIB)

/* The region under test; NULL: the contender has none. */
extern void *region;

/* A fresh contender, for the calling thread. */
void contender_begin(bool painted);
/* Lets no first touch of the region come later. */
void region_prepare(void);

/* @number is what stands behind the workload's name, or 0. */
void workload_pair(size_t number); /* of so many bytes */
void workload_mixed(size_t number);
void workload_worst(size_t number); /* makes the contenders itself */
void workload_fill(size_t number); /* with so many idle threads */
void workload_reach(size_t number); /* the same */
void workload_lines(size_t number); /* in a painted region */
void workload_pair_both(size_t number); /* of so many bytes */
void workload_mixed_both(size_t number);
void workload_pass(size_t number);

/* Ends the program where @error is one, or where a block is missing. */
void check(int error, const char *what);
void *check_block(void *block);

/* Sizes whose logarithms are spread evenly, from @least to @most bytes. */
#define SIZES 4096

struct sizes {
	uint32_t bytes[SIZES];
};

void sizes_init(struct sizes *sizes, double least, double most);

/* xorshift64*; the state is never 0. */
static inline uint64_t random_next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1d;
}

/* The upper bits are the better ones. */
static inline size_t random_size(const struct sizes *sizes, uint64_t *state)
{
	return sizes->bytes[random_next(state) >> 32 & (SIZES - 1)];
}

/* Live blocks of which one after the other is replaced, at random. */
#define SLOTS 4096

struct churn {
	struct sizes sizes;
	uint64_t random;
	void *slots[SLOTS];
};

void churn_begin(struct churn *churn, uint64_t seed);
void churn_run(struct churn *churn, size_t replacements);

/* In nanoseconds. */
static inline uint64_t now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

#endif /* BENCH_ALLOC_WORKLOAD_H */
