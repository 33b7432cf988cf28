/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * dray.ufunc, for the files that implement it: objects over the library's ufuncs,
 * operands of any kind as views, and the frame around each call of the library.
 */
#ifndef DRAY_PYTHON_UFUNC_H
#define DRAY_PYTHON_UFUNC_H

#include "object/array_object.h"

struct ufunc_object {
	PyObject_HEAD vectorcallfunc call;
	struct dray_ufunc *ufunc; /* one reference */
	PyObject *kept; /* a list: owners of loops and contexts */
	int inputs;
	int outputs;
	bool functions; /* of Python are loops: a thread at a time */
};

void ufunc_dealloc(PyObject *object);

static inline struct ufunc_object *ufunc_self(PyObject *object)
{
	return (struct ufunc_object *)object;
}

/* An array of anyone, or a number, as a view. */
struct ufunc_operand {
	PyObject *owner; /* of the memory, one reference, or NULL */
	PyArrayObject *array; /* of NumPy, that was described, or NULL */
	bool counted; /* the view has a reference to its type */
	struct dray_view view;
	union {
		int64_t integer;
		uint64_t natural;
		double real;
		double pair[2];
	} number; /* the memory of a number of Python */
};

/* ufunc_operand.c: operands; operand_drop() follows, after an error too. */
static inline void operand_clear(struct ufunc_operand *operand)
{
	operand->owner = NULL;
	operand->array = NULL;
	operand->counted = false;
}

void operand_drop(struct ufunc_operand *operand);
/*
 * Takes an array, a number, or an object of which NumPy makes an array.  @weak: set for a
 * number of Python, which has a kind and no type.  -1 with TypeError if the library
 * does not have the type.
 */
int operand_from(PyObject *object, struct ufunc_operand *out, bool *weak);
/*
 * Checks, once no code of Python follows, that arrays of NumPy are as they were
 * when they were taken: -1 with ValueError.
 */
int operands_check(const struct ufunc_operand *operands, int count);
/* Takes an int of more than 64 bits as a float. */
int operand_huge(PyObject *object, struct ufunc_operand *out);
/* Takes an array to write to; -1 with TypeError for anything else. */
int operand_output(PyObject *object, struct ufunc_operand *out);
/* Takes a mask, and sets @given unless it is True. */
int operand_mask(PyObject *object, struct ufunc_operand *out, bool *given);
/* Takes the one array of out=, also in a tuple; NULL: None. */
int operand_single(PyObject *object, struct ufunc_operand *out,
		   PyObject **array);

/* ufunc_frame.c: the frame around a call of the library. */
#define UFUNC_ERRORS 4

struct ufunc_frame {
	struct module_state *state;
	PyObject *capsule; /* of NumPy's handler */
	const struct dray_handler *before;
	PyThreadState *thread; /* of a released GIL */
	struct dray_fp_state errors;
	int count;
	unsigned int all; /* DRAY_FP_* */
	int kinds[UFUNC_ERRORS]; /* of each error that was kept */
	char sentences[UFUNC_ERRORS][128];
};

/*
 * Begins a call: results lie in memory of NumPy's current handler, errors of numbers
 * are kept for ufunc_leave(), and the GIL is released if there is much to do.
 * @makes: the library makes arrays
 * @elements: about so many
 */
int ufunc_enter(struct ufunc_frame *frame, struct module_state *state,
		bool makes, int64_t elements);
/*
 * Ends it, and raises the exception for @ret or for an error of numbers.  Returns
 * 0 or -1.
 */
int ufunc_leave(struct ufunc_frame *frame, int ret);
/* Ends it for a caller that raises the exception for a failure.  Returns 0 or -1. */
int ufunc_close(struct ufunc_frame *frame);
/*
 * Ends the submission of a call that runs later: its errors are kept in @frame, which
 * stays until then.  @wanted: the state of errors for ufunc_report(), one reference, or
 * NULL.  Returns 0 or -1.
 */
int ufunc_leave_queued(struct ufunc_frame *frame, PyObject **wanted);
/* Warns, or calls a function, for each error that was kept.  Returns 0 or -1. */
int ufunc_report(struct ufunc_frame *frame, PyObject *wanted);
/* Makes an object of a result, taken over; without axes, an element. */
PyObject *ufunc_result(const struct ufunc_frame *frame,
		       struct dray_array *array, bool element);
/* Drops the references of ufunc_enter(). */
void ufunc_end(struct ufunc_frame *frame);
/* Raises the class for @error; NULL. */
PyObject *ufunc_error(int error);
/* Elements of operands that are broadcast, for ufunc_enter(). */
int64_t ufunc_elements(const struct ufunc_operand *operands, int count);

/* ufunc_call.c: calls. */
PyObject *ufunc_call(PyObject *self, PyObject *const *args, size_t count,
		     PyObject *names);
/* Without the warning of where= without out=: NumPy drops out=None. */
PyObject *ufunc_call_for_numpy(PyObject *self, PyObject *const *args,
			       size_t count, PyObject *names);
PyObject *ufunc_outer(PyObject *self, PyObject *const *args, Py_ssize_t count,
		      PyObject *names);

/* ufunc_reduce.c: methods that go along axes. */
PyObject *ufunc_reduce(PyObject *self, PyObject *const *args, Py_ssize_t count,
		       PyObject *names);
PyObject *ufunc_accumulate(PyObject *self, PyObject *const *args,
			   Py_ssize_t count, PyObject *names);
PyObject *ufunc_reduceat(PyObject *self, PyObject *const *args,
			 Py_ssize_t count, PyObject *names);
PyObject *ufunc_at(PyObject *self, PyObject *const *args, Py_ssize_t count);

/* ufunc_register.c: loops of the user. */
PyObject *ufunc_register(PyObject *self, PyObject *const *args,
			 Py_ssize_t count, PyObject *names);

PyObject *ufunc_resolve_dtypes(PyObject *self, PyObject *const *args,
			       Py_ssize_t count, PyObject *names);

/* ufunc_type.c: the type. */
/* Returns the object of a builtin ufunc by its name, borrowed; NULL: none. */
PyObject *ufunc_named(struct module_state *state, const char *name);
/* The same, by a constant of the program, without a string of Python. */
PyObject *ufunc_constant(struct module_state *state, const char *name);

#endif /* DRAY_PYTHON_UFUNC_H */
