// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Chooses the capsule that NumPy gets for a pool and a least size, and finds
 * the handler of an array.
 *
 * A least size needs a capsule of its own, over the pool's capsule and the
 * previous one.  It owns both, because an array of either kind keeps only this
 * one.
 */
#include <stdlib.h>

#include "module.h"

/* The context of a split capsule. */
struct split_owner {
	const struct dray_handler *handler;
	PyObject *large; /* the pool's capsule */
	PyObject *small; /* the capsule that was active before */
	size_t min_bytes;
	bool installed; /* by install(); the next install() replaces it */
};

static const struct dray_handler *handler_in(PyObject *capsule)
{
	return PyCapsule_GetPointer(capsule, HANDLER_CAPSULE);
}

static void split_owner_drop(struct split_owner *owner)
{
	dray_handler_split_end(owner->handler);
	Py_DECREF(owner->large);
	Py_DECREF(owner->small);
	free(owner);
}

/* Runs when no array has the capsule any more, so that no block is out. */
static void split_destroy(PyObject *capsule)
{
	split_owner_drop(PyCapsule_GetContext(capsule));
}

/* Returns NULL if @capsule is of another kind. */
static struct split_owner *split_owner(PyObject *capsule)
{
	if (PyCapsule_GetDestructor(capsule) == split_destroy)
		return PyCapsule_GetContext(capsule);
	PyErr_Clear();
	return NULL;
}

/*
 * Skips the capsules at the top that install() left: each new one would stand
 * on them, and the way would grow with every call.  Borrowed.
 */
static PyObject *below_installed(PyObject *capsule)
{
	const struct split_owner *owner = split_owner(capsule);

	while (owner && owner->installed) {
		capsule = owner->small;
		owner = split_owner(capsule);
	}
	return capsule;
}

static PyObject *split_new(PyObject *large, PyObject *small, size_t min_bytes,
			   bool installed)
{
	const struct dray_handler *under = handler_in(small);
	struct split_owner *owner;
	PyObject *capsule;
	int ret;

	if (!under)
		return NULL;
	owner = malloc(sizeof(*owner));
	if (!owner)
		return PyErr_NoMemory();
	ret = dray_handler_split(pool_in(large), min_bytes, under,
				 &owner->handler);
	if (ret) {
		free(owner);
		return raise_error(ret);
	}
	owner->large = Py_NewRef(large);
	owner->small = Py_NewRef(small);
	owner->min_bytes = min_bytes;
	owner->installed = installed;
	capsule = PyCapsule_New((void *)owner->handler, HANDLER_CAPSULE, NULL);
	if (!capsule) {
		split_owner_drop(owner);
		return NULL;
	}
	if (PyCapsule_SetContext(capsule, owner) ||
	    PyCapsule_SetDestructor(capsule, split_destroy))
		Py_UNREACHABLE(); /* fail only on an invalid capsule */
	return capsule;
}

PyObject *handler_capsule(struct module_state *state, PyObject *pool,
			  size_t min_bytes, PyObject *before, bool installed)
{
	PyObject *large = pool_capsule(state, pool);
	const struct split_owner *same;
	PyObject *capsule;

	if (!large || !min_bytes)
		return large;
	/*
	 * A scope entered again keeps its capsule, so that nothing grows.  But
	 * a scope stays if install() below it is replaced.
	 */
	same = split_owner(before);
	if (same && same->large == large && same->min_bytes == min_bytes &&
	    (installed || !same->installed)) {
		Py_DECREF(large);
		return Py_NewRef(before);
	}
	if (installed)
		before = below_installed(before);
	capsule = split_new(large, before, min_bytes, installed);
	Py_DECREF(large);
	return capsule;
}

PyObject *handler_choose(PyObject *module, PyObject *args)
{
	PyObject *pool, *before, *capsule = NULL, *previous, *scope;
	size_t min_bytes = 0;

	if (!PyArg_ParseTuple(args, "O|O&:set_handler", &pool, min_bytes_take,
			      &min_bytes))
		return NULL;
	before = PyDataMem_GetHandler();
	if (!before)
		return NULL;
	if (pool != Py_None) {
		capsule = handler_capsule(module_state(module), pool, min_bytes,
					  before, true);
		if (!capsule) {
			Py_DECREF(before);
			return NULL;
		}
	}
	scope = pool == Py_None ? Py_NewRef(Py_None)
				: scope_installed(module_state(module), pool,
						  min_bytes, before);
	Py_DECREF(before);
	previous = scope ? PyDataMem_SetHandler(capsule) : NULL;
	Py_XDECREF(capsule);
	if (!previous) {
		Py_XDECREF(scope);
		return NULL;
	}
	Py_DECREF(previous);
	return scope;
}

