// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Single values: put into views, taken out, and made arrays without axes. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cast/cast.h"
#include "private.h"

/* A view of one element; the call that takes it checks its type. */
static void view_value(struct dray_view *view, dray_dtype dtype,
		       const void *value, uint32_t flags)
{
	view->data = (void *)(uintptr_t)value;
	view->dtype = dtype;
	view->ndim = 0;
	view->flags = flags;
}

static int check_single(const struct dray_view *view)
{
	struct dray_extent extent;
	int ret = dray_view_check(view, "the view", &extent);

	if (!ret && dray_view_size(view) != 1)
		ret = dray_fail(-EINVAL,
				"the view has %" PRId64
				" elements, and a single value needs one",
				dray_view_size(view));
	return ret;
}

int dray_view_fill(const struct dray_view *view, dray_dtype dtype,
		   const void *value)
{
	struct dray_view from;

	if (!dray_given(view, __func__) || !dray_given(value, __func__))
		return -EINVAL;
	view_value(&from, dtype, value, DRAY_READ);
	return dray_view_convert(view, &from, DRAY_CASTING_UNSAFE);
}

/* Callers ask the flags for errors of numbers. */

static int convert_single(const struct dray_view *view, dray_dtype dtype,
			  void *out)
{
	struct dray_view to;

	view_value(&to, dtype, out, DRAY_READ | DRAY_WRITE);
	return dray_view_cast(&to, view, DRAY_CASTING_UNSAFE);
}

int dray_view_get(const struct dray_view *view, dray_dtype dtype, void *out)
{
	size_t size = dray_dtype_itemsize(dtype);
	void *whole;
	int ret;

	if (!dray_given(view, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = check_single(view);
	if (ret)
		return ret;
	if (dray_dtype_is_builtin(dtype) || !size)
		return convert_single(view, dtype, out);
	/* A later part of it may be the one that does not convert. */
	whole = malloc(size);
	if (!whole)
		return dray_fail(-ENOMEM,
				 "no memory for an element of %zu bytes", size);
	memcpy(whole, out, size); /* for gaps between the parts */
	ret = convert_single(view, dtype, whole);
	if (!ret)
		memcpy(out, whole, size);
	free(whole);
	return ret;
}

int dray_view_put(const struct dray_view *view, dray_dtype dtype,
		  const void *value)
{
	int ret;

	if (!dray_given(view, __func__))
		return -EINVAL;
	ret = check_single(view);
	return ret ? ret : dray_view_fill(view, dtype, value);
}

/* Makes an array of one element of a checked type, with its axes if it has some. */
static int make_single(const struct dray_view *element, struct dray_array **out)
{
	struct dray_array_options options = {
		.bytes = dray_dtype_itemsize(element->dtype),
		.alignment = dray_dtype_alignment(element->dtype),
	};
	struct dray_view view;
	int ret, i;

	dray_view_copy(&view, element);
	ret = dray_view_unfold(&view);
	options.dtype = view.dtype;
	options.ndim = view.ndim;
	if (!ret)
		ret = dray_array_make(&options, out);
	if (ret)
		return ret;
	for (i = 0; i < view.ndim; i++)
		dray_array_axes(*out)[i] =
			(struct dray_array_axis){ view.shape[i],
						  view.strides[i] };
	return 0;
}

/* Sets permissions, and how the array lies. */
static void set_flags(struct dray_array *scalar, uint32_t permissions)
{
	struct dray_view view;

	dray_array_view(scalar, &view);
	view.flags = permissions;
	dray_view_set_facts(&view);
	scalar->flags = view.flags;
}

int dray_scalar_create(dray_dtype dtype, dray_dtype from, const void *value,
		       struct dray_array **out)
{
	struct dray_array *scalar = NULL;
	struct dray_view element, given;
	int ret;

	if (!dray_given(value, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	view_value(&element, dtype, NULL, DRAY_READ | DRAY_WRITE);
	ret = dray_dtype_normalize(dtype, &element.dtype);
	if (!ret)
		ret = make_single(&element, &scalar);
	if (ret)
		return ret;
	element.data = scalar->data;
	view_value(&given, from, value, DRAY_READ);
	ret = dray_view_cast(&element, &given, DRAY_CASTING_UNSAFE);
	if (ret) {
		dray_array_unref(scalar);
		return ret;
	}
	set_flags(scalar, dray_dtype_kind(dtype) == 'V'
				  ? DRAY_READ | DRAY_WRITE
				  : DRAY_READ | DRAY_IMMUTABLE);
	*out = scalar;
	return 0;
}
