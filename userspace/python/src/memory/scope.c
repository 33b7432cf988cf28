// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Scopes: the context manager that dray.memory() returns.
 *
 * NumPy keeps its handler in a context variable, so it belongs to a thread, or
 * to a task of asyncio.  Scopes keep the capsule they found in the same way, in
 * a tuple (scope, capsule found, scope, capsule found, ...), innermost last.
 * So a scope may be entered many times, in many threads at once.
 */
#include "base/module.h"

struct scope_object {
	PyObject_HEAD PyObject *pool;
	size_t min_bytes;
	PyObject *before; /* of install(): the capsule that its end sets */
};

static PyObject *scope_make(struct module_state *state, PyObject *pool,
			    size_t min_bytes, PyObject *before)
{
	struct scope_object *self =
		PyObject_New(struct scope_object, state->scope_type);

	if (!self)
		return NULL;
	self->pool = Py_NewRef(pool);
	self->min_bytes = min_bytes;
	self->before = Py_XNewRef(before);
	return (PyObject *)self;
}

PyObject *scope_installed(struct module_state *state, PyObject *pool,
			  size_t min_bytes, PyObject *before)
{
	return scope_make(state, pool, min_bytes, before);
}

PyObject *scope_new(PyObject *module, PyObject *args)
{
	struct module_state *state = module_state(module);
	PyObject *pool, *capsule;
	size_t min_bytes = 0;

	if (!PyArg_ParseTuple(args, "O|O&:scope", &pool, min_bytes_take,
			      &min_bytes))
		return NULL;
	capsule = min_bytes ? pool_capsule(state, pool)
			    : memory_capsule(state, pool);
	if (!capsule)
		return NULL;
	Py_DECREF(capsule);
	return scope_make(state, pool, min_bytes, NULL);
}

static void scope_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	Py_DECREF(((struct scope_object *)self)->pool);
	Py_XDECREF(((struct scope_object *)self)->before);
	PyObject_Free(self);
	Py_DECREF(type);
}

/* Returns this context's tuple, a new reference. */
static PyObject *scopes_get(struct module_state *state)
{
	PyObject *scopes;

	if (PyContextVar_Get(state->scopes, NULL, &scopes))
		return NULL;
	return scopes ? scopes : PyTuple_New(0);
}

static int scopes_set(struct module_state *state, PyObject *scopes)
{
	PyObject *token = PyContextVar_Set(state->scopes, scopes);

	Py_XDECREF(token);
	return token ? 0 : -1;
}

static int handler_set(PyObject *capsule)
{
	PyObject *previous = PyDataMem_SetHandler(capsule);

	Py_XDECREF(previous);
	return previous ? 0 : -1;
}

/* The settings of a context: its open scopes, and NumPy's handler. */
struct setting {
	PyObject *scopes;
	PyObject *capsule;
};

static int setting_get(struct module_state *state, struct setting *setting)
{
	setting->scopes = scopes_get(state);
	setting->capsule = PyDataMem_GetHandler();
	if (setting->scopes && setting->capsule)
		return 0;
	Py_XDECREF(setting->scopes);
	Py_XDECREF(setting->capsule);
	return -1;
}

/*
 * Changes both or none.  PyContextVar_Set() of Python 3.11 sets the variable
 * even if it runs out of memory, so both are reset in any case.
 */
static int setting_change(struct module_state *state,
			  const struct setting *before,
			  const struct setting *after)
{
	PyObject *type, *value, *traceback;

	if (!scopes_set(state, after->scopes) && !handler_set(after->capsule))
		return 0;
	PyErr_Fetch(&type, &value, &traceback);
	if (scopes_set(state, before->scopes))
		PyErr_Clear();
	if (handler_set(before->capsule))
		PyErr_Clear();
	PyErr_Restore(type, value, traceback);
	return -1;
}

/* Appends @scope and the capsule that it found. */
static PyObject *scopes_longer(PyObject *scopes, PyObject *scope,
			       PyObject *found)
{
	Py_ssize_t count = PyTuple_GET_SIZE(scopes), i;
	PyObject *result = PyTuple_New(count + 2);

	if (!result)
		return NULL;
	for (i = 0; i < count; i++)
		PyTuple_SET_ITEM(result, i,
				 Py_NewRef(PyTuple_GET_ITEM(scopes, i)));
	PyTuple_SET_ITEM(result, count, Py_NewRef(scope));
	PyTuple_SET_ITEM(result, count + 1, Py_NewRef(found));
	return result;
}

/* Removes the pair at @place; its capsule moves on to the next scope. */
static PyObject *scopes_shorter(PyObject *scopes, Py_ssize_t place)
{
	Py_ssize_t count = PyTuple_GET_SIZE(scopes) - 2, i;
	PyObject *result = PyTuple_New(count), *item;
	bool stays;

	for (i = 0; result && i < count; i++) {
		stays = i < place || i == place + 1;
		item = PyTuple_GET_ITEM(scopes, stays ? i : i + 2);
		PyTuple_SET_ITEM(result, i, Py_NewRef(item));
	}
	return result;
}

PyObject *scope_push(struct module_state *state, PyObject *key, PyObject *pool,
		     size_t min_bytes)
{
	struct setting before, after;
	int failed;

	if (setting_get(state, &before))
		return NULL;
	after.scopes = NULL;
	after.capsule =
		handler_capsule(state, pool, min_bytes, before.capsule, false);
	if (after.capsule)
		after.scopes =
			scopes_longer(before.scopes, key, before.capsule);
	failed = !after.scopes || setting_change(state, &before, &after);
	Py_XDECREF(after.capsule);
	Py_XDECREF(after.scopes);
	Py_DECREF(before.scopes);
	Py_DECREF(before.capsule);
	return failed ? NULL : Py_NewRef(pool);
}

