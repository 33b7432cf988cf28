// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Runs a user's loop over core axes, the last axes of each operand: dray/_core.py finds
 * the loop, and brings all operands to its types and to a common shape before.
 */
#include <errno.h>
#include <fenv.h>
#include <string.h>

#include <dray/array/iterator.h>

#include "frame/ufunc.h"

#define CORE_MOST_ERRNO 4095
#define CORE_AXES (DRAY_UFUNC_MAX_OPERANDS * DRAY_MAX_NDIM)

/* NumPy's arguments of such a loop, and the result of a dray_loop. */
typedef int core_loop(char *const *data, const int64_t *dimensions,
		      const int64_t *steps, void *context);

struct core_call {
	core_loop *loop;
	void *context;
	int operands;
	int ndim; /* axes of loops */
	struct dray_view views[DRAY_UFUNC_MAX_OPERANDS]; /* these axes alone */
	/* elements of the last of them, then the extents of core axes */
	int64_t dimensions[1 + CORE_AXES];
	/* strides along it, then along the core axes of each operand */
	int64_t steps[DRAY_UFUNC_MAX_OPERANDS + CORE_AXES];
};

static int core_result(int ret)
{
	if (ret > 0 || ret < -CORE_MOST_ERRNO)
		return dray_fail(
			-EIO,
			"a loop of the user returned %d, which is neither 0 nor a negative errno",
			ret);
	if (ret && !*dray_last_error())
		return dray_fail(ret, "a loop of the user failed: %s",
				 strerror(-ret));
	return ret;
}

static int core_compute(const struct core_call *call)
{
	const struct dray_view *views[DRAY_UFUNC_MAX_OPERANDS];
	struct dray_multi it;
	int i, ret;

	for (i = 0; i < call->operands; i++)
		views[i] = &call->views[i];
	ret = dray_multi_init(&it, views, call->operands);
	if (!ret)
		dray_fail(0, "%s", "");
	for (; !ret && dray_multi_more(&it); dray_multi_next(&it))
		ret = core_result(call->loop(it.data, call->dimensions,
					     call->steps, call->context));
	return ret;
}

/* Keeps the axes of loops but the last, along which the loop itself walks. */
static int core_operand(struct core_call *call, PyObject *object, int i,
			int *axes)
{
	const int inner = call->ndim ? call->ndim - 1 : 0;
	struct dray_view whole;
	int axis;

	if (!PyArray_Check(object)) {
		PyErr_SetString(PyExc_TypeError,
				"operands are arrays of NumPy");
		return -1;
	}
	if (array_describe((PyArrayObject *)object, &whole))
		return -1;
	dray_dtype_unref(whole.dtype);
	for (axis = call->ndim; axis < whole.ndim; axis++)
		call->steps[call->operands + (*axes)++] = whole.strides[axis];
	call->steps[i] = call->ndim ? whole.strides[inner] : 0;
	whole.dtype = DRAY_UINT8;
	whole.ndim = inner;
	dray_view_copy(&call->views[i], &whole);
	return 0;
}

/* Takes (address, context, operands, axes of loops, dimensions). */
static int core_take(PyObject *args, struct core_call *call)
{
	unsigned long long address, context;
	PyObject *operands, *dimensions;
	int i, axes = 0, ret = 0;

	if (!PyArg_ParseTuple(args, "KKO!iO!", &address, &context,
			      &PyTuple_Type, &operands, &call->ndim,
			      &PyTuple_Type, &dimensions))
		return -1;
	call->loop = (core_loop *)(uintptr_t)address;
	call->context = (void *)(uintptr_t)context;
	call->operands = (int)PyTuple_GET_SIZE(operands);
	if (call->operands > DRAY_UFUNC_MAX_OPERANDS ||
	    PyTuple_GET_SIZE(dimensions) > 1 + CORE_AXES) {
		PyErr_SetString(PyExc_ValueError, "too many operands");
		return -1;
	}
	for (i = 0; i < call->operands && !ret; i++)
		ret = core_operand(call, PyTuple_GET_ITEM(operands, i), i,
				   &axes);
	for (i = 0; i < PyTuple_GET_SIZE(dimensions) && !ret; i++) {
		call->dimensions[i] =
			PyLong_AsLongLong(PyTuple_GET_ITEM(dimensions, i));
		ret = call->dimensions[i] == -1 ? -1 : 0;
	}
	return ret;
}

/* Returns NumPy's bits of the errors of numbers. */
static long core_errors(void)
{
	const int raised = fetestexcept(FE_ALL_EXCEPT);

	return (raised & FE_DIVBYZERO ? 1 : 0) |
	       (raised & FE_OVERFLOW ? 2 : 0) |
	       (raised & FE_UNDERFLOW ? 4 : 0) | (raised & FE_INVALID ? 8 : 0);
}

PyObject *ufunc_run_core(PyObject *module, PyObject *args)
{
	struct core_call *call = PyMem_Calloc(1, sizeof(*call));
	struct ufunc_frame frame;
	PyObject *result = NULL;
	long errors = 0;
	int ret;

	if (!call)
		return PyErr_NoMemory();
	if (!core_take(args, call) &&
	    !ufunc_enter(&frame, module_state(module), false, INT64_MAX)) {
		feclearexcept(FE_ALL_EXCEPT);
		ret = core_compute(call);
		errors = core_errors();
		feclearexcept(FE_ALL_EXCEPT);
		if (!ufunc_leave(&frame, ret))
			result = PyLong_FromLong(errors);
		ufunc_end(&frame);
	}
	PyMem_Free(call);
	return result;
}
