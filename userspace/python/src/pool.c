// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Pool objects, and the capsule that carries a pool's handler into NumPy.
 *
 * The capsule owns the pool, not the Pool object: NumPy keeps the capsule in
 * every array that it allocated through it, and in every context where it is
 * the active one, and frees through the handler before it lets go.  So the
 * pool is closed when neither Python nor any array can reach it any more.
 */
#include <stddef.h>
#include <stdlib.h>

#include "module.h"

/* The same object is read through either type. */
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
	PyObject_HEAD PyObject *capsule;
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

static struct pool_owner *pool_owner(PyObject *self)
{
	return PyCapsule_GetContext(((struct pool_object *)self)->capsule);
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
	int error;

	Py_BEGIN_ALLOW_THREADS
	error = dray_pool_create(node_entry_node(entry), options, &pool);
	Py_END_ALLOW_THREADS
	if (error)
		return raise_error(error);
	capsule = capsule_new(pool, entry);
	if (!capsule)
		return NULL;
	self = PyObject_New(struct pool_object, state->pool_type);
	if (!self) {
		Py_DECREF(capsule);
		return NULL;
	}
	self->capsule = capsule;
	return (PyObject *)self;
}

PyObject *pool_capsule(struct module_state *state, PyObject *object)
{
	if (Py_TYPE(object) == state->pool_type)
		return ((struct pool_object *)object)->capsule;
	PyErr_Format(PyExc_TypeError, "pool is a %s, not a dray.Pool",
		     Py_TYPE(object)->tp_name);
	return NULL;
}

struct dray_pool *pool_of(PyObject *object)
{
	return pool_owner(object)->pool;
}

static void pool_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	Py_DECREF(((struct pool_object *)self)->capsule);
	PyObject_Free(self);
	Py_DECREF(type);
}

static PyObject *pool_handler_name(PyObject *self, void *unused)
{
	(void)unused;
	return capsule_name(((struct pool_object *)self)->capsule);
}

static int pool_query(PyObject *self, struct dray_pool_stats *stats)
{
	int error;

	memset(stats, 0, sizeof(*stats));
	error = dray_pool_stats(pool_owner(self)->pool, stats, sizeof(*stats));
	if (!error)
		return 0;
	raise_error(error);
	return -1;
}

static PyObject *pool_repr(PyObject *self)
{
	struct dray_pool_stats stats;
	struct node_entry *entry = pool_owner(self)->entry;

	if (pool_query(self, &stats))
		return NULL;
	return PyUnicode_FromFormat(
		"<dray.Pool, back end %s, %llu bytes used in %llu blocks>",
		dray_node_backend(node_entry_node(entry)),
		(unsigned long long)stats.used,
		(unsigned long long)stats.blocks);
}

static PyObject *pool_stats(PyObject *self, PyObject *unused)
{
	struct dray_pool_stats stats;

	(void)unused;
	if (pool_query(self, &stats))
		return NULL;
	return record_pool_stats(type_state(self), &stats);
}

static PyObject *pool_trim(PyObject *self, PyObject *unused)
{
	struct dray_pool *pool = pool_of(self);
	uint64_t bytes;

	(void)unused;
	Py_BEGIN_ALLOW_THREADS
	bytes = dray_pool_trim(pool);
	Py_END_ALLOW_THREADS
	return PyLong_FromUnsignedLongLong(bytes);
}

static PyMethodDef pool_methods[] = {
	{ "stats", pool_stats, METH_NOARGS,
	  "stats() -> PoolStats: the pool's counters." },
	{ "trim", pool_trim, METH_NOARGS,
	  "trim() -> int: gives empty buffers back to the node; bytes given back." },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef pool_properties[] = {
	{ "handler_name", pool_handler_name, NULL,
	  "The name of the handler that arrays of this pool have.", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot pool_slots[] = {
	{ Py_tp_doc, "Memory of a node that arrays can be made in." },
	{ Py_tp_dealloc, pool_dealloc },
	{ Py_tp_repr, pool_repr },
	{ Py_tp_methods, pool_methods },
	{ Py_tp_getset, pool_properties },
	{ 0, NULL },
};

PyType_Spec pool_type_spec = {
	.name = "dray.Pool",
	.basicsize = sizeof(struct pool_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
		 Py_TPFLAGS_IMMUTABLETYPE,
	.slots = pool_slots,
};