/* Adds the library's sentence to a MemoryError that leaves a scope. */
static int scope_explain(PyObject *args)
{
	PyObject *error, *module, *result;

	if (PyTuple_GET_SIZE(args) < 2)
		return 0;
	error = PyTuple_GET_ITEM(args, 1);
	if (!PyErr_GivenExceptionMatches(error, PyExc_MemoryError))
		return 0;
	module = PyImport_ImportModule("dray._scope");
	result = module ? PyObject_CallMethod(module, "explain", "O", error)
			: NULL;
	Py_XDECREF(module);
	Py_XDECREF(result);
	return result ? 0 : -1;
}

/*
 * Leaves a scope.  Scopes may end out of order, for example in generators: the
 * handler then stays until the scope entered next is left.
 */
PyObject *scope_pop(struct module_state *state, PyObject *key, PyObject *args)
{
	struct setting before, after;
	Py_ssize_t last, place;
	int failed = -1;

	if (setting_get(state, &before))
		return NULL;
	last = PyTuple_GET_SIZE(before.scopes) - 2;
	for (place = last; place >= 0; place -= 2) {
		if (PyTuple_GET_ITEM(before.scopes, place) == key)
			break;
	}
	if (place < 0) {
		PyErr_SetString(
			PyExc_RuntimeError,
			"this scope of dray.memory() is not entered in this thread or task: it was left already, or entered elsewhere");
		goto out;
	}
	after.capsule = place < last
				? before.capsule
				: PyTuple_GET_ITEM(before.scopes, place + 1);
	after.scopes = scopes_shorter(before.scopes, place);
	failed = !after.scopes || setting_change(state, &before, &after);
	Py_XDECREF(after.scopes);
out:
	Py_DECREF(before.scopes);
	Py_DECREF(before.capsule);
	if (failed || scope_explain(args))
		return NULL;
	Py_RETURN_FALSE;
}

PyObject *scope_current(PyObject *module, PyObject *unused)
{
	struct module_state *state = module_state(module);
	PyObject *scopes = scopes_get(state), *pool = Py_None;

	(void)unused;
	if (!scopes)
		return NULL;
	if (PyTuple_GET_SIZE(scopes))
		pool = PyTuple_GET_ITEM(scopes, PyTuple_GET_SIZE(scopes) - 2);
	if (Py_TYPE(pool) == state->scope_type)
		pool = ((struct scope_object *)pool)->pool;
	Py_INCREF(pool);
	Py_DECREF(scopes);
	return pool;
}

static PyObject *scope_enter(PyObject *self, PyObject *unused)
{
	const struct scope_object *scope = (struct scope_object *)self;

	(void)unused;
	/* install() opened it already. */
	if (scope->before)
		return Py_NewRef(scope->pool);
	return scope_push(type_state(self), self, scope->pool,
			  scope->min_bytes);
}

static PyObject *scope_exit(PyObject *self, PyObject *args)
{
	const struct scope_object *scope = (struct scope_object *)self;

	if (!scope->before)
		return scope_pop(type_state(self), self, args);
	if (handler_set(scope->before) || scope_explain(args))
		return NULL;
	Py_RETURN_FALSE;
}

static PyObject *scope_call(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "", NULL };
	PyObject *function, *module, *result;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:Scope", names,
					 &function))
		return NULL;
	module = PyImport_ImportModule("dray._scope");
	result = module ? PyObject_CallMethod(module, "decorated", "OO", self,
					      function)
			: NULL;
	Py_XDECREF(module);
	return result;
}

static PyObject *scope_repr(PyObject *self)
{
	const struct scope_object *scope = (struct scope_object *)self;

	return PyUnicode_FromFormat("<dray.Scope of %s() from %zu bytes, %R>",
				    scope->before ? "install" : "memory",
				    scope->min_bytes, scope->pool);
}

static PyObject *scope_pool(PyObject *self, void *unused)
{
	(void)unused;
	return Py_NewRef(((struct scope_object *)self)->pool);
}

static PyObject *scope_min_bytes(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromSize_t(((struct scope_object *)self)->min_bytes);
}

static PyMethodDef scope_methods[] = {
	{ "__enter__", scope_enter, METH_NOARGS,
	  "__enter__($self, /)\n--\n\n"
	  "Makes new arrays come from the pool, and returns it." },
	{ "__exit__", scope_exit, METH_VARARGS,
	  "__exit__($self, kind, value, traceback, /)\n--\n\n"
	  "Restores the previous handler." },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef scope_properties[] = {
	{ "pool", scope_pool, NULL, "The pool that the scope uses.", NULL },
	{ "min_bytes", scope_min_bytes, NULL,
	  "The least size of arrays that lie in the pool.", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot scope_slots[] = {
	{ Py_tp_new, made_elsewhere },
	{ Py_tp_doc,
	  "`with` this, new arrays lie in the scope's pool; @this is a decorator." },
	{ Py_tp_repr, scope_repr },
	{ Py_tp_call, scope_call },
	{ Py_tp_dealloc, scope_dealloc },
	{ Py_tp_methods, scope_methods },
	{ Py_tp_getset, scope_properties },
	{ 0, NULL },
};

PyType_Spec scope_type_spec = {
	.name = "dray.Scope",
	.basicsize = sizeof(struct scope_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = scope_slots,
};
