// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The part of dray.UserType in C: a type of the library with functions of the program, C
 * at an address or Python; dray/_types.py finds addresses and makes values.
 *
 * The object refers to the library's type, and the type's context is the object: so functions
 * stay as long as any array, also of C.  Once nothing else refers to the type, the collector
 * counts that circle as the object's own, and breaks it.
 */
#include <errno.h>
#include <stdlib.h>

#include "object/user_type.h"

/* The key of a type in the metadata of NumPy's object. */
#define USER_KEY "dray.type"

/* A conversion; constant, but for the list. */
struct user_cast {
	struct user_cast *next;
	dray_dtype from; /* borrowed of the owners */
	dray_dtype to;
	dray_loop *loop;
	void *context;
	int level; /* enum dray_casting */
};

struct user_object {
	PyObject_HEAD dray_dtype dtype; /* 0: the collector ended it */
	PyObject *compare; /* functions of Python, or NULL */
	PyObject *nonzero;
	PyObject *kept; /* a list: owners of functions and contexts */
	struct user_cast *casts; /* the newest first; other threads read them */
};

static struct user_object *user_self(PyObject *object)
{
	return (struct user_object *)object;
}

static void user_release(void *context)
{
	PyGILState_STATE gil;

	if (!Py_IsInitialized())
		return;
	gil = PyGILState_Ensure();
	Py_DECREF((PyObject *)context);
	PyGILState_Release(gil);
}

PyObject *user_type_of(dray_dtype dtype)
{
	if (!(dray_dtype_flags(dtype) & DRAY_DTYPE_USER) ||
	    dray_dtype_functions(dtype)->release != user_release)
		return NULL;
	return dray_dtype_context(dtype);
}

PyObject *user_type_value(PyObject *type, const void *element)
{
	const Py_ssize_t size = dray_dtype_itemsize(user_self(type)->dtype);

	return PyObject_CallMethod(
		type, "_value", "N",
		PyBytes_FromStringAndSize((const char *)element, size));
}

int user_type_store(PyObject *type, void *element, PyObject *value)
{
	const Py_ssize_t size = dray_dtype_itemsize(user_self(type)->dtype);
	PyObject *bytes = PyObject_CallMethod(type, "_bytes", "(O)", value);

	if (bytes && PyBytes_Check(bytes) && PyBytes_GET_SIZE(bytes) == size)
		memcpy(element, PyBytes_AS_STRING(bytes), (size_t)size);
	else if (bytes)
		PyErr_Format(PyExc_TypeError,
			     "an element of %R is made of %zd bytes, not of %R",
			     type, size, bytes);
	Py_XDECREF(bytes);
	return PyErr_Occurred() ? -1 : 0;
}

PyObject *user_type_call(dray_dtype dtype, const char *method, PyObject *object)
{
	return PyObject_CallMethod(user_type_of(dtype), method, "(O)", object);
}

/*
 * Calls a function with values of an element or two.  After an exception, which stays until
 * the call of the library returns, the answer is 0.
 */
static long user_ask(dray_dtype dtype, PyObject *function, const void *a,
		     const void *b)
{
	PyObject *type = dray_dtype_context(dtype), *first, *second = NULL;
	PyObject *result = NULL;
	int overflow = 0;
	long answer = 0;

	first = user_type_value(type, a);
	if (first && b)
		second = user_type_value(type, b);
	if (first && (second || !b))
		result = PyObject_CallFunctionObjArgs(function, first, second,
						      NULL);
	if (result && !b)
		answer = PyObject_IsTrue(result);
	else if (result)
		answer = PyLong_AsLongAndOverflow(result, &overflow);
	Py_XDECREF(result);
	Py_XDECREF(second);
	Py_XDECREF(first);
	if (PyErr_Occurred())
		return 0;
	return overflow ? overflow : answer;
}

static long user_answer(dray_dtype dtype, PyObject *function, const void *a,
			const void *b)
{
	const bool foreign = !PyGILState_GetThisThreadState();
	PyGILState_STATE gil = PyGILState_Ensure();
	long answer = 0;

	if (!PyErr_Occurred())
		answer = user_ask(dtype, function, a, b);
	/* In such a thread nothing else reports it. */
	if (foreign && PyErr_Occurred())
		PyErr_WriteUnraisable(function);
	PyGILState_Release(gil);
	return answer;
}

