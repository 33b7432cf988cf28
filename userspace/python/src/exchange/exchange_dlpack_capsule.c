// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dray.Array in DLPack's capsules.  A capsule owns its tensor until a consumer
 * renames it; one that is not taken gives its tensor back when it ends.
 */
#include "exchange/exchange_dlpack.h"

static void end_versioned(PyObject *capsule)
{
	struct dlpack_tensor tensor = { NULL, NULL };

	if (!PyCapsule_IsValid(capsule, DLPACK_VERSIONED))
		return;
	tensor.versioned = PyCapsule_GetPointer(capsule, DLPACK_VERSIONED);
	dlpack_drop(&tensor);
}

static void end_legacy(PyObject *capsule)
{
	struct dlpack_tensor tensor = { NULL, NULL };

	if (!PyCapsule_IsValid(capsule, DLPACK_LEGACY))
		return;
	tensor.legacy = PyCapsule_GetPointer(capsule, DLPACK_LEGACY);
	dlpack_drop(&tensor);
}

/* Makes a capsule of a tensor, taken over even on failure. */
static PyObject *capsule_of(const struct dlpack_tensor *tensor)
{
	PyObject *capsule =
		tensor->legacy ? PyCapsule_New(tensor->legacy, DLPACK_LEGACY,
					       end_legacy)
			       : PyCapsule_New(tensor->versioned,
					       DLPACK_VERSIONED, end_versioned);

	if (!capsule)
		dlpack_drop(tensor);
	return capsule;
}

bool dlpack_pair_take(PyObject *object, const char *name, long pair[2])
{
	bool taken = PyTuple_Check(object) && PyTuple_GET_SIZE(object) == 2;
	int i;

	for (i = 0; taken && i < 2; i++) {
		pair[i] = PyLong_AsLong(PyTuple_GET_ITEM(object, i));
		taken = pair[i] != -1 || !PyErr_Occurred();
	}
	if (taken ||
	    (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError) &&
	     !PyErr_ExceptionMatches(PyExc_OverflowError)))
		return taken;
	PyErr_Clear();
	PyErr_Format(PyExc_TypeError,
		     "%s is %R, not a tuple of two numbers or None", name,
		     object);
	return false;
}

/*
 * Reads how the tensor's version is to be: at most *minor, or legacy.  The layout is
 * the same in all versions of 1, and consumers of later ones know it.
 */
static int dlpack_capsule_version_take(PyObject *version, bool *legacy,
				       uint32_t *minor)
{
	long pair[2];

	*legacy = version == Py_None;
	*minor = DRAY_DLPACK_MINOR;
	if (*legacy)
		return 0;
	if (!dlpack_pair_take(version, "max_version", pair))
		return -1;
	*legacy = pair[0] < DRAY_DLPACK_MAJOR;
	if (pair[0] == DRAY_DLPACK_MAJOR && pair[1] < (long)*minor)
		*minor = pair[1] < 0 ? 0 : (uint32_t)pair[1];
	return 0;
}

/* None waits, as in the array API, and -1 does not. */
static int stream_take(PyObject *stream, uint32_t *flags)
{
	long number;

	if (stream == Py_None)
		return 0;
	number = PyLong_Check(stream) ? PyLong_AsLong(stream) : 0;
	if (number == -1 && !PyErr_Occurred()) {
		*flags |= DRAY_DLPACK_NO_WAIT;
		return 0;
	}
	PyErr_Clear();
	PyErr_Format(
		PyExc_ValueError,
		"stream is %R: None waits for transfers, -1 does not, and there is no other",
		stream);
	return -1;
}

/* Fills the device of an array, of any type. */
static int dlpack_capsule_device_of(PyObject *self,
				    struct dray_dlpack_device *out)
{
	struct dray_view view;
	int ret;

	array_whole(array_self(self), &view);
	ret = dray_dlpack_find_device(&view, out);
	if (ret)
		raise_array_error(ARRAY_EXCHANGE, ret);
	return ret ? -1 : 0;
}

/* BufferError if a consumer asks for another device than the array's. */
static int device_check(PyObject *self, PyObject *wanted)
{
	struct dray_dlpack_device device;
	long pair[2];

	if (wanted == Py_None)
		return 0;
	if (!dlpack_pair_take(wanted, "dl_device", pair) ||
	    dlpack_capsule_device_of(self, &device))
		return -1;
	if (pair[0] == device.device_type && pair[1] == device.device_id)
		return 0;
	PyErr_Format(
		PyExc_BufferError,
		"the array is on device (%d, %d), and (%ld, %ld) was asked for",
		(int)device.device_type, (int)device.device_id, pair[0],
		pair[1]);
	return -1;
}

