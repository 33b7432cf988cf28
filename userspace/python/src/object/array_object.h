/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * dray.Array, for the files that implement it.  An object is constant after it
 * was made, so that no function needs a lock.
 *
 * The first object over some memory, the root, refers to the library's array.  Views
 * of it are objects with axes of their own, which keep the root: they cost no
 * array, no count of the library's, and no check.
 */
#ifndef DRAY_PYTHON_ARRAY_OBJECT_H
#define DRAY_PYTHON_ARRAY_OBJECT_H

#include "base/arguments.h"

struct array_object {
	PyObject_VAR_HEAD struct array_object *root; /* NULL: this is the root */
	/* These three are the root's; views borrow them. */
	struct dray_array *array; /* a reference */
	PyObject *capsule; /* keeps the handler of its memory; may be NULL */
	PyObject *base; /* the owner of foreign memory; may be NULL */
	PyObject *weak; /* references of Python that keep nothing */
	PyArray_Descr *descr; /* NumPy's object for the type */
	dray_dtype dtype; /* a reference */
	void *data;
	uint32_t flags; /* DRAY_READ, ...; without it the CPU reaches no element */
	/* Of foreign memory, as its library describes it; unknown: the table of
	 * blocks describes it.
	 */
	enum dray_memory_kind kind;
	int32_t ndim;
	bool standard; /* of dray.xp: its elements are arrays, too */
	uint32_t tensor; /* exchange_dlpack_tensor.c; 0: not known yet */
	int64_t numbers[]; /* ndim extents, ndim strides, ndim of array_steps() */
};

void array_dealloc(PyObject *object);
/*
 * Makes arrays of dray.xp of the result of an operator, and steals its reference: numbers
 * of NumPy become arrays without axes.  Other objects stay as they are.
 */
PyObject *array_standard(PyTypeObject *type, PyObject *result);

static inline struct array_object *array_self(PyObject *object)
{
	return (struct array_object *)object;
}

static inline const int64_t *array_shape_of(const struct array_object *self)
{
	return self->numbers;
}

static inline const int64_t *array_strides_of(const struct array_object *self)
{
	return self->numbers + self->ndim;
}

/*
 * Returns the strides in elements, a copy of @steps, in memory that lives as long as
 * the object; any thread writes the same.
 */
static inline int64_t *array_steps(struct array_object *self,
				   const int64_t *steps)
{
	int64_t *kept = self->numbers + 2 * self->ndim;
	int i;

	for (i = 0; i < self->ndim; i++) {
		if (__atomic_load_n(&kept[i], __ATOMIC_RELAXED) != steps[i])
			__atomic_store_n(&kept[i], steps[i], __ATOMIC_RELAXED);
	}
	return kept;
}

/* Whether @object is a dray.Array: no other type shares its destructor. */
static inline bool array_is(PyObject *object)
{
	return Py_TYPE(object)->tp_dealloc == array_dealloc;
}

/* Reads an int of at most 64 bits; false for any other object. */
static inline bool int64_of(PyObject *object, int64_t *out)
{
	int overflow = 0;

	if (!PyLong_CheckExact(object))
		return false;
	*out = PyLong_AsLongLongAndOverflow(object, &overflow);
	return !overflow;
}

/*
 * Makes a root of @array; steals its reference, even on failure.  @descr is NumPy's object
 * for its type, NULL: it is made; @capsule keeps its handler, @base owns its
 * memory; the last two may be NULL.
 */
PyObject *array_wrap(PyTypeObject *type, struct dray_array *array,
		     PyArray_Descr *descr, PyObject *capsule, PyObject *base);
/*
 * Lets no function read or write elements, which the CPU does not reach; @kind is that
 * of foreign memory, else DRAY_MEMORY_UNKNOWN.  For an object that was just made.
 */
void array_set_unreachable(PyObject *object, enum dray_memory_kind kind);
/* Does that if the memory is dray's, for devices alone; returns @object, or NULL. */
PyObject *array_without_device(PyObject *object);
/*
 * As array_whole(), for a use that is not the CPU's: memory of dray for devices alone
 * keeps its permissions, such memory of another library lacks them.
 */
struct dray_view *array_moved(const struct array_object *self,
			      struct dray_view *view);
/* Returns the sentence for elements that the CPU does not reach. */
PyObject *array_unreachable(const struct array_object *self);
/* Raises ValueError if the CPU does not reach the elements. */
int array_check_reachable(const struct array_object *self);
/* Makes an object of @view, which the library made of @self, and of its type. */
PyObject *array_over(struct array_object *self, const struct dray_view *view);
/* Makes an object of such a view, of another type. */
PyObject *array_over_as(struct array_object *self, const struct dray_view *view,
			PyArray_Descr *descr);