static int user_compare(dray_dtype dtype, const void *a, const void *b)
{
	const struct user_object *self = dray_dtype_context(dtype);
	const long answer = user_answer(dtype, self->compare, a, b);

	return (answer > 0) - (answer < 0);
}

static bool user_nonzero(dray_dtype dtype, const void *element)
{
	const struct user_object *self = dray_dtype_context(dtype);

	return user_answer(dtype, self->nonzero, element, NULL) > 0;
}

static const struct user_cast *user_find(dray_dtype asked, dray_dtype from,
					 dray_dtype to)
{
	PyObject *type = user_type_of(asked);
	const struct user_cast *cast = NULL;

	if (type)
		cast = __atomic_load_n(&user_self(type)->casts,
				       __ATOMIC_ACQUIRE);
	while (cast && !(dray_dtype_equal(cast->from, from) &&
			 dray_dtype_equal(cast->to, to)))
		cast = cast->next;
	return cast;
}

static int user_cast(dray_dtype from, dray_dtype to, dray_loop **loop,
		     void **context)
{
	const struct user_cast *cast = user_find(from, from, to);

	if (!cast)
		cast = user_find(to, from, to);
	if (!cast)
		return -EOPNOTSUPP;
	*loop = cast->loop;
	*context = cast->context;
	return cast->level;
}

int user_type_add_cast(PyObject *object, dray_dtype from, dray_dtype to,
		       dray_loop *loop, void *context, int level,
		       PyObject *owners)
{
	struct user_object *self = user_self(object);
	const bool starts = dray_dtype_equal(from, self->dtype);
	struct user_cast *cast;

	if (starts == dray_dtype_equal(to, self->dtype) ||
	    dray_dtype_field_count(from) || dray_dtype_field_count(to) ||
	    dray_dtype_shape(from, NULL) || dray_dtype_shape(to, NULL)) {
		PyErr_Format(
			PyExc_ValueError,
			"a conversion of %R is to or from one other type without fields",
			object);
		return -1;
	}
	cast = calloc(1, sizeof(*cast));
	if (!cast) {
		PyErr_NoMemory();
		return -1;
	}
	if (PyList_Append(self->kept, owners)) {
		free(cast);
		return -1;
	}
	cast->from = from;
	cast->to = to;
	cast->loop = loop;
	cast->context = context;
	cast->level = level;
	cast->next = self->casts;
	__atomic_store_n(&self->casts, cast, __ATOMIC_RELEASE);
	return 0;
}

/* Makes the library's type: (name, itemsize, alignment, kind, compare, nonzero, owners). */
static PyObject *user_new(PyTypeObject *type, PyObject *args,
			  PyObject *keywords)
{
	struct dray_dtype_functions functions = { .size = sizeof(functions),
						  .cast = user_cast,
						  .release = user_release };
	PyObject *compare, *nonzero, *owners;
	unsigned int itemsize, alignment;
	struct user_object *self;
	unsigned long long addresses[2];
	const char *name;
	int kind, ret;

	(void)keywords;
	if (!PyArg_ParseTuple(args, "sIICKOKOO", &name, &itemsize, &alignment,
			      &kind, &addresses[0], &compare, &addresses[1],
			      &nonzero, &owners))
		return NULL;
	functions.compare =
		compare != Py_None
			? user_compare
			: (int (*)(dray_dtype, const void *, const void *))(
				  uintptr_t)addresses[0];
	functions.nonzero = nonzero != Py_None
				    ? user_nonzero
				    : (bool (*)(dray_dtype, const void *))(
					      uintptr_t)addresses[1];
	self = user_self(type->tp_alloc(type, 0));
	if (!self)
		return NULL;
	self->compare = Py_NewRef(compare);
	self->nonzero = Py_NewRef(nonzero);
	self->kept = Py_BuildValue("[O]", owners);
	ret = self->kept ? dray_dtype_create_user(name, (char)kind, itemsize,
						  alignment, &functions, self,
						  &self->dtype)
			 : 0;
	if (ret)
		raise_error(ret);
	if (!self->dtype) {
		Py_DECREF(self);
		return NULL;
	}
	/* Of the context. */
	return Py_NewRef((PyObject *)self);
}

