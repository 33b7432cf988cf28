/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Arguments of a call of a ufunc, for ufunc_keywords.c and ufunc_call.c. */
#ifndef DRAY_PYTHON_UFUNC_ARGUMENTS_H
#define DRAY_PYTHON_UFUNC_ARGUMENTS_H

#include "ufunc.h"

struct ufunc_arguments {
	struct module_state *state;
	struct ufunc_object *self;
	struct ufunc_operand operands[DRAY_UFUNC_MAX_OPERANDS];
	struct ufunc_operand mask;
	struct dray_ufunc_options options;
	PyObject *outputs[DRAY_UFUNC_MAX_OPERANDS]; /* borrowed; NULL: made */
	dray_dtype signature[DRAY_UFUNC_MAX_OPERANDS];
	bool masked;
	bool placed; /* out= was given, perhaps as None */
	bool arrays; /* out=...: results without axes are arrays too */
	const char *types; /* the keyword that chose types */
};

/* Takes output @o; None: it is made. */
int ufunc_output_take(struct ufunc_arguments *call, int o, PyObject *object);
/* Takes the argument of a name; -1 with TypeError for an unknown one. */
int ufunc_keyword_take(struct ufunc_arguments *call, PyObject *name,
		       PyObject *object);

#endif /* DRAY_PYTHON_UFUNC_ARGUMENTS_H */
