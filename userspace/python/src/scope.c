// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Scopes: the context manager that dray.memory() returns.
 *
 * NumPy keeps its handler in a context variable, so that it belongs to a
 * thread, or to a task of asyncio.  What a scope found when it was entered is
 * kept the same way: in a tuple (scope, capsule found, scope, capsule found,
 * ...), innermost last.  One scope may thus be entered many times, and in
 * many threads at once.
 */
#include "module.h"

struct scope_object {
	PyObject_HEAD PyObject *pool;
};

PyObject *scope_new(PyObject *module, PyObject *pool)
{
	struct module_state *state = module_state(module);
	struct scope_object *self;

	if (!pool_capsule(state, pool))
		return NULL;
	self = PyObject_New(struct scope_object, state->scope_type);
	if (!self)
		return NULL;
	self->pool = Py_NewRef(pool);
	return (PyObject *)self;
}

static void scope_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	Py_DECREF(((struct scope_object *)self)->pool);
	PyObject_Free(self);
	Py_DECREF(type);
}

/* The tuple of this context, a new reference. */
static PyObject *scopes_get(struct module_state *state)
{
	PyObject *scopes;

	if (PyContextVar_Get(state->scopes, NULL, &scopes))
		return NULL;
	return scopes ? scopes : PyTuple_New(0);
}

/* Takes over @scopes, which may be NULL after a failure. */
static int scopes_set(struct module_state *state, PyObject *scopes)
{
	PyObject *token;

	if (!scopes)
		return -1;
	token = PyContextVar_Set(state->scopes, scopes);
	Py_DECREF(scopes);
	if (!token)
		return -1;
	Py_DECREF(token);
	return 0;
}

static int handler_set(PyObject *capsule)
{
	PyObject *previous = PyDataMem_SetHandler(capsule);

	Py_XDECREF(previous);
	return previous ? 0 : -1;
}

static PyObject *scope_enter(PyObject *self, PyObject *unused)
{
	struct module_state *state = type_state(self);
	PyObject *pool = ((struct scope_object *)self)->pool;
	PyObject *scopes, *longer, *found;
	Py_ssize_t count, i;

	(void)unused;
	scopes = scopes_get(state);
	if (!scopes)
		return NULL;
	found = PyDataMem_SetHandler(pool_capsule(state, pool));
	if (!found) {
		Py_DECREF(scopes);
		return NULL;
	}
	count = PyTuple_GET_SIZE(scopes);
	longer = PyTuple_New(count + 2);
	if (longer) {
		for (i = 0; i < count; i++)
			PyTuple_SET_ITEM(
				longer, i,
				Py_NewRef(PyTuple_GET_ITEM(scopes, i)));
		PyTuple_SET_ITEM(longer, count, Py_NewRef(self));
		PyTuple_SET_ITEM(longer, count + 1, Py_NewRef(found));
	}
	Py_DECREF(scopes);
	if (scopes_set(state, longer)) {
		PyObject *type, *value, *traceback;

		PyErr_Fetch(&type, &value, &traceback);
		if (handler_set(found))
			PyErr_Clear();
		PyErr_Restore(type, value, traceback);
		Py_DECREF(found);
		return NULL;
	}
	Py_DECREF(found);
	return Py_NewRef(pool);
}

/*
 * Scopes may be left in another order than they were entered, by generators
 * for one: what such a scope found is then handed to the one entered next.
 */
static PyObject *scope_exit(PyObject *self, PyObject *args)
{
	struct module_state *state = type_state(self);
	PyObject *scopes, *shorter, *found, *item;
	Py_ssize_t count, place, i;
	bool innermost;

	(void)args;
	scopes = scopes_get(state);
	if (!scopes)
		return NULL;
	count = PyTuple_GET_SIZE(scopes);
	for (place = count - 2; place >= 0; place -= 2) {
		if (PyTuple_GET_ITEM(scopes, place) == self)
			break;
	}
	if (place < 0) {
		Py_DECREF(scopes);
		PyErr_SetString(
			PyExc_RuntimeError,
			"this scope of dray.memory() was not entered in this thread or task");
		return NULL;
	}
	found = PyTuple_GET_ITEM(scopes, place + 1);
	innermost = place == count - 2;
	shorter = PyTuple_New(count - 2);
	for (i = 0; shorter && i < count - 2; i++) {
		item = PyTuple_GET_ITEM(scopes, i < place ? i : i + 2);
		if (i == place + 1)
			item = found;
		PyTuple_SET_ITEM(shorter, i, Py_NewRef(item));
	}
	if (!shorter || (innermost && handler_set(found))) {
		Py_XDECREF(shorter);
		Py_DECREF(scopes);
		return NULL;
	}
	Py_DECREF(scopes);
	if (scopes_set(state, shorter))
		return NULL;
	Py_RETURN_FALSE;
}

static PyObject *scope_pool(PyObject *self, void *unused)
{
	(void)unused;
	return Py_NewRef(((struct scope_object *)self)->pool);
}

static PyMethodDef scope_methods[] = {
	{ "__enter__", scope_enter, METH_NOARGS,
	  "Makes the pool the one that new arrays come from; returns it." },
	{ "__exit__", scope_exit, METH_VARARGS,
	  "Goes back to what was there before." },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef scope_properties[] = {
	{ "pool", scope_pool, NULL, "The pool that the scope uses.", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot scope_slots[] = {
	{ Py_tp_doc, "`with` this, new arrays lie in the scope's pool." },
	{ Py_tp_dealloc, scope_dealloc },
	{ Py_tp_methods, scope_methods },
	{ Py_tp_getset, scope_properties },
	{ 0, NULL },
};

PyType_Spec scope_type_spec = {
	.name = "dray.Scope",
	.basicsize = sizeof(struct scope_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
		 Py_TPFLAGS_IMMUTABLETYPE,
	.slots = scope_slots,
};
