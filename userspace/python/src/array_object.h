/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * dray.Array, for the files that implement it.  An object is constant after it
 * was made, so that no function needs a lock.
 */
#ifndef DRAY_PYTHON_ARRAY_OBJECT_H
#define DRAY_PYTHON_ARRAY_OBJECT_H

#include "module.h"

struct array_object {
	PyObject_HEAD struct dray_array *array; /* one reference */
	PyArray_Descr *descr; /* NumPy's object for the array's type */
	PyObject *capsule; /* keeps the handler of its memory; may be NULL */
	PyObject *base; /* the owner of foreign memory; may be NULL */
};

/*
 * Makes an object of @array, taken over even on failure.  @descr is NumPy's
 * object for its type, NULL: it is made; @capsule keeps its handler, @base owns its memory; the
 * last two may be NULL.
 */
PyObject *array_wrap(PyTypeObject *type, struct dray_array *array,
		     PyArray_Descr *descr, PyObject *capsule, PyObject *base);
/* Returns a tuple of numbers. */
PyObject *array_numbers(const int64_t *from, int count);
/* Makes an object of @view, in the memory of @self and of its type. */
PyObject *array_over(struct array_object *self, const struct dray_view *view);
/* The same, of another type. */
PyObject *array_over_as(struct array_object *self, const struct dray_view *view,
			PyArray_Descr *descr);
/* The array as a whole. */
struct dray_view *array_whole(const struct array_object *self,
			      struct dray_view *view);

/* array_make.c: constructors and copies. */
PyObject *array_new(PyTypeObject *type, PyObject *args, PyObject *keywords);
PyObject *array_empty(PyObject *type, PyObject *args, PyObject *keywords);
PyObject *array_zeros(PyObject *type, PyObject *args, PyObject *keywords);
PyObject *array_copy(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *array_astype(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *array_copy_in(PyObject *self, NPY_ORDER order);

/*
 * Calls @make with NumPy's current handler as the library's, and makes an object
 * of the array.  @step: for its error.  @descr: NULL: NumPy's object for the array's
 * type is made.
 */
PyObject *array_made(PyTypeObject *type, enum array_step step,
		     int (*make)(void *context, struct dray_array **out),
		     void *context, PyArray_Descr *descr);

/* array_file.c: arrays in files. */
PyObject *array_save(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *array_load(PyObject *type, PyObject *args, PyObject *keywords);
PyObject *array_map(PyObject *type, PyObject *args, PyObject *keywords);

/* array_index.c: a[index]; array_assign.c: assignments. */
Py_ssize_t array_length(PyObject *self);
PyObject *array_get(PyObject *self, PyObject *key);
PyObject *array_at(PyObject *self, Py_ssize_t at);
int array_set(PyObject *self, PyObject *key, PyObject *value);
int array_set_at(PyObject *self, Py_ssize_t at, PyObject *value);
PyObject *array_fill(PyObject *self, PyObject *value);
/* Returns an array of NumPy of the type of @self, of any shape. */
PyObject *array_values(struct array_object *self, PyObject *value);

/* array_fields.c: a["x"], a[["x", "y"]].  Whether an index names fields. */
bool array_is_field(const struct array_object *self, PyObject *key);
PyObject *array_get_field(struct array_object *self, PyObject *key);
int array_set_field(struct array_object *self, PyObject *key, PyObject *value);

/* array_flat.c: a.flat. */
PyObject *array_flat(PyObject *self, void *unused);
int array_set_flat(PyObject *self, PyObject *value, void *unused);

/* array_where.c: elements of one or the other. */
PyObject *array_where(PyObject *self, PyObject *args);

/* array_choose.c: elements by number, order and value. */
/* By their numbers in C order, an array of integers of NumPy. */
PyObject *array_take_flat(struct array_object *self, PyObject *numbers);
int array_put_flat(struct array_object *self, PyObject *numbers,
		   PyObject *value);
PyObject *array_take(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *array_put(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *array_sort(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *array_argsort(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *array_argmax(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *array_argmin(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *array_nonzero(PyObject *self, PyObject *unused);

/* array_views.c: views with other axes, shapes and types. */
PyObject *array_transposed(PyObject *self, void *unused);
PyObject *array_transpose(PyObject *self, PyObject *args);
PyObject *array_swapaxes(PyObject *self, PyObject *args);
PyObject *array_moveaxis(PyObject *self, PyObject *args);
PyObject *array_squeeze(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *array_expand_dims(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *array_flip(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *array_diagonal(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *array_broadcast_to(PyObject *self, PyObject *shape);
PyObject *array_reshape(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *array_ravel(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *array_real(PyObject *self, void *unused);
PyObject *array_imag(PyObject *self, void *unused);
PyObject *array_view(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *array_windows(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *array_as_strided(PyObject *self, PyObject *args);
PyObject *array_shares_memory(PyObject *self, PyObject *other);

/* array_numpy.c: the same memory as an array of NumPy, and back. */
/* Makes an array of NumPy over the memory of @self, which it keeps. */
PyObject *array_as_numpy(PyObject *self);
/*
 * Describes an array of NumPy; -1 with TypeError for a type that the library
 * does not have.  The view has a reference to its type, the caller's.
 */
int array_describe(PyArrayObject *array, struct dray_view *out);
/* Makes an object over the memory of @object, which it keeps. */
PyObject *array_from(PyTypeObject *type, PyObject *object);
int array_get_buffer(PyObject *self, Py_buffer *buffer, int flags);
PyObject *array_interface(PyObject *self, void *name);
PyObject *array_to_numpy(PyObject *self, PyObject *args, PyObject *keywords);

#endif /* DRAY_PYTHON_ARRAY_OBJECT_H */
