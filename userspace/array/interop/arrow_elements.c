// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Elements without children on their way to Arrow: as they lie, or as a copy in C
 * order, in the machine's byte order, and in Arrow's size.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <dray/array/cast.h>

#include "interop/arrow_give.h"
#include "private.h"

int dray_arrow_set_nulls(struct ArrowArray *out, const struct dray_view *mask)
{
	struct dray_arrow_held *held = out->private_data;
	int64_t valid;
	int ret;

	if (!mask)
		return 0;
	ret = dray_arrow_pack(mask, true, &held->bits, &valid);
	if (ret)
		return ret;
	out->null_count = dray_view_size(mask) - valid;
	if (out->null_count) {
		held->buffers[0] = held->bits->data;
	} else {
		dray_array_unref(held->bits);
		held->bits = NULL;
	}
	return 0;
}

/*
 * Marks the elements that are not a date as nulls too.  @times: in C order, in
 * the machine's byte order.  @marked: a new mask, or NULL: there are none.
 */
static int mark_times(const struct dray_view *times,
		      const struct dray_view *mask, struct dray_array **marked)
{
	int64_t count = dray_view_size(times), i, value;
	struct dray_array *bools = NULL;
	const char *at = times->data;
	int ret = 0;

	*marked = NULL;
	for (i = 0; i < count; i++) {
		memcpy(&value, at + i * (int64_t)sizeof(value), sizeof(value));
		if (value == INT64_MIN)
			break;
	}
	if (i == count)
		return 0;
	ret = mask ? dray_array_copy(mask, DRAY_ORDER_C, &bools)
		   : dray_array_zeros(DRAY_BOOL, times->ndim, times->shape,
				      &bools);
	if (ret)
		return ret;
	for (; i < count; i++) {
		memcpy(&value, at + i * (int64_t)sizeof(value), sizeof(value));
		if (value == INT64_MIN)
			((uint8_t *)bools->data)[i] = 1;
	}
	*marked = bools;
	return 0;
}

/* Makes 32-bit days; those that are not dates become 0.  -ERANGE. */
static int arrow_elements_halve(const struct dray_view *days,
				struct dray_array **out)
{
	int64_t count = dray_view_size(days), i, value;
	struct dray_array *halves = NULL;
	const char *at = days->data;
	int32_t *to;
	int ret = dray_array_empty(DRAY_INT32, 1, &count, &halves);

	if (ret)
		return ret;
	to = halves->data;
	for (i = 0; i < count; i++) {
		memcpy(&value, at + i * (int64_t)sizeof(value), sizeof(value));
		if (value == INT64_MIN)
			value = 0;
		if (value < INT32_MIN || value > INT32_MAX) {
			dray_array_unref(halves);
			return dray_fail(
				-ERANGE,
				"day %" PRId64
				" since 1970 does not fit Arrow's 32 bits",
				value);
		}
		to[i] = (int32_t)value;
	}
	*out = halves;
	return 0;
}

static int refuse_copy(const struct dray_view *view, const char *reason)
{
	char name[DRAY_DTYPE_TYPESTR_SIZE];

	return dray_fail(
		-EAGAIN,
		"elements of %s %s in Arrow, so they take a copy, which is not allowed",
		dray_dtype_text(view->dtype, name), reason);
}

/*
 * Takes elements in C order and the machine's byte order.  @values describes them;
 * they lie in @holder, one reference, the caller's to drop even after a failure.
 */
static int arrow_elements_take(const struct dray_arrow_sender *sender,
			       const struct dray_view *view,
			       struct dray_view *values,
			       struct dray_array **holder)
{
	bool swapped = dray_dtype_flags(view->dtype) & DRAY_DTYPE_SWAPPED;
	bool aligned = dray_view_is_aligned(view);
	dray_dtype native = view->dtype;
	int ret = 0;

	if (dray_view_is_contiguous(view) && !swapped && aligned) {
		dray_view_copy(values, view);
		*holder = dray_array_ref(sender->array);
		return 0;
	}
	if (!(sender->flags & DRAY_ARROW_COPY))
		return refuse_copy(
			view, swapped ? "have the other byte order"
			      : aligned
				      ? "lie one after the other"
				      : "lie at multiples of their alignment");
	if (swapped)
		ret = dray_dtype_with_order(view->dtype, '=', &native);
	if (!ret)
		ret = dray_array_like(view, native, DRAY_ORDER_C, holder);
	if (ret)
		return ret;
	dray_array_view(*holder, values);
	return dray_view_convert(values, view, DRAY_CASTING_EQUIV);
}

/* Changes elements that Arrow has in another size; replaces @holder. */
static int arrow_elements_change(const struct dray_view *values,
				 enum dray_arrow_change how,
				 struct dray_array **holder)
{
	struct dray_array *changed = NULL;
	int64_t set;
	int ret = 0;

	if (how == DRAY_ARROW_SAME)
		return 0;
	ret = how == DRAY_ARROW_BITS
		      ? dray_arrow_pack(values, false, &changed, &set)
		      : arrow_elements_halve(values, &changed);
	if (ret)
		return ret;
	dray_array_unref(*holder);
	*holder = changed;
	return 0;
}

int dray_arrow_fill_elements(const struct dray_arrow_sender *sender,
			     const struct dray_view *view,
			     const struct dray_view *mask,
			     struct ArrowArray *out)
{
	char format[DRAY_ARROW_FORMAT_SIZE];
	struct dray_arrow_held *held = out->private_data;
	struct dray_array *marked = NULL;
	struct dray_arrow_type type;
	struct dray_view values, marks;
	int ret = dray_arrow_format(view->dtype, format, &type);

	if (!ret && type.change != DRAY_ARROW_SAME &&
	    !(sender->flags & DRAY_ARROW_COPY))
		ret = refuse_copy(view, type.change == DRAY_ARROW_BITS
						? "have one bit each"
						: "have 32 bits");
	if (!ret)
		ret = arrow_elements_take(sender, view, &values,
					  &held->elements);
	if (!ret && dray_dtype_is_time(view->dtype) && sender->reached)
		ret = mark_times(&values, mask, &marked);
	if (!ret)
		ret = dray_arrow_set_nulls(
			out, marked ? dray_array_view(marked, &marks) : mask);
	if (!ret)
		ret = arrow_elements_change(&values, type.change,
					    &held->elements);
	dray_array_unref(marked);
	if (ret)
		return ret;
	out->n_buffers = 2;
	held->buffers[1] = type.change == DRAY_ARROW_SAME
				   ? values.data
				   : held->elements->data;
	return 0;
}