/* Returns a copy in memory of the current handler, after a wait if one is due. */
PyObject *dlpack_copy(PyObject *self, uint32_t flags)
{
	struct dray_dlpack_device device;

	if (dlpack_capsule_device_of(self, &device))
		return NULL;
	if (device.device_type != DRAY_DLPACK_CPU) {
		PyErr_SetString(
			PyExc_BufferError,
			"the CPU does not reach the array: only dray.copy() copies it");
		return NULL;
	}
	if (!(flags & DRAY_DLPACK_NO_WAIT) &&
	    dlpack_wait(array_self(self), DRAY_ACCESS_READ))
		return NULL;
	return array_copy_in(self, NPY_KEEPORDER);
}

/* Returns a capsule of the array, or of a copy that the consumer alone has. */
static PyObject *capsule_export(PyObject *self, uint32_t flags, bool legacy,
				uint32_t minor)
{
	struct dlpack_tensor tensor;

	if (dlpack_export(array_self(self), flags, legacy, &tensor))
		return NULL;
	if (tensor.versioned)
		tensor.versioned->version.minor = minor;
	return capsule_of(&tensor);
}

/* The arguments of __dlpack__(), in the order of their names. */
enum argument {
	STREAM,
	MAX_VERSION,
	DL_DEVICE,
	COPY,
	ARGUMENTS
};

static PyObject *argument_names[ARGUMENTS];

int dlpack_names_init(void)
{
	static const char *const names[ARGUMENTS] = { "stream", "max_version",
						      "dl_device", "copy" };
	int i;

	for (i = 0; i < ARGUMENTS; i++) {
		if (!argument_names[i])
			argument_names[i] =
				PyUnicode_InternFromString(names[i]);
		if (!argument_names[i])
			return -1;
	}
	return 0;
}

/*
 * Takes arguments by the addresses of their names, which the code of most consumers
 * has in common with ours.  False: it needs arguments_take().
 */
static bool take_known(PyObject *const *args, Py_ssize_t count, PyObject *names,
		       PyObject **out)
{
	Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0, i;
	int at;

	if (count)
		return false;
	for (i = 0; i < named; i++) {
		for (at = 0; at < ARGUMENTS; at++) {
			if (PyTuple_GET_ITEM(names, i) == argument_names[at])
				break;
		}
		if (at == ARGUMENTS)
			return false;
		out[at] = args[i];
	}
	return true;
}

PyObject *array_dlpack(PyObject *self, PyObject *const *args, Py_ssize_t count,
		       PyObject *names)
{
	static const struct signature signature = {
		"__dlpack__",
		0,
		0,
		{ { "stream", object_take },
		  { "max_version", object_take },
		  { "dl_device", object_take },
		  { "copy", object_take } }
	};
	PyObject *given[] = { Py_None, Py_None, Py_None, Py_None };
	PyObject *copied, *capsule;
	uint32_t flags = 0, minor;
	int copies = 0;
	bool legacy;

	if ((!take_known(args, count, names, given) &&
	     arguments_take(&signature, args, count, names,
			    (void *[]){ &given[STREAM], &given[MAX_VERSION],
					&given[DL_DEVICE], &given[COPY] })) ||
	    stream_take(given[STREAM], &flags) ||
	    dlpack_capsule_version_take(given[MAX_VERSION], &legacy, &minor) ||
	    device_check(self, given[DL_DEVICE]))
		return NULL;
	if (given[COPY] != Py_None)
		copies = PyObject_IsTrue(given[COPY]);
	if (copies < 0)
		return NULL;
	if (!copies)
		return capsule_export(self, flags, legacy, minor);
	copied = dlpack_copy(self, flags);
	if (!copied)
		return NULL;
	capsule =
		capsule_export(copied, DRAY_DLPACK_NO_WAIT | DRAY_DLPACK_COPIED,
			       legacy, minor);
	Py_DECREF(copied);
	return capsule;
}

PyObject *array_dlpack_device(PyObject *self, PyObject *unused)
{
	struct dray_dlpack_device device;

	(void)unused;
	if (dlpack_capsule_device_of(self, &device))
		return NULL;
	return Py_BuildValue("(ii)", (int)device.device_type,
			     (int)device.device_id);
}
