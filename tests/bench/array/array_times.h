/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Timed calls, by NumPy's C API and by libdray, on the same arrays. */
#ifndef ARRAY_TIMES_H
#define ARRAY_TIMES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL array_times_numpy
#include <numpy/arrayobject.h>

#include <dray/array/array.h>

struct call {
	PyArrayObject *dst;
	PyArrayObject *src;
	PyArrayObject *index; /* may be NULL */
	struct dray_view to; /* the same arrays */
	struct dray_view from;
	struct dray_view by;
	size_t bytes; /* of the destination */
};

/* One call; below 0 after a failure. */
typedef int contender_call(const struct call *call);

/* Tables of them end with an empty entry. */
struct contender {
	const char *name;
	contender_call *call;
};

extern const struct contender copy_contenders[];
extern const struct contender view_contenders[];
extern const struct contender walk_contenders[];
extern const struct contender index_contenders[];

/* Makes the index of the row of slices. */
int view_contenders_init(void);

/* Describes an array of NumPy as a view of dray; a failure leaves an error of Python. */
int view_of(PyArrayObject *array, struct dray_view *view);

/* Makes a module of Python, once in a process, and finds NumPy. */
PyObject *make_module(const char *name, PyMethodDef *methods);

/*
 * Seconds of this thread, so that other programs do not count; or that pass, for
 * contenders with "clock" in their names.
 */
double seconds(const char *contender);

/* Drops an object that NumPy returns; NULL is a failure. */
static inline int drop_object(PyObject *object)
{
	if (!object)
		return -1;
	Py_DECREF(object);
	return 0;
}

/* Drops the array that a call of dray makes, if it did not fail. */
static inline int drop_array(int ret, struct dray_array **array)
{
	if (!ret)
		dray_array_unref(*array);
	return ret;
}

#endif /* ARRAY_TIMES_H */
