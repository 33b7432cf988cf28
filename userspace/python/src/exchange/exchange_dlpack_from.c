// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * from_dlpack(): arrays of other libraries, by the table of their type, by
 * __dlpack__(), or from a capsule.  A tensor that is refused stays its producer's.
 */
#include <errno.h>
#include <string.h>

#include "exchange/exchange_dlpack.h"

/* Arguments of __dlpack__(), made once. */
static PyObject *dlpack_name, *newest;
static PyObject *short_names, *full_names;

int dlpack_from_init(void)
{
	if (full_names)
		return 0;
	dlpack_name = PyUnicode_InternFromString("__dlpack__");
	newest = Py_BuildValue("(ii)", DRAY_DLPACK_MAJOR, DRAY_DLPACK_MINOR);
	/* Interned, so that a producer need not compare their letters. */
	short_names =
		Py_BuildValue("(N)", PyUnicode_InternFromString("max_version"));
	full_names = Py_BuildValue("(NNN)",
				   PyUnicode_InternFromString("max_version"),
				   PyUnicode_InternFromString("dl_device"),
				   PyUnicode_InternFromString("copy"));
	return dlpack_name && newest && short_names && full_names ? 0 : -1;
}

struct imported {
	const struct dlpack_tensor *tensor;
	uint32_t flags;
	struct dray_array *array;
};

static int dlpack_from_import_once(void *object, int timeout_ms)
{
	struct imported *imported = object;
	const struct dlpack_tensor *tensor = imported->tensor;

	return tensor->legacy
		       ? dray_dlpack_import_legacy(tensor->legacy,
						   imported->flags, timeout_ms,
						   &imported->array)
		       : dray_dlpack_import(tensor->versioned, imported->flags,
					    timeout_ms, &imported->array);
}

static const struct dray_dlpack_tensor *
dlpack_from_tensor_of(const struct dlpack_tensor *tensor)
{
	return tensor->legacy ? &tensor->legacy->dl_tensor
			      : &tensor->versioned->dl_tensor;
}

PyObject *dlpack_import(PyTypeObject *type, const struct dlpack_tensor *tensor,
			uint32_t flags)
{
	struct imported imported = { tensor, flags, NULL };
	PyObject *object;
	bool on_device;
	int ret;

	ret = dlpack_from_import_once(&imported, 0);
	if (ret == -ETIME || ret == -EINTR)
		ret = wait_for_end(dlpack_from_import_once, &imported, -1);
	if (ret == -EINTR)
		return NULL;
	if (ret)
		return raise_array_error(ARRAY_EXCHANGE, ret);
	/* The end of the array would be that of the tensor. */
	on_device = dlpack_from_tensor_of(tensor)->device.device_type ==
		    DRAY_DLPACK_EXT_DEV;
	object = array_wrap(type, imported.array, NULL, NULL, NULL);
	/* Of devices only dray's memory comes in. */
	return on_device ? array_without_device(object) : object;
}

/* Returns an array of dray as one of another library, but for its table. */
static PyObject *from_own(PyObject *object, const struct dlpack_wish *wish)
{
	struct array_object *self = array_self(object);
	struct dray_dlpack_device device;
	struct dray_view view;
	int ret;

	array_moved(self, &view);
	ret = dray_dlpack_find_device(&view, &device);
	if (ret)
		return raise_array_error(ARRAY_EXCHANGE, ret);
	if (dlpack_check_device(wish, &device))
		return NULL;
	if (!(view.flags & DRAY_WRITE) && wish->flags & DRAY_DLPACK_WRITABLE &&
	    wish->copy != 1)
		return PyErr_Format(
			PyExc_BufferError,
			"the array is read-only, and was to be written");
	if (dlpack_wait(self, dlpack_access(self)))
		return NULL;
	return dlpack_fulfil(array_over(self, array_whole(self, &view)), wish);
}

