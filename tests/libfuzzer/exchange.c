// SPDX-License-Identifier: Apache-2.0 OR MIT
/* A second way to the bytes that a stranger's numbers lead to; see exchange.h. */
#include "exchange.h"

/* Larger than any address, and small enough to be multiplied and summed up. */
#define HUGE_NUMBER ((wide)1 << 80)

int64_t stranger_odd(struct input *input)
{
	switch (input_below(input, 4)) {
	case 0:
		return (int64_t)input_number(input, 8);
	case 1: /* a power of two or its neighbour */
		return (int64_t)((UINT64_C(1) << input_below(input, 64)) +
				 (uint64_t)(int64_t)input_around(input, 1));
	case 2:
		return INT64_MAX - input_below(input, 8);
	default:
		return -1 - input_below(input, 8);
	}
}

int64_t stranger_number(struct input *input, int limit)
{
	return input_below(input, 8) ? input_below(input, limit + 1)
				     : stranger_odd(input);
}

static wide multiply(wide a, wide b)
{
	wide product;

	if (__builtin_mul_overflow(a, b, &product) || product > HUGE_NUMBER)
		return (a < 0) == (b < 0) ? HUGE_NUMBER : -HUGE_NUMBER;
	return product < -HUGE_NUMBER ? -HUGE_NUMBER : product;
}

void layout_strides(const struct layout *layout, wide *strides)
{
	wide step = 1;
	int i;

	for (i = layout->ndim - 1; i >= 0; i--) {
		strides[i] = layout->strides ? layout->strides[i] : step;
		step = multiply(step, layout->shape[i]);
	}
}

void layout_span(const struct layout *layout, wide *low, wide *high)
{
	wide strides[DRAY_MAX_NDIM], reach;
	int i;

	layout_strides(layout, strides);
	*low = 0;
	*high = layout->itemsize;
	for (i = 0; i < layout->ndim; i++) {
		if (!layout->shape[i]) {
			*low = 0;
			*high = 0;
			return;
		}
		reach = multiply(multiply(strides[i], layout->unit),
				 layout->shape[i] - 1);
		*(reach < 0 ? low : high) += reach;
	}
}

/* Reads all elements, in C order, and one by one from where they must be. */
static void read_elements(const struct layout *layout, const char *data,
			  const struct dray_view *view)
{
	size_t itemsize = (size_t)layout->itemsize;
	wide strides[DRAY_MAX_NDIM];
	struct dray_array *copy;
	int64_t n, rest, size = dray_view_size(view);
	int i;

	if (size > MAX_READ)
		return;
	layout_strides(layout, strides);
	copy = packed(view);
	for (n = 0; n < size; n++) {
		const char *element = data;

		rest = n;
		for (i = layout->ndim - 1; i >= 0; i--) {
			element += rest % layout->shape[i] *
				   (int64_t)(strides[i] * layout->unit);
			rest /= layout->shape[i];
		}
		holds(!memcmp(element,
			      (char *)copy->data + (size_t)n * itemsize,
			      itemsize));
	}
	dray_array_unref(copy);
}

void layout_check(const struct layout *layout, wide data,
		  const struct dray_view *view)
{
	wide low, high, strides[DRAY_MAX_NDIM];
	wide start = (wide)(uintptr_t)memory;
	int64_t first, last;
	int i;

	holds(view->ndim == layout->ndim);
	holds(dray_dtype_itemsize(view->dtype) == layout->itemsize);
	layout_span(layout, &low, &high);
	dray_view_span(view, &first, &last);
	holds(first == low && last == high);
	layout_strides(layout, strides);
	for (i = 0; i < view->ndim; i++) {
		holds(view->shape[i] == layout->shape[i]);
		if (low != high && view->shape[i] > 1)
			holds(view->strides[i] == strides[i] * layout->unit);
	}
	if (low == high)
		return;
	holds((wide)(uintptr_t)view->data == data);
	holds(data + low >= 0 && data + high - 1 <= UINTPTR_MAX);
	if (data + low >= start && data + high <= start + MEMORY)
		read_elements(layout, view->data, view);
}

void check_same_view(const struct dray_view *a, const struct dray_view *b)
{
	int64_t low, high;
	int i;

	holds(a->ndim == b->ndim);
	holds(a->dtype == b->dtype);
	dray_view_span(a, &low, &high);
	for (i = 0; i < a->ndim; i++) {
		holds(a->shape[i] == b->shape[i]);
		if (low != high && a->shape[i] > 1)
			holds(a->strides[i] == b->strides[i]);
	}
	holds(low == high || a->data == b->data);
}
