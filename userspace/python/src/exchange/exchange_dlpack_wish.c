// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The arguments of from_dlpack(): how the caller wants the array, and whether it is so.
 */
#include "exchange/exchange_dlpack.h"

static PyObject *cpu_device;

int dlpack_wish_init(void)
{
	if (!cpu_device)
		cpu_device = Py_BuildValue("(ii)", (int)DRAY_DLPACK_CPU, 0);
	return cpu_device ? 0 : -1;
}

/* Takes where the memory is to be. */
static int device_take(PyObject *object, struct dlpack_wish *wish)
{
	int type, id;

	wish->device = object;
	if (object == Py_None)
		return 0;
	if (PyUnicode_Check(object) &&
	    !PyUnicode_CompareWithASCIIString(object, "cpu")) {
		wish->device = cpu_device;
		wish->device_type = DRAY_DLPACK_CPU;
		return 0;
	}
	if (!PyTuple_Check(object) ||
	    !PyArg_ParseTuple(object, "ii", &type, &id)) {
		PyErr_Clear();
		PyErr_Format(
			PyExc_ValueError,
			"device is %R, not None, 'cpu' or a pair of DLPack such as (1, 0)",
			object);
		return -1;
	}
	if ((type != DRAY_DLPACK_CPU && type != DRAY_DLPACK_EXT_DEV) || id) {
		PyErr_Format(
			PyExc_BufferError,
			"device (%d, %d): arrays of dray are on (1, 0) or (12, 0)",
			type, id);
		return -1;
	}
	wish->device_type = type;
	return 0;
}

/* Takes None, True or False as -1, 1 or 0. */
static int choice_take(PyObject *object, int *out)
{
	*out = object == Py_None ? -1 : PyObject_IsTrue(object);
	return *out < 0 && PyErr_Occurred() ? -1 : 0;
}

/* Takes the newest version that the producer is asked for. */
static int dlpack_wish_version_take(PyObject *object, struct dlpack_wish *wish)
{
	long pair[2];

	if (object == Py_None)
		return 0;
	if (!dlpack_pair_take(object, "max_version", pair))
		return -1;
	if (pair[0] < DRAY_DLPACK_MAJOR ||
	    (pair[0] == DRAY_DLPACK_MAJOR && pair[1] <= DRAY_DLPACK_MINOR)) {
		wish->version = object;
		return 0;
	}
	PyErr_Format(
		PyExc_ValueError,
		"max_version is %R, (%d, %d) is the newest that dray reads",
		object, DRAY_DLPACK_MAJOR, DRAY_DLPACK_MINOR);
	return -1;
}

int dlpack_wish_take(PyObject *const *args, Py_ssize_t count, PyObject *names,
		     PyObject **x, struct dlpack_wish *wish)
{
	static const struct signature signature = {
		"from_dlpack",
		1,
		1,
		{ { "x", object_take },
		  { "device", object_take },
		  { "copy", object_take },
		  { "writable", object_take },
		  { "max_version", object_take } }
	};
	PyObject *device = Py_None, *copy = Py_None, *writable = Py_None;
	PyObject *version = Py_None;
	int writes;

	if (arguments_take(&signature, args, count, names,
			   (void *[]){ x, &device, &copy, &writable,
				       &version }) ||
	    device_take(device, wish) || choice_take(copy, &wish->copy) ||
	    choice_take(writable, &writes) ||
	    dlpack_wish_version_take(version, wish))
		return -1;
	if (writes == 1)
		wish->flags |= DRAY_DLPACK_WRITABLE;
	wish->read_only = !writes;
	return 0;
}

int dlpack_check_device(const struct dlpack_wish *wish,
			const struct dray_dlpack_device *device)
{
	bool own = device->device_type == DRAY_DLPACK_EXT_DEV;

	if (!wish->device_type ||
	    own == (wish->device_type == DRAY_DLPACK_EXT_DEV))
		return 0;
	PyErr_Format(PyExc_BufferError,
		     "the memory is on device (%d, %d), and %R was asked for",
		     (int)device->device_type, (int)device->device_id,
		     wish->device);
	return -1;
}

PyObject *dlpack_fulfil(PyObject *object, const struct dlpack_wish *wish)
{
	struct dray_view view;

	if (object && wish->copy == 1)
		Py_SETREF(object, dlpack_copy(object, DRAY_DLPACK_NO_WAIT));
	if (!object || !wish->read_only)
		return object;
	array_whole(array_self(object), &view);
	view.flags &= ~DRAY_WRITE;
	Py_SETREF(object, array_over(array_self(object), &view));
	return object;
}
