/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Arguments of functions along axes: methods of ufuncs and of dray.Array. */
#ifndef DRAY_PYTHON_UFUNC_ALONG_H
#define DRAY_PYTHON_UFUNC_ALONG_H

#include <dray/array/reduce.h>

#include "object/array_numbers.h"
#include "frame/ufunc.h"

#define ALONG_FEW 16 /* indices that need no array */

/* Operands, and arguments as the caller passed them; ufunc_along.c. */
struct along {
	struct module_state *state;
	struct dray_ufunc *ufunc; /* of a method of a ufunc */
	double ddof;
	struct ufunc_operand in;
	struct ufunc_operand indices;
	int64_t few[ALONG_FEW]; /* memory of the indices of a short list */
	struct ufunc_operand to;
	struct ufunc_operand initial;
	struct ufunc_operand mask;
	PyObject *output; /* borrowed; NULL: made */
	dray_dtype dtype;
	PyObject *array, *out, *first, *where, *mean,
		*numbers; /* as the caller passed them */
	PyArray_Descr *descr;
	struct numbers axes;
	bool several; /* axes in a tuple */
	int axis;
	int keepdims;
	bool element; /* results without axes are elements */
};

/* A call of the library. */
typedef int along_function(struct along *from, const struct dray_view *to,
			   struct dray_array **out);

/*
 * Converts axes into @axes, and notices a tuple; for a parameter, with the struct
 * along itself.
 */
int along_axes_take(PyObject *argument, void *out);
/* Converts an int, as NumPy does, for a parameter: other objects have no truth. */
int along_keepdims_take(PyObject *argument, void *out);
/* Sets defaults, axis 0; along_end() follows, after a failure too. */
void along_begin(struct along *from, struct module_state *state);
void along_end(struct along *from);
/* Reads the array, the type and the output. */
int along_operands(struct along *from);
/* Reads these, and a reduction's axes, initial element and mask. */
int along_reduction(struct along *from);
/* Fills the library's options of a reduction. */
struct dray_reduce_options *along_options(struct along *from,
					  struct dray_reduce_options *out);
/* Sets @axis to the only axis of the arguments, which exists. */
int along_one_axis(struct along *from, const char *method);
/* operands_check() of all operands. */
int along_check_operands(const struct along *from);
/* Raises NumPy's AxisError unless there is such an axis. */
int along_check_axis(int64_t axis, int ndim);
/* Calls a function of the library, and makes the result of Python. */
PyObject *along_compute(struct along *from, along_function *function);

#endif /* DRAY_PYTHON_UFUNC_ALONG_H */
