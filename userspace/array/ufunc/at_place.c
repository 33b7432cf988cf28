// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Results put in place by index, in the order of the indices, so that a repeated
 * index counts repeatedly.  Short cuts process whole rows of indices; the loop itself
 * is called for each index.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "private.h"
#include "cast/fp_state.h"
#include "cast/cast.h"
#include "index/rows.h"
#include "ufunc/at.h"
#include "ufunc/users_loop.h"

#define BUFFER 256 /* elements */

/* Runs the loop; flags mean nothing if the loop notes no errors. */
static int run_converted(struct dray_placing *placing, char *const *data,
			 const int64_t *strides, int64_t count)
{
	const struct dray_ufunc_loop *loop = &placing->resolved.loop;
	const bool quiet = loop->flags & DRAY_LOOP_NO_FP_ERRORS;
	int ret;

	if (quiet)
		placing->errors |= dray_fp_take();
	ret = dray_loop_run(loop, data, strides, count);
	if (quiet)
		dray_fp_clear();
	return ret;
}

/* Calls the loop for elements that convert, by way of a buffer. */
static int convert_row(struct dray_placing *placing, char *target,
		       int64_t stride, const char *value, int64_t value_stride,
		       int64_t count)
{
	const int64_t item = placing->item;
	char *const in = placing->buffer, *const out = in + BUFFER * item;
	int64_t done, piece;
	int ret = 0;

	for (done = 0; done < count && !ret; done += piece) {
		char *const data[] = { in,
				       value ? (char *)(uintptr_t)value : out,
				       out };
		const int64_t strides[] = { item, value ? value_stride : item,
					    item };

		piece = count - done < BUFFER ? count - done : BUFFER;
		ret = dray_cast_run(&placing->read, in, item, target, stride,
				    piece);
		if (!ret)
			ret = run_converted(placing, data, strides, piece);
		if (!ret)
			ret = dray_cast_run(&placing->write, target, stride,
					    out, item, piece);
		target += piece * stride;
		if (value)
			value += piece * value_stride;
	}
	return ret;
}

/* Computes a row of elements that differ: target = target op value. */
static int place_row(struct dray_placing *placing, char *target, int64_t stride,
		     const char *value, int64_t value_stride, int64_t count)
{
	char *const data[] = { target,
			       value ? (char *)(uintptr_t)value : target,
			       target };
	const int64_t strides[] = { stride, value ? value_stride : stride,
				    stride };

	return placing->buffer ? convert_row(placing, target, stride, value,
					     value_stride, count)
			       : dray_loop_run(&placing->resolved.loop, data,
					       strides, count);
}

/* Computes elements singly; @indices: an index for each of @values. */
int dray_place_elements(struct dray_placing *placing, char *target,
			int64_t stride, const int64_t *indices,
			const struct dray_view *values)
{
	const struct dray_line *line = placing->line;
	const bool binary = placing->ufunc->inputs == 2;
	struct dray_index_rows rows;
	int64_t i;
	int ret = 0;

	if (!dray_rows_start(&rows, &values, 1))
		return 0;
	do {
		const char *value = binary ? (const char *)rows.data[0] : NULL;

		if (line) {
			line->placing(target, stride, indices, rows.count,
				      value, rows.strides[0]);
			indices += rows.count;
			continue;
		}
		for (i = 0; i < rows.count && !ret; i++) {
			ret = place_row(placing, target + *indices++ * stride,
					0, value, 0, 1);
			if (value)
				value += rows.strides[0];
		}
	} while (!ret && dray_rows_next(&rows));
	return ret;
}

/* Computes the sub-array of an index. */
static int place_part(struct dray_placing *placing,
		      const struct dray_view *target,
		      const struct dray_view *values)
{
	const struct dray_view *const views[] = { target, values };
	const bool binary = placing->ufunc->inputs == 2;
	struct dray_index_rows rows;
	int ret;

	if (!dray_rows_start(&rows, views, 2))
		return 0;
	do {
		ret = place_row(placing, (char *)rows.data[0], rows.strides[0],
				binary ? (const char *)rows.data[1] : NULL,
				rows.strides[1], rows.count);
	} while (!ret && dray_rows_next(&rows));
	return ret;
}

