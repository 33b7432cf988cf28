// SPDX-License-Identifier: Apache-2.0 OR MIT
/* dray.XrtDevice and dray.XrtBo: a device and a buffer object of XRT. */
#include <errno.h>

#include "exchange_xrt.h"

struct device_object {
	PyObject_HEAD struct dray_xrt_device *device; /* NULL: closed */
};

struct bo_object {
	PyObject_HEAD struct dray_xrt_bo *bo; /* NULL: closed */
};

static struct device_object *xrt_type_device_of(PyObject *self)
{
	return (struct device_object *)self;
}

static struct bo_object *bo_of(PyObject *self)
{
	return (struct bo_object *)self;
}

static void *is_closed(PyObject *self)
{
	PyErr_Format(PyExc_ValueError, "the %s is closed",
		     Py_TYPE(self)->tp_name);
	return NULL;
}

struct dray_xrt_device *xrt_device_take(PyObject *self)
{
	struct dray_xrt_device *device;

	Py_BEGIN_CRITICAL_SECTION(self);
	device = dray_xrt_device_ref(xrt_type_device_of(self)->device);
	Py_END_CRITICAL_SECTION();
	return device ? device : is_closed(self);
}

struct dray_xrt_bo *xrt_bo_take(PyObject *self)
{
	struct dray_xrt_bo *bo;

	Py_BEGIN_CRITICAL_SECTION(self);
	bo = dray_xrt_bo_ref(bo_of(self)->bo);
	Py_END_CRITICAL_SECTION();
	return bo ? bo : is_closed(self);
}

/* The last reference may wait for the kernel, and drop an array of NumPy. */
static void drop_device(struct dray_xrt_device *device)
{
	Py_BEGIN_ALLOW_THREADS
	dray_xrt_device_unref(device);
	Py_END_ALLOW_THREADS
}

static void drop_bo(struct dray_xrt_bo *bo)
{
	Py_BEGIN_ALLOW_THREADS
	dray_xrt_bo_unref(bo);
	Py_END_ALLOW_THREADS
}

PyObject *xrt_device_new(struct module_state *state,
			 struct dray_xrt_device *device)
{
	struct device_object *self =
		PyObject_New(struct device_object, state->xrt_device_type);

	if (self)
		self->device = device;
	else
		drop_device(device);
	return (PyObject *)self;
}

PyObject *xrt_bo_new(struct module_state *state, struct dray_xrt_bo *bo)
{
	struct bo_object *self =
		PyObject_New(struct bo_object, state->xrt_bo_type);

	if (self)
		self->bo = bo;
	else
		drop_bo(bo);
	return (PyObject *)self;
}

static PyObject *device_close(PyObject *self, PyObject *unused)
{
	struct dray_xrt_device *device;

	(void)unused;
	Py_BEGIN_CRITICAL_SECTION(self);
	device = xrt_type_device_of(self)->device;
	xrt_type_device_of(self)->device = NULL;
	Py_END_CRITICAL_SECTION();
	drop_device(device);
	Py_RETURN_NONE;
}

static PyObject *bo_close(PyObject *self, PyObject *unused)
{
	struct dray_xrt_bo *bo;

	(void)unused;
	Py_BEGIN_CRITICAL_SECTION(self);
	bo = bo_of(self)->bo;
	bo_of(self)->bo = NULL;
	Py_END_CRITICAL_SECTION();
	drop_bo(bo);
	Py_RETURN_NONE;
}

static void object_end(PyObject *self, PyObject *none)
{
	PyTypeObject *type = Py_TYPE(self);

	Py_XDECREF(none);
	PyObject_Free(self);
	Py_DECREF(type);
}

static void device_dealloc(PyObject *self)
{
	object_end(self, device_close(self, NULL));
}

static void bo_dealloc(PyObject *self)
{
	object_end(self, bo_close(self, NULL));
}

static PyObject *device_enter(PyObject *self, PyObject *unused)
{
	struct dray_xrt_device *device = xrt_device_take(self);

	(void)unused;
	if (!device)
		return NULL;
	drop_device(device);
	return Py_NewRef(self);
}

