/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Arrow's structures in capsules, for the files about them. */
#ifndef DRAY_PYTHON_EXCHANGE_ARROW_H
#define DRAY_PYTHON_EXCHANGE_ARROW_H

#include "object/array_object.h"

#define ARROW_SCHEMA "arrow_schema"
#define ARROW_ARRAY "arrow_array"
#define ARROW_DEVICE_ARRAY "arrow_device_array"
#define ARROW_STREAM "arrow_array_stream"

/* Make a capsule of a structure that is released, to be filled in. */
PyObject *arrow_new_schema(struct ArrowSchema **out);
PyObject *arrow_new_array(struct ArrowArray **out);

/*
 * Checks the type that a consumer asks for.  A producer need not be able to convert its
 * elements: the consumer reads the schema that it gets.
 */
int arrow_check_request(PyObject *schema);

/* Finds the structures in two capsules; -1 with an exception. */
int arrow_open(PyObject *schema, PyObject *array,
	       const struct ArrowSchema **out_schema,
	       struct ArrowArray **out_array);

#endif /* DRAY_PYTHON_EXCHANGE_ARROW_H */
