// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Arrays of Arrow's capsules.  The library moves the structure out of its capsule, so
 * that the capsule's destructor finds it released.
 */
#include <errno.h>

#include "exchange/exchange_arrow.h"

/* Structures of a producer. */
struct arrow_given {
	const struct ArrowSchema *schema;
	struct ArrowArray *array;
	uint32_t flags;
	bool masks;
	bool fields;
};

/* Arrays of the library, and a capsule that keeps their handler. */
struct made {
	Py_ssize_t count;
	struct dray_array **arrays; /* a reference each */
	struct dray_array **masks; /* the same; each may be NULL */
	PyObject *handler;
};

int arrow_open(PyObject *schema, PyObject *array,
	       const struct ArrowSchema **out_schema,
	       struct ArrowArray **out_array)
{
	struct ArrowDeviceArray *device;
	int ret;

	if (!PyCapsule_IsValid(schema, ARROW_SCHEMA)) {
		PyErr_Format(PyExc_TypeError,
			     "%R is not a capsule \"arrow_schema\"", schema);
		return -1;
	}
	*out_schema = PyCapsule_GetPointer(schema, ARROW_SCHEMA);
	if (PyCapsule_IsValid(array, ARROW_ARRAY)) {
		*out_array = PyCapsule_GetPointer(array, ARROW_ARRAY);
		return 0;
	}
	if (!PyCapsule_IsValid(array, ARROW_DEVICE_ARRAY)) {
		PyErr_Format(
			PyExc_TypeError,
			"%R is not a capsule \"arrow_array\" or \"arrow_device_array\"",
			array);
		return -1;
	}
	device = PyCapsule_GetPointer(array, ARROW_DEVICE_ARRAY);
	ret = dray_arrow_check_device(device);
	if (ret) {
		raise_array_error(ARRAY_CAST, ret);
		return -1;
	}
	*out_array = &device->array;
	return 0;
}

/* An import, for wait_for_end(). */
struct taking {
	const struct arrow_given *given;
	struct made *made;
};

/* Imports a whole array, or an array for each field. */
static int arrow_from_import_once(void *object, int timeout_ms)
{
	const struct taking *taking = object;
	const struct arrow_given *given = taking->given;
	struct made *made = taking->made;
	struct dray_array **masks = given->masks ? made->masks : NULL;

	return given->fields
		       ? dray_arrow_import_fields(given->schema, given->array,
						  given->flags, timeout_ms,
						  (size_t)made->count,
						  made->arrays, masks)
		       : dray_arrow_import(given->schema, given->array,
					   given->flags, timeout_ms,
					   made->arrays, masks);
}

/* Imports with NumPy's current handler as the library's.  -1 with an exception. */
static int arrow_from_make(const struct arrow_given *given, struct made *out)
{
	struct taking taking = { .given = given, .made = out };
	const struct dray_handler *before;
	int ret;

	out->handler = PyDataMem_GetHandler();
	if (!out->handler)
		return -1;
	before = array_use_handler(out->handler);
	/* Mostly nothing is in flight: no other thread must run meanwhile. */
	ret = arrow_from_import_once(&taking, 0);
	if (ret == -ETIME || ret == -EINTR)
		ret = wait_for_end(arrow_from_import_once, &taking, -1);
	if (before)
		dray_set_handler(before);
	if (ret && ret != -EINTR)
		raise_array_error(ARRAY_CAST, ret);
	return ret ? -1 : 0;
}

/* Makes an object of an array, or None; owns the array from then on. */
static PyObject *arrow_object_of(PyTypeObject *type, struct dray_array **array,
				 PyObject *handler)
{
	struct dray_array *taken = *array;

	*array = NULL;
	return taken ? array_wrap(type, taken, NULL, handler, NULL)
		     : Py_NewRef(Py_None);
}

/* Returns a list of (array, mask); owns the arrays from then on. */
static PyObject *arrow_list_of(PyTypeObject *type, struct made *made)
{
	PyObject *list = PyList_New(made->count), *array, *mask;
	Py_ssize_t i;

	for (i = 0; list && i < made->count; i++) {
		array = arrow_object_of(type, &made->arrays[i], made->handler);
		mask = array ? arrow_object_of(type, &made->masks[i],
					       made->handler)
			     : NULL;
		if (mask)
			PyList_SET_ITEM(list, i,
					Py_BuildValue("(NN)", array, mask));
		else
			Py_XDECREF(array);
		if (!PyList_GET_ITEM(list, i))
			Py_CLEAR(list);
	}
	return list;
}

