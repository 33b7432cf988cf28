// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Parts that all types of executors share: their ufunc, types and times. */
#include "calls.h"

int executor_check_ufunc(PyTypeObject *type, PyObject *object)
{
	struct module_state *state = PyType_GetModuleState(type);

	if (Py_IS_TYPE(object, state->ufunc_type))
		return 0;
	PyErr_Format(PyExc_TypeError, "a dray.ufunc is needed, not %R", object);
	return -1;
}

int executor_take_types(PyObject *types, int count, dray_dtype *dtypes)
{
	PyObject *fast = PySequence_Fast(types, "types is a sequence");
	int o, ret = 0;

	if (!fast)
		return -1;
	if (PySequence_Fast_GET_SIZE(fast) != count) {
		PyErr_Format(PyExc_ValueError,
			     "%zd types, the ufunc has %d operands",
			     PySequence_Fast_GET_SIZE(fast), count);
		ret = -1;
	}
	for (o = 0; !ret && o < count; o++)
		ret = dtype_take_object(PySequence_Fast_GET_ITEM(fast, o),
					&dtypes[o]);
	Py_DECREF(fast);
	return ret;
}

PyObject *executor_cost_of(struct dray_executor *executor,
			   struct dray_ufunc *ufunc, const dray_dtype *dtypes)
{
	struct dray_call_cost cost;

	if (dray_executor_get_cost(executor, ufunc, dtypes, &cost))
		Py_RETURN_NONE;
	return Py_BuildValue("((Ld)(Ld))", (long long)cost.elements[0],
			     (double)cost.ns[0] / 1e9,
			     (long long)cost.elements[1],
			     (double)cost.ns[1] / 1e9);
}

int executor_set_cost_of(struct dray_executor *executor,
			 struct dray_ufunc *ufunc, const dray_dtype *dtypes,
			 PyObject *value)
{
	struct dray_call_cost cost;
	long long elements[2];
	double seconds[2];
	int i, ret;

	if (value && value != Py_None) {
		if (!PyTuple_Check(value)) {
			PyErr_SetString(
				PyExc_TypeError,
				"a cost is None or two pairs of elements and seconds");
			return -1;
		}
		if (!PyArg_ParseTuple(value, "(Ld)(Ld)", &elements[0],
				      &seconds[0], &elements[1], &seconds[1]))
			return -1;
		for (i = 0; i < 2; i++) {
			if (!(seconds[i] >= 0 && seconds[i] < 1e9)) {
				PyErr_SetString(
					PyExc_ValueError,
					"a cost is 0 to 1000000000 seconds");
				return -1;
			}
			cost.elements[i] = elements[i];
			cost.ns[i] = (uint64_t)(seconds[i] * 1e9);
		}
	}
	ret = dray_executor_set_cost(executor, ufunc, dtypes,
				     value && value != Py_None ? &cost : NULL);
	if (ret)
		ufunc_error(ret);
	return ret ? -1 : 0;
}
