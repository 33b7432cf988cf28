/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared by the fuzzers of exchange protocols: numbers that a stranger has filled
 * in, and the bytes and elements that they lead to, by arithmetic of 128 bits.
 */
#ifndef DRAY_TESTS_EXCHANGE_H
#define DRAY_TESTS_EXCHANGE_H

#include "views.h"

typedef __int128 wide;

/* The most elements of a view that are read. */
#define MAX_READ 4096

/* Reads a number of 64 bits: near a limit, negative, or any. */
int64_t stranger_odd(struct input *input);

/* Reads a number from 0 to @limit, or an odd one. */
int64_t stranger_number(struct input *input, int limit);

/* Strides as a stranger gives them, with the bytes that one unit of them means. */
struct layout {
	int ndim;
	const int64_t *shape;
	const int64_t *strides; /* NULL: C order */
	wide unit;
	wide itemsize;
};

/* Writes the strides in units, also those of C order; 2^80 and more are equal. */
void layout_strides(const struct layout *layout, wide *strides);

/* Computes the bytes of all elements, [low, high) from the first one's address. */
void layout_span(const struct layout *layout, wide *low, wide *high);

/*
 * Checks that @view has this layout from the address @data on, and lies in the
 * address space; reads its elements if they lie in the memory of views.h.
 */
void layout_check(const struct layout *layout, wide data,
		  const struct dray_view *view);

/* Checks two views for one shape, type, address and strides that matter. */
void check_same_view(const struct dray_view *a, const struct dray_view *b);

#endif /* DRAY_TESTS_EXCHANGE_H */
