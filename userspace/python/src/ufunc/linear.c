// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Products of matrices and vectors: dray.matmul(), dot(), vecdot() and others.  NumPy
 * multiplies matrices of floats, where they lie, if the library found no fast BLAS:
 * its wheels bring their own.
 */
#include <dray/array/linear.h>

#include "frame/ufunc.h"

typedef int product(const struct dray_view *a, const struct dray_view *b,
		    const struct dray_view *to, struct dray_array **out);

/* Makes an array of NumPy over a matrix, for as long as that stays. */
static PyObject *linear_matrix(const struct dray_view *view)
{
	npy_intp shape[2] = { (npy_intp)view->shape[0],
			      (npy_intp)view->shape[1] };
	npy_intp strides[2] = { (npy_intp)view->strides[0],
				(npy_intp)view->strides[1] };
	PyArray_Descr *descr = dtype_descr(view->dtype);

	return descr ? PyArray_NewFromDescr(&PyArray_Type, descr, 2, shape,
					    strides, view->data,
					    view->flags & DRAY_WRITE
						    ? NPY_ARRAY_WRITEABLE
						    : 0,
					    NULL)
		     : NULL;
}

/* Multiplies by NumPy, which writes to dense rows; others are copied there. */
static int linear_into(PyObject *a, PyObject *b, PyArrayObject *to)
{
	const bool dense = PyArray_IS_C_CONTIGUOUS(to);
	PyObject *made = PyArray_MatrixProduct2(a, b, dense ? to : NULL);
	int ret = made ? 0 : -1;

	if (made && !dense)
		ret = PyArray_CopyInto(to, (PyArrayObject *)made);
	Py_XDECREF(made);
	return ret;
}

/* Called by the library, within linear_multiply(). */
static int linear_by_numpy(void *context, const struct dray_view *a,
			   const struct dray_view *b,
			   const struct dray_view *to)
{
	struct ufunc_frame *frame = context;
	PyObject *left, *right, *result;
	int ret = -1;

	if (frame->thread)
		PyEval_RestoreThread(frame->thread);
	left = linear_matrix(a);
	right = left ? linear_matrix(b) : NULL;
	result = right ? linear_matrix(to) : NULL;
	if (result)
		ret = linear_into(left, right, (PyArrayObject *)result);
	if (ret)
		PyErr_Clear(); /* The library computes itself. */
	Py_XDECREF(result);
	Py_XDECREF(right);
	Py_XDECREF(left);
	if (frame->thread)
		frame->thread = PyEval_SaveThread();
	return ret;
}

static PyObject *linear_multiply(struct module_state *state, PyObject *a,
				 PyObject *b, PyObject *out, product *call)
{
	struct ufunc_operand operands[3];
	struct dray_array *made = NULL;
	PyObject *to = NULL, *result = NULL;
	struct ufunc_frame frame;
	bool weak;
	int i, ret;

	for (i = 0; i < 3; i++)
		operand_clear(&operands[i]);
	if (!operand_from(a, &operands[0], &weak) &&
	    !operand_from(b, &operands[1], &weak) &&
	    !operand_single(out, &operands[2], &to) &&
	    !operands_check(operands, 3) &&
	    !ufunc_enter(&frame, state, !to, ufunc_elements(operands, 2))) {
		dray_set_multiplier(linear_by_numpy, &frame);
		ret = call(&operands[0].view, &operands[1].view,
			   to ? &operands[2].view : NULL, &made);
		dray_set_multiplier(NULL, NULL);
		if (!ufunc_leave(&frame, ret))
			result = to ? Py_NewRef(to)
				    : ufunc_result(&frame, made, true);
		else
			dray_array_unref(made);
		ufunc_end(&frame);
	}
	for (i = 0; i < 3; i++)
		operand_drop(&operands[i]);
	return result;
}

/* Takes the operands and out=. */
static PyObject *linear_called(PyObject *module, PyObject *args,
			       PyObject *keywords, product *call,
			       const char *format)
{
	static char *names[] = { "", "", "out", NULL };
	PyObject *a, *b, *out = Py_None;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, format, names, &a, &b,
					 &out))
		return NULL;
	return linear_multiply(module_state(module), a, b, out, call);
}

PyObject *linear_product(struct module_state *state, PyObject *a, PyObject *b,
			 PyObject *out)
{
	return linear_multiply(state, a, b, out, dray_matmul);
}

PyObject *linear_dot_product(struct module_state *state, PyObject *a,
			     PyObject *b, PyObject *out)
{
	return linear_multiply(state, a, b, out, dray_dot);
}

#define FUNCTION(name)                                                    \
	PyObject *linear_##name(PyObject *module, PyObject *args,         \
				PyObject *keywords)                       \
	{                                                                 \
		return linear_called(module, args, keywords, dray_##name, \
				     "OO|$O:" #name);                     \
	}

FUNCTION(matmul)
FUNCTION(matvec)
FUNCTION(vecmat)
FUNCTION(vecdot)

/* As NumPy's, which takes the output by its place too. */
PyObject *linear_dot(PyObject *module, PyObject *args, PyObject *keywords)
{
	return linear_called(module, args, keywords, dray_dot, "OO|O:dot");
}
