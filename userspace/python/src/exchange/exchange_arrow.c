// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dray.Array in Arrow's capsules.  A capsule owns its structure; a consumer that
 * moves it leaves one that is released.  Copies lie in memory of malloc(), since they
 * may outlive every handler of NumPy.
 */
#include <errno.h>

#include "exchange/exchange_arrow.h"

static void end_schema(PyObject *capsule)
{
	struct ArrowSchema *schema =
		PyCapsule_GetPointer(capsule, ARROW_SCHEMA);

	if (schema->release)
		schema->release(schema);
	PyMem_RawFree(schema);
}

static void end_array(PyObject *capsule)
{
	struct ArrowArray *array = PyCapsule_GetPointer(capsule, ARROW_ARRAY);

	if (array->release)
		array->release(array);
	PyMem_RawFree(array);
}

static void end_device_array(PyObject *capsule)
{
	struct ArrowDeviceArray *array =
		PyCapsule_GetPointer(capsule, ARROW_DEVICE_ARRAY);

	if (array->array.release)
		array->array.release(&array->array);
	PyMem_RawFree(array);
}

/* Makes a capsule of @size zero bytes, a structure that is released. */
static PyObject *new_capsule(size_t size, const char *name,
			     PyCapsule_Destructor end, void *out)
{
	void *structure = PyMem_RawCalloc(1, size);
	PyObject *capsule;

	if (!structure)
		return PyErr_NoMemory();
	capsule = PyCapsule_New(structure, name, end);
	if (capsule)
		*(void **)out = structure;
	else
		PyMem_RawFree(structure);
	return capsule;
}

PyObject *arrow_new_schema(struct ArrowSchema **out)
{
	return new_capsule(sizeof(**out), ARROW_SCHEMA, end_schema, out);
}

PyObject *arrow_new_array(struct ArrowArray **out)
{
	return new_capsule(sizeof(**out), ARROW_ARRAY, end_array, out);
}

PyObject *array_arrow_schema(PyObject *self, PyObject *unused)
{
	const struct array_object *array = array_self(self);
	struct ArrowSchema *schema = NULL;
	PyObject *capsule = arrow_new_schema(&schema);
	int ret;

	(void)unused;
	if (!capsule)
		return NULL;
	ret = dray_arrow_schema(array->dtype, array->ndim,
				array_shape_of(array), schema);
	if (!ret)
		return capsule;
	Py_DECREF(capsule);
	return raise_array_error(ARRAY_CAST, ret);
}

/* An array on its way into a structure. */
struct sending {
	struct dray_array *array; /* over the object's memory, which it keeps */
	struct dray_view mask;
	bool has_mask;
	uint32_t flags;
	struct ArrowArray *out; /* of one of the two */
	struct ArrowDeviceArray *device;
};

static int wait_for_mask(void *object, int timeout_ms)
{
	const struct sending *sending = object;

	return dray_view_wait(&sending->mask, DRAY_ACCESS_READ, timeout_ms);
}

static int wait_for_array(void *object, int timeout_ms)
{
	const struct sending *sending = object;
	struct dray_view view;

	return dray_view_wait(dray_array_view(sending->array, &view),
			      DRAY_ACCESS_READ, timeout_ms);
}

static int export_now(const struct sending *sending)
{
	const struct dray_view *mask =
		sending->has_mask ? &sending->mask : NULL;

	return sending->device
		       ? dray_arrow_export_device(sending->array, mask,
						  sending->flags, 0,
						  sending->device)
		       : dray_arrow_export(sending->array, mask, sending->flags,
					   0, sending->out);
}

/* Exports with the GIL, but waits without it.  -1 with an exception. */
static int exchange_arrow_send(struct sending *sending)
{
	int ret;

	for (;;) {
		ret = export_now(sending);
		if (!ret)
			return 0;
		if (ret != -ETIME && ret != -EINTR)
			break;
		ret = wait_for_end(wait_for_array, sending, -1);
		if (!ret && sending->has_mask)
			ret = wait_for_end(wait_for_mask, sending, -1);
		if (ret)
			break;
	}
	if (ret != -EINTR)
		raise_array_error(ARRAY_CAST, ret);
	return -1;
}

/* Exports @self to @out, or to @device.  -1 with an exception. */
static int export_array_of(PyObject *self, PyObject *mask, bool copies,
			   struct ArrowArray *out,
			   struct ArrowDeviceArray *device)
{
	struct array_object *object = array_self(self);
	struct sending sending = {
		.flags = copies ? DRAY_ARROW_COPY : 0,
		.has_mask = mask != Py_None,
		.out = out,
		.device = device,
	};
	PyObject *owner = (PyObject *)(object->root ? object->root : object);
	struct dray_view view;
	int ret;

