// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Loops that call a function of Python for each element, with numbers as NumPy's item()
 * returns them.  A loop acquires the GIL once.  The exception of a function stays in its
 * thread until the call of the library returns; in a thread of the library, which Python
 * does not know, it becomes the sentence of the failure.
 */
#include <errno.h>
#include <string.h>

#include "object/user_type.h"
#include "ufunc/ufunc_function.h"

#define FUNCTION_CAPSULE "dray.function"

/* Loops inside of each other: each call needs much of the stack. */
#define FUNCTION_MOST_NESTED 32
static _Thread_local int function_depth;

struct function_loop {
	PyObject *function; /* borrowed: the ufunc keeps it */
	int inputs;
	int outputs;
	/* arrays without axes: their types read and write elements */
	PyArrayObject *types[DRAY_UFUNC_MAX_OPERANDS];
	/* or user types, borrowed: the types of the loop keep them */
	PyObject *users[DRAY_UFUNC_MAX_OPERANDS];
};

/* Reads an element of each input. */
static int function_read(const struct function_loop *loop, char *const *data,
			 const int64_t *strides, int64_t i, PyObject **args)
{
	int o;

	for (o = 0; o < loop->inputs; o++) {
		char *element = data[o] + i * strides[o];

		args[o] = loop->users[o]
				  ? user_type_value(loop->users[o], element)
				  : PyArray_GETITEM(loop->types[o], element);
		if (!args[o])
			break;
	}
	if (o == loop->inputs)
		return 0;
	while (o--)
		Py_CLEAR(args[o]);
	return -1;
}

static int function_store(const struct function_loop *loop, int at,
			  char *element, PyObject *value)
{
	if (loop->users[at])
		return user_type_store(loop->users[at], element, value);
	return PyArray_SETITEM(loop->types[at], element, value);
}

/* Writes the results of the function. */
static int function_write(const struct function_loop *loop, char *const *data,
			  const int64_t *strides, int64_t i, PyObject *result)
{
	PyObject *value = result;
	int o, at, ret = 0;

	if (loop->outputs > 1 && (!PyTuple_Check(result) ||
				  PyTuple_GET_SIZE(result) != loop->outputs)) {
		PyErr_Format(
			PyExc_ValueError,
			"a function with %d outputs returns a tuple of %d, not %R",
			loop->outputs, loop->outputs, result);
		return -1;
	}
	for (o = 0; o < loop->outputs && !ret; o++) {
		at = loop->inputs + o;
		if (loop->outputs > 1)
			value = PyTuple_GET_ITEM(result, o);
		ret = function_store(loop, at, data[at] + i * strides[at],
				     value);
	}
	return ret;
}

static int function_call(const struct function_loop *loop, char *const *data,
			 const int64_t *strides, int64_t i)
{
	PyObject *args[DRAY_UFUNC_MAX_OPERANDS], *result;
	int o, ret;

	if (function_read(loop, data, strides, i, args))
		return -1;
	result = PyObject_Vectorcall(loop->function, args, (size_t)loop->inputs,
				     NULL);
	for (o = 0; o < loop->inputs; o++)
		Py_DECREF(args[o]);
	ret = result ? function_write(loop, data, strides, i, result) : -1;
	Py_XDECREF(result);
	return ret;
}

/* Leaves the exception as the library's sentence. */
static int function_fail(bool foreign)
{
	PyObject *type, *value, *traceback, *text;
	const char *words;

	if (!foreign)
		return dray_fail(-EIO, "a function of Python raised");
	PyErr_Fetch(&type, &value, &traceback);
	PyErr_NormalizeException(&type, &value, &traceback);
	text = PyObject_Repr(value);
	words = text ? PyUnicode_AsUTF8(text) : NULL;
	dray_fail(-EIO, "a function of Python raised %s",
		  words ? words : "an exception");
	PyErr_Clear();
	Py_XDECREF(text);
	Py_XDECREF(type);
	Py_XDECREF(value);
	Py_XDECREF(traceback);
	return -EIO;
}

