/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Views with numbers that both sides know, and their messages and tickets. */
#ifndef TESTS_RDMA_VIEWS_H
#define TESTS_RDMA_VIEWS_H

#include "pair.h"

enum {
	ROOM = 1 << 20,
	GUARD = 0xa5,
	TAG = 7,
	LONG = 1 << 22 /* the largest block of heap "pages" */
};

/* The next of a sequence of numbers that both sides know. */
int64_t random_below(int64_t limit);

/* Allocates a block of guards. */
unsigned char *memory_of(size_t bytes);

/* Lays elements of @shape into @data: any order of the axes, gaps, directions. */
void view_lay(struct dray_view *view, unsigned char *data, dray_dtype dtype,
	      int ndim, const int64_t *shape, uint64_t seed);
/* 64 KiB of int32; @layout 0: contiguous, 1: a list, 2: a copy */
void view_layout(struct dray_view *view, unsigned char *data, int layout);
extern const int64_t square[2]; /* its shape */

size_t bytes_of(const struct dray_view *view);
/* Writes the numbers of @seed to the elements of @view. */
void view_number(const struct dray_view *view, uint64_t seed);
/*
 * Returns how many of the first @size bytes of the elements are not those of @seed, and
 * how many other bytes of @memory are not guards.
 */
size_t view_wrong(const struct dray_view *view, size_t size, uint64_t seed,
		  const unsigned char *memory, size_t room);
bool view_is_lent(const struct dray_view *view);

int send_view(const struct dray_view *view);
int receive_view(const struct dray_view *view);

/* The ticket of side 1. */
struct offer {
	size_t size;
	unsigned char ticket[4096];
};

/* Side 1 maps a buffer of @bytes and offers int32 of @shape in it; side 0 hears it. */
struct dray_ucx_memory *pair_offer(struct offer *offer, uint64_t bytes,
				   const int64_t *shape, unsigned char **data);

#endif
