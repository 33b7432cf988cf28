// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dray.Array over memory that the caller chooses: at an address, of another library,
 * or in a buffer for devices alone.
 */
#include <string.h>

#include "object/array_numbers.h"

/* Numbers of a shape or of strides, and the type, from a caller in Python. */
struct description {
	struct numbers shape;
	struct numbers strides;
	bool strided;
	PyArray_Descr *descr;
	dray_dtype dtype;
};

static int array_memory_describe(PyObject *shape, PyObject *strides,
				 PyObject *type, struct description *out)
{
	if (!numbers_take(shape, &out->shape))
		return -1;
	out->strided = strides != Py_None;
	if (out->strided && !numbers_take(strides, &out->strides))
		return -1;
	if (out->strided && out->strides.count != out->shape.count) {
		PyErr_Format(PyExc_ValueError, "%d strides for %d axes",
			     out->strides.count, out->shape.count);
		return -1;
	}
	if (!PyArray_DescrCheck(type)) {
		PyErr_Format(PyExc_TypeError, "%R is not a type of NumPy",
			     type);
		return -1;
	}
	out->descr = (PyArray_Descr *)type;
	return dtype_take(out->descr, &out->dtype);
}

static int kind_take(const char *name, enum dray_memory_kind *out)
{
	static const enum dray_memory_kind kinds[] = { DRAY_MEMORY_UNKNOWN,
						       DRAY_MEMORY_HOST,
						       DRAY_MEMORY_SHARED,
						       DRAY_MEMORY_DEVICE };
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		*out = kinds[i];
		if (!strcmp(name, dray_memory_kind_name(*out)))
			return 0;
	}
	PyErr_Format(PyExc_ValueError,
		     "kind is '%s': 'unknown', 'host', 'shared' or 'device'",
		     name);
	return -1;
}

/*
 * Notes the kind of new memory of another library.  If it tells none, the memory
 * may be dray's; other memory of no kind is never read.
 */
static PyObject *with_kind(PyObject *object, enum dray_memory_kind kind)
{
	struct array_object *self = array_self(object);
	enum dray_memory_kind ours = DRAY_MEMORY_UNKNOWN;
	struct dray_view view;

	array_whole(self, &view);
	if (kind == DRAY_MEMORY_UNKNOWN)
		dray_view_kind(&view, NULL, &ours);
	self->kind = kind;
	if (kind == DRAY_MEMORY_HOST || kind == DRAY_MEMORY_SHARED ||
	    !dray_view_size(&view))
		return object;
	if (ours != DRAY_MEMORY_HOST && ours != DRAY_MEMORY_SHARED)
		array_set_unreachable(object, kind);
	return object;
}

/* array_at(owner, address, dtype, shape, strides in bytes, writable, kind) */
PyObject *memory_at(PyObject *module, PyObject *args)
{
	PyObject *owner, *type, *shape, *strides, *object;
	unsigned long long address;
	enum dray_memory_kind kind;
	struct description given;
	struct dray_array *array;
	struct dray_view view;
	const char *name;
	int writable, ret;

	if (!PyArg_ParseTuple(args, "OKOOOps:array_at", &owner, &address, &type,
			      &shape, &strides, &writable, &name) ||
	    kind_take(name, &kind) ||
	    array_memory_describe(shape, strides, type, &given))
		return NULL;
	if (address > UINTPTR_MAX) {
		dray_dtype_unref(given.dtype);
		return PyErr_Format(PyExc_OverflowError,
				    "an address of %llu, %llu is the highest",
				    address, (unsigned long long)UINTPTR_MAX);
	}
	/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
	ret = dray_view_init(&view, (void *)(uintptr_t)address, given.dtype,
			     given.shape.count, given.shape.list,
			     given.strided ? given.strides.list : NULL);
	if (!ret && !writable)
		view.flags &= ~DRAY_WRITE;
	if (!ret)
		ret = dray_array_from_pointer(&view, array_drop_owner, owner,
					      &array);
	dray_dtype_unref(given.dtype);
	if (ret)
		return raise_error(ret);
	Py_INCREF(owner);
	object = array_wrap(module_state(module)->array_type, array,
			    given.descr, NULL, owner);
	return object ? with_kind(object, kind) : NULL;
}

/* Returns the Node of dray's memory, or None. */
static PyObject *node_at(PyObject *module, const void *address)
{
	struct dray_location where;
	struct node_entry *entry;
	PyObject *node;

	if (dray_locate(address, &where))
		Py_RETURN_NONE;
	entry = node_entry_get(dray_buffer_node(where.buffer));
	if (!entry)
		return PyErr_NoMemory();
	node = node_new(module_state(module), entry);
	node_entry_put(entry);
	return node;
}

static const struct array_object *own_array(PyObject *object)
{
	if (array_is(object))
		return array_self(object);
	PyErr_Format(PyExc_TypeError, "a is not a dray.Array but %s",
		     Py_TYPE(object)->tp_name);
	return NULL;
}

/* is_reached(a): whether the CPU reaches the elements */
PyObject *memory_is_reached(PyObject *module, PyObject *object)
{
	const struct array_object *self = own_array(object);

	(void)module;
	return self ? PyBool_FromLong(self->flags & DRAY_READ) : NULL;
}

/*
 * place(a): the address of the element [0, 0, ...], bytes from there to the lowest
 * and to the highest, whether they may be written, and the node
 */
PyObject *memory_place(PyObject *module, PyObject *object)
{
	const struct array_object *self = own_array(object);
	struct dray_view view;
	int64_t low, high;
	uint64_t flags;

	if (!self)
		return NULL;
	dray_view_span(array_whole(self, &view), &low, &high);
	flags = self->flags & DRAY_READ ? self->flags : self->array->flags;
	return Py_BuildValue("(KLLNN)",
			     (unsigned long long)(uintptr_t)view.data,
			     (long long)low, (long long)high,
			     PyBool_FromLong(flags & DRAY_WRITE),
			     node_at(module, (char *)view.data + low));
}

/* device_empty(node, shape, dtype, heap) */
PyObject *memory_device(PyObject *module, PyObject *args)
{
	struct dray_buffer_options options = { .mode = DRAY_MODE_DEVICE,
					       .name = "array" };
	PyObject *node_object, *shape, *type;
	struct dray_buffer *buffer;
	struct description given;
	struct dray_array *array;
	struct dray_node *node;
	size_t bytes;
	int ret;

	if (!PyArg_ParseTuple(args, "OOOz:device_empty", &node_object, &shape,
			      &type, &options.heap))
		return NULL;
	node = node_of(module_state(module), node_object);
	if (!node || array_memory_describe(shape, Py_None, type, &given))
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	ret = dray_view_bytes(given.dtype, given.shape.count, given.shape.list,
			      &bytes);
	if (!ret)
		ret = dray_buffer_alloc(node, bytes, &options, &buffer);
	if (!ret) {
		ret = dray_array_from_buffer(buffer, 0, given.dtype,
					     given.shape.count,
					     given.shape.list, NULL, &array);
		dray_buffer_unref(buffer);
	}
	Py_END_ALLOW_THREADS
	dray_dtype_unref(given.dtype);
	return ret ? raise_error(ret) : ipc_wrap_own(module, array);
}
