// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The life of a dray.Array: objects over libdray's array, and over views of it.
 */
#include "object/array_object.h"

/* Makes an object of a view; its root, and members of the root, are not set. */
static struct array_object *object_new(PyTypeObject *type,
				       const struct dray_view *view,
				       PyArray_Descr *descr)
{
	struct array_object *self = PyObject_NewVar(struct array_object, type,
						    (Py_ssize_t)view->ndim * 3);
	int i;

	if (!self)
		return NULL;
	self->descr = (PyArray_Descr *)Py_NewRef(descr);
	self->dtype = dray_dtype_ref(view->dtype);
	self->data = view->data;
	self->flags = view->flags;
	self->ndim = view->ndim;
	self->tensor = 0;
	self->standard = false;
	self->weak = NULL;
	for (i = 0; i < view->ndim; i++) {
		self->numbers[i] = view->shape[i];
		self->numbers[view->ndim + i] = view->strides[i];
		self->numbers[2 * view->ndim + i] = 0;
	}
	return self;
}

PyObject *array_wrap(PyTypeObject *type, struct dray_array *array,
		     PyArray_Descr *descr, PyObject *capsule, PyObject *base)
{
	struct array_object *self = NULL;
	struct dray_view view;

	descr = descr ? (PyArray_Descr *)Py_NewRef(descr)
		      : dtype_descr(array->dtype);
	if (descr)
		self = object_new(type, dray_array_view(array, &view), descr);
	Py_XDECREF(descr);
	if (!self) {
		dray_array_unref(array);
		return NULL;
	}
	self->flags = (uint32_t)array->flags;
	self->kind = DRAY_MEMORY_UNKNOWN;
	self->root = NULL;
	self->array = array;
	self->capsule = Py_XNewRef(capsule);
	self->base = Py_XNewRef(base);
	return (PyObject *)self;
}

PyObject *array_over_as(struct array_object *self, const struct dray_view *view,
			PyArray_Descr *descr)
{
	struct array_object *object = object_new(Py_TYPE(self), view, descr);

	if (!object)
		return NULL;
	object->root = (struct array_object *)Py_NewRef(self->root ? self->root
								   : self);
	object->array = self->array;
	object->capsule = self->capsule;
	object->base = self->base;
	object->kind = self->kind;
	object->standard = self->standard;
	return (PyObject *)object;
}

void array_set_unreachable(PyObject *object, enum dray_memory_kind kind)
{
	struct array_object *self = array_self(object);

	self->flags &= ~(DRAY_READ | DRAY_WRITE);
	self->kind = kind;
}

PyObject *array_without_device(PyObject *object)
{
	if (object && dray_address_kind(array_self(object)->array->data,
					NULL) == DRAY_MEMORY_DEVICE)
		array_set_unreachable(object, DRAY_MEMORY_UNKNOWN);
	return object;
}

struct dray_view *array_moved(const struct array_object *self,
			      struct dray_view *view)
{
	array_whole(self, view);
	if (!(view->flags & DRAY_READ) &&
	    dray_address_kind(self->array->data, NULL) == DRAY_MEMORY_DEVICE)
		view->flags |=
			(uint32_t)self->array->flags & (DRAY_READ | DRAY_WRITE);
	return view;
}

PyObject *array_unreachable(const struct array_object *self)
{
	const char *name = dray_memory_kind_name(self->kind);

	if (dray_address_kind(self->array->data, NULL) == DRAY_MEMORY_DEVICE)
		return PyUnicode_FromString(
			"device memory: copy it by dray.copy()");
	return PyUnicode_FromFormat(
		"%s memory of another library: copy it by dray.copy_from_sycl()",
		name);
}

int array_check_reachable(const struct array_object *self)
{
	PyObject *sentence;

	if (self->flags & DRAY_READ)
		return 0;
	sentence = array_unreachable(self);
	if (sentence)
		PyErr_SetObject(PyExc_ValueError, sentence);
	Py_XDECREF(sentence);
	return -1;
}

PyObject *array_over(struct array_object *self, const struct dray_view *view)
{
	return array_over_as(self, view, self->descr);
}

