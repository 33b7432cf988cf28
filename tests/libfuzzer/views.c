// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Views: each function gets numbers that fit, and some that do not. */
#include "views.h"

unsigned char *memory;

#define TYPES 16
static dray_dtype types[TYPES];

void views_start(void)
{
	static const char *const texts[TYPES] = {
		"u1",	  "?",
		"<i2",	  "<f4",
		">i4",	  "<i8",
		"<f8",	  "<c16",
		"S3",	  "<U2",
		"<M8[s]", "V5",
		"i1,>i4", "(2,3)u2",
		"V1",	  "[('x', '?'), ('y', '<u2', (2,))]",
	};
	int i;

	memory = malloc(MEMORY);
	holds(memory);
	for (i = 0; i < TYPES; i++)
		holds(!dray_dtype_parse(texts[i], &types[i]));
}

void views_fill(void)
{
	unsigned int i;

	for (i = 0; i < MEMORY; i++)
		memory[i] = (unsigned char)(i * 7 + i / 64);
}

bool views_inside(const struct dray_view *view)
{
	unsigned char *data = view->data;
	int64_t low, high;

	dray_view_span(view, &low, &high);
	return low == high || (data + low >= memory && low <= high &&
			       data + high <= memory + MEMORY);
}

/* Reads @count numbers of a byte or, if the first byte says so, of eight. */
static void read_numbers(struct input *input, int count, int limit,
			 int64_t *numbers)
{
	bool wide = input_below(input, 16) == 15;
	int i;

	for (i = 0; i < count; i++)
		numbers[i] = wide ? (int64_t)input_number(input, 8)
				  : input_around(input, limit);
}

static void read_axes(struct input *input, int count, int ndim, int *axes)
{
	int i;

	for (i = 0; i < count; i++)
		axes[i] = input_around(input, ndim + 1);
}

/* Reads extents, of which few are 0 and fewer negative. */
static void read_shape(struct input *input, int count, int64_t *shape)
{
	int i;

	read_numbers(input, count, 6, shape);
	for (i = 0; i < count; i++)
		if (shape[i] < -1 && shape[i] >= -6)
			shape[i] = -shape[i];
}

void views_make(struct input *input, struct dray_view *view)
{
	dray_dtype dtype = types[input_below(input, TYPES)];
	int64_t shape[8], strides[8];
	int64_t items = MEMORY / dray_dtype_itemsize(dtype), first;
	int ndim = input_below(input, 6), i;
	bool packs = input_below(input, 2);

	first = input_below(input, 2) ? input_below(input, 256) : 0;
	holds(!dray_view_init(view, memory, dtype, 1, &items, NULL));
	view->flags |= DRAY_READ | DRAY_WRITE;
	read_shape(input, ndim, shape);
	read_numbers(input, ndim, 120, strides);
	for (i = 0; i < ndim; i++)
		if (input_below(input, 4) && strides[i] <= 120 &&
		    strides[i] >= -120)
			strides[i] *= dray_dtype_itemsize(dtype);
	if (first < items)
		view->data = memory + first * dray_dtype_itemsize(dtype);
	if (!dray_view_as_strided(view, ndim, shape, packs ? NULL : strides,
				  memory, MEMORY, view))
		return;
	view->data = memory;
}

static int change_axes(struct input *input, const struct dray_view *view,
		       struct dray_view *out)
{
	int from[8], to[8], count = input_below(input, 5);

	read_axes(input, 8, view->ndim, from);
	switch (input_below(input, 8)) {
	case 0:
		return dray_view_transpose(
			view, view->ndim <= 8 && count ? from : NULL, out);
	case 1:
		return dray_view_swap_axes(view, from[0], from[1], out);
	case 2:
		read_axes(input, count, view->ndim, to);
		return dray_view_move_axes(view, from, to, count, out);
	case 3:
		return dray_view_squeeze(view, count ? from : NULL, count, out);
	case 4:
		return dray_view_expand(view, from, count, out);
	case 5:
		return dray_view_flip(view, count ? from : NULL, count, out);
	default:
		return dray_view_diagonal(view, input_around(input, 8), from[0],
					  from[1], out);
	}
}

static int change_shape(struct input *input, const struct dray_view *view,
			struct dray_view *out)
{
	int64_t shape[8], strides[8];
	int count = input_below(input, 7), axes[8];
	enum dray_order order = input_around(input, 2);

	read_shape(input, count, shape);
	read_axes(input, count, view->ndim, axes);
	switch (input_below(input, 6)) {
	case 0:
		return dray_view_reshape(view, count, shape, order, out);
	case 1:
		return dray_view_ravel(view, order, out);
	case 2:
		return dray_view_broadcast(view, count, shape, out);
	case 3:
		return dray_view_windows(view, count, shape,
					 count & 1 ? axes : NULL, out);
	default:
		read_numbers(input, count, 100, strides);
		return dray_view_as_strided(view, count, shape,
					    count & 1 ? strides : NULL, NULL, 0,
					    out);
	}
}

static int change_type(struct input *input, const struct dray_view *view,
		       struct dray_view *out)
{
	switch (input_below(input, 5)) {
	case 0:
		return dray_view_real(view, out);
	case 1:
		return dray_view_imag(view, out);
	case 2:
		return dray_view_field(view, input_below(input, 2) ? "x" : "f1",
				       out);
	default:
		return dray_view_as_type(view, types[input_below(input, TYPES)],
					 out);
	}
}

void views_change(struct input *input, struct dray_view *view)
{
	struct dray_view out = { .ndim = 0 };
	int ret;

	switch (input_below(input, 3)) {
	case 0:
		ret = change_axes(input, view, &out);
		break;
	case 1:
		ret = change_shape(input, view, &out);
		break;
	default:
		ret = change_type(input, view, &out);
	}
	holds(ret <= 0);
	if (ret)
		return;
	holds(views_inside(&out));
	holds(dray_view_is_contiguous(&out) ==
	      !!(out.flags & DRAY_C_CONTIGUOUS));
	dray_view_copy(view, &out);
}