/* BufferError if a tensor is not as the caller wants it. */
static int tensor_check(const struct dlpack_tensor *tensor,
			const struct dlpack_wish *wish)
{
	const struct dray_dlpack_versioned *versioned = tensor->versioned;

	if (tensor->legacy)
		return dlpack_check_device(wish,
					   &tensor->legacy->dl_tensor.device);
	/* Of another version, the tensor may lie elsewhere. */
	if (versioned->version.major != DRAY_DLPACK_MAJOR)
		return 0;
	if (!wish->copy && versioned->flags & DRAY_DLPACK_FLAG_IS_COPIED) {
		PyErr_SetString(
			PyExc_BufferError,
			"the tensor is a copy, and none was to be made");
		return -1;
	}
	return dlpack_check_device(wish, &versioned->dl_tensor.device);
}

/* Makes an object over a tensor; on failure it is still the caller's. */
static PyObject *from_tensor(PyTypeObject *type,
			     const struct dlpack_tensor *tensor,
			     const struct dlpack_wish *wish)
{
	if (tensor_check(tensor, wish))
		return NULL;
	return dlpack_import(type, tensor, wish->copy == 1 ? 0 : wish->flags);
}

static void refuse_capsule(const char *called)
{
	if (!strcmp(called, DLPACK_VERSIONED_USED) ||
	    !strcmp(called, DLPACK_LEGACY_USED))
		PyErr_Format(
			PyExc_ValueError,
			"the capsule is called \"%s\": its tensor was taken before",
			called);
	else
		PyErr_Format(PyExc_ValueError,
			     "a capsule called \"%s\", not \"%s\" or \"%s\"",
			     called, DLPACK_VERSIONED, DLPACK_LEGACY);
}

/*
 * Takes the tensor out of a capsule, of which *name is the name to have again if
 * the tensor goes back.
 */
static int dlpack_from_take(PyObject *capsule, struct dlpack_tensor *tensor,
			    const char **name)
{
	const char *called;
	int ret = -1;

	*tensor = (struct dlpack_tensor){ NULL, NULL };
	/* Of two threads, one gets it. */
	Py_BEGIN_CRITICAL_SECTION(capsule);
	called = PyCapsule_GetName(capsule);
	*name = called ? called : "";
	if (!strcmp(*name, DLPACK_VERSIONED)) {
		tensor->versioned = PyCapsule_GetPointer(capsule, called);
		ret = PyCapsule_SetName(capsule, DLPACK_VERSIONED_USED);
	} else if (!strcmp(*name, DLPACK_LEGACY)) {
		tensor->legacy = PyCapsule_GetPointer(capsule, called);
		ret = PyCapsule_SetName(capsule, DLPACK_LEGACY_USED);
	} else {
		refuse_capsule(*name);
	}
	Py_END_CRITICAL_SECTION();
	return ret;
}

static PyObject *from_capsule(PyTypeObject *type, PyObject *capsule,
			      const struct dlpack_wish *wish)
{
	struct dlpack_tensor tensor;
	const char *name = NULL;
	PyObject *object;

	if (dlpack_from_take(capsule, &tensor, &name))
		return NULL;
	object = from_tensor(type, &tensor, wish);
	/* The capsule gives it back, also one of a later version. */
	if (!object)
		PyCapsule_SetName(capsule, name);
	return dlpack_fulfil(object, wish);
}

/*
 * Tries the table of the object's type.  *out stays NULL without an exception if
 * __dlpack__() is to be called.
 */
static int from_table(PyTypeObject *type, PyObject *x,
		      const struct dlpack_wish *wish, PyObject **out)
{
	const struct dray_dlpack_api *api = dlpack_table_of(Py_TYPE(x));
	struct dlpack_tensor tensor = { NULL, NULL };

	if (!api || !api->managed_tensor_from_py_object_no_sync)
		return 0;
	if (api->managed_tensor_from_py_object_no_sync(x, &tensor.versioned)) {
		if (PyErr_Occurred() &&
		    !PyErr_ExceptionMatches(PyExc_BufferError))
			return -1;
		PyErr_Clear();
		return 0;
	}
	if (!tensor.versioned)
		return 0;
	/* Work of a device that is not done may still write there. */
	if (tensor.versioned->version.major == DRAY_DLPACK_MAJOR &&
	    tensor.versioned->dl_tensor.device.device_type != DRAY_DLPACK_CPU) {
		dlpack_drop(&tensor);
		return 0;
	}
	*out = from_tensor(type, &tensor, wish);
	if (!*out)
		dlpack_drop(&tensor);
	*out = dlpack_fulfil(*out, wish);
	return *out ? 0 : -1;
}

