// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Pool objects, and the capsule that carries a pool's handler into NumPy.
 *
 * The capsule owns the pool, not the Pool object.  NumPy keeps the capsule in
 * every array that it allocated through it, and in every context where it is
 * active.  It frees memory through the handler before it drops the capsule.  So
 * the pool is closed when neither Python nor an array can reach it.
 */
#include <stddef.h>
#include <stdlib.h>

#include "base/module.h"
#include <structmember.h>

/* Both types must describe one object. */
_Static_assert(sizeof(struct dray_handler) == sizeof(PyDataMem_Handler),
	       "handler layout");
_Static_assert(offsetof(struct dray_handler, version) ==
		       offsetof(PyDataMem_Handler, version),
	       "handler layout");
_Static_assert(offsetof(struct dray_handler, allocator) ==
		       offsetof(PyDataMem_Handler, allocator),
	       "handler layout");
_Static_assert(offsetof(struct dray_allocator, free) ==
		       offsetof(PyDataMemAllocator, free),
	       "handler layout");

/* The capsule's context. */
struct pool_owner {
	struct dray_pool *pool;
	struct node_entry *entry;
};

struct pool_object {
	PyObject_HEAD PyObject *capsule; /* NULL: closed */
	PyObject *weak; /* weak references to it */
};

static void capsule_destroy(PyObject *capsule)
{
	struct pool_owner *owner = PyCapsule_GetContext(capsule);

	Py_BEGIN_ALLOW_THREADS
	dray_pool_close(owner->pool);
	Py_END_ALLOW_THREADS
	node_entry_put(owner->entry);
	free(owner);
}

static struct pool_owner *pool_owner(PyObject *capsule)
{
	return PyCapsule_GetContext(capsule);
}

/*
 * Returns the capsule, a new reference, even if another thread closes the pool.
 */
static PyObject *take_capsule(PyObject *self)
{
	PyObject *capsule;

	Py_BEGIN_CRITICAL_SECTION(self);
	capsule = Py_XNewRef(((struct pool_object *)self)->capsule);
	Py_END_CRITICAL_SECTION();
	if (!capsule)
		PyErr_SetString(PyExc_ValueError, "the pool is closed");
	return capsule;
}

/* Takes over @pool, on failure too. */
static PyObject *capsule_new(struct dray_pool *pool, struct node_entry *entry)
{
	const struct dray_handler *handler = dray_handler_for(pool);
	struct pool_owner *owner = malloc(sizeof(*owner));
	PyObject *capsule;

	if (!owner) {
		dray_pool_close(pool);
		return PyErr_NoMemory();
	}
	capsule = PyCapsule_New((void *)handler, HANDLER_CAPSULE, NULL);
	if (!capsule) {
		dray_pool_close(pool);
		free(owner);
		return NULL;
	}
	owner->pool = pool;
	owner->entry = node_entry_ref(entry);
	if (PyCapsule_SetContext(capsule, owner) ||
	    PyCapsule_SetDestructor(capsule, capsule_destroy))
		Py_UNREACHABLE(); /* fail only on an invalid capsule */
	return capsule;
}

PyObject *pool_new(struct module_state *state, struct node_entry *entry,
		   const struct dray_pool_options *options)
{
	struct pool_object *self;
	struct dray_pool *pool;
	PyObject *capsule;
	int ret;

	Py_BEGIN_ALLOW_THREADS
	ret = dray_log_handlers();
	if (!ret)
		ret = dray_pool_create(node_entry_node(entry), options, &pool);
	Py_END_ALLOW_THREADS
	if (ret)
		return raise_error(ret);
	capsule = capsule_new(pool, entry);
	if (!capsule)
		return NULL;
	self = PyObject_New(struct pool_object, state->pool_type);
	if (!self) {
		Py_DECREF(capsule);
		return NULL;
	}
	self->capsule = capsule;
	self->weak = NULL;
	return (PyObject *)self;
}

PyObject *pool_capsule(struct module_state *state, PyObject *object)
{
	if (Py_TYPE(object) == state->pool_type)
		return take_capsule(object);
	PyErr_Format(PyExc_TypeError, "pool is not a dray.Pool but %s%s",
		     Py_TYPE(object)->tp_name,
		     PyUnicode_Check(object)
			     ? ": heap= takes the name of a heap"
			     : ": dray.pool() and dray.mr make pools");
	return NULL;
}

struct dray_pool *pool_in(PyObject *capsule)
{
	return pool_owner(capsule)->pool;
}

static void pool_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	if (((struct pool_object *)self)->weak)
		PyObject_ClearWeakRefs(self);
	Py_XDECREF(((struct pool_object *)self)->capsule);
	PyObject_Free(self);
	Py_DECREF(type);
}

static PyObject *pool_handler_name(PyObject *self, void *unused)
{
	PyObject *capsule = take_capsule(self), *name;

	(void)unused;
	if (!capsule)
		return NULL;
	name = handler_capsule_name(capsule);
	Py_DECREF(capsule);
	return name;
}

static PyObject *pool_shareable(PyObject *self, void *unused)
{
	PyObject *capsule = take_capsule(self);
	bool shareable;

	(void)unused;
	if (!capsule)
		return NULL;
	shareable = dray_node_shareable(
		node_entry_node(pool_owner(capsule)->entry));
	Py_DECREF(capsule);
	return PyBool_FromLong(shareable);
}