/* Whether the object alone refers to the library's type. */
static bool user_is_only(const struct user_object *self)
{
	return self->dtype &&
	       __atomic_load_n(&dray_dtype_as_object(self->dtype)->block.count,
			       __ATOMIC_ACQUIRE) == 1;
}

static int user_traverse(PyObject *object, visitproc visit, void *arg)
{
	const struct user_object *self = user_self(object);

	Py_VISIT(Py_TYPE(object));
	Py_VISIT(self->compare);
	Py_VISIT(self->nonzero);
	Py_VISIT(self->kept);
	if (user_is_only(self))
		Py_VISIT(object);
	return 0;
}

static int user_clear(PyObject *object)
{
	struct user_object *self = user_self(object);
	const dray_dtype dtype = self->dtype;

	if (!user_is_only(self))
		return 0;
	self->dtype = 0;
	/* Drops the object too, which the caller still holds. */
	dray_dtype_unref(dtype);
	return 0;
}

static void user_dealloc(PyObject *object)
{
	struct user_object *self = user_self(object);
	PyTypeObject *type = Py_TYPE(object);
	struct user_cast *cast;

	PyObject_GC_UnTrack(object);
	while ((cast = self->casts)) {
		self->casts = cast->next;
		free(cast);
	}
	Py_XDECREF(self->compare);
	Py_XDECREF(self->nonzero);
	Py_XDECREF(self->kept);
	type->tp_free(object);
	Py_DECREF(type);
}

bool user_type_is(PyObject *object)
{
	const PyTypeObject *type = Py_TYPE(object);

	while (type && type->tp_dealloc != user_dealloc)
		type = type->tp_base;
	return type && user_self(object)->dtype;
}

PyArray_Descr *user_type_descr(PyObject *type)
{
	const unsigned long size = dray_dtype_itemsize(user_self(type)->dtype);
	PyObject *args =
		Py_BuildValue("(N)", PyUnicode_FromFormat("V%lu", size));
	PyObject *keywords =
		Py_BuildValue("{s{sO}}", "metadata", USER_KEY, type);
	PyObject *descr = NULL;

	if (args && keywords)
		descr = PyObject_Call((PyObject *)&PyArrayDescr_Type, args,
				      keywords);
	Py_XDECREF(keywords);
	Py_XDECREF(args);
	return (PyArray_Descr *)descr;
}

int user_type_take(PyArray_Descr *descr, dray_dtype *out)
{
	PyObject *metadata =
		PyObject_GetAttrString((PyObject *)descr, "metadata");
	PyObject *size = PyObject_GetAttrString((PyObject *)descr, "itemsize");
	PyObject *type = NULL;
	int found = 0;

	if (size && metadata && metadata != Py_None &&
	    PyMapping_HasKeyString(metadata, USER_KEY))
		type = PyMapping_GetItemString(metadata, USER_KEY);
	if (type && user_type_is(type) &&
	    dray_dtype_itemsize(user_self(type)->dtype) ==
		    PyLong_AsUnsignedLong(size)) {
		*out = dray_dtype_ref(user_self(type)->dtype);
		found = 1;
	}
	Py_XDECREF(type);
	Py_XDECREF(size);
	Py_XDECREF(metadata);
	return PyErr_Occurred() ? -1 : found;
}

static PyObject *user_dtype(PyObject *self, void *unused)
{
	(void)unused;
	return (PyObject *)user_type_descr(self);
}

static PyObject *user_name(PyObject *self, void *unused)
{
	(void)unused;
	return PyUnicode_FromString(dray_dtype_name(user_self(self)->dtype));
}

static PyGetSetDef user_properties[] = {
	{ "dtype", user_dtype, NULL,
	  "NumPy's object for it: plain bytes, with the type in its metadata.",
	  NULL },
	{ "name", user_name, NULL, "The name.", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot user_slots[] = {
	{ Py_tp_new, user_new },
	{ Py_tp_doc, "The part of dray.UserType in C." },
	{ Py_tp_traverse, user_traverse },
	{ Py_tp_clear, user_clear },
	{ Py_tp_dealloc, user_dealloc },
	{ Py_tp_getset, user_properties },
	{ 0, NULL },
};

PyType_Spec user_type_spec = {
	.name = "dray._dray.UserBase",
	.basicsize = sizeof(struct user_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
		 Py_TPFLAGS_IMMUTABLETYPE,
	.slots = user_slots,
};
