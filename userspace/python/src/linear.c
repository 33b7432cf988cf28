// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Products of matrices and vectors: dray.matmul(), dot() and vecdot(). */
#include <dray/linear.h>

#include "ufunc.h"

typedef int product(const struct dray_view *a, const struct dray_view *b,
		    const struct dray_view *to, struct dray_array **out);

/* Takes the operands and out=. */
static int take(PyObject *args, PyObject *keywords, const char *format,
		struct ufunc_operand operands[3], PyObject **to)
{
	static char *names[] = { "", "", "out", NULL };
	PyObject *a, *b, *out = Py_None;
	bool weak;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, format, names, &a, &b,
					 &out))
		return -1;
	return operand_from(a, &operands[0], &weak) ||
	       operand_from(b, &operands[1], &weak) ||
	       operand_single(out, &operands[2], to);
}

static PyObject *multiply(PyObject *module, PyObject *args, PyObject *keywords,
			  product *call, const char *format)
{
	struct ufunc_operand operands[3];
	struct dray_array *made = NULL;
	PyObject *to = NULL, *result = NULL;
	struct ufunc_frame frame;
	int i, ret;

	for (i = 0; i < 3; i++)
		operand_clear(&operands[i]);
	if (!take(args, keywords, format, operands, &to) &&
	    !ufunc_enter(&frame, module_state(module), true,
			 ufunc_elements(operands, 2))) {
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

PyObject *linear_matmul(PyObject *module, PyObject *args, PyObject *keywords)
{
	return multiply(module, args, keywords, dray_matmul, "OO|$O:matmul");
}

PyObject *linear_dot(PyObject *module, PyObject *args, PyObject *keywords)
{
	return multiply(module, args, keywords, dray_dot, "OO|$O:dot");
}

PyObject *linear_vecdot(PyObject *module, PyObject *args, PyObject *keywords)
{
	return multiply(module, args, keywords, dray_vecdot, "OO|$O:vecdot");
}
