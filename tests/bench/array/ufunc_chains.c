// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A Python module that times formulas from C: recorded as a sequence of libdray, as its
 * calls one by one, and as those of NumPy.  A formula is a list of calls of two inputs
 * and one output, which are numbers of arrays.
 */
#define NO_IMPORT_ARRAY
#include "array_times.h"

#include <dray/array/sequence.h>
#include <string.h>

#define MOST 8

struct step {
	struct dray_ufunc *ufunc;
	PyObject *numpy;
	int a, b, to;
};

struct chain {
	int arrays_count, steps_count;
	PyObject *arrays[MOST]; /* borrowed; the last is the output */
	struct dray_view views[MOST];
	struct step steps[MOST];
	struct dray_sequence *sequence;
	const struct dray_view *inputs[MOST], *outputs[1];
};

static int run_recorded(const struct chain *chain)
{
	return dray_sequence_run(chain->sequence, chain->inputs, chain->outputs,
				 NULL, NULL);
}

static int run_calls(const struct chain *chain)
{
	int i, ret = 0;

	for (i = 0; i < chain->steps_count && !ret; i++) {
		const struct step *step = &chain->steps[i];
		const struct dray_view *in[] = { &chain->views[step->a],
						 &chain->views[step->b] };
		const struct dray_view *out[] = { &chain->views[step->to] };

		ret = dray_ufunc_call(step->ufunc, in, out, NULL, NULL);
	}
	return ret;
}

static int run_numpy(const struct chain *chain)
{
	int i, ret = 0;

	for (i = 0; i < chain->steps_count && !ret; i++) {
		const struct step *step = &chain->steps[i];
		PyObject *arguments[] = { chain->arrays[step->a],
					  chain->arrays[step->b],
					  chain->arrays[step->to] };

		ret = drop_object(
			PyObject_Vectorcall(step->numpy, arguments, 3, NULL));
	}
	return ret;
}

static int fail(void)
{
	if (!PyErr_Occurred())
		PyErr_SetString(PyExc_ValueError, dray_last_error());
	return -1;
}

static int take_arrays(struct chain *chain, PyObject *arrays)
{
	int i;

	chain->arrays_count = (int)PyTuple_GET_SIZE(arrays);
	for (i = 0; i < chain->arrays_count && i < MOST; i++) {
		chain->arrays[i] = PyTuple_GET_ITEM(arrays, i);
		if (!PyArray_Check(chain->arrays[i]) ||
		    view_of((PyArrayObject *)chain->arrays[i],
			    &chain->views[i]))
			return fail();
	}
	return 0;
}

static int take_steps(struct chain *chain, PyObject *steps)
{
	PyObject *numpy = PyImport_ImportModule("numpy");
	int i, ret = 0;

	for (i = 0; numpy && i < PyTuple_GET_SIZE(steps) && i < MOST && !ret;
	     i++) {
		struct step *step = &chain->steps[i];
		const char *name;

		if (!PyArg_ParseTuple(PyTuple_GET_ITEM(steps, i), "siii", &name,
				      &step->a, &step->b, &step->to)) {
			ret = -1;
			break;
		}
		step->ufunc = dray_ufunc_find(name);
		step->numpy = PyObject_GetAttrString(numpy, name);
		chain->steps_count++;
		if (!step->ufunc || !step->numpy ||
		    (unsigned int)step->a >=
			    (unsigned int)chain->arrays_count ||
		    (unsigned int)step->b >=
			    (unsigned int)chain->arrays_count ||
		    (unsigned int)step->to >= (unsigned int)chain->arrays_count)
			ret = fail();
	}
	Py_XDECREF(numpy);
	return numpy ? ret : -1;
}

/* Records the steps; the first @inputs arrays are inputs. */
static int record(struct chain *chain, int inputs)
{
	dray_value values[MOST] = { 0 };
	int i, ret;

	ret = dray_sequence_create(&chain->sequence);
	for (i = 0; i < inputs && !ret; i++) {
		const struct dray_view *view = &chain->views[i];

		chain->inputs[i] = view;
		ret = dray_sequence_input(chain->sequence, view->dtype,
					  view->ndim, view->shape, &values[i]);
	}
	for (i = 0; i < chain->steps_count && !ret; i++) {
		const struct step *step = &chain->steps[i];

		ret = dray_sequence_call(chain->sequence, step->ufunc,
					 (dray_value[]){ values[step->a],
							 values[step->b] },
					 NULL, &values[step->to]);
	}
	chain->outputs[0] = &chain->views[chain->arrays_count - 1];
	if (!ret)
		ret = dray_sequence_output(chain->sequence,
					   values[chain->arrays_count - 1]);
	if (!ret)
		ret = dray_sequence_end(chain->sequence);
	return ret ? fail() : 0;
}

static PyObject *chain_time(PyObject *self, PyObject *args)
{
	static int (*const runs[])(const struct chain *chain) = { run_recorded,
								  run_calls,
								  run_numpy };
	static const char *const names[] = { "recorded", "calls", "NumPy" };
	PyObject *steps, *arrays, *result = NULL;
	struct chain chain = { 0 };
	const char *contender;
	Py_ssize_t loops, i;
	double begin;
	int inputs, which;

	(void)self;
	if (!PyArg_ParseTuple(args, "sO!niO!", &contender, &PyTuple_Type,
			      &steps, &loops, &inputs, &PyTuple_Type, &arrays))
		return NULL;
	for (which = 0; which < 3 && strcmp(names[which], contender); which++)
		;
	if (which == 3 || PyTuple_GET_SIZE(arrays) > MOST ||
	    PyTuple_GET_SIZE(steps) > MOST || inputs < 1 ||
	    inputs >= PyTuple_GET_SIZE(arrays)) {
		PyErr_Format(PyExc_ValueError, "no contender %s, or too much",
			     contender);
		return NULL;
	}
	if (take_arrays(&chain, arrays) || take_steps(&chain, steps) ||
	    record(&chain, inputs))
		goto out;
	begin = seconds(contender);
	for (i = 0; i < loops; i++) {
		if (runs[which](&chain) < 0) {
			fail();
			goto out;
		}
	}
	result = PyFloat_FromDouble((seconds(contender) - begin) * 1e9 /
				    (double)loops);
out:
	for (i = 0; i < chain.steps_count; i++)
		Py_XDECREF(chain.steps[i].numpy);
	dray_sequence_destroy(chain.sequence);
	return result;
}

static PyMethodDef methods[] = {
	{ "time", chain_time, METH_VARARGS,
	  "time(contender, steps, loops, inputs, arrays): ns of all steps; a step is a\n"
	  "ufunc and the numbers of three arrays, of which the last is written" },
	{ NULL, NULL, 0, NULL },
};

PyMODINIT_FUNC PyInit_ufunc_chains(void);

PyMODINIT_FUNC PyInit_ufunc_chains(void)
{
	return make_module("ufunc_chains", methods);
}