int function_loop_run(char *const *data, const int64_t *strides, int64_t count,
		      void *context)
{
	const bool foreign = !PyGILState_GetThisThreadState();
	const struct function_loop *loop = context;
	PyGILState_STATE gil = PyGILState_Ensure();
	int ret = 0;
	int64_t i;

	if (function_depth == FUNCTION_MOST_NESTED) {
		PyErr_Format(PyExc_RecursionError,
			     "functions of ufuncs call each other %d times",
			     FUNCTION_MOST_NESTED);
		ret = -1;
	}
	function_depth++;
	for (i = 0; i < count && !ret; i++)
		ret = function_call(loop, data, strides, i);
	function_depth--;
	if (ret)
		ret = function_fail(foreign);
	PyGILState_Release(gil);
	return ret;
}

static void function_drop(PyObject *capsule)
{
	struct function_loop *loop =
		PyCapsule_GetPointer(capsule, FUNCTION_CAPSULE);
	int o;

	for (o = 0; o < DRAY_UFUNC_MAX_OPERANDS; o++)
		Py_XDECREF(loop->types[o]);
	PyMem_Free(loop);
}

PyObject *function_loop_new(const dray_dtype *dtypes, int inputs, int outputs,
			    PyObject *function)
{
	struct function_loop *loop = PyMem_Calloc(1, sizeof(*loop));
	PyArray_Descr *descr;
	PyObject *capsule;
	int o;

	if (!loop)
		return PyErr_NoMemory();
	loop->function = function;
	loop->inputs = inputs;
	loop->outputs = outputs;
	capsule = PyCapsule_New(loop, FUNCTION_CAPSULE, function_drop);
	if (!capsule)
		PyMem_Free(loop);
	for (o = 0; capsule && o < inputs + outputs; o++) {
		loop->users[o] = user_type_of(dtypes[o]);
		if (loop->users[o])
			continue;
		descr = dtype_descr(dtypes[o]);
		if (descr)
			loop->types[o] = (PyArrayObject *)PyArray_Zeros(
				0, NULL, descr, 0);
		if (!loop->types[o])
			Py_CLEAR(capsule);
	}
	return capsule;
}

void *function_loop_context(PyObject *capsule)
{
	return PyCapsule_GetPointer(capsule, FUNCTION_CAPSULE);
}

static int function_set(struct ufunc_object *self, const dray_dtype *dtypes,
			PyObject *function)
{
	struct dray_ufunc_loop entry = { .loop = function_loop_run,
					 .flags = DRAY_LOOP_NO_FP_ERRORS };
	PyObject *capsule, *owners;
	int ret;

	capsule = function_loop_new(dtypes, self->inputs, self->outputs,
				    function);
	if (!capsule)
		return -1;
	entry.context = function_loop_context(capsule);
	owners = PyTuple_Pack(2, function, capsule);
	/* Before it may be called. */
	ret = owners ? PyList_Append(self->kept, owners) : -1;
	Py_XDECREF(owners);
	Py_DECREF(capsule);
	if (ret)
		return -1;
	ret = dray_ufunc_set_loop(self->ufunc, dtypes, &entry);
	if (ret)
		raise_array_error(ARRAY_SHAPE, ret);
	return ret ? -1 : 0;
}

/* Sets the loop (ufunc, types, function). */
PyObject *ufunc_set_function(PyObject *module, PyObject *args)
{
	dray_dtype dtypes[DRAY_UFUNC_MAX_OPERANDS] = { 0 };
	PyTypeObject *type = module_state(module)->ufunc_type;
	PyObject *object, *types, *function;
	struct ufunc_object *self;
	int o, ret = 0;

	if (!PyArg_ParseTuple(args, "O!O!O", type, &object, &PyTuple_Type,
			      &types, &function))
		return NULL;
	self = ufunc_self(object);
	for (o = 0; o < self->inputs + self->outputs && !ret; o++)
		ret = dtype_take_object(PyTuple_GET_ITEM(types, o), &dtypes[o]);
	if (!ret)
		ret = function_set(self, dtypes, function);
	for (o = 0; o < DRAY_UFUNC_MAX_OPERANDS; o++)
		dray_dtype_unref(dtypes[o]);
	if (ret)
		return NULL;
	self->functions = true;
	Py_RETURN_NONE;
}
