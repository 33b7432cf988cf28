// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The times of a loop on an executor, as Python sees them. */
#include "calls.h"

PyObject *cost_of(struct dray_executor *executor, struct dray_ufunc *ufunc,
		  const dray_dtype *dtypes)
{
	struct dray_call_cost cost;

	if (dray_executor_get_cost(executor, ufunc, dtypes, &cost))
		Py_RETURN_NONE;
	return Py_BuildValue("((Ld)(Ld))", (long long)cost.elements[0],
			     (double)cost.ns[0] / 1e9,
			     (long long)cost.elements[1],
			     (double)cost.ns[1] / 1e9);
}

int set_cost_of(struct dray_executor *executor, struct dray_ufunc *ufunc,
		const dray_dtype *dtypes, PyObject *value)
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
