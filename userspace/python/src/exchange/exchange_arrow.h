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

#endif /* DRAY_PYTHON_EXCHANGE_ARROW_H */
