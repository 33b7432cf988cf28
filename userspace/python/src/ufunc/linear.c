// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Products of matrices and vectors: dray.matmul(), dot(), vecdot() and others. */
#include <dray/array/linear.h>

#include "frame/ufunc.h"

typedef int product(const struct dray_view *a, const struct dray_view *b,
		    const struct dray_view *to, struct dray_array **out);

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
		ret = call(&operands[0].view, &operands[1].view,
			   to ? &operands[2].view : NULL, &made);
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
