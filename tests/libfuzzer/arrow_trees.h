/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Trees of Arrow's structures as a stranger makes them.  Most are sound; some have a
 * wrong number, pointer or text here and there.  Every piece is an allocation of the
 * size that the structures tell, so that sanitizers see a read beyond.
 */
#ifndef DRAY_TESTS_ARROW_TREES_H
#define DRAY_TESTS_ARROW_TREES_H

#include "exchange.h"

struct tree {
	struct ArrowSchema schema;
	struct ArrowArray array;
	/*
	 * Numbers are any of 64 bits.  There are no bits of validity, and elements
	 * lie in memory that cannot be read.
	 */
	bool boundless;
	bool deep; /* lists in lists, as many as there are nodes */
	int nodes; /* left to make */
};

/* How often the array of a tree was released; its memory is out of bounds then. */
extern int arrays_released;

/* Makes a tree out of the input, the only one at a time. */
void tree_make(struct input *input, bool boundless, struct tree *tree);

/* Makes the memory of a released array readable again, for the checks. */
void tree_show(void);

/* Frees all memory of the tree. */
void tree_end(void);

/* Bytes of an element of a format that can be imported; 0: a bit, or none. */
unsigned int format_size(const char *format);

/* The axes that lists make of a node; the last node has no list. */
struct lists {
	const struct ArrowSchema *schema;
	const struct ArrowArray *array;
	int ndim;
	int64_t shape[DRAY_MAX_NDIM];
	wide first; /* element of @array in memory */
};

/* Follows the lists of a node from its element @first on. */
void lists_follow(const struct ArrowSchema *schema,
		  const struct ArrowArray *array, wide first, int64_t count,
		  struct lists *lists);

#endif /* DRAY_TESTS_ARROW_TREES_H */