PyObject *handler_capsule_name(PyObject *capsule)
{
	const struct dray_handler *handler = handler_in(capsule);

	return handler ? PyUnicode_FromString(handler->name) : NULL;
}

/* Names the handler that allocated the memory of @array, its owner. */
static PyObject *numpy_handler_name(PyArrayObject *array, PyObject *capsule)
{
	const struct dray_handler *handler = handler_in(capsule);

	if (!handler)
		return NULL;
	handler = dray_handler_behind(handler, PyArray_DATA(array));
	return PyUnicode_FromString(handler->name);
}

/*
 * Returns the next object between a view and the owner of its memory: an
 * array's base, a memoryview's object, or an attribute "base" (as_strided()
 * puts such an object between).  A new reference; NULL at the end, or with the
 * exception that asking for "base" raised.
 */
static PyObject *owner_of(PyObject *object)
{
	PyObject *owner;

	if (PyArray_Check(object))
		return Py_XNewRef(PyArray_BASE((PyArrayObject *)object));
	if (PyMemoryView_Check(object))
		return Py_XNewRef(PyMemoryView_GET_BUFFER(object)->obj);
	owner = PyObject_GetAttrString(object, "base");
	if (!owner && PyErr_ExceptionMatches(PyExc_AttributeError))
		PyErr_Clear();
	return owner;
}

/* Returns @object, or the array that it gives as a Series of pandas does. */
static PyObject *array_of(PyObject *object)
{
	PyObject *array;

	if (PyArray_Check(object))
		return Py_NewRef(object);
	array = PyObject_CallMethod(object, "__array__", NULL);
	if (!array && !PyErr_ExceptionMatches(PyExc_AttributeError))
		return NULL;
	if (array && PyArray_Check(array))
		return array;
	PyErr_Clear();
	Py_XDECREF(array);
	return PyErr_Format(PyExc_TypeError,
			    "a is not a NumPy array and gives none: it is %s",
			    Py_TYPE(object)->tp_name);
}

PyObject *handler_name_of(PyTypeObject *array_type, PyObject *object)
{
	PyObject *next, *capsule, *name;
	int depth;

	Py_INCREF(object);
	/* Any object may have a "base": do not follow it for ever. */
	for (depth = 0; object && object != Py_None && depth < 1000; depth++) {
		if (PyArray_Check(object) &&
		    PyArray_CHKFLAGS((PyArrayObject *)object,
				     NPY_ARRAY_OWNDATA)) {
			capsule = PyArray_HANDLER((PyArrayObject *)object);
			if (capsule) {
				name = numpy_handler_name(
					(PyArrayObject *)object, capsule);
				Py_DECREF(object);
				return name;
			}
		}
		if (Py_IS_TYPE(object, array_type)) {
			name = array_own_handler_name(object);
			if (name != Py_None) {
				Py_DECREF(object);
				return name;
			}
			Py_DECREF(name);
		}
		next = owner_of(object);
		Py_DECREF(object);
		object = next;
	}
	Py_XDECREF(object);
	if (PyErr_Occurred())
		return NULL;
	Py_RETURN_NONE;
}

PyObject *handler_name(PyObject *module, PyObject *const *args,
		       Py_ssize_t count)
{
	PyObject *object, *capsule, *name = NULL;
	PyTypeObject *array_type;

	if (count > 1)
		return PyErr_Format(
			PyExc_TypeError,
			"handler_name() takes at most 1 argument, not %zd",
			count);
	if (!count || args[0] == Py_None) {
		capsule = PyDataMem_GetHandler();
		if (!capsule)
			return NULL;
		name = handler_capsule_name(capsule);
		Py_DECREF(capsule);
		return name;
	}
	array_type = module_state(module)->array_type;
	object = Py_IS_TYPE(args[0], array_type) ? Py_NewRef(args[0])
						 : array_of(args[0]);
	if (!object)
		return NULL;
	name = handler_name_of(array_type, object);
	Py_DECREF(object);
	return name;
}
