// SPDX-License-Identifier: Apache-2.0 OR MIT
/* _dray.Handle: an object of the library, the base of classes in Python. */
#include "base/handle.h"

struct handle_object {
	PyObject_HEAD const struct handle_kind *kind;
	void *object; /* NULL: dropped; in the critical section of the handle */
	PyObject *kept;
	bool shares; /* the object of the library refers to @kept, too */
};

static PyModuleDef *module_definition;

void module_define(PyModuleDef *definition)
{
	module_definition = definition;
}

PyObject *class_module(PyObject *self)
{
	return PyType_GetModuleByDef(Py_TYPE(self), module_definition);
}

struct module_state *module_state_of(PyTypeObject *type)
{
	PyObject *module = PyType_GetModuleByDef(type, module_definition);

	return module ? module_state(module) : NULL;
}

struct module_state *class_state(PyObject *self)
{
	return module_state_of(Py_TYPE(self));
}

static struct handle_object *handle_self(PyObject *self)
{
	return (struct handle_object *)self;
}

void handle_put(const struct handle_kind *kind, void *object)
{
	if (!object)
		return;
	Py_BEGIN_ALLOW_THREADS
	kind->unref(object);
	Py_END_ALLOW_THREADS
}

static void handle_dealloc(PyObject *self);

/* Whether a class is made of Handle; other types have other ends. */
static bool handle_is_base(const PyTypeObject *type)
{
	while (type && type->tp_dealloc != handle_dealloc)
		type = type->tp_base;
	return type;
}

PyObject *handle_new(PyObject *type, const struct handle_kind *kind, int error,
		     void *object, PyObject *kept)
{
	PyTypeObject *class = (PyTypeObject *)type;
	PyObject *self;

	if (error)
		return raise_error(error);
	if (!PyType_Check(type) || !handle_is_base(class))
		self = PyErr_Format(PyExc_TypeError,
				    "not a class made of Handle: %R", type);
	else
		self = class->tp_alloc(class, 0);
	if (!self) {
		handle_put(kind, object);
		return NULL;
	}
	handle_self(self)->kind = kind;
	handle_self(self)->object = object;
	handle_self(self)->kept = Py_XNewRef(kept);
	return self;
}

PyObject *handle_new_sharing(PyObject *type, const struct handle_kind *kind,
			     int error, void *object, PyObject *kept)
{
	PyObject *self = handle_new(type, kind, error, object, kept);

	if (self)
		handle_self(self)->shares = true;
	return self;
}

PyObject *handle_bare(PyObject *module, PyObject *type)
{
	(void)module;
	return handle_new(type, NULL, 0, NULL, NULL);
}

void *handle_ref(PyObject *self, const struct handle_kind *kind)
{
	void *object = NULL;

	if (!handle_is_base(Py_TYPE(self)) || handle_self(self)->kind != kind)
		return PyErr_Format(PyExc_TypeError, "%s is needed, not %R",
				    kind->name, self);
	Py_BEGIN_CRITICAL_SECTION(self);
	if (handle_self(self)->object)
		object = kind->ref(handle_self(self)->object);
	Py_END_CRITICAL_SECTION();
	if (!object)
		PyErr_Format(PyExc_ValueError, "the dray.%s is closed",
			     Py_TYPE(self)->tp_name);
	return object;
}

PyObject *handle_kept(PyObject *self)
{
	return handle_self(self)->kept;
}

static PyObject *handle_drop(PyObject *self, PyObject *unused)
{
	void *object;

	(void)unused;
	Py_BEGIN_CRITICAL_SECTION(self);
	object = handle_self(self)->object;
	handle_self(self)->object = NULL;
	Py_END_CRITICAL_SECTION();
	handle_put(handle_self(self)->kind, object);
	Py_RETURN_NONE;
}

static int handle_traverse(PyObject *self, visitproc visit, void *arg)
{
	Py_VISIT(Py_TYPE(self));
	Py_VISIT(handle_self(self)->kept);
	if (handle_self(self)->shares && handle_self(self)->object)
		Py_VISIT(handle_self(self)->kept);
	return 0;
}

static void handle_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	PyObject_GC_UnTrack(self);
	Py_DECREF(handle_drop(self, NULL));
	Py_XDECREF(handle_self(self)->kept);
	type->tp_free(self);
	Py_DECREF(type);
}

static PyObject *handle_dropped(PyObject *self, void *unused)
{
	bool dropped;

	(void)unused;
	Py_BEGIN_CRITICAL_SECTION(self);
	dropped = !handle_self(self)->object;
	Py_END_CRITICAL_SECTION();
	return PyBool_FromLong(dropped);
}

static PyMethodDef handle_methods[] = {
	{ "_drop", handle_drop, METH_NOARGS,
	  "_drop($self, /)\n--\n\nDrops the library's object; may be called again." },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef handle_properties[] = {
	{ "_dropped", handle_dropped, NULL, "Whether it was dropped.", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot handle_slots[] = {
	{ Py_tp_new, made_elsewhere },
	{ Py_tp_doc, "An object of the library, the base of classes." },
	{ Py_tp_traverse, handle_traverse },
	{ Py_tp_dealloc, handle_dealloc },
	{ Py_tp_methods, handle_methods },
	{ Py_tp_getset, handle_properties },
	{ 0, NULL },
};

PyType_Spec handle_type_spec = {
	.name = "dray._dray.Handle",
	.basicsize = sizeof(struct handle_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
		 Py_TPFLAGS_IMMUTABLETYPE,
	.slots = handle_slots,
};
