/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Objects of XRT in Python.  close() drops the library's object at once; another
 * thread that is in a call has a reference of its own until the call returns.
 */
#ifndef DRAY_PYTHON_EXCHANGE_XRT_H
#define DRAY_PYTHON_EXCHANGE_XRT_H

#include "array_object.h"

/* Return a new reference, or NULL with ValueError if the object is closed. */
struct dray_xrt_device *xrt_device_take(PyObject *self);
struct dray_xrt_bo *xrt_bo_take(PyObject *self);

/* Make an object of the library's, which is taken over, on failure too. */
PyObject *xrt_device_new(struct module_state *state,
			 struct dray_xrt_device *device);
PyObject *xrt_bo_new(struct module_state *state, struct dray_xrt_bo *bo);

#endif /* DRAY_PYTHON_EXCHANGE_XRT_H */
