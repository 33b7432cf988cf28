/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* One row of a few integers, or booleans, over a view of one axis. */
#ifndef DRAY_INDEX_INDEX_LINE_H
#define DRAY_INDEX_INDEX_LINE_H

#include "index/index.h"

struct dray_index_line {
	const struct dray_view *view;
	int64_t count;
	struct dray_addresses span; /* of the view */
	struct dray_addresses array_span;
	int64_t integers[DRAY_INDEX_CHUNK]; /* @count copies, 0 or more, in range */
};

/*
 * Begins with unchecked views; false if this is another case.
 * @array: integers or booleans
 * @flags: permissions that @view needs
 */
bool dray_index_line_start(struct dray_index_line *line,
			   const struct dray_view *view,
			   const struct dray_view *array, uint32_t flags);

/* Copies the elements to a new array.  -ENOMEM. */
int dray_index_line_get(const struct dray_index_line *line,
			struct dray_array **out);

/*
 * Writes values; false, without having written, if this is another case.
 * @more: the last values may be left over
 */
bool dray_index_line_set(const struct dray_index_line *line,
			 const struct dray_view *values, bool more);

#endif /* DRAY_INDEX_INDEX_LINE_H */