/* Calls __dlpack__(), with arguments of these names. */
static PyObject *call_with(PyObject *x, const struct dlpack_wish *wish,
			   PyObject *names)
{
	PyObject *args[] = { x, wish->version ? wish->version : newest,
			     wish->device, wish->copy ? Py_None : Py_False };

	return PyObject_VectorcallMethod(
		dlpack_name, args, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, names);
}

/* Calls __dlpack__() with as few arguments as the wish needs. */
static PyObject *call_dlpack(PyObject *x, struct dlpack_wish *wish)
{
	/* A copy is made here, in memory that the caller has chosen. */
	bool full = wish->device_type || !wish->copy;
	PyObject *capsule;

	/* NumPy tells that it may be written: its tensor need not. */
	if (!full && !wish->version && PyArray_CheckExact(x) &&
	    PyArray_ISWRITEABLE((PyArrayObject *)x)) {
		wish->flags |= DRAY_DLPACK_WRITABLE;
		return call_with(x, wish, NULL);
	}
	capsule = call_with(x, wish, full ? full_names : short_names);
	if (capsule || !PyErr_ExceptionMatches(PyExc_TypeError))
		return capsule;
	/*
	 * A producer before versions takes none of them.  It never copies, and
	 * its tensor says where the memory is.
	 */
	PyErr_Clear();
	return call_with(x, wish, NULL);
}

/* Raises TypeError in the place of an AttributeError, unless it is a producer's. */
static void explain_attribute(PyObject *x)
{
	PyObject *type, *value, *traceback;

	PyErr_Fetch(&type, &value, &traceback);
	if (PyObject_HasAttr(x, dlpack_name)) {
		PyErr_Restore(type, value, traceback);
		return;
	}
	Py_XDECREF(type);
	Py_XDECREF(value);
	Py_XDECREF(traceback);
	PyErr_Format(PyExc_TypeError, "%s %s does not have __dlpack__()",
		     article_of(Py_TYPE(x)->tp_name), Py_TYPE(x)->tp_name);
}

static PyObject *from_method(PyTypeObject *type, PyObject *x,
			     struct dlpack_wish *wish)
{
	PyObject *capsule = call_dlpack(x, wish), *object;

	if (!capsule) {
		if (PyErr_ExceptionMatches(PyExc_AttributeError))
			explain_attribute(x);
		return NULL;
	}
	if (PyCapsule_CheckExact(capsule))
		object = from_capsule(type, capsule, wish);
	else
		object = PyErr_Format(
			PyExc_TypeError,
			"__dlpack__() of %s %s returned %s %s, not a capsule",
			article_of(Py_TYPE(x)->tp_name), Py_TYPE(x)->tp_name,
			article_of(Py_TYPE(capsule)->tp_name),
			Py_TYPE(capsule)->tp_name);
	Py_DECREF(capsule);
	return object;
}

static PyObject *from_object(PyTypeObject *type, PyObject *x,
			     struct dlpack_wish *wish)
{
	PyObject *object = NULL;

	if (Py_IS_TYPE(x, type))
		return from_own(x, wish);
	if (PyCapsule_CheckExact(x))
		return from_capsule(type, x, wish);
	/* A table has one version. */
	if (!wish->version && from_table(type, x, wish, &object))
		return NULL;
	return object ? object : from_method(type, x, wish);
}

PyObject *from_dlpack(PyObject *module, PyObject *const *args, Py_ssize_t count,
		      PyObject *names)
{
	struct dlpack_wish wish = { .copy = -1, .device = Py_None };
	PyTypeObject *type = module_state(module)->array_type;
	PyObject *x;

	if (count == 1 && !names)
		return from_object(type, args[0], &wish);
	if (dlpack_wish_take(args, count, names, &x, &wish))
		return NULL;
	return from_object(type, x, &wish);
}
