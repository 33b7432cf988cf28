// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Node objects: a DMA-capable device, or the host.  They answer questions and
 * make pools.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/module.h"

#include <structmember.h>

struct node_object {
	PyObject_HEAD struct node_entry *entry;
	PyObject *weak; /* references of Python that keep nothing */
};

static struct dray_node *node_get(PyObject *self)
{
	return node_entry_node(((struct node_object *)self)->entry);
}

PyObject *node_new(struct module_state *state, struct node_entry *entry)
{
	struct node_object *self =
		(struct node_object *)state->node_type->tp_alloc(
			state->node_type, 0);

	if (!self)
		return NULL;
	self->entry = node_entry_ref(entry);
	return (PyObject *)self;
}

PyObject *module_open_node(PyObject *module, PyObject *spec)
{
	struct module_state *state = module_state(module);
	const char *text = NULL;
	Py_ssize_t length;
	struct dray_node *node;
	struct node_entry *entry;
	PyObject *self;
	int ret;

	if (spec != Py_None) {
		if (!PyUnicode_Check(spec))
			return PyErr_Format(PyExc_TypeError,
					    "spec is not a string but %s",
					    Py_TYPE(spec)->tp_name);
		text = PyUnicode_AsUTF8AndSize(spec, &length);
		if (!text)
			return NULL;
		if (strlen(text) != (size_t)length)
			return PyErr_Format(
				PyExc_ValueError,
				"spec %R contains a null character, which no node's name contains",
				spec);
	}
	Py_BEGIN_ALLOW_THREADS
	ret = dray_node_open(text, &node);
	Py_END_ALLOW_THREADS
	if (ret)
		return raise_error(ret);
	entry = node_entry_get(node);
	dray_node_unref(node);
	if (!entry)
		return PyErr_NoMemory();
	self = node_new(state, entry);
	node_entry_put(entry);
	return self;
}

struct dray_node *node_of(struct module_state *state, PyObject *object)
{
	if (Py_TYPE(object) == state->node_type)
		return node_get(object);
	PyErr_Format(PyExc_TypeError, "node is not a dray.Node but %s",
		     Py_TYPE(object)->tp_name);
	return NULL;
}

PyObject *node_names(PyObject *module, PyObject *unused)
{
	char(*names)[DRAY_NAME_LEN] = NULL;
	PyObject *list = NULL, *name;
	size_t room = 0, count, i;
	int ret;

	(void)module;
	(void)unused;
	/* Nodes may come up between two calls: repeat until all fit. */
	for (;;) {
		Py_BEGIN_ALLOW_THREADS
		ret = dray_node_names(names, room, &count);
		Py_END_ALLOW_THREADS
		if (ret == -ENODEV) {
			count = 0;
			break;
		}
		if (ret) {
			raise_error(ret);
			goto out;
		}
		if (count <= room)
			break;
		free(names);
		names = calloc(count, sizeof(*names));
		if (!names) {
			PyErr_NoMemory();
			goto out;
		}
		room = count;
	}
	list = PyList_New((Py_ssize_t)count);
	for (i = 0; list && i < count; i++) {
		name = PyUnicode_DecodeFSDefault(names[i]);
		if (!name)
			Py_CLEAR(list);
		else
			PyList_SET_ITEM(list, (Py_ssize_t)i, name);
	}
out:
	free(names);
	return list;
}

static void node_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	if (((struct node_object *)self)->weak)
		PyObject_ClearWeakRefs(self);
	node_entry_put(((struct node_object *)self)->entry);
	type->tp_free(self);
	Py_DECREF(type);
}

static PyObject *node_backend(PyObject *self, void *unused)
{
	(void)unused;
	return PyUnicode_FromString(dray_node_backend(node_get(self)));
}

static int node_query(PyObject *self, struct dray_info *info)
{
	int ret;

	memset(info, 0, sizeof(*info));
	Py_BEGIN_ALLOW_THREADS
	ret = dray_node_info(node_get(self), info, sizeof(*info));
	Py_END_ALLOW_THREADS
	if (!ret)
		return 0;
	raise_error(ret);
	return -1;
}

static PyObject *node_info(PyObject *self, PyObject *unused)
{
	struct dray_info info;

	(void)unused;
	if (node_query(self, &info))
		return NULL;
	return record_node_info(class_state(self),
				dray_node_backend(node_get(self)), &info);
}

static PyObject *node_heap_record(PyObject *self, uint32_t index)
{
	struct dray_heap_info heap = { 0 };
	int ret;

	Py_BEGIN_ALLOW_THREADS
	ret = dray_node_heap(node_get(self), index, &heap, sizeof(heap));
	Py_END_ALLOW_THREADS
	return ret ? raise_error(ret)
		   : record_heap_info(class_state(self), &heap);
}

static PyObject *node_channel_record(PyObject *self, uint32_t index)
{
	struct dray_channel_info channel = { 0 };
	int ret;

	Py_BEGIN_ALLOW_THREADS
	ret = dray_node_channel(node_get(self), index, &channel,
				sizeof(channel));
	Py_END_ALLOW_THREADS
	return ret ? raise_error(ret)
		   : record_channel_info(class_state(self), &channel);
}