/* Imports and makes objects; no other thread moves the structure meanwhile. */
static PyObject *import_list(PyTypeObject *type, PyObject *array,
			     const struct arrow_given *given, struct made *made)
{
	PyObject *list = NULL;
	Py_ssize_t i;

	(void)array; /* without a lock */
	Py_BEGIN_CRITICAL_SECTION(array);
	if (!arrow_from_make(given, made))
		list = arrow_list_of(type, made);
	Py_END_CRITICAL_SECTION();
	for (i = 0; i < made->count; i++) {
		dray_array_unref(made->arrays[i]);
		dray_array_unref(made->masks[i]);
	}
	Py_XDECREF(made->handler);
	return list;
}

/* Does the same for each field of a structure. */
static PyObject *import_fields(PyTypeObject *type, PyObject *array,
			       const struct arrow_given *given)
{
	int64_t count = given->schema->n_children;
	struct made made = { .count = 0 };
	PyObject *list;

	/* The library refuses any other number. */
	if (count > 0 && count <= DRAY_DTYPE_MAX_FIELDS)
		made.count = (Py_ssize_t)count;
	made.arrays = PyMem_Calloc((size_t)made.count * 2 + 1, sizeof(void *));
	if (!made.arrays)
		return PyErr_NoMemory();
	made.masks = made.arrays + made.count;
	list = import_list(type, array, given, &made);
	PyMem_Free(made.arrays);
	return list;
}

PyObject *arrow_import(PyObject *module, PyObject *const *args,
		       Py_ssize_t count)
{
	PyTypeObject *type = module_state(module)->array_type;
	struct dray_array *array = NULL, *mask = NULL;
	struct made made = { 1, &array, &mask, NULL };
	struct arrow_given given = { 0 };
	int truths[3], i;

	if (count != 5)
		return PyErr_Format(PyExc_TypeError,
				    "import_arrow() takes 5 arguments, not %zd",
				    count);
	if (arrow_open(args[0], args[1], &given.schema, &given.array))
		return NULL;
	for (i = 0; i < 3; i++) {
		truths[i] = PyObject_IsTrue(args[2 + i]);
		if (truths[i] < 0)
			return NULL;
	}
	given.flags = truths[0] ? DRAY_ARROW_COPY : 0;
	given.masks = truths[1];
	given.fields = truths[2];
	return given.fields ? import_fields(type, args[1], &given)
			    : import_list(type, args[1], &given, &made);
}

PyObject *arrow_read_stream(PyObject *module, PyObject *stream)
{
	struct ArrowSchema *type = NULL;
	struct ArrowArray *out = NULL;
	PyObject *schema, *array;
	int ret;

	(void)module;
	if (!PyCapsule_IsValid(stream, ARROW_STREAM))
		return PyErr_Format(
			PyExc_TypeError,
			"%R is not a capsule \"arrow_array_stream\"", stream);
	schema = arrow_new_schema(&type);
	array = schema ? arrow_new_array(&out) : NULL;
	if (!array) {
		Py_XDECREF(schema);
		return NULL;
	}
	ret = dray_arrow_read_stream(PyCapsule_GetPointer(stream, ARROW_STREAM),
				     type, out);
	if (!ret)
		return Py_BuildValue("(NN)", schema, array);
	Py_DECREF(schema);
	Py_DECREF(array);
	/* Several arrays, or none, are a wrong argument here. */
	return raise_error(ret == -E2BIG || ret == -ENODATA ? -EINVAL : ret);
}

PyObject *arrow_names(PyObject *module, PyObject *schema)
{
	const struct ArrowSchema *given;
	const char *name;
	PyObject *list, *text;
	int64_t i;

	(void)module;
	if (!PyCapsule_IsValid(schema, ARROW_SCHEMA))
		return PyErr_Format(PyExc_TypeError,
				    "%R is not a capsule \"arrow_schema\"",
				    schema);
	given = PyCapsule_GetPointer(schema, ARROW_SCHEMA);
	list = PyList_New(0);
	/* The release of the producer's array may have ended the schema too. */
	if (list && !given->release) {
		Py_DECREF(list);
		return PyErr_Format(PyExc_ValueError,
				    "the schema of Arrow was released");
	}
	for (i = 0; list && given->children && i < given->n_children; i++) {
		name = given->children[i]->name;
		text = PyUnicode_DecodeUTF8(name ? name : "",
					    name ? (Py_ssize_t)strlen(name) : 0,
					    "strict");
		if (!text || PyList_Append(list, text))
			Py_CLEAR(list);
		Py_XDECREF(text);
	}
	return list;
}
