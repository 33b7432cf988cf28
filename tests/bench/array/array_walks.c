// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Iterators, from their start to their end: each adds elements of 8 bytes. */
#define NO_IMPORT_ARRAY
#include "array_times.h"

#include <dray/array/nditer.h>

/* Keeps the sums. */
static volatile uint64_t sink;

static uint64_t element(const void *data)
{
	return *(const uint64_t *)data;
}

static int iterator_numpy(const struct call *call)
{
	PyObject *it = PyArray_IterNew((PyObject *)call->src);
	uint64_t sum = 0;

	if (!it)
		return -1;
	while (PyArray_ITER_NOTDONE(it)) {
		sum += element(PyArray_ITER_DATA(it));
		PyArray_ITER_NEXT(it);
	}
	sink = sum;
	return drop_object(it);
}

static int iterator_dray(const struct call *call)
{
	struct dray_iterator it;
	uint64_t sum = 0;

	if (dray_iterator_init(&it, &call->from))
		return -1;
	for (; dray_iterator_more(&it); dray_iterator_next(&it))
		sum += element(it.data);
	sink = sum;
	return 0;
}

static int nditer_numpy(const struct call *call)
{
	NpyIter *it = NpyIter_New(call->src, NPY_ITER_READONLY, NPY_KEEPORDER,
				  NPY_NO_CASTING, NULL);
	NpyIter_IterNextFunc *next;
	uint64_t sum = 0;
	char **data;

	if (!it)
		return -1;
	next = NpyIter_GetIterNext(it, NULL);
	data = NpyIter_GetDataPtrArray(it);
	do
		sum += element(data[0]);
	while (next(it));
	sink = sum;
	return NpyIter_Deallocate(it) ? 0 : -1;
}

static int nditer_dray(const struct call *call)
{
	const struct dray_view *views[] = { &call->from };
	dray_nditer_step_fn *next;
	struct dray_nditer *it;
	uint64_t sum = 0;
	char **data;

	if (dray_nditer_create(views, 1, NULL, &it))
		return -1;
	next = dray_nditer_step(it);
	data = dray_nditer_data(it);
	do
		sum += element(data[0]);
	while (next(it));
	sink = sum;
	return dray_nditer_destroy(it);
}

static uint64_t line(const char *data, int64_t stride, int64_t count)
{
	uint64_t sum = 0;

	for (; count > 0; count--, data += stride)
		sum += element(data);
	return sum;
}

static int lines_numpy(const struct call *call)
{
	NpyIter *it = NpyIter_New(call->src,
				  NPY_ITER_READONLY | NPY_ITER_EXTERNAL_LOOP,
				  NPY_KEEPORDER, NPY_NO_CASTING, NULL);
	NpyIter_IterNextFunc *next;
	npy_intp *strides, *count;
	uint64_t sum = 0;
	char **data;

	if (!it)
		return -1;
	next = NpyIter_GetIterNext(it, NULL);
	data = NpyIter_GetDataPtrArray(it);
	strides = NpyIter_GetInnerStrideArray(it);
	count = NpyIter_GetInnerLoopSizePtr(it);
	do
		sum += line(data[0], strides[0], *count);
	while (next(it));
	sink = sum;
	return NpyIter_Deallocate(it) ? 0 : -1;
}

static int lines_dray(const struct call *call)
{
	const struct dray_nditer_options options = {
		.flags = DRAY_NDITER_EXTERNAL_LOOP,
	};
	const struct dray_view *views[] = { &call->from };
	const int64_t *strides, *count;
	dray_nditer_step_fn *next;
	struct dray_nditer *it;
	uint64_t sum = 0;
	char **data;

	if (dray_nditer_create(views, 1, &options, &it))
		return -1;
	next = dray_nditer_step(it);
	data = dray_nditer_data(it);
	strides = dray_nditer_strides(it);
	count = dray_nditer_count(it);
	do
		sum += line(data[0], strides[0], *count);
	while (next(it));
	sink = sum;
	return dray_nditer_destroy(it);
}

const struct contender walk_contenders[] = {
	{ "iterator NumPy", iterator_numpy },
	{ "iterator dray", iterator_dray },
	{ "nditer NumPy", nditer_numpy },
	{ "nditer dray", nditer_dray },
	{ "nditer, inner loops NumPy", lines_numpy },
	{ "nditer, inner loops dray", lines_dray },
	{ NULL, NULL },
};