/* Returns the view that a function of the library made of @self, or its error. */
PyObject *array_result(PyObject *self, const struct dray_view *view, int ret);
/* Fills a view of the whole array, and returns it. */
struct dray_view *array_whole(const struct array_object *self,
			      struct dray_view *view);

/* array_facts.c */
extern PyGetSetDef array_properties[];
PyObject *array_debug(PyObject *self, PyObject *unused);

/* array_values.c: values and text, by NumPy. */
PyObject *array_item(PyObject *self, PyObject *args);
PyObject *array_tolist(PyObject *self, PyObject *unused);
PyObject *array_str(PyObject *self);
PyObject *array_repr(PyObject *self);
PyObject *array_int(PyObject *self);
PyObject *array_float(PyObject *self);
PyObject *array_integer(PyObject *self);
int array_bool(PyObject *self);
int array_contains(PyObject *self, PyObject *value);
PyObject *array_format(PyObject *self, PyObject *args);
PyObject *array_reduce(PyObject *self, PyObject *unused);
PyObject *array_iter(PyObject *self);

/* array_make.c: constructors and copies. */
PyObject *array_new(PyTypeObject *type, PyObject *args, PyObject *keywords);
PyObject *array_empty(PyObject *type, PyObject *const *args,
		     Py_ssize_t count, PyObject *names);
PyObject *array_zeros(PyObject *type, PyObject *const *args,
		     Py_ssize_t count, PyObject *names);
PyObject *array_copy(PyObject *self, PyObject *const *args,
		     Py_ssize_t count, PyObject *names);
PyObject *array_astype(PyObject *self, PyObject *const *args,
		     Py_ssize_t count, PyObject *names);
PyObject *array_copied(PyObject *self, PyObject *unused);
PyObject *array_copy_in(PyObject *self, NPY_ORDER order);

/*
 * Makes a handler of NumPy the library's, of this thread.  Returns the handler before,
 * for dray_set_handler(); NULL: nothing was changed.
 */
const struct dray_handler *array_use_handler(PyObject *capsule);

/*
 * Calls @make with NumPy's current handler as the library's, and makes an object
 * of the array.  @step: for its error.  @descr: NULL: NumPy's object for the array's
 * type is made.
 */
PyObject *array_made(PyTypeObject *type, enum array_step step,
		     int (*make)(void *context, struct dray_array **out),
		     void *context, PyArray_Descr *descr);

PyObject *array_arange(PyObject *type, PyObject *const *args, Py_ssize_t count,
		       PyObject *names);

/* array_file.c: arrays in files. */
PyObject *array_save(PyObject *self, PyObject *const *args,
		     Py_ssize_t count, PyObject *names);
PyObject *array_load(PyObject *type, PyObject *const *args,
		     Py_ssize_t count, PyObject *names);
PyObject *array_map(PyObject *type, PyObject *const *args,
		     Py_ssize_t count, PyObject *names);

/* array_index.c: a[index]; array_assign.c: assignments. */
Py_ssize_t array_length(PyObject *self);
PyObject *array_get(PyObject *self, PyObject *key);
/* Returns the element of as many ints as axes, NULL for any other index. */
char *array_element_at(const struct array_object *self, PyObject *key);
PyObject *array_at(PyObject *self, Py_ssize_t at);
/* Returns the int of a sequence's element; IndexError if it is negative. */
PyObject *number_of_element(Py_ssize_t at);
/* ValueError if its elements may not be written. */
int array_check_writable(const struct array_object *self);
int array_set(PyObject *self, PyObject *key, PyObject *value);
int array_set_at(PyObject *self, Py_ssize_t at, PyObject *value);
PyObject *array_fill(PyObject *self, PyObject *value);
/* Returns an array of NumPy of the type of @self, of any shape. */
PyObject *array_values(struct array_object *self, PyObject *value);

/* array_fields.c: a["x"], a[["x", "y"]]. */
/* Whether an index names fields. */
bool array_is_field(const struct array_object *self, PyObject *key);
PyObject *array_get_field(struct array_object *self, PyObject *key);
int array_set_field(struct array_object *self, PyObject *key, PyObject *value);

/* array_where.c: elements of either array. */
PyObject *array_where(PyObject *self, PyObject *const *args, Py_ssize_t count);

