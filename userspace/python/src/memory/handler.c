// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Chooses the capsule that NumPy gets for a pool and a least size.
 *
 * A least size needs a split capsule, over the pool's capsule and the capsule before.
 * It owns both, because an array of either kind keeps the split capsule alone.
 */
#include <stdlib.h>

#include "base/module.h"

/* The context of a split capsule. */
struct split_owner {
	const struct dray_handler *handler;
	PyObject *large; /* the pool's capsule */
	PyObject *small; /* the capsule that was active before */
	size_t min_bytes;
	bool installed; /* by install(); the next install() replaces it */
};

const struct dray_handler *handler_in(PyObject *capsule)
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
 * Skips the capsules at the top that install() left: a new capsule would stand
 * on them, and the chain would grow with every call.  Borrowed.
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

PyObject *memory_capsule(struct module_state *state, PyObject *object)
{
	if (PyObject_TypeCheck(object, state->handle_type))
		return resource_capsule(object);
	return pool_capsule(state, object);
}

PyObject *handler_capsule(struct module_state *state, PyObject *pool,
			  size_t min_bytes, PyObject *before, bool installed)
{
	PyObject *large = min_bytes ? pool_capsule(state, pool)
				    : memory_capsule(state, pool);
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
