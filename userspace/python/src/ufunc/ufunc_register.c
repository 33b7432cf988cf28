// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Loops of the user: functions of ctypes, Numba's cfunc, and addresses.  Their owners
 * stay as long as the ufunc: its tables keep loops that were replaced.
 */
#include <errno.h>

#include "frame/ufunc.h"

/*
 * Returns the address of a function of ctypes or, of a context, that of an object of
 * ctypes; NULL, perhaps with an exception.
 */
static void *ctypes_address(PyObject *object, bool function)
{
	PyObject *ctypes = PyImport_ImportModule("ctypes");
	PyObject *class, *pointer = NULL, *value = NULL;
	void *address = NULL;
	int is;

	class = ctypes ? PyObject_GetAttrString(ctypes, "_CFuncPtr") : NULL;
	is = class ? PyObject_IsInstance(object, class) : -1;
	Py_XDECREF(class);
	if (is > 0) {
		class = PyObject_GetAttrString(ctypes, "c_void_p");
		if (class)
			pointer = PyObject_CallMethod(ctypes, "cast", "OO",
						      object, class);
		Py_XDECREF(class);
		if (pointer)
			value = PyObject_GetAttrString(pointer, "value");
		Py_XDECREF(pointer);
	} else if (!is && !function) {
		value = PyObject_CallMethod(ctypes, "addressof", "O", object);
	}
	Py_XDECREF(ctypes);
	if (value && value != Py_None)
		address = PyLong_AsVoidPtr(value);
	Py_XDECREF(value);
	return address;
}

/* Returns the address that an int is, NULL with an exception or for 0. */
static void *int_address(PyObject *number)
{
	size_t address = PyLong_AsSize_t(number);

	return PyErr_Occurred() ? NULL : (void *)(uintptr_t)address;
}

/* Returns an address, NULL with an exception. */
static void *register_address_of(PyObject *object, bool function)
{
	PyObject *number = NULL;
	void *address = NULL;

	if (PyLong_Check(object) && !PyBool_Check(object)) {
		address = int_address(object);
	} else {
		if (function)
			number = PyObject_GetAttrString(object, "address");
		if (number)
			address = int_address(number);
		else if (!function ||
			 PyErr_ExceptionMatches(PyExc_AttributeError)) {
			PyErr_Clear();
			address = ctypes_address(object, function);
		}
		Py_XDECREF(number);
	}
	if (!address && !PyErr_Occurred())
		PyErr_Format(
			PyExc_TypeError,
			"a loop is a function of ctypes, a cfunc of Numba or an address, not %R",
			object);
	return address;
}

/* Takes the types of a loop: "dd->d", or a sequence of types. */
static int types_take(const struct ufunc_object *self, PyObject *object,
		      dray_dtype *out)
{
	const int count = self->inputs + self->outputs;
	PyObject *list, *arrow = NULL, *empty = NULL, *text;
	int o, ret = 0;

	if (PyUnicode_Check(object)) {
		arrow = PyUnicode_FromString("->");
		empty = PyUnicode_FromString("");
		text = arrow && empty
			       ? PyUnicode_Replace(object, arrow, empty, 1)
			       : NULL;
		list = text ? PySequence_List(text) : NULL;
		Py_XDECREF(text);
		Py_XDECREF(arrow);
		Py_XDECREF(empty);
	} else {
		list = PySequence_List(object);
	}
	if (!list)
		return -1;
	if (PyList_GET_SIZE(list) != count) {
		PyErr_Format(PyExc_ValueError,
			     "a loop of %s has %d types, not %zd",
			     dray_ufunc_name(self->ufunc), count,
			     PyList_GET_SIZE(list));
		ret = -1;
	}
	for (o = 0; o < count && !ret; o++)
		ret = dtype_take_object(PyList_GET_ITEM(list, o), &out[o]);
	Py_DECREF(list);
	return ret;
}

static int ufunc_register_keep(struct ufunc_object *self, PyObject *loop,
			       PyObject *context)
{
	PyObject *pair = PyTuple_Pack(2, loop, context);
	int ret = pair ? PyList_Append(self->kept, pair) : -1;

	Py_XDECREF(pair);
	return ret;
}

static int set_loop(struct ufunc_object *self, PyObject *loop,
		    PyObject *context, const dray_dtype *dtypes, int fp_errors)
{
	struct dray_ufunc_loop entry = {
		.flags = fp_errors ? 0 : DRAY_LOOP_NO_FP_ERRORS,
	};
	void *address = register_address_of(loop, true);
	int ret;

	if (!address)
		return -1;
	entry.loop = (dray_loop *)(uintptr_t)address;
	if (context != Py_None) {
		entry.context = register_address_of(context, false);
		if (!entry.context)
			return -1;
	}
	/* Before it may be called. */
	if (ufunc_register_keep(self, loop, context))
		return -1;
	ret = dray_ufunc_set_loop(self->ufunc, dtypes, &entry);
	if (ret)
		raise_array_error(ARRAY_SHAPE, ret);
	return ret ? -1 : 0;
}

PyObject *ufunc_register(PyObject *object, PyObject *const *args,
			 Py_ssize_t count, PyObject *names)
{
	static const struct signature signature = {
		"register",
		2,
		3,
		{ { "types", object_take },
		  { "loop", object_take },
		  { "context", object_take },
		  { "fp_errors", truth_take } }
	};
	dray_dtype dtypes[DRAY_UFUNC_MAX_OPERANDS] = { 0 };
	PyObject *types, *loop, *context = Py_None;
	struct ufunc_object *self = ufunc_self(object);
	int fp_errors = 1, ret, o;

	if (arguments_take(&signature, args, count, names,
			   (void *[]){ &types, &loop, &context, &fp_errors }))
		return NULL;
	ret = types_take(self, types, dtypes);
	if (!ret)
		ret = set_loop(self, loop, context, dtypes, fp_errors);
	for (o = 0; o < self->inputs + self->outputs; o++)
		dray_dtype_unref(dtypes[o]);
	if (ret)
		return NULL;
	Py_RETURN_NONE;
}
