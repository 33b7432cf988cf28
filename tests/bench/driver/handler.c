// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * What a program pays for memory that it uses for a moment: malloc and free of
 * dray's handler, whose pool has the node's memory already, and the system
 * calls that a dma-heap wants each time, which are allocate, map, unmap and
 * close.  Nobody touches the memory.  Lines as cost.c has them.
 */
#include <dray/dray.h>

#include "contender.h"

#define SIZE ((size_t)64 * 1024)
#define ROUNDS 100
/* Of the handler, which is faster than the clock is exact. */
#define PAIRS 1000

/* In microseconds. */
static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void print(const char *contender, double time)
{
	printf("memory for a moment\t64 KiB\t%s\t%.4f\n", contender, time);
}

static int time_handler(const struct dray_allocator *allocator, int pairs,
			double *time)
{
	double begin = now();
	void *block;

	for (int i = 0; i < pairs; i++) {
		block = allocator->malloc(allocator->ctx, SIZE);
		if (!block)
			return -1;
		allocator->free(allocator->ctx, block, SIZE);
	}
	*time = (now() - begin) / pairs;
	return 0;
}

static int time_heap(const struct contender *heap, double *time)
{
	struct piece piece = { .fd = -1, .backing = -1, .size = SIZE };
	double begin = now();

	if (heap->ops->allocate(heap, SIZE, &piece))
		return -1;
	if (piece_map(&piece) || piece_unmap(&piece))
		return -1;
	heap->ops->free(&piece);
	*time = now() - begin;
	return 0;
}

/* The first round is not counted. */
static int run(const struct dray_allocator *allocator,
	       const struct contender *heaps, size_t count)
{
	double time;

	for (int round = 0; round <= ROUNDS; round++) {
		if (time_handler(allocator, PAIRS, &time))
			return -1;
		if (round)
			print("dray handler", time);
		for (size_t i = 0; i < count; i++) {
			if (time_heap(&heaps[i], &time))
				return -1;
			if (round)
				print(heaps[i].name, time);
		}
	}
	return 0;
}

int main(void)
{
	struct contender heaps[] = {
		{ "dma-heap cma", &heap_ops, .open = heap_cma_open },
		{ "dma-heap system", &heap_ops, .open = heap_system_open },
	};
	struct dray_node *node;
	struct dray_pool *pool;

	for (size_t i = 0; i < 2; i++) {
		if (heaps[i].open(&heaps[i])) {
			printf("# no %s\n", heaps[i].name);
			return 1;
		}
	}
	if (dray_node_open("kernel", &node) ||
	    dray_pool_create(node, NULL, &pool)) {
		printf("# %s\n", dray_last_error());
		return 1;
	}
	if (run(&dray_handler_for(pool)->allocator, heaps, 2)) {
		printf("# no memory\n");
		return 1;
	}
	dray_pool_close(pool);
	dray_node_unref(node);
	return 0;
}