static PyObject *bo_enter(PyObject *self, PyObject *unused)
{
	struct dray_xrt_bo *bo = xrt_bo_take(self);

	(void)unused;
	if (!bo)
		return NULL;
	drop_bo(bo);
	return Py_NewRef(self);
}

static PyObject *device_exit(PyObject *self, PyObject *args)
{
	(void)args;
	Py_DECREF(device_close(self, NULL));
	Py_RETURN_FALSE;
}

static PyObject *bo_exit(PyObject *self, PyObject *args)
{
	(void)args;
	Py_DECREF(bo_close(self, NULL));
	Py_RETURN_FALSE;
}

static PyObject *handle_object(dray_xrt_handle handle)
{
	return handle ? PyLong_FromVoidPtr(handle) : Py_NewRef(Py_None);
}

static PyObject *device_handle(PyObject *self, void *unused)
{
	struct dray_xrt_device *device = xrt_device_take(self);
	PyObject *result;

	(void)unused;
	if (!device)
		return NULL;
	result = handle_object(dray_xrt_device_handle(device));
	drop_device(device);
	return result;
}

static PyObject *device_closed(PyObject *self, void *unused)
{
	bool closed;

	(void)unused;
	Py_BEGIN_CRITICAL_SECTION(self);
	closed = !xrt_type_device_of(self)->device;
	Py_END_CRITICAL_SECTION();
	return PyBool_FromLong(closed);
}

static PyObject *device_alloc(PyObject *self, PyObject *args,
			      PyObject *keywords)
{
	static char *names[] = { "size", "kind", "bank", NULL };
	static const struct {
		const char *name;
		uint64_t flags;
	} kinds[] = { { "normal", DRAY_XRT_NORMAL },
		      { "cacheable", DRAY_XRT_CACHEABLE },
		      { "svm", DRAY_XRT_SVM },
		      { "device_only", DRAY_XRT_DEVICE_ONLY },
		      { "host_only", DRAY_XRT_HOST_ONLY },
		      { "p2p", DRAY_XRT_P2P } };
	PyObject *bytes, *number = NULL;
	struct dray_xrt_device *device;
	const char *kind = "normal";
	uint64_t size, bank = 0;
	struct dray_xrt_bo *bo;
	size_t i = 0;
	int ret;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|s$O:alloc", names,
					 &bytes, &kind, &number) ||
	    size_take(bytes, "size", SIZE_MAX, &size) ||
	    (number && whole_take(number, "bank", UINT32_MAX, &bank)))
		return NULL;
	while (i < sizeof(kinds) / sizeof(kinds[0]) &&
	       strcmp(kind, kinds[i].name) != 0)
		i++;
	if (i == sizeof(kinds) / sizeof(kinds[0]))
		return PyErr_Format(
			PyExc_ValueError,
			"kind is '%s': 'normal', 'cacheable', 'svm', 'device_only', 'host_only' or 'p2p'",
			kind);
	device = xrt_device_take(self);
	if (!device)
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	ret = dray_xrt_alloc(device, size, kinds[i].flags, (uint32_t)bank, &bo);
	dray_xrt_device_unref(device);
	Py_END_ALLOW_THREADS
	return ret ? raise_error(ret) : xrt_bo_new(type_state(self), bo);
}

static PyObject *bo_handle(PyObject *self, void *unused)
{
	struct dray_xrt_bo *bo = xrt_bo_take(self);
	PyObject *result;

	(void)unused;
	if (!bo)
		return NULL;
	result = handle_object(dray_xrt_bo_handle(bo));
	drop_bo(bo);
	return result;
}

static PyObject *bo_size(PyObject *self, void *unused)
{
	struct dray_xrt_bo *bo = xrt_bo_take(self);
	PyObject *result;

	(void)unused;
	if (!bo)
		return NULL;
	result = PyLong_FromUnsignedLongLong(dray_xrt_bo_size(bo));
	drop_bo(bo);
	return result;
}

