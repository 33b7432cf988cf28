// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * What calls take in one thread: pairs of allocating and freeing, and the
 * replacement of one block of many.
 *
 * No block is touched: an allocator that does not either is not charged for
 * what the first touch costs.  Times are of the thread, so that what else the
 * machine does is not in them.
 */
#include <stdio.h>

#include "contender.h"
#include "region.h"
#include "workload.h"

#define PAIRS ((size_t)500000)
#define REPLACEMENTS ((size_t)1000000)

static struct churn live;

static void pairs(size_t size, size_t count)
{
	while (count--)
		contender_free(check_block(contender_alloc(size)));
}

void workload_pair(size_t size)
{
	uint64_t begin;

	pairs(size, PAIRS / 50);
	begin = now(CLOCK_THREAD_CPUTIME_ID);
	pairs(size, PAIRS);
	printf("ns %.3f\n",
	       (double)(now(CLOCK_THREAD_CPUTIME_ID) - begin) / PAIRS);
}

void churn_begin(struct churn *churn, uint64_t seed)
{
	sizes_init(&churn->sizes, 64, 256 * KIB);
	churn->random = seed;
	for (size_t i = 0; i < SLOTS; i++)
		churn->slots[i] = check_block(contender_alloc(
			random_size(&churn->sizes, &churn->random)));
	/* Until every slot has been used several times. */
	churn_run(churn, 16 * SLOTS);
}

void churn_run(struct churn *churn, size_t replacements)
{
	while (replacements--) {
		uint64_t random = random_next(&churn->random);
		void **slot = &churn->slots[random >> 16 & (SLOTS - 1)];
		size_t size = churn->sizes.bytes[random >> 32 & (SIZES - 1)];

		contender_free(*slot);
		*slot = check_block(contender_alloc(size));
	}
}

void workload_mixed(size_t number)
{
	uint64_t begin;

	region_prepare();
	churn_begin(&live, 1);
	begin = now(CLOCK_THREAD_CPUTIME_ID);
	churn_run(&live, REPLACEMENTS);
	printf("ns %.3f\n",
	       (double)(now(CLOCK_THREAD_CPUTIME_ID) - begin) / REPLACEMENTS);
}
