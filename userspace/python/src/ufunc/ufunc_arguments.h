/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Arguments of a call of a ufunc, also of a call on a queue. */
#ifndef DRAY_PYTHON_UFUNC_ARGUMENTS_H
#define DRAY_PYTHON_UFUNC_ARGUMENTS_H

#include "frame/ufunc.h"

struct ufunc_arguments {
	struct module_state *state;
	struct ufunc_object *self;
	PyObject *const *args; /* of a call: inputs, borrowed */
	struct ufunc_operand operands[DRAY_UFUNC_MAX_OPERANDS];
	struct ufunc_operand mask;
	struct dray_ufunc_options options;
	PyObject *outputs[DRAY_UFUNC_MAX_OPERANDS]; /* borrowed; NULL: made */
	dray_dtype signature[DRAY_UFUNC_MAX_OPERANDS];
	bool masked;
	bool placed; /* out= was given, perhaps as None */
	bool arrays; /* out=...: results without axes are arrays too */
	bool bare; /* subok=False: results are of no class of an input */
	const char *types; /* the keyword that chose types */
};

/* ufunc_call.c: no arguments yet. */
void ufunc_arguments_begin(struct ufunc_arguments *call,
			   struct module_state *state,
			   struct ufunc_object *self);
/* Takes inputs, then outputs by their place, then keywords. */
int ufunc_arguments_take(struct ufunc_arguments *call, PyObject *const *args,
			 Py_ssize_t count, PyObject *names);
/* Fills in a view for each operand, NULL for an output that is made. */
void ufunc_arguments_views(const struct ufunc_arguments *call,
			   const struct dray_view **views);
/* After an error too. */
void ufunc_arguments_drop(struct ufunc_arguments *call);

/*
 * ufunc_wrap.c: finds the __array_wrap__() of the inputs that rules, a new reference, or
 * NULL.
 */
int ufunc_wrap_find(const struct ufunc_arguments *call, PyObject **out);
/* Wraps output @o, the dray.Array @made, of which it drops a reference. */
PyObject *ufunc_wrap_output(const struct ufunc_arguments *call, PyObject *wrap,
			    PyObject *made, int o);

/* ufunc_keywords.c: reads output @o; None: it is made. */
int ufunc_output_take(struct ufunc_arguments *call, int o, PyObject *object);
/* Reads the argument of a name; -1 with TypeError for an unknown name. */
int ufunc_keyword_take(struct ufunc_arguments *call, PyObject *name,
		       PyObject *object);

#endif /* DRAY_PYTHON_UFUNC_ARGUMENTS_H */