static PyObject *bo_address(PyObject *self, void *unused)
{
	struct dray_xrt_bo *bo = xrt_bo_take(self);
	uint64_t address;
	int ret;

	(void)unused;
	if (!bo)
		return NULL;
	ret = dray_xrt_bo_address(bo, &address);
	drop_bo(bo);
	return ret ? raise_error(ret) : PyLong_FromUnsignedLongLong(address);
}

static PyObject *bo_side(PyObject *self, void *unused)
{
	static const char *const names[] = { [DRAY_XRT_SIDE_NONE] = "none",
					     [DRAY_XRT_SIDE_XRT] = "xrt",
					     [DRAY_XRT_SIDE_DRAY] = "dray" };
	struct dray_xrt_bo *bo = xrt_bo_take(self);
	const char *name;

	(void)unused;
	if (!bo)
		return NULL;
	name = names[dray_xrt_side(bo)];
	drop_bo(bo);
	return PyUnicode_FromString(name);
}

static PyObject *bo_closed(PyObject *self, void *unused)
{
	bool closed;

	(void)unused;
	Py_BEGIN_CRITICAL_SECTION(self);
	closed = !bo_of(self)->bo;
	Py_END_CRITICAL_SECTION();
	return PyBool_FromLong(closed);
}

/* Takes "to_device" or "from_device", or XRT's numbers of the same. */
static int owner_take(PyObject *object, enum dray_sync_owner *out)
{
	PyObject *number;
	long direction = -1;

	if (PyUnicode_Check(object)) {
		if (!PyUnicode_CompareWithASCIIString(object, "to_device"))
			direction = 0;
		else if (!PyUnicode_CompareWithASCIIString(object,
							   "from_device"))
			direction = 1;
	} else {
		/* Enumerations of pyxrt convert to an int. */
		number = PyNumber_Index(object);
		if (number)
			direction = PyLong_AsLong(number);
		Py_XDECREF(number);
		PyErr_Clear();
	}
	if (direction != 0 && direction != 1) {
		PyErr_Format(PyExc_ValueError,
			     "direction is %R: 'to_device' or 'from_device'",
			     object);
		return -1;
	}
	*out = direction ? DRAY_SYNC_FOR_CPU : DRAY_SYNC_FOR_DEVICE;
	return 0;
}

static PyObject *bo_sync(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "direction", "size", "offset", NULL };
	PyObject *direction, *bytes = NULL, *from = NULL;
	uint64_t size = 0, offset = 0;
	enum dray_sync_owner owner;
	struct dray_xrt_bo *bo;
	int ret;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|OO:sync", names,
					 &direction, &bytes, &from) ||
	    owner_take(direction, &owner) ||
	    (bytes && size_take(bytes, "size", SIZE_MAX, &size)) ||
	    (from && size_take(from, "offset", SIZE_MAX, &offset)))
		return NULL;
	bo = xrt_bo_take(self);
	if (!bo)
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	ret = dray_xrt_sync(bo, owner, offset, size);
	dray_xrt_bo_unref(bo);
	Py_END_ALLOW_THREADS
	/* Of a function of Python's that has synced. */
	if (PyErr_Occurred())
		return NULL;
	if (ret)
		return raise_error(ret);
	Py_RETURN_NONE;
}

static PyObject *bo_part(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "offset", "size", NULL };
	struct dray_xrt_bo *bo, *part;
	PyObject *from, *bytes;
	uint64_t offset, size;
	int ret;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO:part", names,
					 &from, &bytes) ||
	    size_take(from, "offset", SIZE_MAX, &offset) ||
	    size_take(bytes, "size", SIZE_MAX, &size))
		return NULL;
	bo = xrt_bo_take(self);
	if (!bo)
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	ret = dray_xrt_bo_part(bo, offset, size, &part);
	dray_xrt_bo_unref(bo);
	Py_END_ALLOW_THREADS
	return ret ? raise_error(ret) : xrt_bo_new(type_state(self), part);
}

