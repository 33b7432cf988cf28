/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* An index of Python as steps of the library. */
#ifndef DRAY_PYTHON_ARRAY_STEPS_H
#define DRAY_PYTHON_ARRAY_STEPS_H

#include "object/array_object.h"

/* As many as there can be: integers or slices, new axes, and an ellipsis. */
#define MAX_STEPS (2 * DRAY_MAX_NDIM + 1)

/* An indexing array, and the object that owns its memory. */
struct kept {
	PyObject *object;
	struct dray_view *view; /* with a reference to its type */
};

struct steps {
	struct dray_index list[MAX_STEPS];
	size_t count;
	bool integers; /* nothing else */
	bool arrays; /* that pick elements */
	bool copies; /* an integer was in an array: NumPy copies then */
	PyTypeObject *array_type;
	size_t kept_count;
	struct kept kept[MAX_STEPS];
};

/* Reads an index of @self; steps_drop() follows, on failure too. */
int steps_take(struct steps *steps, struct array_object *self, PyObject *key);
void steps_drop(struct steps *steps);
/* Whether NumPy would return a scalar of it. */
bool steps_are_one_element(const struct steps *steps,
			   const struct array_object *self);

#endif /* DRAY_PYTHON_ARRAY_STEPS_H */
