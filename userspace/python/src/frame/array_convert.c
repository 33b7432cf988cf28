// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Conversions of elements: reactions to errors of numbers are those of operators, and
 * a lost imaginary part is NumPy's warning.
 */
#include "frame/array_convert.h"

/* Whether imaginary parts are lost, of fields by their places too. */
static bool loses_parts(dray_dtype from, dray_dtype to)
{
	const size_t given = dray_dtype_field_count(dray_dtype_base(from));
	const size_t count = dray_dtype_field_count(dray_dtype_base(to));
	struct dray_dtype_field source, target;
	size_t i;

	from = dray_dtype_base(from);
	to = dray_dtype_base(to);
	source.dtype = from;
	for (i = 0; i < count && (!given || i < given); i++) {
		if (given)
			dray_dtype_get_field(from, i, &source);
		dray_dtype_get_field(to, i, &target);
		if (loses_parts(source.dtype, target.dtype))
			return true;
	}
	if (count)
		return false;
	if (given == 1)
		dray_dtype_get_field(from, 0, &source);
	return to && dray_dtype_kind(source.dtype) == 'c' &&
	       strchr("iuf", dray_dtype_kind(to));
}

int array_warn_of_parts(dray_dtype from, dray_dtype to)
{
	PyObject *class;
	int ret;

	if (!loses_parts(from, to))
		return 0;
	class = numpy_exception("ComplexWarning");
	ret = class ? PyErr_WarnEx(
			      class,
			      "Casting complex values to real discards the imaginary part",
			      1)
		    : -1;
	Py_XDECREF(class);
	return ret;
}

int array_convert_enter(struct array_conversion *conversion, PyObject *array,
			dray_dtype from, dray_dtype to)
{
	conversion->entered = false;
	if (dray_dtype_equal(from, to))
		return 0;
	if (array_warn_of_parts(from, to) ||
	    ufunc_enter(&conversion->frame, type_state(array), false, 0))
		return -1;
	conversion->entered = true;
	return 0;
}

int array_convert_leave(struct array_conversion *conversion)
{
	PyObject *type, *value, *traceback;
	int ret;

	if (!conversion->entered)
		return PyErr_Occurred() ? -1 : 0;
	PyErr_Fetch(&type, &value, &traceback);
	ret = ufunc_close(&conversion->frame);
	if (!type)
		return ret;
	PyErr_Restore(type, value, traceback);
	return -1;
}
