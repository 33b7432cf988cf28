/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Order of elements.  Elements of up to 8 bytes get keys: unsigned numbers in the
 * same order, so that a single sort serves all of them.  All others are compared.
 */
#ifndef DRAY_INDEX_SORT_H
#define DRAY_INDEX_SORT_H

#include <dray/element.h>
#include <dray/array/index.h>
#include <dray/array/sorting.h>

enum dray_sorting_kind {
	DRAY_SORTING_UNSIGNED,
	DRAY_SORTING_SIGNED,
	DRAY_SORTING_FLOAT,
	DRAY_SORTING_TIME,
	DRAY_SORTING_COMPARED, /* without keys */
};

struct dray_sorting;

/* Writes the keys of @count elements @stride bytes apart. */
typedef void dray_key_loop(const struct dray_sorting *order,
			   const unsigned char *data, int64_t stride,
			   size_t count, uint64_t *keys);

struct dray_sorting {
	enum dray_sorting_kind kind;
	uint32_t size; /* bytes of an element */
	bool swapped;
	uint64_t sign; /* of keys: the highest bit of an element */
	uint64_t infinity; /* its bits as a float */
	dray_key_loop *keys; /* NULL: compared */
	dray_dtype dtype; /* borrowed */
	const struct dray_dtype_functions *functions; /* NULL: sorts keys */
};

/* Chooses the order of a valid type. */
void dray_sorting_of(struct dray_sorting *order, dray_dtype dtype);

/* Finds the first NaN, or the first largest of @count dense numbers, 1 or more. */
typedef size_t dray_top_loop(const unsigned char *data, size_t count,
			     uint64_t flip);

/* Chooses such a loop, and the bits to flip; NULL: none for this type. */
dray_top_loop *dray_top_loop_of(const struct dray_sorting *order, bool smallest,
				uint64_t *flip);

/* Checks a view that is to be read, and chooses its order. */
int dray_sort_check(const struct dray_view *view, struct dray_sorting *order);

/* The view of the first elements of all lines along an axis. */
void dray_view_without_axis(struct dray_view *out, const struct dray_view *view,
			    int axis);

/* A line of elements, and memory for sorting it. */
struct dray_sort_line {
	int64_t count;
	int64_t stride;
	void *memory; /* as many bytes as dray_line_room_overflow() says */
};

/* Counts the bytes that sorting a line needs; true if they do not fit. */
bool dray_line_room_overflow(const struct dray_sorting *order, int64_t count,
			     size_t *room);

/* Sorts the line at @data, or writes its order to @out, @step bytes apart. */
void dray_line_sort(const struct dray_sorting *order,
		    const struct dray_sort_line *line, unsigned char *data);
void dray_line_argsort(const struct dray_sorting *order,
		       const struct dray_sort_line *line,
		       const unsigned char *data,
		       unsigned char *out, int64_t step);

/* Writes the order of elements with keys. */
void dray_line_argsort_keys(const struct dray_sorting *order,
			    const struct dray_sort_line *line,
			    const unsigned char *data, unsigned char *out,
			    int64_t step);

/* Sort, or order, elements that are compared. */
void dray_line_sort_compared(const struct dray_sorting *order,
			     const struct dray_sort_line *line,
			     unsigned char *data);
void dray_line_argsort_compared(const struct dray_sorting *order,
				const struct dray_sort_line *line,
				const unsigned char *data, unsigned char *out,
				int64_t step);

#endif /* DRAY_INDEX_SORT_H */
