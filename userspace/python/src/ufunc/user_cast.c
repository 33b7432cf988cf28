// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Conversions of user types, for dray/_types.py, and descriptions of any type. */
#include <errno.h>
#include <string.h>

#include "object/user_type.h"
#include "ufunc/ufunc_function.h"

/* A loop from one type to another takes the destination first. */
static int cast_run(char *const *data, const int64_t *strides, int64_t count,
		    void *context)
{
	char *const swapped[] = { data[1], data[0] };
	const int64_t steps[] = { strides[1], strides[0] };

	return function_loop_run(swapped, steps, count, context);
}

/* Adds a conversion; without an address @loop is a function of Python. */
static int cast_add(PyObject *type, const dray_dtype *dtypes, uintptr_t address,
		    uintptr_t context, int level, PyObject *loop,
		    PyObject *owners)
{
	PyObject *capsule, *all;
	int ret = -1;

	if (address)
		return user_type_add_cast(
			type, dtypes[0], dtypes[1], (dray_loop *)address,
			/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
			(void *)context, level, owners);
	capsule = function_loop_new(dtypes, 1, 1, loop);
	all = capsule ? PyTuple_Pack(2, owners, capsule) : NULL;
	if (all)
		ret = user_type_add_cast(type, dtypes[0], dtypes[1], cast_run,
					 function_loop_context(capsule), level,
					 all);
	Py_XDECREF(all);
	Py_XDECREF(capsule);
	return ret;
}

/* (type, from, to, address, context, level, loop, owner of the context) */
PyObject *user_type_cast(PyObject *module, PyObject *args)
{
	PyObject *type, *from, *to, *loop, *owner, *owners;
	unsigned long long address, context;
	dray_dtype dtypes[2] = { 0, 0 };
	int level, ret;

	(void)module;
	if (!PyArg_ParseTuple(args, "OOOKKiOO", &type, &from, &to, &address,
			      &context, &level, &loop, &owner))
		return NULL;
	if (!user_type_is(type))
		return PyErr_Format(PyExc_TypeError,
				    "a dray.UserType is needed, not %R", type);
	owners = PyTuple_Pack(4, loop, owner, from, to);
	ret = !owners || dtype_take_object(from, &dtypes[0]) ||
	      dtype_take_object(to, &dtypes[1]) ||
	      cast_add(type, dtypes, (uintptr_t)address, (uintptr_t)context,
		       level, loop, owners);
	Py_XDECREF(owners);
	dray_dtype_unref(dtypes[0]);
	dray_dtype_unref(dtypes[1]);
	return ret ? NULL : Py_NewRef(Py_None);
}

/* Makes the tuple of a type, of which @array has no elements. */
static PyObject *info_of(dray_dtype dtype, const struct dray_array *array)
{
	const struct dray_dtype_functions *of = dray_dtype_functions(dtype);
	const size_t meta = array->meta_size - sizeof(struct dray_array_axis);
	char text[128];

	if (dray_dtype_format(dtype, text, sizeof(text)) < 0)
		text[0] = 0;
#define ADDRESS(function) #function, (unsigned long long)(uintptr_t)of->function
	return Py_BuildValue("(sCIIn{sKsKsKsKsKsKsKsK})", text,
			     dray_dtype_kind(dtype), dray_dtype_itemsize(dtype),
			     dray_dtype_alignment(dtype), (Py_ssize_t)meta,
			     ADDRESS(get), ADDRESS(set), ADDRESS(copyswap),
			     ADDRESS(nonzero), ADDRESS(compare), ADDRESS(fill),
			     ADDRESS(argmax), ADDRESS(cast));
#undef ADDRESS
}

/* (name, kind, itemsize, alignment, meta_size, functions) */
PyObject *type_info(PyObject *module, PyObject *object)
{
	const int64_t none = 0;
	struct dray_array *array;
	PyObject *result = NULL;
	dray_dtype dtype;
	int ret;

	(void)module;
	if (dtype_take_object(object, &dtype))
		return NULL;
	ret = dray_array_empty(dtype, 1, &none, &array);
	if (ret) {
		raise_array_error(ARRAY_TYPE, ret);
	} else {
		result = info_of(dtype, array);
		dray_array_unref(array);
	}
	dray_dtype_unref(dtype);
	return result;
}