/* Makes a list from the result of @record for each index below @count. */
static PyObject *list_records(PyObject *self, uint32_t count,
			      PyObject *(*record)(PyObject *self,
						  uint32_t index))
{
	PyObject *list = PyList_New(0), *item;
	uint32_t i;

	for (i = 0; list && i < count; i++) {
		item = record(self, i);
		/*
		 * The collector shows the list to other threads: leave no gaps.
		 */
		if (!item || PyList_Append(list, item))
			Py_CLEAR(list);
		Py_XDECREF(item);
	}
	return list;
}

static PyObject *node_heaps(PyObject *self, PyObject *unused)
{
	struct dray_info info;

	(void)unused;
	if (node_query(self, &info))
		return NULL;
	return list_records(self, info.heap_count, node_heap_record);
}

static PyObject *node_channels(PyObject *self, PyObject *unused)
{
	struct dray_info info;

	(void)unused;
	if (node_query(self, &info))
		return NULL;
	return list_records(self, info.channel_count, node_channel_record);
}

static PyObject *node_area_name(PyObject *self, uint32_t index)
{
	struct dray_register_area area = { 0 };
	int ret;

	Py_BEGIN_ALLOW_THREADS
	ret = dray_node_register_area(node_get(self), index, &area,
				      sizeof(area));
	Py_END_ALLOW_THREADS
	return ret ? raise_error(ret) : PyUnicode_DecodeFSDefault(area.name);
}

static PyObject *node_line_name(PyObject *self, uint32_t index)
{
	struct dray_interrupt_line line = { 0 };
	int ret;

	Py_BEGIN_ALLOW_THREADS
	ret = dray_node_interrupt_line(node_get(self), index, &line,
				       sizeof(line));
	Py_END_ALLOW_THREADS
	return ret ? raise_error(ret) : PyUnicode_DecodeFSDefault(line.name);
}

static PyObject *node_areas(PyObject *self, PyObject *unused)
{
	struct dray_info info;

	(void)unused;
	if (node_query(self, &info))
		return NULL;
	return list_records(self, info.register_count, node_area_name);
}

static PyObject *node_lines(PyObject *self, PyObject *unused)
{
	struct dray_info info;

	(void)unused;
	if (node_query(self, &info))
		return NULL;
	return list_records(self, info.interrupt_count, node_line_name);
}

static PyObject *node_pool(PyObject *self, PyObject *args)
{
	struct dray_pool_options options = { .size = 0 };
	unsigned long long initial, limit, nodes;
	int prefault, huge;

	if (!PyArg_ParseTuple(args, "zzKKIppIK", &options.heap, &options.name,
			      &initial, &limit, &options.granule, &prefault,
			      &huge, &options.pages.policy, &nodes))
		return NULL;
	options.initial = initial;
	options.limit = limit;
	options.pages.numa_nodes = nodes;
	options.pages.flags = (prefault ? DRAY_PAGES_PREFAULT : 0) |
			      (huge ? DRAY_PAGES_HUGE : 0);
	return pool_new(class_state(self), ((struct node_object *)self)->entry,
			&options);
}

static PyMethodDef node_methods[] = {
	{ "_info", node_info, METH_NOARGS, SIGNATURE("_info($self, /)") },
	{ "_heaps", node_heaps, METH_NOARGS, SIGNATURE("_heaps($self, /)") },
	{ "_channels", node_channels, METH_NOARGS,
	  SIGNATURE("_channels($self, /)") },
	{ "_areas", node_areas, METH_NOARGS, SIGNATURE("_areas($self, /)") },
	{ "_lines", node_lines, METH_NOARGS, SIGNATURE("_lines($self, /)") },
	{ "_pool", node_pool, METH_VARARGS,
	  SIGNATURE(
		  "_pool($self, heap, name, initial, limit, granule, prefault, huge_pages, policy, nodes, /)") },
	{ NULL, NULL, 0, NULL },
};

static PyObject *node_shareable(PyObject *self, void *unused)
{
	(void)unused;
	return PyBool_FromLong(dray_node_shareable(node_get(self)));
}

static PyGetSetDef node_properties[] = {
	{ "backend", node_backend, NULL, "'kernel' or 'host'.", NULL },
	{ "shareable", node_shareable, NULL,
	  "Whether its memory can be passed to other processes.", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyMemberDef node_members[] = {
	{ "__weaklistoffset__", T_PYSSIZET, offsetof(struct node_object, weak),
	  READONLY, NULL },
	{ NULL, 0, 0, 0, NULL },
};

static PyType_Slot node_slots[] = {
	{ Py_tp_new, made_elsewhere },
	{ Py_tp_doc, "The part of dray.Node in C." },
	{ Py_tp_dealloc, node_dealloc },
	{ Py_tp_methods, node_methods },
	{ Py_tp_members, node_members },
	{ Py_tp_getset, node_properties },
	{ 0, NULL },
};

PyType_Spec node_type_spec = {
	.name = "dray._dray.NodeBase",
	.basicsize = sizeof(struct node_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE |
		 Py_TPFLAGS_IMMUTABLETYPE,
	.slots = node_slots,
};