/* array_choose.c: elements by number, order and value. */
PyObject *array_take(PyObject *self, PyObject *const *args,
		     Py_ssize_t count, PyObject *names);
PyObject *array_put(PyObject *self, PyObject *const *args,
		     Py_ssize_t count, PyObject *names);
PyObject *array_sort(PyObject *self, PyObject *const *args,
		     Py_ssize_t count, PyObject *names);
PyObject *array_argsort(PyObject *self, PyObject *const *args,
		     Py_ssize_t count, PyObject *names);
PyObject *array_argmax(PyObject *self, PyObject *const *args,
		     Py_ssize_t count, PyObject *names);
PyObject *array_argmin(PyObject *self, PyObject *const *args,
		     Py_ssize_t count, PyObject *names);
PyObject *array_nonzero(PyObject *self, PyObject *unused);

/* array_operators.c */
PyObject *array_compare(PyObject *self, PyObject *other, int how);

/* array_views.c: views with other axes and types; array_shapes.c: other shapes. */
PyObject *array_transposed(PyObject *self, void *unused);
PyObject *array_transpose(PyObject *self, PyObject *const *args,
			  Py_ssize_t count);
PyObject *array_swapaxes(PyObject *self, PyObject *const *args,
			  Py_ssize_t count);
PyObject *array_moveaxis(PyObject *self, PyObject *const *args,
			  Py_ssize_t count);
PyObject *array_squeeze(PyObject *self, PyObject *const *args,
		     Py_ssize_t count, PyObject *names);
PyObject *array_expand_dims(PyObject *self, PyObject *const *args,
		     Py_ssize_t count, PyObject *names);
PyObject *array_flip(PyObject *self, PyObject *const *args,
		     Py_ssize_t count, PyObject *names);
PyObject *array_diagonal(PyObject *self, PyObject *const *args,
		     Py_ssize_t count, PyObject *names);
PyObject *array_broadcast_to(PyObject *self, PyObject *shape);
PyObject *array_reshape(PyObject *self, PyObject *const *args,
		     Py_ssize_t count, PyObject *names);
PyObject *array_ravel(PyObject *self, PyObject *const *args,
		     Py_ssize_t count, PyObject *names);
PyObject *array_real(PyObject *self, void *unused);
PyObject *array_imag(PyObject *self, void *unused);
PyObject *array_view(PyObject *self, PyObject *const *args,
		     Py_ssize_t count, PyObject *names);
PyObject *array_windows(PyObject *self, PyObject *const *args,
		     Py_ssize_t count, PyObject *names);
PyObject *array_as_strided(PyObject *self, PyObject *const *args,
			  Py_ssize_t count);
PyObject *array_shares_memory(PyObject *self, PyObject *other);

/* array_numpy.c: the same memory as an array of NumPy, and back. */
/*
 * Drops the owner of foreign memory, in any thread.  At the end of the
 * interpreter a thread without the GIL can no longer acquire it; the owner then
 * stays.
 */
void array_drop_owner(void *owner);
/* Makes an array of NumPy over the memory of @self, which it keeps. */
PyObject *array_as_numpy(PyObject *self);
/* Returns @object itself if it is an array of NumPy, or converts it. */
PyObject *array_of_numpy(PyObject *object);
/*
 * Describes an array of NumPy; -1 with TypeError for a type that the library
 * lacks.  The view's reference to its type is the caller's.
 */
int array_describe(PyArrayObject *array, struct dray_view *out);
/* Makes an object over the memory of @object, which it keeps. */
PyObject *array_from(PyTypeObject *type, PyObject *object);
int array_get_buffer(PyObject *self, Py_buffer *buffer, int flags);
PyObject *array_interface(PyObject *self, void *name);
PyObject *array_to_numpy(PyObject *self, PyObject *const *args,
		     Py_ssize_t count, PyObject *names);

/* exchange_dlpack_capsule.c: tensors in capsules. */
PyObject *array_dlpack(PyObject *self, PyObject *const *args, Py_ssize_t count,
		       PyObject *names);
PyObject *array_dlpack_device(PyObject *self, PyObject *unused);

/* exchange_arrow.c: arrays in Arrow's capsules. */
PyObject *array_arrow_schema(PyObject *self, PyObject *unused);
PyObject *array_arrow_array(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *array_arrow_device_array(PyObject *self, PyObject *args,
				   PyObject *keywords);

#endif /* DRAY_PYTHON_ARRAY_OBJECT_H */
