/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A walk over the broadcast shape of an index, and another view beside it. */
#ifndef DRAY_INDEX_INDEX_WALK_H
#define DRAY_INDEX_INDEX_WALK_H

#include "index/index.h"

/* An axis of the broadcast shape, or several that chain. */
struct dray_index_axis {
	int64_t count;
	int64_t stride; /* of the other view */
	int inner; /* the innermost axis of the broadcast shape in it */
};

struct dray_index_walk {
	const struct dray_index_plan *plan;
	int ndim;
	bool done;
	unsigned char *other; /* the next element of the other view */
	struct dray_index_axis axes[DRAY_MAX_NDIM];
	int64_t position[DRAY_MAX_NDIM];
	const unsigned char *at[DRAY_MAX_NDIM]; /* the next integers */
};

/*
 * Begins a walk over a shape that is not empty.
 * @sorted: in the order in which the other view's axes lie in memory, else in C
 *	order
 */
void dray_index_walk_start(struct dray_index_walk *walk,
			   const struct dray_index_plan *plan,
			   const struct dray_view *other, bool sorted);

/* Moves @count elements on, at most to the end of the innermost axis. */
void dray_index_walk_on(struct dray_index_walk *walk, int64_t count);

#endif /* DRAY_INDEX_INDEX_WALK_H */
