/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Views of counted numbers for tests of iterators, and iterators in one line. */
#ifndef DRAY_TESTS_NDITER_H
#define DRAY_TESTS_NDITER_H

#include <dray/array.h>

#include "unit.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* A shape with strides in elements. */
struct form {
	int ndim;
	int64_t shape[6];
	int64_t strides[6]; /* all 0: C order */
	int64_t first;
};

static int32_t numbers[1024];

__attribute__((unused)) static void count_up(void)
{
	for (size_t i = 0; i < LENGTH(numbers); i++)
		numbers[i] = (int32_t)i;
}

/* A view of @numbers, or of @memory with other elements. */
static struct dray_view view_in(void *memory, dray_dtype dtype,
				const struct form *form)
{
	uint32_t itemsize = dray_dtype_itemsize(dtype);
	int64_t strides[6], any = 0;
	struct dray_view view;

	for (int i = 0; i < form->ndim; i++) {
		strides[i] = form->strides[i] * itemsize;
		any |= strides[i];
	}
	assert_works(dray_view_init(&view,
				    (char *)memory + form->first * itemsize,
				    dtype, form->ndim, form->shape,
				    any ? strides : NULL));
	return view;
}

__attribute__((unused)) static struct dray_view
view_of(const struct form *form)
{
	return view_in(numbers, DRAY_INT32, form);
}

/* Makes an iterator over views[0], views[1], ... */
__attribute__((unused)) static struct dray_nditer *
iterate(const struct dray_view *views, int count,
	const struct dray_nditer_options *options)
{
	const struct dray_view *of[DRAY_MAX_OPERANDS];
	struct dray_nditer *iter;

	for (int o = 0; o < count; o++)
		of[o] = views[o].dtype ? &views[o] : NULL;
	assert_works(dray_nditer_create(of, count, options, &iter));
	return iter;
}

__attribute__((unused)) static int32_t int_at(const char *at)
{
	int32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

__attribute__((unused)) static double double_at(const char *at)
{
	double value;

	memcpy(&value, at, sizeof(value));
	return value;
}

#endif /* DRAY_TESTS_NDITER_H */
