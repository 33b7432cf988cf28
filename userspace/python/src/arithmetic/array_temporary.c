// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Temporaries of expressions: no program sees the product in a*b + c afterwards, so the sum
 * may lie in its memory.
 *
 * From Python 3.14 on, Python says whether an object is a temporary.  Before, a single
 * reference proves it if the interpreter calls the operator; a compiled program may
 * hold the reference in a variable.  So all callers up to the interpreter must be
 * Python's own.
 */
#include "arithmetic/array_ufunc.h"

#if PY_VERSION_HEX >= 0x030e0000

static bool is_unseen(PyObject *object)
{
	return PyUnstable_Object_IsUniqueReferencedTemporary(object);
}

#elif defined(Py_GIL_DISABLED)

static bool is_unseen(PyObject *object)
{
	(void)object;
	return false;
}

#else

#include <dlfcn.h>
#include <unwind.h>

/* The file of an address: this extension, Python, or another. */
enum place {
	PLACE_UNKNOWN,
	PLACE_HERE,
	PLACE_PYTHON,
	PLACE_INTERPRETER, /* runs instructions of Python */
	PLACE_FOREIGN,
};

/* Addresses and their places, found before; the GIL is held. */
#define KNOWN 64
static struct {
	uintptr_t address;
	enum place place;
} known[KNOWN];

static enum place place_look_up(uintptr_t address)
{
	static void *here, *python, *interpreter;
	Dl_info info;

	if (!interpreter) {
		if (!dladdr((void *)(uintptr_t)array_temporary, &info))
			return PLACE_FOREIGN;
		here = info.dli_fbase;
		if (!dladdr((void *)(uintptr_t)PyNumber_Add, &info))
			return PLACE_FOREIGN;
		python = info.dli_fbase;
		interpreter = dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault");
	}
	if (!interpreter || !dladdr((void *)address, &info))
		return PLACE_FOREIGN;
	if (info.dli_fbase == here)
		return PLACE_HERE;
	if (info.dli_fbase != python)
		return PLACE_FOREIGN;
	return info.dli_saddr == interpreter ? PLACE_INTERPRETER : PLACE_PYTHON;
}

static enum place frame_place(uintptr_t address)
{
	const size_t i = (address >> 2) % KNOWN;

	if (known[i].address != address) {
		known[i].place = place_look_up(address);
		known[i].address = address;
	}
	return known[i].place;
}

static _Unwind_Reason_Code frame_visit(struct _Unwind_Context *frame,
				       void *context)
{
	/* A return address is behind the call, perhaps of another function. */
	const enum place place =
		frame_place((uintptr_t)_Unwind_GetIP(frame) - 1);

	*(enum place *)context = place;
	return place == PLACE_HERE || place == PLACE_PYTHON ? _URC_NO_REASON
							    : _URC_NORMAL_STOP;
}

static bool is_unseen(PyObject *object)
{
	enum place place = PLACE_UNKNOWN;

	if (Py_REFCNT(object) != 1)
		return false;
	_Unwind_Backtrace(frame_visit, &place);
	return place == PLACE_INTERPRETER;
}

#endif

/* Looking at callers takes as long as some ten thousand elements. */
#define LEAST_BYTES ((int64_t)256 << 10)

/* Whether the axes of an operand are repeated to the axes of @self. */
static bool temporary_covers(const struct array_object *self, int ndim,
			     const int64_t *shape)
{
	const int64_t *own = array_shape_of(self) + self->ndim - ndim;
	int i;

	for (i = 0; i < ndim && ndim <= self->ndim; i++)
		if (shape[i] != own[i] && shape[i] != 1)
			return false;
	return ndim <= self->ndim;
}

/* Whether the result of @self and @other has the type and the shape of @self. */
static bool is_like_result(const struct array_object *self, PyObject *other,
			   bool divides)
{
	const char kind = dray_dtype_kind(self->dtype);
	const bool inexact = kind == 'f' || kind == 'c';
	PyArrayObject *array = (PyArrayObject *)other;
	int64_t shape[DRAY_MAX_NDIM];
	int i;

	if (!inexact && (divides || (kind != 'i' && kind != 'u')))
		return false;
	if (PyLong_CheckExact(other))
		return true;
	if (PyFloat_CheckExact(other))
		return inexact;
	if (PyComplex_CheckExact(other))
		return kind == 'c';
	if (array_is(other))
		return array_self(other)->dtype == self->dtype &&
		       temporary_covers(self, array_self(other)->ndim,
					array_shape_of(array_self(other)));
	if (!PyArray_CheckExact(other) || !self->descr ||
	    !PyArray_EquivTypes(PyArray_DESCR(array), self->descr))
		return false;
	for (i = 0; i < PyArray_NDIM(array); i++)
		shape[i] = PyArray_DIM(array, i);
	return temporary_covers(self, PyArray_NDIM(array), shape);
}

/* Whether the memory is from the thread's current handler, as a result's. */
static bool is_memory_of_results(const struct array_object *self)
{
	PyObject *capsule = PyDataMem_GetHandler();
	const bool same = capsule == self->capsule;

	PyErr_Clear();
	Py_XDECREF(capsule);
	return same;
}

static bool temporary_receives(PyObject *object, PyObject *other, bool divides)
{
	const struct array_object *self = array_self(object);
	const uint32_t usable = DRAY_READ | DRAY_WRITE;
	struct dray_view view;

	if (!array_is(object) || self->root || self->base || self->weak ||
	    (self->flags & usable) != usable ||
	    !(self->array->flags & DRAY_OWNED))
		return false;
	array_whole(self, &view);
	return dray_view_size(&view) >=
		       LEAST_BYTES /
			       (int64_t)dray_dtype_itemsize(self->dtype) &&
	       dray_view_is_contiguous(&view) &&
	       dray_block_count(&self->array->block) == 1 &&
	       is_like_result(self, other, divides) &&
	       is_memory_of_results(self) && is_unseen(object);
}

PyObject *array_temporary(PyObject *a, PyObject *b, bool divides)
{
	if (temporary_receives(a, b, divides))
		return a;
	return temporary_receives(b, a, divides) ? b : NULL;
}
