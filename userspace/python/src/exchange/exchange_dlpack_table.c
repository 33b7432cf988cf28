// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The table of C functions of DLPack 1.3 at dray.Array, and those at the types of
 * others.  Its functions wait for transfers, although others need not: a consumer on
 * the CPU gets no stream on which it could.
 */
#include "exchange/exchange_dlpack.h"

#define CAPSULE "dlpack_exchange_api"
#define MAX_TABLES 16 /* of one type, from newer to older versions */

/* Attributes of types: a capsule of 1.3, and before it an int. */
static PyObject *capsule_name, *int_name;
static PyTypeObject *array_type;
/* NumPy's class never changes, and has no table in NumPy 2.4. */
static bool numpy_has_none;

static int check_type(PyObject *object)
{
	if (array_is(object))
		return 0;
	PyErr_Format(PyExc_TypeError, "%s %s, not a dray.Array",
		     article_of(Py_TYPE(object)->tp_name),
		     Py_TYPE(object)->tp_name);
	return -1;
}

/* The arguments of dray_array_empty(). */
struct table_request {
	dray_dtype dtype;
	const struct dray_dlpack_tensor *prototype;
};

static int dlpack_table_allocate(void *context, struct dray_array **out)
{
	const struct table_request *request = context;

	return dray_array_empty(request->dtype, request->prototype->ndim,
				request->prototype->shape, out);
}

static PyObject *empty_like(const struct dray_dlpack_tensor *prototype)
{
	struct table_request request = { .prototype = prototype };
	int ret;

	if (prototype->device.device_type != DRAY_DLPACK_CPU)
		return PyErr_Format(
			PyExc_BufferError,
			"memory of device (%d, %d): only that of the CPU, (1, 0), can be had",
			(int)prototype->device.device_type,
			(int)prototype->device.device_id);
	ret = dray_dlpack_to_dtype(&prototype->dtype, &request.dtype);
	if (ret)
		return raise_array_error(ARRAY_EXCHANGE, ret);
	return array_made(array_type, ARRAY_EXCHANGE, dlpack_table_allocate,
			  &request, NULL);
}

static int make_tensor(const struct dray_dlpack_tensor *prototype,
		       struct dray_dlpack_versioned **out)
{
	PyObject *array = empty_like(prototype);
	struct dlpack_tensor tensor;
	int ret;

	if (!array)
		return -1;
	ret = dlpack_export(array_self(array), DRAY_DLPACK_NO_WAIT, false,
			    &tensor);
	Py_DECREF(array);
	if (!ret)
		*out = tensor.versioned;
	return ret;
}

/* Hands the exception over to a function of the caller's. */
static void dlpack_table_tell(void *context,
			      void (*set_error)(void *context, const char *kind,
						const char *message))
{
	PyObject *type, *value, *traceback, *text;
	const char *message = NULL;

	PyErr_Fetch(&type, &value, &traceback);
	/* Before Python 3.12, the value may still be the exception's arguments. */
	PyErr_NormalizeException(&type, &value, &traceback);
	text = value ? PyObject_Str(value) : NULL;
	if (text)
		message = PyUnicode_AsUTF8(text);
	PyErr_Clear();
	set_error(context, ((PyTypeObject *)type)->tp_name,
		  message ? message : "no memory");
	Py_XDECREF(text);
	Py_XDECREF(type);
	Py_XDECREF(value);
	Py_XDECREF(traceback);
}

/* Called with the GIL or without. */
static int new_tensor(struct dray_dlpack_tensor *prototype,
		      struct dray_dlpack_versioned **out, void *error_ctx,
		      void (*set_error)(void *error_ctx, const char *kind,
					const char *message))
{
	PyGILState_STATE gil = PyGILState_Ensure();
	int ret = make_tensor(prototype, out);

	if (ret)
		dlpack_table_tell(error_ctx, set_error);
	PyGILState_Release(gil);
	return ret;
}

static int dlpack_table_tensor_of(void *object,
				  struct dray_dlpack_versioned **out)
{
	struct dlpack_tensor tensor;

	if (check_type(object) ||
	    dlpack_export(array_self(object), 0, false, &tensor))
		return -1;
	*out = tensor.versioned;
	return 0;
}

/* On failure the tensor is still the caller's, as consumers of tvm-ffi expect. */
static int table_object_of(struct dray_dlpack_versioned *versioned, void **out)
{
	const struct dlpack_tensor tensor = { versioned, NULL };
	PyObject *object = dlpack_import(array_type, &tensor, 0);

	if (!object)
		return -1;
	*out = object;
	return 0;
}

/* A tensor that owns nothing cannot say that it is read-only. */
static int dlpack_table_check_writable(const struct array_object *self)
{
	if (dlpack_flags(self) & DRAY_WRITE)
		return 0;
	PyErr_SetString(
		PyExc_BufferError,
		"a read-only array; a tensor that owns nothing cannot say so");
	return -1;
}

static int dlpack_table_borrow(void *object, struct dray_dlpack_tensor *out)
{
	struct array_object *self = object;
	struct dray_dlpack_tensor tensor;

	if (check_type(object) || dlpack_table_check_writable(self) ||
	    dlpack_describe(self, &tensor) ||
	    dlpack_wait(self, dlpack_access(self)))
		return -1;
	*out = tensor;
	return 0;
}

