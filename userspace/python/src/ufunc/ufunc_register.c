// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Loops of the user: dray/_ufunc.py finds their addresses and types.  Their owners
 * stay as long as the ufunc: its tables keep loops that were replaced.
 */
#include "frame/ufunc.h"

PyObject *ufunc_register(PyObject *self, PyObject *const *args,
			 Py_ssize_t count, PyObject *names)
{
	return python_call("dray._ufunc", "register", self, args, count, names);
}

/* Sets the loop (ufunc, types, address, context, fp_errors, owners). */
PyObject *ufunc_set_loop(PyObject *module, PyObject *args)
{
	dray_dtype dtypes[DRAY_UFUNC_MAX_OPERANDS] = { 0 };
	PyTypeObject *type = module_state(module)->ufunc_type;
	unsigned long long address, context;
	struct dray_ufunc_loop entry = { .flags = 0 };
	PyObject *object, *types, *owners;
	struct ufunc_object *self;
	int fp_errors, o, ret = 0;

	if (!PyArg_ParseTuple(args, "O!O!KKpO", type, &object, &PyTuple_Type,
			      &types, &address, &context, &fp_errors, &owners))
		return NULL;
	self = ufunc_self(object);
	entry.loop = (dray_loop *)(uintptr_t)address;
	entry.context = (void *)(uintptr_t)context;
	entry.flags = fp_errors ? 0 : DRAY_LOOP_NO_FP_ERRORS;
	for (o = 0; o < self->inputs + self->outputs && !ret; o++)
		ret = dtype_take_object(PyTuple_GET_ITEM(types, o), &dtypes[o]);
	/* Before it may be called. */
	if (!ret)
		ret = PyList_Append(self->kept, owners);
	if (!ret) {
		ret = dray_ufunc_set_loop(self->ufunc, dtypes, &entry);
		if (ret)
			raise_array_error(ARRAY_SHAPE, ret);
	}
	for (o = 0; o < DRAY_UFUNC_MAX_OPERANDS; o++)
		dray_dtype_unref(dtypes[o]);
	return ret ? NULL : Py_NewRef(Py_None);
}

PyObject *ufunc_resolve_dtypes(PyObject *self, PyObject *const *args,
			       Py_ssize_t count, PyObject *names)
{
	return python_call("dray._ufunc", "resolve_dtypes", self, args, count,
			   names);
}

/* Takes a tuple of types, None for 0. */
static int register_take_types(PyObject *types, int count, dray_dtype *out)
{
	PyObject *type;
	int o, ret = 0;

	for (o = 0; o < count && !ret; o++) {
		type = PyTuple_GET_ITEM(types, o);
		ret = type == Py_None ? 0 : dtype_take_object(type, &out[o]);
	}
	return ret;
}

static PyObject *register_types_of(const dray_dtype *dtypes, int count)
{
	PyObject *tuple = PyTuple_New(count), *descr;
	int o;

	for (o = 0; tuple && o < count; o++) {
		descr = (PyObject *)dtype_descr(dtypes[o]);
		if (!descr)
			Py_CLEAR(tuple);
		else
			PyTuple_SET_ITEM(tuple, o, descr);
	}
	return tuple;
}

/* Returns the types of a loop: (ufunc, types, signature, weak, casting). */
PyObject *ufunc_resolve(PyObject *module, PyObject *args)
{
	dray_dtype given[DRAY_UFUNC_MAX_OPERANDS] = { 0 };
	dray_dtype wanted[DRAY_UFUNC_MAX_OPERANDS] = { 0 };
	dray_dtype dtypes[DRAY_UFUNC_MAX_OPERANDS] = { 0 };
	PyTypeObject *type = module_state(module)->ufunc_type;
	struct dray_ufunc_options options = { .signature = wanted };
	PyObject *object, *types, *signature, *result = NULL;
	int casting, count, o, ret;
	unsigned int weak;

	if (!PyArg_ParseTuple(args, "O!O!O!Ii", type, &object, &PyTuple_Type,
			      &types, &PyTuple_Type, &signature, &weak,
			      &casting))
		return NULL;
	count = ufunc_self(object)->inputs + ufunc_self(object)->outputs;
	options.weak = (uint16_t)weak;
	options.casting = (uint8_t)(1 + casting);
	ret = PyTuple_GET_SIZE(types) != count ||
	      PyTuple_GET_SIZE(signature) != count;
	if (ret)
		PyErr_SetString(PyExc_ValueError, "a type for each operand");
	if (!ret)
		ret = register_take_types(types, count, given) ||
		      register_take_types(signature, count, wanted);
	if (!ret) {
		ret = dray_ufunc_resolve_types(ufunc_self(object)->ufunc, given,
					       &options, dtypes);
		if (ret)
			ufunc_error(ret);
		else
			result = register_types_of(dtypes, count);
	}
	for (o = 0; o < count; o++) {
		dray_dtype_unref(given[o]);
		dray_dtype_unref(wanted[o]);
		dray_dtype_unref(dtypes[o]);
	}
	return result;
}