struct dray_view *array_whole(const struct array_object *self,
			      struct dray_view *view)
{
	int i;

	view->data = self->data;
	view->dtype = self->dtype;
	view->ndim = self->ndim;
	view->flags = self->flags & ~(DRAY_OWNED | DRAY_WRITE_BACK);
	for (i = 0; i < self->ndim; i++) {
		view->shape[i] = array_shape_of(self)[i];
		view->strides[i] = array_strides_of(self)[i];
	}
	return view;
}

#if PY_VERSION_HEX < 0x030d0000
#define Py_IsFinalizing _Py_IsFinalizing
#endif

/*
 * Owners to drop after the owners above: an array over an array over
 * an array, as loops make them, would end on a stack of any depth.
 */
#define MAX_NESTED 50
static _Thread_local PyObject *put_off /* a list, or NULL */
	__attribute__((tls_model("initial-exec")));
static _Thread_local int nested __attribute__((tls_model("initial-exec")));

/* Drops an owner later; false without memory. */
static __attribute__((noinline, cold)) bool drop_later(PyObject *owner)
{
	PyObject *type, *value, *traceback, *list;
	bool done;

	PyErr_Fetch(&type, &value, &traceback);
	if (!put_off) {
		list = PyList_New(0);
		/* The collector may run this function meanwhile. */
		if (put_off)
			Py_XDECREF(list);
		else
			put_off = list;
	}
	done = put_off && !PyList_Append(put_off, owner);
	PyErr_Restore(type, value, traceback);
	if (done)
		Py_DECREF(owner);
	return done;
}

/* Not inlined: most arrays end without an owner, and so end sooner. */
static __attribute__((noinline)) void array_drop(PyObject *owner)
{
	if (nested >= MAX_NESTED && drop_later(owner))
		return;
	nested++;
	Py_DECREF(owner);
	while (nested == 1 && put_off)
		Py_CLEAR(put_off);
	nested--;
}

/*
 * At the end of the interpreter a thread without the GIL can no longer acquire it; the
 * owner then stays.
 */
void array_drop_owner(void *owner)
{
	PyGILState_STATE gil;

	if (!Py_IsInitialized())
		return;
	if (PyGILState_Check()) {
		/* Others keep it: nothing ends here. */
		if (Py_REFCNT((PyObject *)owner) > 1)
			Py_DECREF((PyObject *)owner);
		else
			array_drop(owner);
		return;
	}
	if (Py_IsFinalizing())
		return;
	gil = PyGILState_Ensure();
	array_drop(owner);
	PyGILState_Release(gil);
}

/*
 * Memory returns with the GIL held, which a handler of NumPy may need.  The owner of
 * foreign memory may run Python's code, which must see no pending exception.
 */
static void drop_memory(struct array_object *self)
{
	PyObject *type, *value, *traceback;

	PyErr_Fetch(&type, &value, &traceback);
	dray_array_unref(self->array);
	PyErr_Restore(type, value, traceback);
	Py_XDECREF(self->capsule);
	if (self->base)
		array_drop(self->base);
}

void array_dealloc(PyObject *object)
{
	struct array_object *self = array_self(object);
	PyTypeObject *type = Py_TYPE(object);

	if (self->weak)
		PyObject_ClearWeakRefs(object);
	dray_dtype_unref(self->dtype);
	if (self->root) {
		Py_DECREF(self->root);
	} else {
		drop_memory(self);
	}
	Py_DECREF(self->descr);
	PyObject_Free(self);
	Py_DECREF(type);
}

/*
 * Returns NumPy's handler of this thread or task, perhaps set by a scope;
 * NULL if it is NumPy's own, which serves NumPy alone.
 */
static const struct dray_handler *chosen_handler(PyObject *capsule)
{
	return capsule == PyDataMem_DefaultHandler
		       ? NULL
		       : PyCapsule_GetPointer(capsule, HANDLER_CAPSULE);
}

const struct dray_handler *array_use_handler(PyObject *capsule)
{
	const struct dray_handler *handler = chosen_handler(capsule);

	return handler ? dray_set_handler(handler) : NULL;
}
