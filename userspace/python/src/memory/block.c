// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Blocks of a pool as arrays of bytes, without a handler between: they start
 * where the pool has them, with any DRAY_HANDLER.
 */
#include <errno.h>

#include "base/module.h"

#define BLOCK_CAPSULE "dray.block"

/* Frees the block, and drops the pool's capsule, its context. */
static void block_destroy(PyObject *capsule)
{
	void *block = PyCapsule_GetPointer(capsule, BLOCK_CAPSULE);
	PyObject *owner = PyCapsule_GetContext(capsule);
	struct dray_pool *pool = pool_in(owner);

	Py_BEGIN_ALLOW_THREADS
	dray_pool_free(pool, block);
	Py_END_ALLOW_THREADS
	Py_DECREF(owner);
}

/* Takes over @block, on failure too. */
static PyObject *block_capsule(PyObject *pool, void *block)
{
	PyObject *capsule = PyCapsule_New(block, BLOCK_CAPSULE, NULL);

	if (!capsule) {
		dray_pool_free(pool_in(pool), block);
		return NULL;
	}
	if (PyCapsule_SetContext(capsule, Py_NewRef(pool)) ||
	    PyCapsule_SetDestructor(capsule, block_destroy))
		Py_UNREACHABLE(); /* fail only on an invalid capsule */
	return capsule;
}

PyObject *block_bytes(PyObject *module, PyObject *args)
{
	PyObject *object, *owner, *capsule, *array;
	struct dray_pool *pool;
	Py_ssize_t size;
	npy_intp shape;
	void *block;

	if (!PyArg_ParseTuple(args, "On:bytes_in", &object, &size))
		return NULL;
	if (size < 0)
		return PyErr_Format(PyExc_ValueError,
				    "size is %zd: 0 bytes are the least", size);
	owner = pool_capsule(module_state(module), object);
	if (!owner)
		return NULL;
	pool = pool_in(owner);
	Py_BEGIN_ALLOW_THREADS
	block = dray_pool_alloc(pool, (size_t)size, 0);
	Py_END_ALLOW_THREADS
	if (!block) {
		Py_DECREF(owner);
		return raise_error(-ENOMEM);
	}
	capsule = block_capsule(owner, block);
	Py_DECREF(owner);
	if (!capsule)
		return NULL;
	shape = size;
	array = PyArray_SimpleNewFromData(1, &shape, NPY_UINT8, block);
	if (!array) {
		Py_DECREF(capsule);
		return NULL;
	}
	/* Takes over the capsule. */
	if (PyArray_SetBaseObject((PyArrayObject *)array, capsule)) {
		Py_DECREF(array);
		return NULL;
	}
	return array;
}
