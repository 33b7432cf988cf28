// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Arrays as buffer objects (BOs) of XRT, and BOs as arrays.  dray/_xrt.py has the
 * classes and checks the arguments; the last reference to an object may wait for the
 * kernel, and drops an array of NumPy.
 */
#include <errno.h>

#include "object/array_numbers.h"
#include "base/handle.h"

static void *device_ref(void *device)
{
	return dray_xrt_device_ref(device);
}

static void device_unref(void *device)
{
	dray_xrt_device_unref(device);
}

static void *bo_ref(void *bo)
{
	return dray_xrt_bo_ref(bo);
}

static void bo_unref(void *bo)
{
	dray_xrt_bo_unref(bo);
}

static const struct handle_kind device_kind = { "a dray.XrtDevice", device_ref,
						device_unref };
static const struct handle_kind bo_kind = { "a dray.XrtBo", bo_ref, bo_unref };

PyObject *xrt_device_open(PyObject *module, PyObject *args)
{
	struct dray_xrt_device *device = NULL;
	unsigned int index;
	PyObject *type;
	int ret;

	(void)module;
	if (!PyArg_ParseTuple(args, "OI:xrt_device", &type, &index))
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	ret = dray_xrt_device_open(index, &device);
	Py_END_ALLOW_THREADS
	return handle_new(type, &device_kind, ret, device, NULL);
}

PyObject *xrt_device_adopt(PyObject *module, PyObject *args)
{
	struct dray_xrt_device *device = NULL;
	unsigned long long handle;
	PyObject *type;
	int ret;

	(void)module;
	if (!PyArg_ParseTuple(args, "OK:xrt_device_of", &type, &handle))
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	ret = dray_xrt_device_adopt((dray_xrt_handle)(uintptr_t)handle, NULL,
				    NULL, &device);
	Py_END_ALLOW_THREADS
	return handle_new(type, &device_kind, ret, device, NULL);
}

PyObject *xrt_device_handle(PyObject *module, PyObject *self)
{
	struct dray_xrt_device *device = handle_ref(self, &device_kind);
	dray_xrt_handle handle;

	(void)module;
	if (!device)
		return NULL;
	handle = dray_xrt_device_handle(device);
	handle_put(&device_kind, device);
	return PyLong_FromVoidPtr(handle);
}

PyObject *xrt_alloc(PyObject *module, PyObject *args)
{
	unsigned long long size, flags;
	struct dray_xrt_device *device;
	struct dray_xrt_bo *bo = NULL;
	PyObject *type, *self;
	unsigned int bank;
	int ret;

	(void)module;
	if (!PyArg_ParseTuple(args, "OOKKI:xrt_alloc", &type, &self, &size,
			      &flags, &bank))
		return NULL;
	device = handle_ref(self, &device_kind);
	if (!device)
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	ret = dray_xrt_alloc(device, size, flags, bank, &bo);
	dray_xrt_device_unref(device);
	Py_END_ALLOW_THREADS
	return handle_new(type, &bo_kind, ret, bo, NULL);
}

/* Describes a BO: its handle, bytes and side. */
PyObject *xrt_bo_describe(PyObject *module, PyObject *self)
{
	struct dray_xrt_bo *bo = handle_ref(self, &bo_kind);
	unsigned long long size;
	dray_xrt_handle handle;
	int side;

	(void)module;
	if (!bo)
		return NULL;
	handle = dray_xrt_bo_handle(bo);
	size = dray_xrt_bo_size(bo);
	side = dray_xrt_side(bo);
	handle_put(&bo_kind, bo);
	return Py_BuildValue("(KKi)", (unsigned long long)(uintptr_t)handle,
			     size, side);
}

PyObject *xrt_bo_address(PyObject *module, PyObject *self)
{
	struct dray_xrt_bo *bo = handle_ref(self, &bo_kind);
	uint64_t address;
	int ret;

	(void)module;
	if (!bo)
		return NULL;
	ret = dray_xrt_bo_address(bo, &address);
	handle_put(&bo_kind, bo);
	return ret ? raise_error(ret) : PyLong_FromUnsignedLongLong(address);
}

PyObject *xrt_bo_sync(PyObject *module, PyObject *args)
{
	unsigned long long size, offset;
	struct dray_xrt_bo *bo;
	PyObject *self;
	int ret, owner;

	(void)module;
	if (!PyArg_ParseTuple(args, "OiKK:xrt_sync", &self, &owner, &size,
			      &offset))
		return NULL;
	bo = handle_ref(self, &bo_kind);
	if (!bo)
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	ret = dray_xrt_sync(bo, (enum dray_sync_owner)owner, offset, size);
	dray_xrt_bo_unref(bo);
	Py_END_ALLOW_THREADS
	/* Of a function of Python's that has synced. */
	if (PyErr_Occurred())
		return NULL;
	if (ret)
		return raise_error(ret);
	Py_RETURN_NONE;
}

PyObject *xrt_bo_part(PyObject *module, PyObject *args)
{
	struct dray_xrt_bo *bo, *part = NULL;
	unsigned long long offset, size;
	PyObject *type, *self;
	int ret;

	(void)module;
	if (!PyArg_ParseTuple(args, "OOKK:xrt_part", &type, &self, &offset,
			      &size))
		return NULL;
	bo = handle_ref(self, &bo_kind);
	if (!bo)
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	ret = dray_xrt_bo_part(bo, offset, size, &part);
	dray_xrt_bo_unref(bo);
	Py_END_ALLOW_THREADS
	return handle_new(type, &bo_kind, ret, part, NULL);
}

/* Makes the library's array of an operand, which keeps Python's. */
static int xrt_buffer_array_of(const struct operand *operand,
			       struct dray_array **out)
{
	PyObject *owner = Py_NewRef(operand->object);
	int ret;

