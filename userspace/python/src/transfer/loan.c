// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Loans: a capsule for each, which ends its loan unless end_loan() did.  dray/_loan.py
 * keeps the array.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/module.h"

#define LOAN_CAPSULE "dray.loan"

struct kept_loan {
	_Atomic(struct dray_loan *) loan; /* NULL: it ended */
};

/* A call of dray_view_lend(), for wait_for_end(). */
struct lending {
	const struct dray_view *view;
	unsigned int access;
	struct dray_loan_options options;
	struct dray_loan *loan;
};

static void kept_loan_end(struct kept_loan *kept)
{
	dray_loan_end(atomic_exchange(&kept->loan, NULL));
}

static void kept_loan_destroy(PyObject *capsule)
{
	struct kept_loan *kept = PyCapsule_GetPointer(capsule, LOAN_CAPSULE);

	kept_loan_end(kept);
	free(kept);
}

static int lend_once(void *context, int milliseconds)
{
	struct lending *lending = context;

	return dray_view_lend(lending->view, lending->access, milliseconds,
			      &lending->options, &lending->loan);
}

PyObject *loan_lend(PyObject *module, PyObject *args)
{
	struct lending lending = { .loan = NULL };
	PyObject *array, *timeout, *capsule;
	struct kept_loan *kept;
	struct operand operand;
	double limit;
	int ret;

	(void)module;
	if (!PyArg_ParseTuple(args, "OIzO:lend", &array, &lending.access,
			      &lending.options.to, &timeout) ||
	    seconds_take(timeout, "timeout", &limit) ||
	    operand_take(array, "a", OPERAND_EMPTY | OPERAND_FOREIGN, &operand))
		return NULL;
	kept = malloc(sizeof(*kept));
	if (!kept)
		return PyErr_NoMemory();
	atomic_init(&kept->loan, NULL);
	capsule = PyCapsule_New(kept, LOAN_CAPSULE, kept_loan_destroy);
	if (!capsule) {
		free(kept);
		return NULL;
	}
	lending.view = &operand.view;
	ret = wait_for_end(lend_once, &lending, limit);
	if (!ret) {
		atomic_store(&kept->loan, lending.loan);
		return capsule;
	}
	Py_DECREF(capsule);
	return ret == -EINTR ? NULL : raise_error(ret);
}

PyObject *loan_end(PyObject *module, PyObject *capsule)
{
	struct kept_loan *kept = PyCapsule_GetPointer(capsule, LOAN_CAPSULE);

	(void)module;
	if (!kept)
		return NULL;
	kept_loan_end(kept);
	Py_RETURN_NONE;
}