static PyMethodDef device_methods[] = {
	{ "alloc", WITH_KEYWORDS(device_alloc), METH_VARARGS | METH_KEYWORDS,
	  "alloc($self, /, size, kind='normal', *, bank=0)\n--\n\n"
	  "A new XrtBo of memory that XRT allocates: 'normal', 'cacheable', 'svm',\n"
	  "'device_only', 'host_only' or 'p2p'.  `bank`: Bank.index, or the group of a\n"
	  "kernel's argument." },
	{ "close", device_close, METH_NOARGS,
	  "close($self, /)\n--\n\n"
	  "Closes the device when the last XrtBo on it is gone." },
	{ "__enter__", device_enter, METH_NOARGS,
	  "__enter__($self, /)\n--\n\n" },
	{ "__exit__", device_exit, METH_VARARGS,
	  "__exit__($self, type, value, traceback, /)\n--\n\n" },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef device_properties[] = {
	{ "handle", device_handle, NULL,
	  "The xrtDeviceHandle, an int for ctypes.", NULL },
	{ "closed", device_closed, NULL, "Whether close() was called.", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyMethodDef bo_methods[] = {
	{ "sync", WITH_KEYWORDS(bo_sync), METH_VARARGS | METH_KEYWORDS,
	  "sync($self, /, direction, size=0, offset=0)\n--\n\n"
	  "Hands bytes over between the CPU and the device, by the side that must do it:\n"
	  "exactly these bytes.  direction: 'to_device' before a kernel reads or writes\n"
	  "them, 'from_device' before the CPU does; or pyxrt's values.\n"
	  "size 0: to the end." },
	{ "part", WITH_KEYWORDS(bo_part), METH_VARARGS | METH_KEYWORDS,
	  "part($self, /, offset, size)\n--\n\n"
	  "An XrtBo of these bytes, which keeps this BO's memory." },
	{ "close", bo_close, METH_NOARGS,
	  "close($self, /)\n--\n\n"
	  "Frees the BO when the last part of it, and the last array over it, is\n"
	  "gone; drops the array that it was made of." },
	{ "__enter__", bo_enter, METH_NOARGS, "__enter__($self, /)\n--\n\n" },
	{ "__exit__", bo_exit, METH_VARARGS,
	  "__exit__($self, type, value, traceback, /)\n--\n\n" },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef bo_properties[] = {
	{ "handle", bo_handle, NULL,
	  "The xrtBufferHandle, an int for ctypes; None for a pyxrt.bo.",
	  NULL },
	{ "size", bo_size, NULL, "Bytes.", NULL },
	{ "address", bo_address, NULL,
	  "The DMA address of the first byte; OSError (EOPNOTSUPP) if it is without an address.",
	  NULL },
	{ "side", bo_side, NULL,
	  "The side that sync() calls: 'xrt', 'dray', or 'none' if there is nothing\n"
	  "to do.",
	  NULL },
	{ "closed", bo_closed, NULL, "Whether close() was called.", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot device_slots[] = {
	{ Py_tp_new, made_elsewhere },
	{ Py_tp_doc, "A device of XRT; dray.xrt_device() opens it." },
	{ Py_tp_dealloc, device_dealloc },
	{ Py_tp_methods, device_methods },
	{ Py_tp_getset, device_properties },
	{ 0, NULL },
};

static PyType_Slot bo_slots[] = {
	{ Py_tp_new, made_elsewhere },
	{ Py_tp_doc,
	  "A buffer object of XRT; dray.xrt_bo() makes it over an array." },
	{ Py_tp_dealloc, bo_dealloc },
	{ Py_tp_methods, bo_methods },
	{ Py_tp_getset, bo_properties },
	{ 0, NULL },
};

PyType_Spec xrt_device_type_spec = {
	.name = "dray.XrtDevice",
	.basicsize = sizeof(struct device_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = device_slots,
};

PyType_Spec xrt_bo_type_spec = {
	.name = "dray.XrtBo",
	.basicsize = sizeof(struct bo_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = bo_slots,
};
