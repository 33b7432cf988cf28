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