/* No call that others make on arrays of dray is asynchronous. */
static int work_stream(int32_t device_type, int32_t device_id, void **out)
{
	if (device_type == DRAY_DLPACK_CPU ||
	    device_type == DRAY_DLPACK_EXT_DEV) {
		*out = NULL;
		return 0;
	}
	PyErr_Format(PyExc_BufferError,
		     "device (%d, %d): arrays of dray are on (1, 0) or (12, 0)",
		     (int)device_type, (int)device_id);
	return -1;
}

static const struct dray_dlpack_api table = {
	.header.version = { DRAY_DLPACK_MAJOR, DRAY_DLPACK_MINOR },
	.managed_tensor_allocator = new_tensor,
	.managed_tensor_from_py_object_no_sync = dlpack_table_tensor_of,
	.managed_tensor_to_py_object_no_sync = table_object_of,
	.dltensor_from_py_object_no_sync = dlpack_table_borrow,
	.current_work_stream = work_stream,
};

/* Adds an attribute, taken over, to a type that Python does not let change. */
static int dlpack_table_add(PyTypeObject *type, PyObject *name, PyObject *value)
{
	int ret = value ? PyDict_SetItem(type->tp_dict, name, value) : -1;

	Py_XDECREF(value);
	return ret;
}

int dlpack_init(PyTypeObject *type)
{
	if (!capsule_name)
		capsule_name =
			PyUnicode_InternFromString("__dlpack_c_exchange_api__");
	if (!int_name)
		int_name =
			PyUnicode_InternFromString("__c_dlpack_exchange_api__");
	if (dlpack_names_init() || dlpack_from_init() || dlpack_wish_init() ||
	    !capsule_name || !int_name ||
	    dlpack_table_add(type, capsule_name,
			     PyCapsule_New((void *)&table, CAPSULE, NULL)) ||
	    dlpack_table_add(type, int_name,
			     PyLong_FromVoidPtr((void *)&table)))
		return -1;
	PyType_Modified(type);
	numpy_has_none = !dlpack_table_of(&PyArray_Type);
	/* For functions of the table, which know of no module. */
	Py_XSETREF(array_type, (PyTypeObject *)Py_NewRef(type));
	return 0;
}

#if PY_VERSION_HEX >= 0x030d0000
static bool lacks_table(PyTypeObject *type)
{
	return numpy_has_none && type == &PyArray_Type;
}

static void set_lacks_table(PyTypeObject *type)
{
	(void)type;
}
#else
/*
 * The type that was seen last to have no table, and the version of its attributes,
 * of which Python gives each type a new one when they change.  The GIL is held.
 */
static struct {
	PyTypeObject *type; /* maybe gone */
	unsigned int version;
} lacking;

static bool lacks_table(PyTypeObject *type)
{
	if (numpy_has_none && type == &PyArray_Type)
		return true;
	return type == lacking.type &&
	       type->tp_version_tag == lacking.version &&
	       PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG);
}

static void set_lacks_table(PyTypeObject *type)
{
	if (!PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG))
		return;
	lacking.type = type;
	lacking.version = type->tp_version_tag;
}
#endif

/* Finds an attribute of a type; *out is a new reference.  -1 with an exception. */
static int dlpack_table_find(PyTypeObject *type, PyObject *name, PyObject **out)
{
#if PY_VERSION_HEX >= 0x030d0000
	return PyObject_GetOptionalAttr((PyObject *)type, name, out);
#else
	/*
	 * An AttributeError, for each type without a table, would take longer.  A
	 * name that is compared may be an object of a class that changes the bases.
	 */
	PyObject *mro = Py_NewRef(type->tp_mro), *class;
	Py_ssize_t i;

	*out = NULL;
	for (i = 0; i < PyTuple_GET_SIZE(mro); i++) {
		class = PyTuple_GET_ITEM(mro, i);
		if (class == (PyObject *)&PyBaseObject_Type ||
		    !((PyTypeObject *)class)->tp_dict)
			continue;
		*out = Py_XNewRef(PyDict_GetItemWithError(
			((PyTypeObject *)class)->tp_dict, name));
		if (*out || PyErr_Occurred())
			break;
	}
	Py_DECREF(mro);
	return PyErr_Occurred() ? -1 : *out != NULL;
#endif
}

/* Returns the pointer in an attribute, or NULL if it is of another kind. */
static const struct dray_dlpack_api_header *header_in(PyObject *attribute)
{
	if (PyCapsule_IsValid(attribute, CAPSULE))
		return PyCapsule_GetPointer(attribute, CAPSULE);
	if (PyLong_CheckExact(attribute))
		return PyLong_AsVoidPtr(attribute);
	return NULL;
}

const struct dray_dlpack_api *dlpack_table_of(PyTypeObject *type)
{
	const struct dray_dlpack_api_header *header = NULL;
	PyObject *attribute;
	int i;

	if (lacks_table(type))
		return NULL;
	if (dlpack_table_find(type, capsule_name, &attribute) > 0 ||
	    (!PyErr_Occurred() &&
	     dlpack_table_find(type, int_name, &attribute) > 0)) {
		header = header_in(attribute);
		Py_DECREF(attribute);
	} else if (!PyErr_Occurred()) {
		set_lacks_table(type);
	}
	/* If anything is wrong with a table, __dlpack__() is called. */
	PyErr_Clear();
	for (i = 0; header && i < MAX_TABLES; i++) {
		if (header->version.major == DRAY_DLPACK_MAJOR)
			return (const struct dray_dlpack_api *)(const void *)
				header;
		header = header->prev_api;
	}
	return NULL;
}