static PyObject *pool_closed(PyObject *self, void *unused)
{
	(void)unused;
	return PyBool_FromLong(!((struct pool_object *)self)->capsule);
}

static int pool_query(PyObject *capsule, struct dray_pool_stats *stats)
{
	int ret;

	*stats = (struct dray_pool_stats){ .size = sizeof(*stats) };
	ret = dray_pool_stats(pool_in(capsule), stats);
	if (!ret)
		return 0;
	raise_error(ret);
	return -1;
}

static PyObject *pool_repr(PyObject *self)
{
	struct dray_pool_stats stats = { .size = sizeof(stats) };
	PyObject *capsule, *text = NULL;
	struct dray_node *node;

	if (!((struct pool_object *)self)->capsule)
		return PyUnicode_FromString("<dray.Pool, closed>");
	capsule = take_capsule(self);
	if (!capsule)
		return NULL;
	node = node_entry_node(pool_owner(capsule)->entry);
	if (!pool_query(capsule, &stats))
		text = PyUnicode_FromFormat(
			"<dray.Pool, back end %s, %s, %llu bytes used in %llu blocks>",
			dray_node_backend(node),
			dray_node_shareable(node) ? "shareable" : "private",
			(unsigned long long)stats.used,
			(unsigned long long)stats.blocks);
	Py_DECREF(capsule);
	return text;
}

static PyObject *pool_stats(PyObject *self, PyObject *unused)
{
	PyObject *capsule = take_capsule(self);
	struct dray_pool_stats stats = { .size = sizeof(stats) };
	int failed;

	(void)unused;
	if (!capsule)
		return NULL;
	failed = pool_query(capsule, &stats);
	Py_DECREF(capsule);
	return failed ? NULL : record_pool_stats(type_state(self), &stats);
}

static PyObject *pool_trim(PyObject *self, PyObject *unused)
{
	PyObject *capsule = take_capsule(self);
	struct dray_pool *pool;
	uint64_t bytes;

	(void)unused;
	if (!capsule)
		return NULL;
	pool = pool_in(capsule);
	Py_BEGIN_ALLOW_THREADS
	bytes = dray_pool_trim(pool);
	Py_END_ALLOW_THREADS
	Py_DECREF(capsule);
	return PyLong_FromUnsignedLongLong(bytes);
}

static PyObject *pool_close(PyObject *self, PyObject *unused)
{
	PyObject *capsule;

	(void)unused;
	Py_BEGIN_CRITICAL_SECTION(self);
	capsule = ((struct pool_object *)self)->capsule;
	((struct pool_object *)self)->capsule = NULL;
	Py_END_CRITICAL_SECTION();
	Py_XDECREF(capsule);
	Py_RETURN_NONE;
}

static PyObject *pool_enter(PyObject *self, PyObject *unused)
{
	(void)unused;
	return scope_push(type_state(self), self, self, 0);
}

static PyObject *pool_exit(PyObject *self, PyObject *args)
{
	return scope_pop(type_state(self), self, args);
}

static PyMethodDef pool_methods[] = {
	{ "stats", pool_stats, METH_NOARGS,
	  "stats($self, /)\n--\n\nThe pool's counters, as PoolStats." },
	{ "trim", pool_trim, METH_NOARGS,
	  "trim($self, /)\n--\n\n"
	  "Returns empty buffers to the node, and the number of their bytes." },
	{ "close", pool_close, METH_NOARGS,
	  "close($self, /)\n--\n\n"
	  "Ends the pool: any use raises ValueError from now on.\n\n"
	  "Its arrays stay.  The node gets the memory back when the last of them and\n"
	  "the last scope are gone.  May be called again." },
	{ "__enter__", pool_enter, METH_NOARGS,
	  "__enter__($self, /)\n--\n\n"
	  "Makes new arrays lie in the pool, as dray.memory(pool) does." },
	{ "__exit__", pool_exit, METH_VARARGS,
	  "__exit__($self, kind, value, traceback, /)\n--\n\n"
	  "Restores the previous handler; does not close the pool." },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef pool_properties[] = {
	{ "handler_name", pool_handler_name, NULL,
	  "The name of the handler of its arrays.", NULL },
	{ "shareable", pool_shareable, NULL,
	  "Whether its arrays can be passed to other processes.", NULL },
	{ "closed", pool_closed, NULL, "Whether close() was called.", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyMemberDef pool_members[] = {
	{ "__weaklistoffset__", T_PYSSIZET, offsetof(struct pool_object, weak),
	  READONLY, NULL },
	{ NULL, 0, 0, 0, NULL },
};

static PyType_Slot pool_slots[] = {
	{ Py_tp_new, made_elsewhere },
	{ Py_tp_doc, "Memory of a node for arrays." },
	{ Py_tp_dealloc, pool_dealloc },
	{ Py_tp_repr, pool_repr },
	{ Py_tp_methods, pool_methods },
	{ Py_tp_getset, pool_properties },
	{ Py_tp_members, pool_members },
	{ 0, NULL },
};

PyType_Spec pool_type_spec = {
	.name = "dray.Pool",
	.basicsize = sizeof(struct pool_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = pool_slots,
};
