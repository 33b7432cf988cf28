// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Reductions of segments of an axis.  Where the axis is the innermost in memory,
 * the segments of one line after the other; else each segment of all lines.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "private.h"
#include "cast/cast.h"
#include "index/rows.h"
#include "ufunc/reduce.h"

#define FEW 32 /* segments */

struct segments {
	struct dray_method method;
	const struct dray_view *in; /* the input */
	int axis;
	const int64_t *starts; /* of each segment */
	int64_t count; /* of segments */
	int64_t few[FEW]; /* starts, if there are no more */
};

/* The elements of segment @k. */
static int64_t reduceat_length_of(const struct segments *segments, int64_t k)
{
	const int64_t extent = segments->in->shape[segments->axis];
	const int64_t end =
		k + 1 < segments->count ? segments->starts[k + 1] : extent;
	const int64_t length = end - segments->starts[k];

	return length > 1 ? length : 1;
}

/* Segments of one line by the short cut: elements are of the result's type. */
static void reduce_at_once(const struct segments *segments,
			   dray_line_loop *loop, char *to, int64_t to_stride,
			   const char *from, int64_t stride)
{
	const size_t item = (size_t)segments->method.result_item;
	int64_t k;

	for (k = 0; k < segments->count; k++, to += to_stride) {
		const char *const in = from + segments->starts[k] * stride;
		const int64_t rest = reduceat_length_of(segments, k) - 1;

		if (item == 8)
			*(uint64_t *)(void *)to =
				*(const uint64_t *)(const void *)in;
		else
			memcpy(to, in, item);
		if (rest)
			loop(to, in + stride, stride, rest);
	}
}

static int reduce_lines(struct segments *segments,
			const struct dray_view *result,
			const struct dray_view *in)
{
	const struct dray_view *const views[] = { result, in };
	struct dray_reduction reduction = { .method = &segments->method };
	const int64_t to = segments->method.result.strides[segments->axis];
	struct dray_reduce_axis line = {
		.in = segments->in->strides[segments->axis],
	};
	struct dray_index_rows rows;
	int64_t i, k;
	bool at_once;
	int ret = 0;

	reduction.line =
		dray_method_line(&segments->method, &reduction.converts);
	at_once = reduction.line && !segments->method.converts;
	if (!dray_rows_start(&rows, views, 2))
		return 0;
	do {
		for (i = 0; i < rows.count; i++) {
			char *at = (char *)rows.data[0] + i * rows.strides[0];
			const char *from = (const char *)rows.data[1] +
					   i * rows.strides[1];

			if (at_once) {
				reduce_at_once(segments, reduction.line->loop,
					       at, to, from, line.in);
				continue;
			}
			for (k = 0; k < segments->count && !ret; k++) {
				const struct dray_reduce_place place = {
					at + k * to,
					from + segments->starts[k] * line.in,
					NULL,
				};

				line.count = reduceat_length_of(segments, k);
				ret = dray_reduce_line(&reduction, place, &line,
						       true);
			}
		}
	} while (!ret && dray_rows_next(&rows));
	return ret;
}

static int reduce_all(struct segments *segments)
{
	const int axis = segments->axis;
	struct dray_reduction reduction = {
		.method = &segments->method,
		.reduced = UINT64_C(1) << axis,
		.starts = true,
		.reorders = false,
	};
	struct dray_view in, result;
	int64_t k;
	int ret = 0;

	reduction.line =
		dray_method_line(&segments->method, &reduction.converts);
	for (k = 0; k < segments->count && !ret; k++) {
		dray_view_write(&in, segments->in);
		dray_view_write(&result, &segments->method.result);
		in.shape[axis] = reduceat_length_of(segments, k);
		in.data = dray_address_add(in.data, segments->starts[k] *
							    in.strides[axis]);
		result.data =
			dray_address_add(result.data, k * result.strides[axis]);
		result.shape[axis] = in.shape[axis];
		result.strides[axis] = 0;
		segments->method.in = &in;
		ret = dray_reduce_walk(&reduction, &result);
	}
	segments->method.in = segments->in;
	return ret;
}

/* Copies the indices to numbers that lie side by side, and checks them. */
static int load_starts(struct segments *segments,
		       const struct dray_view *indices,
		       struct dray_array **starts)
{
	const int64_t extent = segments->in->shape[segments->axis];
	struct dray_view view;
	char kind;
	int64_t k;
	int ret = dray_view_check(indices, "the indices", NULL);

	*starts = NULL;
	if (ret)
		return ret;
	kind = dray_dtype_kind(indices->dtype);
	if (indices->ndim != 1)
		return dray_fail(-EINVAL,
				 "the indices have %d axes instead of one axis",
				 indices->ndim);
	if (kind != 'i' && kind != 'u')
		return dray_fail(
			-EOPNOTSUPP,
			"the indices have to be integers, and have the kind '%c'",
			kind);
	segments->count = indices->shape[0];
	if (segments->count <= FEW && dray_view_is_ready(indices, DRAY_INT64)) {
		for (k = 0; k < segments->count; k++)
			segments->few[k] = *(const int64_t *)dray_address_add(
				indices->data, k * indices->strides[0]);
		segments->starts = segments->few;
	} else {
		ret = dray_array_like(indices, DRAY_INT64, DRAY_ORDER_C,
				      starts);
		if (!ret)
			ret = dray_view_cast(dray_array_view(*starts, &view),
					     indices, DRAY_CASTING_SAME_KIND);
		if (ret)
			return ret;
		segments->starts = view.data;
	}
	for (k = 0; k < segments->count; k++)
		if (segments->starts[k] < 0 || segments->starts[k] >= extent)
			return dray_fail(-ERANGE,
					 "index %" PRId64
					 " is not one of %" PRId64 " elements",
					 segments->starts[k], extent);
	return 0;
}

static int segments_reduce(struct segments *segments,
			   const struct dray_view *indices, int axis,
			   dray_dtype dtype, struct dray_array **starts)
{
	struct dray_method *method = &segments->method;
	const struct dray_view *in = segments->in = method->in;
	struct dray_view like, others[2];
	int ret;

	if (!in->ndim)
		return dray_fail(-EOPNOTSUPP,
				 "an element without axes has no segments");
	ret = dray_method_axis(axis, in->ndim, &segments->axis);
	if (!ret)
		ret = load_starts(segments, indices, starts);
	if (!ret)
		ret = dray_method_resolve(method, dtype, true);
	if (ret)
		return ret;
	axis = segments->axis;
	dray_view_write(&like, in);
	like.shape[axis] = segments->count;
	ret = dray_method_prepare(method, &like, NULL, 0, false);
	if (ret || dray_view_is_empty(&method->result))
		return ret;
	return dray_method_across(&method->result, in, axis, others)
		       ? reduce_lines(segments, &others[0], &others[1])
		       : reduce_all(segments);
}

int dray_ufunc_reduceat(struct dray_ufunc *ufunc, const struct dray_view *in,
			const struct dray_view *indices, int axis,
			dray_dtype dtype, const struct dray_view *to,
			struct dray_array **out)
{
	struct dray_array *starts = NULL;
	struct segments segments;
	int ret;

	if (!dray_given(ufunc, __func__) || !dray_given(in, __func__) ||
	    !dray_given(indices, __func__) ||
	    (!to && !dray_given(out, __func__)))
		return -EINVAL;
	ret = dray_method_start(&segments.method, "reduceat", ufunc, in, to);
	if (!ret)
		ret = segments_reduce(&segments, indices, axis, dtype, &starts);
	dray_array_unref(starts);
	return dray_method_end(&segments.method, ret, out);
}