/* Computes sub-arrays: the axes of @values are the indices', then a part's. */
int dray_place_parts(struct dray_placing *placing, const int64_t *indices,
		     const struct dray_view *values)
{
	const struct dray_view *target = placing->target;
	const int parts = target->ndim - 1, lead = values->ndim - parts;
	int64_t at[DRAY_MAX_NDIM] = { 0 };
	struct dray_view part, value;
	int i, ret;

	dray_view_begin(&part, target, parts);
	dray_view_begin(&value, values, parts);
	for (i = 0; i < parts; i++) {
		part.shape[i] = value.shape[i] = target->shape[i + 1];
		part.strides[i] = target->strides[i + 1];
		value.strides[i] = values->strides[lead + i];
	}
	do {
		part.data = dray_address_add(target->data,
					     *indices++ * target->strides[0]);
		ret = place_part(placing, &part, &value);
		for (i = lead - 1; i >= 0; i--) {
			value.data = dray_address_add(value.data,
						      values->strides[i]);
			if (++at[i] < values->shape[i])
				break;
			value.data = dray_address_add(value.data,
						      -values->strides[i] *
							      values->shape[i]);
			at[i] = 0;
		}
	} while (!ret && i >= 0);
	return ret;
}

/* Makes values of the loop's type, apart from the target. */
int dray_place_values(struct dray_placing *placing,
		      const struct dray_view *values, struct dray_view *out)
{
	const dray_dtype dtype = placing->resolved.dtypes[1];
	struct dray_operand target, read;
	int ret = dray_operand_init(&read, values, "the values");

	if (!ret)
		ret = dray_operand_init(&target, placing->target, "the target");
	if (ret)
		return ret;
	dray_view_write(out, values);
	if (dray_view_is_ready(values, dtype) &&
	    (!read.extent.elements || !target.extent.elements ||
	     dray_overlap_find(&target, &read) == DRAY_OVERLAP_NONE))
		return 0;
	ret = dray_array_like(values, dtype, DRAY_ORDER_K, &placing->values);
	if (!ret)
		ret = dray_view_cast(dray_array_view(placing->values, out),
				     values, DRAY_CASTING_UNSAFE);
	return ret;
}

int dray_place_loop(struct dray_placing *placing,
		    const struct dray_view *values)
{
	static const struct dray_ufunc_options none;
	const struct dray_ufunc *ufunc = placing->ufunc;
	const dray_dtype target = placing->target->dtype;
	const dray_dtype given[3] = { target, values ? values->dtype : 0, 0 };
	const dray_dtype *dtypes = placing->resolved.dtypes;
	int64_t other;
	int ret = dray_ufunc_resolve(ufunc, given, &none, &placing->resolved);

	if (ret)
		return ret;
	if (dray_view_is_ready(placing->target, dtypes[0]) &&
	    dray_view_is_ready(placing->target, dtypes[ufunc->inputs])) {
		if (values)
			placing->line = dray_method_find_line(
				ufunc, &placing->resolved);
		if (placing->line && !placing->line->placing)
			placing->line = NULL;
		return 0;
	}
	ret = dray_cast_find(dtypes[0], target, &placing->read);
	if (!ret)
		ret = dray_cast_find(target, dtypes[ufunc->inputs],
				     &placing->write);
	if (ret)
		return ret;
	placing->item = dray_dtype_itemsize(dtypes[0]);
	other = dray_dtype_itemsize(dtypes[ufunc->inputs]);
	if (other > placing->item)
		placing->item = other;
	/* Whole units, so that both types are aligned. */
	placing->item = (placing->item + 15) & ~INT64_C(15);
	placing->buffer = malloc((size_t)2 * BUFFER * (size_t)placing->item);
	return placing->buffer ? 0
			       : dray_fail(-ENOMEM, "no memory for a buffer");
}