	ret = dray_array_from_pointer(&operand->view, array_drop_owner, owner,
				      out);
	if (ret)
		Py_DECREF(owner);
	return ret;
}

PyObject *xrt_import(PyObject *module, PyObject *args)
{
	PyObject *type, *object, *source;
	struct dray_xrt_device *device;
	struct dray_xrt_bo *bo = NULL;
	struct dray_array *array;
	struct operand operand;
	int user, ret;

	(void)module;
	if (!PyArg_ParseTuple(args, "OOOp:xrt_import", &type, &object, &source,
			      &user))
		return NULL;
	if (operand_take(source, "array", user ? OPERAND_FOREIGN : 0, &operand))
		return NULL;
	device = handle_ref(object, &device_kind);
	if (!device)
		return NULL;
	ret = xrt_buffer_array_of(&operand, &array);
	Py_BEGIN_ALLOW_THREADS
	if (!ret) {
		ret = user ? dray_xrt_import_user(
				     device,
				     (char *)operand.view.data + operand.low,
				     (uint64_t)(operand.high - operand.low),
				     &array->block, &bo)
			   : dray_xrt_import_array(device, array, &bo);
		dray_array_unref(array);
	}
	dray_xrt_device_unref(device);
	Py_END_ALLOW_THREADS
	return handle_new(type, &bo_kind, ret, bo, NULL);
}

PyObject *xrt_adopt(PyObject *module, PyObject *args)
{
	unsigned long long handle, root;
	struct dray_xrt_device *device;
	struct dray_xrt_bo *bo = NULL;
	PyObject *type, *object;
	int ret;

	(void)module;
	if (!PyArg_ParseTuple(args, "OOKK:xrt_adopt", &type, &object, &handle,
			      &root))
		return NULL;
	device = handle_ref(object, &device_kind);
	if (!device)
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	ret = dray_xrt_adopt(device, (dray_xrt_handle)(uintptr_t)handle,
			     (dray_xrt_handle)(uintptr_t)root, NULL, NULL, &bo);
	dray_xrt_device_unref(device);
	Py_END_ALLOW_THREADS
	return handle_new(type, &bo_kind, ret, bo, NULL);
}

/*
 * Calls the owner, sync(direction, size, offset).  Its exception is left to the
 * caller of the library, which has the same thread, if that is one of Python's.
 */
static int call_sync(void *owner, int direction, uint64_t size, uint64_t offset)
{
	bool known = PyGILState_GetThisThreadState() != NULL;
	PyGILState_STATE gil = PyGILState_Ensure();
	PyObject *done = PyObject_CallFunction(owner, "iKK", direction,
					       (unsigned long long)size,
					       (unsigned long long)offset);

	if (!done && !known)
		PyErr_WriteUnraisable(owner);
	Py_XDECREF(done);
	PyGILState_Release(gil);
	return done ? 0 : -EIO;
}

PyObject *xrt_wrap(PyObject *module, PyObject *args)
{
	struct dray_xrt_foreign foreign = { .size = sizeof(foreign),
					    .sync = call_sync,
					    .release = array_drop_owner };
	unsigned long long size, address;
	struct dray_xrt_bo *bo = NULL;
	PyObject *type, *sync;
	int ret;

	(void)module;
	if (!PyArg_ParseTuple(args, "OOiKK:xrt_wrap", &type, &sync, &foreign.fd,
			      &size, &address))
		return NULL;
	foreign.bytes = size;
	foreign.address = address;
	foreign.owner = Py_NewRef(sync);
	Py_BEGIN_ALLOW_THREADS
	ret = dray_xrt_wrap(NULL, &foreign, &bo);
	Py_END_ALLOW_THREADS
	if (ret)
		Py_DECREF(sync);
	return handle_new(type, &bo_kind, ret, bo, NULL);
}

PyObject *xrt_array(PyObject *module, PyObject *args)
{
	struct module_state *state = module_state(module);
	PyObject *object, *of, *descr, *result = NULL;
	struct numbers shape, strides;
	struct dray_node *node = NULL;
	struct dray_array *array;
	unsigned long long offset;
	struct dray_xrt_bo *bo;
	dray_dtype dtype;
	int ret;

	if (!PyArg_ParseTuple(args, "OOKO!O&O&:xrt_array", &object, &of,
			      &offset, &PyArrayDescr_Type, &descr, numbers_take,
			      &shape, numbers_take, &strides))
		return NULL;
	if (of != Py_None) {
		node = node_of(state, of);
		if (!node)
			return NULL;
	}
	bo = handle_ref(object, &bo_kind);
	if (!bo)
		return NULL;
	ret = dtype_take((PyArray_Descr *)descr, &dtype);
	if (!ret) {
		Py_BEGIN_ALLOW_THREADS
		ret = dray_xrt_bo_array(bo, node, offset, dtype, shape.count,
					shape.list,
					strides.all ? NULL : strides.list,
					&array);
		Py_END_ALLOW_THREADS
		dray_dtype_unref(dtype);
		result = ret ? raise_error(ret)
			     : array_without_device(array_wrap(
				       state->array_type, array,
				       (PyArray_Descr *)descr, NULL, NULL));
	}
	handle_put(&bo_kind, bo);
	return result;
}

PyObject *xrt_fd(PyObject *module, PyObject *array)
{
	struct operand operand;

	(void)module;
	if (operand_take(array, "array", 0, &operand))
		return NULL;
	return Py_BuildValue("(iKK)", dray_buffer_fd(operand.location.buffer),
			     (unsigned long long)operand.location.offset,
			     (unsigned long long)(operand.high - operand.low));
}
