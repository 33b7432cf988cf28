// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Elements by arrays of integers and booleans, sorted, and searched. */
#define NO_IMPORT_ARRAY
#include "array_times.h"

#include <string.h>

#include <dray/array/index.h>
#include <dray/array/sorting.h>

static int take_numpy(const struct call *call)
{
	return drop_object(PyArray_TakeFrom(call->src, (PyObject *)call->index,
					    0, NULL, NPY_RAISE));
}

static int take_dray(const struct call *call)
{
	struct dray_array *array;

	return drop_array(dray_take(&call->from, &call->by, 0, DRAY_INDEX_RAISE,
				    &array),
			  &array);
}

static int put_numpy(const struct call *call)
{
	return drop_object(PyArray_PutTo(call->dst, (PyObject *)call->src,
					 (PyObject *)call->index, NPY_RAISE));
}

static int put_dray(const struct call *call)
{
	return dray_put(&call->to, &call->by, &call->from, DRAY_INDEX_RAISE);
}

static int get_numpy(const struct call *call)
{
	return drop_object(PyObject_GetItem((PyObject *)call->src,
					    (PyObject *)call->index));
}

static int get_dray(const struct call *call)
{
	const struct dray_index index = DRAY_BY(&call->by);
	struct dray_array *array;

	return drop_array(dray_index_get(&call->from, &index, 1, &array),
			  &array);
}

static int set_numpy(const struct call *call)
{
	return PyObject_SetItem((PyObject *)call->dst, (PyObject *)call->index,
				(PyObject *)call->src);
}

static int set_dray(const struct call *call)
{
	const struct dray_index index = DRAY_BY(&call->by);

	return dray_index_set(&call->to, &index, 1, &call->from);
}

static int nonzero_numpy(const struct call *call)
{
	return drop_object(PyArray_Nonzero(call->src));
}

/* Of one axis. */
static int nonzero_dray(const struct call *call)
{
	struct dray_array *array;

	return drop_array(dray_nonzero(&call->from, &array), &array);
}

/* The same for all: sorted elements would be sorted faster the next time. */
static void shuffle(const struct call *call)
{
	memcpy(call->to.data, call->from.data, call->bytes);
}

static int sort_numpy(const struct call *call)
{
	shuffle(call);
	return PyArray_Sort(call->dst, 0, NPY_QUICKSORT);
}

static int sort_stable_numpy(const struct call *call)
{
	shuffle(call);
	return PyArray_Sort(call->dst, 0, NPY_STABLESORT);
}

static int sort_dray(const struct call *call)
{
	shuffle(call);
	return dray_sort(&call->to, 0);
}

static int argmax_numpy(const struct call *call)
{
	return drop_object(PyArray_ArgMax(call->src, 0, NULL));
}

static int argmax_dray(const struct call *call)
{
	struct dray_array *array;

	return drop_array(dray_argmax(&call->from, 0, &array), &array);
}

const struct contender index_contenders[] = {
	{ "take NumPy", take_numpy },
	{ "take dray", take_dray },
	{ "put NumPy", put_numpy },
	{ "put dray", put_dray },
	{ "get NumPy", get_numpy },
	{ "get dray", get_dray },
	{ "set NumPy", set_numpy },
	{ "set dray", set_dray },
	{ "nonzero NumPy", nonzero_numpy },
	{ "nonzero dray", nonzero_dray },
	{ "sort NumPy", sort_numpy },
	{ "stable sort NumPy", sort_stable_numpy },
	{ "sort dray", sort_dray },
	{ "argmax NumPy", argmax_numpy },
	{ "argmax dray", argmax_dray },
	{ NULL, NULL },
};