	if (sending.has_mask)
		array_whole(array_self(mask), &sending.mask);
	array_whole(object, &view);
	ret = dray_array_from_pointer(&view, array_drop_owner, owner,
				      &sending.array);
	if (ret) {
		raise_array_error(ARRAY_CAST, ret);
		return -1;
	}
	Py_INCREF(owner);
	ret = exchange_arrow_send(&sending);
	dray_array_unref(sending.array);
	return ret;
}

/* Makes the capsule of an array or of a device array. */
static PyObject *arrow_array_capsule(PyObject *self, PyObject *mask,
				     bool copies, bool device)
{
	struct ArrowDeviceArray *whole = NULL;
	struct ArrowArray *array = NULL;
	PyObject *capsule =
		device ? new_capsule(sizeof(*whole), ARROW_DEVICE_ARRAY,
				     end_device_array, &whole)
		       : arrow_new_array(&array);

	if (!capsule)
		return NULL;
	if (!export_array_of(self, mask, copies, array, whole))
		return capsule;
	Py_DECREF(capsule);
	return NULL;
}

int arrow_check_request(PyObject *schema)
{
	if (schema == Py_None || PyCapsule_IsValid(schema, ARROW_SCHEMA))
		return 0;
	PyErr_Format(
		PyExc_TypeError,
		"requested_schema is %s %s, not a capsule \"arrow_schema\" or None",
		article_of(Py_TYPE(schema)->tp_name), Py_TYPE(schema)->tp_name);
	return -1;
}

static PyObject *capsule_pair(PyObject *self, PyObject *mask, bool copies,
			      PyObject *request, bool device)
{
	PyObject *schema, *array;

	if (arrow_check_request(request))
		return NULL;
	schema = array_arrow_schema(self, NULL);
	if (!schema)
		return NULL;
	array = arrow_array_capsule(self, mask, copies, device);
	if (!array) {
		Py_DECREF(schema);
		return NULL;
	}
	return Py_BuildValue("(NN)", schema, array);
}

PyObject *array_arrow_array(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "requested_schema", NULL };
	PyObject *request = Py_None;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:__arrow_c_array__",
					 names, &request))
		return NULL;
	return capsule_pair(self, Py_None, false, request, false);
}

/* Checks arguments of later versions of the protocol, which may be None only. */
static int check_others(PyObject *keywords)
{
	PyObject *name, *value;
	Py_ssize_t at = 0;

	while (PyDict_Next(keywords, &at, &name, &value)) {
		if (value == Py_None)
			continue;
		PyErr_Format(PyExc_NotImplementedError,
			     "__arrow_c_device_array__() has no argument %R",
			     name);
		return -1;
	}
	return 0;
}

PyObject *array_arrow_device_array(PyObject *self, PyObject *args,
				   PyObject *keywords)
{
	PyObject *request = NULL, *others, *result = NULL;

	if (!PyArg_ParseTuple(args, "|O:__arrow_c_device_array__", &request))
		return NULL;
	others = keywords ? PyDict_Copy(keywords) : PyDict_New();
	if (!others)
		return NULL;
	if (!request) {
		request = PyDict_GetItemString(others, "requested_schema");
		Py_XINCREF(request);
		if (request && PyDict_DelItemString(others, "requested_schema"))
			Py_CLEAR(request);
		else if (!request)
			request = Py_NewRef(Py_None);
	} else {
		Py_INCREF(request);
	}
	if (request && !check_others(others))
		result = capsule_pair(self, Py_None, false, request, true);
	Py_XDECREF(request);
	Py_DECREF(others);
	return result;
}

PyObject *arrow_export(PyObject *module, PyObject *args)
{
	struct module_state *state = module_state(module);
	PyObject *self, *mask, *request;
	int copies, device;

	if (!PyArg_ParseTuple(args, "O!OpOp:export_arrow", state->array_type,
			      &self, &mask, &copies, &request, &device))
		return NULL;
	if (mask != Py_None && !Py_IS_TYPE(mask, state->array_type))
		return PyErr_Format(PyExc_TypeError,
				    "mask is %s %s, not a dray.Array or None",
				    article_of(Py_TYPE(mask)->tp_name),
				    Py_TYPE(mask)->tp_name);
	return capsule_pair(self, mask, copies, request, device);
}
