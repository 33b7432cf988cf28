// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The largest and the smallest element along an axis. */
#include <errno.h>
#include <string.h>

#include "index/rows.h"
#include "index/sort.h"
#include "private.h"

#define PIECE 512 /* keys that are made at once */

/* The best element so far. */
struct best {
	const struct dray_sorting *order;
	dray_top_loop *dense; /* NULL: none */
	uint64_t flip;
	bool smallest;
	bool found;
	bool settled; /* no other can be better: a NaN */
	int64_t at; /* its index */
	int64_t next; /* the index of the next element */
	uint64_t key;
	const unsigned char *element;
};

/* Turns keys so that the highest is the best; NaN and NaT are at the top. */
static void turn_keys(const struct best *best, uint64_t *keys, size_t count)
{
	uint64_t sign = best->order->sign, highest = sign | (sign - 1);
	bool nans = best->order->kind == DRAY_SORTING_FLOAT ||
		    best->order->kind == DRAY_SORTING_TIME;
	size_t i;

	if (!best->smallest)
		return;
	for (i = 0; i < count; i++)
		keys[i] = ~(keys[i] + nans) & highest;
}

static void look_at_keys(struct best *best, const unsigned char *data,
			 int64_t stride, int64_t count)
{
	int64_t at, piece, i;

	for (at = 0; at < count; at += piece) {
		uint64_t keys[PIECE];

		piece = count - at < PIECE ? count - at : PIECE;
		best->order->keys(best->order, data + at * stride, stride,
				  (size_t)piece, keys);
		turn_keys(best, keys, (size_t)piece);
		if (!best->found) {
			best->key = keys[0];
			best->at = best->next;
			best->found = true;
		}
		for (i = 0; i < piece; i++) {
			if (keys[i] > best->key) {
				best->key = keys[i];
				best->at = best->next + i;
			}
		}
		best->next += piece;
	}
}

static void look_at_dense(struct best *best, const unsigned char *data,
			  int64_t count)
{
	const int64_t size = best->order->size, next = best->next + count;
	size_t at = best->dense(data, (size_t)count, best->flip);

	best->next += (int64_t)at;
	look_at_keys(best, data + at * (size_t)size, size, 1);
	best->next = next;
}

static bool is_better(const struct best *best, const unsigned char *element)
{
	const struct dray_sorting *order = best->order;
	int compared =
		order->functions->compare(order->dtype, element, best->element);

	return best->smallest ? compared < 0 : compared > 0;
}

/* Whether a number is or has a NaN; other elements are none. */
static bool sort_element_is_nan(const struct dray_sorting *order,
				const void *element)
{
	struct dray_scalar value;

	if (!strchr("fc", dray_dtype_kind(order->dtype)) ||
	    order->functions->get(order->dtype, element, &value))
		return false;
	return value.kind == DRAY_SCALAR_COMPLEX
		       ? value.parts.real != value.parts.real ||
				 value.parts.imaginary != value.parts.imaginary
		       : value.real != value.real;
}

static void look_at_element(struct best *best, const unsigned char *element,
			    int64_t at)
{
	if (best->found && !best->settled && !is_better(best, element))
		return;
	best->element = element;
	best->at = at;
	best->found = true;
}

/* The largest is found by the type's own function. */
static void look_at_elements(struct best *best, const unsigned char *data,
			     int64_t stride, int64_t count)
{
	const struct dray_sorting *order = best->order;
	int64_t i = 0;

	if (!best->smallest && !best->settled) {
		i = order->functions->argmax(order->dtype, data, stride, count);
		best->settled = sort_element_is_nan(order, data + i * stride);
		look_at_element(best, data + i * stride, best->next + i);
	}
	for (; best->smallest && i < count && !best->settled; i++) {
		best->settled = sort_element_is_nan(order, data + i * stride);
		look_at_element(best, data + i * stride, best->next + i);
	}
	best->next += count;
}

static void best_look_at(struct best *best, const unsigned char *data,
			 int64_t stride, int64_t count)
{
	if (!best->order->size) { /* All are equal, and may be very many. */
		best->at = best->found ? best->at : best->next;
		best->found = true;
		best->next += count;
		return;
	}
	if (best->dense && stride == best->order->size)
		look_at_dense(best, data, count);
	else if (best->order->keys)
		look_at_keys(best, data, stride, count);
	else
		look_at_elements(best, data, stride, count);
}

/* Structures and raw data are sorted, but as in NumPy none is the largest. */
static int check_ordered(const struct dray_view *view)
{
	if (dray_dtype_kind(view->dtype) != 'V')
		return 0;
	return dray_fail(
		-EOPNOTSUPP,
		"structures and raw data have no largest or smallest element");
}

/* Of all elements in C order. */
static void find_flat(const struct dray_view *view, struct best best,
		      int64_t *out)
{
	struct dray_index_rows rows;

	if (!dray_rows_start(&rows, &view, 1))
		return;
	if (!rows.ndim && best.dense && rows.strides[0] == best.order->size) {
		*out = (int64_t)best.dense(rows.data[0], (size_t)rows.count,
					   best.flip);
		return;
	}
	do {
		best_look_at(&best, rows.data[0], rows.strides[0], rows.count);
	} while (dray_rows_next(&rows));
	*out = best.at;
}

static void find_lines(const struct dray_view *view,
		       const struct dray_view *lines, int axis,
		       struct best start, int64_t *out)
{
	struct dray_index_rows rows;
	int64_t i;

	if (!dray_rows_start(&rows, &lines, 1))
		return;
	do {
		for (i = 0; i < rows.count; i++) {
			struct best best = start;

			best_look_at(&best, rows.data[0] + i * rows.strides[0],
				     view->strides[axis], view->shape[axis]);
			*out++ = best.at;
		}
	} while (dray_rows_next(&rows));
}

static int sort_best_find(const struct dray_view *view, int axis, bool smallest,
			  struct dray_array **out)
{
	struct best best = { .smallest = smallest };
	bool flat = axis == DRAY_FLAT;
	struct dray_sorting order;
	struct dray_view lines;
	int ret;

	ret = dray_sort_check(view, &order);
	if (ret)
		return ret;
	axis = flat ? 0 : dray_axis_resolve(axis, view->ndim);
	ret = axis < 0 ? -EINVAL : check_ordered(view);
	if (ret)
		return ret;
	if (flat ? !dray_view_size(view) : !view->shape[axis])
		return dray_fail(-EINVAL,
				 "attempt to get arg%s of an empty sequence",
				 smallest ? "min" : "max");
	lines.ndim = 0;
	if (!flat)
		dray_view_without_axis(&lines, view, axis);
	ret = dray_array_empty(DRAY_INT64, lines.ndim, lines.shape, out);
	if (ret)
		return ret;
	best.order = &order;
	best.dense = dray_top_loop_of(&order, smallest, &best.flip);
	if (best.dense && view->ndim == 1 && view->strides[0] == order.size)
		*(int64_t *)(*out)->data = (int64_t)best.dense(
			view->data, (size_t)view->shape[0], best.flip);
	else if (flat)
		find_flat(view, best, (*out)->data);
	else
		find_lines(view, &lines, axis, best, (*out)->data);
	return 0;
}

int dray_argmax(const struct dray_view *view, int axis, struct dray_array **out)
{
	return dray_given(out, __func__)
		       ? sort_best_find(view, axis, false, out)
		       : -EINVAL;
}

int dray_argmin(const struct dray_view *view, int axis, struct dray_array **out)
{
	return dray_given(out, __func__) ? sort_best_find(view, axis, true, out)
					 : -EINVAL;
}
