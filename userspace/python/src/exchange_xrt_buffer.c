// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Arrays as buffer objects (BOs) of XRT, and BOs as arrays.  dray/_xrt.py chooses
 * the function, since pyxrt's objects can be told apart only in Python.
 */
#include <errno.h>
#include <unistd.h>

#include "array_numbers.h"
#include "exchange_xrt.h"

/* Returns the device of an XrtDevice, a new reference. */
static struct dray_xrt_device *device_in(PyObject *module, PyObject *object)
{
	if (Py_IS_TYPE(object, module_state(module)->xrt_device_type))
		return xrt_device_take(object);
	PyErr_Format(PyExc_TypeError,
		     "device is not a dray.XrtDevice or an index but %s",
		     Py_TYPE(object)->tp_name);
	return NULL;
}

/* Takes the int of a handle; 0 is one that XRT's functions give on failure. */
static int handle_take(PyObject *object, const char *name, dray_xrt_handle *out)
{
	uint64_t number;

	if (whole_take(object, name, UINTPTR_MAX, &number))
		return -1;
	if (!number) {
		PyErr_Format(PyExc_ValueError, "%s is 0: XRT made none", name);
		return -1;
	}
	*out = (dray_xrt_handle)(uintptr_t)number;
	return 0;
}

PyObject *xrt_device_open(PyObject *module, PyObject *index)
{
	struct dray_xrt_device *device;
	uint64_t number;
	int ret;

	if (whole_take(index, "index", UINT32_MAX, &number))
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	ret = dray_xrt_device_open((unsigned int)number, &device);
	Py_END_ALLOW_THREADS
	return ret ? raise_error(ret)
		   : xrt_device_new(module_state(module), device);
}

PyObject *xrt_device_adopt(PyObject *module, PyObject *object)
{
	struct dray_xrt_device *device;
	dray_xrt_handle handle;
	int ret;

	if (handle_take(object, "handle", &handle))
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	ret = dray_xrt_device_adopt(handle, NULL, NULL, &device);
	Py_END_ALLOW_THREADS
	return ret ? raise_error(ret)
		   : xrt_device_new(module_state(module), device);
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
	struct dray_xrt_device *device;
	PyObject *object, *source;
	struct dray_array *array;
	struct dray_xrt_bo *bo;
	struct operand operand;
	int user, ret;

	if (!PyArg_ParseTuple(args, "OOp:xrt_import", &object, &source, &user))
		return NULL;
	if (operand_take(source, "array", user ? OPERAND_FOREIGN : 0, &operand))
		return NULL;
	device = device_in(module, object);
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
	return ret ? raise_error(ret) : xrt_bo_new(module_state(module), bo);
}

PyObject *xrt_adopt(PyObject *module, PyObject *args)
{
	PyObject *object, *number, *whole;
	dray_xrt_handle handle, root = NULL;
	struct dray_xrt_device *device;
	struct dray_xrt_bo *bo;
	int ret;

	if (!PyArg_ParseTuple(args, "OOO:xrt_adopt", &object, &number,
			      &whole) ||
	    handle_take(number, "bo", &handle) ||
	    (whole != Py_None && handle_take(whole, "root", &root)))
		return NULL;
	device = device_in(module, object);
	if (!device)
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	ret = dray_xrt_adopt(device, handle, root, NULL, NULL, &bo);
	dray_xrt_device_unref(device);
	Py_END_ALLOW_THREADS
	return ret ? raise_error(ret) : xrt_bo_new(module_state(module), bo);
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
	PyObject *sync, *from, *bytes, *address;
	struct dray_xrt_bo *bo;
	int ret;

	if (!PyArg_ParseTuple(args, "OiOOO:xrt_wrap", &sync, &foreign.fd, &from,
			      &bytes, &address) ||
	    size_take(from, "offset", SIZE_MAX, &foreign.offset) ||
	    size_take(bytes, "size", SIZE_MAX, &foreign.bytes) ||
	    whole_take(address, "address", UINT64_MAX, &foreign.address))
		return NULL;
	foreign.owner = Py_NewRef(sync);
	Py_BEGIN_ALLOW_THREADS
	ret = dray_xrt_wrap(NULL, &foreign, &bo);
	Py_END_ALLOW_THREADS
	if (!ret)
		return xrt_bo_new(module_state(module), bo);
	Py_DECREF(sync);
	return raise_error(ret);
}

/* Takes the type, extents and strides of an array; -1 with an exception. */
static int xrt_buffer_describe(PyObject *type, PyObject *extents,
			       PyObject *steps, dray_dtype *dtype,
			       PyArray_Descr **descr, struct numbers *shape,
			       struct numbers *strides)
{
	if (!numbers_take(extents, shape) || !numbers_take(steps, strides))
		return -1;
	if (!strides->all && strides->count != shape->count) {
		PyErr_Format(PyExc_ValueError,
			     "%d strides, the shape has %d axes",
			     strides->count, shape->count);
		return -1;
	}
	if (!PyArray_DescrConverter(type, descr))
		return -1;
	if (!dtype_take(*descr, dtype))
		return 0;
	Py_DECREF(*descr);
	return -1;
}

PyObject *xrt_array(PyObject *module, PyObject *args)
{
	struct module_state *state = module_state(module);
	PyObject *object, *of, *type, *extents, *steps, *from;
	PyArray_Descr *descr = NULL;
	PyObject *result = NULL;
	struct numbers shape, strides;
	struct dray_node *node = NULL;
	struct dray_array *array;
	struct dray_xrt_bo *bo;
	uint64_t offset;
	dray_dtype dtype;
	int ret;

	if (!PyArg_ParseTuple(args, "O!OOOOO:xrt_array", state->xrt_bo_type,
			      &object, &of, &from, &type, &extents, &steps) ||
	    size_take(from, "offset", SIZE_MAX, &offset))
		return NULL;
	if (of != Py_None) {
		node = node_of(state, of);
		if (!node)
			return NULL;
	}
	if (xrt_buffer_describe(type, extents, steps, &dtype, &descr, &shape,
				&strides))
		return NULL;
	bo = xrt_bo_take(object);
	if (bo) {
		Py_BEGIN_ALLOW_THREADS
		ret = dray_xrt_bo_array(bo, node, offset, dtype, shape.count,
					shape.list,
					strides.all ? NULL : strides.list,
					&array);
		dray_xrt_bo_unref(bo);
		Py_END_ALLOW_THREADS
		result = ret ? raise_error(ret)
			     : array_without_device(
				       array_wrap(state->array_type, array,
						  descr, NULL, NULL));
	}
	dray_dtype_unref(dtype);
	Py_DECREF(descr);
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

PyObject *xrt_fd_size(PyObject *module, PyObject *object)
{
	int fd = PyObject_AsFileDescriptor(object);
	off_t size;

	(void)module;
	if (fd < 0)
		return NULL;
	/* A dma-buf has no other way to tell; its position means nothing. */
	size = lseek(fd, 0, SEEK_END);
	return size < 0 ? PyErr_SetFromErrno(PyExc_OSError)
			: PyLong_FromLongLong(size);
}
