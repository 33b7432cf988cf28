/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * array: counted strided arrays.
 *
 * An array is a block: shape, strides, a type, and a reference to the block that
 * has its elements, which it keeps alive.  Its memory is a block of an allocator
 * handle, of a pool or a buffer, foreign memory, or a record's.  An array that is
 * made over another (a slice) keeps its memory, not the other array.
 *
 *	const int64_t shape[] = { 3, 4 };
 *	struct dray_array *array;
 *	struct dray_view view;
 *
 *	ret = dray_array_zeros(DRAY_FLOAT32, 2, shape, &array);
 *	if (ret)
 *		return ret;
 *	ret = dray_view_print(dray_array_view(array, &view), stdout);
 *	dray_array_unref(array);
 *
 * dray_block_dump(&array->block, stream) prints addresses, count, flags, type, axes and
 * the block of the elements.
 *
 * Any thread may count an array, look at it, and free it.  Its fields are
 * constant once other threads have it; the caller orders writes to elements
 * that other threads read.
 */
#ifndef DRAY_ARRAY_H
#define DRAY_ARRAY_H

#include <dray/handler.h>
#include <dray/view.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An axis of an array. */
struct dray_array_axis {
	int64_t size;		/* elements, >= 0 */
	int64_t stride;		/* bytes, may be negative or 0 */
};

/**
 * An array: this, then @meta_size bytes of meta-data, of which the first are
 * @ndim axes and, if there is no @reference, the elements behind them.  ABI: 48
 * bytes, each field as the assertions below say, on every machine.  (Source:
 * DyND's array_preamble, whose first five fields are these.  The number of
 * axes, which DyND has in the type, is added here.)
 *
 * Its maker may change all fields but @block, @reference and @meta_size, as long
 * as no other thread has it; a type object that it replaces is its to drop.
 */
struct dray_array {
	struct dray_block block;	/* its type is DRAY_BLOCK_ARRAY */
	dray_dtype dtype;	/* a reference */
	/* the element [0, 0, ...]; may be NULL if there are none */
	void *data __attribute__((aligned(8)));
	uint64_t flags __attribute__((aligned(8)));	/* DRAY_READ, ... */
	/* the block of the elements, a reference; NULL: they are inline */
	struct dray_block *reference __attribute__((aligned(8)));
	int32_t ndim __attribute__((aligned(8)));
	uint32_t meta_size;	/* bytes, a multiple of 8 */
};

#ifdef __cplusplus
#define DRAY_ABI(fact) static_assert(fact, #fact)
#else
#define DRAY_ABI(fact) _Static_assert(fact, #fact)
#endif
DRAY_ABI(sizeof(struct dray_array_axis) == 16);
DRAY_ABI(sizeof(struct dray_array) == 48);
DRAY_ABI(offsetof(struct dray_array, dtype) == 8);
DRAY_ABI(offsetof(struct dray_array, data) == 16);
DRAY_ABI(offsetof(struct dray_array, flags) == 24);
DRAY_ABI(offsetof(struct dray_array, reference) == 32);
DRAY_ABI(offsetof(struct dray_array, ndim) == 40);
DRAY_ABI(offsetof(struct dray_array, meta_size) == 44);
#undef DRAY_ABI

/** Returns the @ndim axes of @array. */
DRAY_INLINED(struct dray_array_axis *dray_array_axes(struct dray_array *array))
{
	return DRAY_REINTERPRET_CAST(struct dray_array_axis *, array + 1);
}

/** Returns the meta-data of the elements, behind the axes. */
DRAY_INLINED(void *dray_array_meta(struct dray_array *array))
{
	return dray_array_axes(array) + array->ndim;
}

/** Returns @block as an array; NULL if it is of another type. */
DRAY_INLINED(struct dray_array *dray_block_as_array(struct dray_block *block))
{
	return dray_block_type(block) == DRAY_BLOCK_ARRAY
		       ? DRAY_REINTERPRET_CAST(struct dray_array *, block)
		       : NULL;
}

/** Adds a reference, which the caller drops by dray_array_unref(); returns @array. */
DRAY_INLINED(struct dray_array *dray_array_ref(struct dray_array *array))
{
	if (array)
		dray_block_ref(&array->block);
	return array;
}

/** Drops a reference; the last frees the array.  NULL is ignored. */
DRAY_INLINED(void dray_array_unref(struct dray_array *array))
{
	if (array)
		dray_block_unref(&array->block);
}

/**
 * Makes an array in C order in memory of the handler that this thread allocates
 * with, dray_get_handler(); the array keeps that handler.
 *
 * @dtype: the axes of a sub-array become the last of the array, as in NumPy
 *	and for all functions that make arrays
 * @ndim: axes, 0 to DRAY_MAX_NDIM
 * @shape: @ndim extents, each >= 0
 * @out: a reference; its elements are undefined
 *
 * Errors: as dray_view_bytes(), -ENOMEM.
 */
DRAY_API int dray_array_empty(dray_dtype dtype, int ndim, const int64_t *shape,
			      struct dray_array **out);
/** Does the same, and all bytes are zero. */
DRAY_API int dray_array_zeros(dray_dtype dtype, int ndim, const int64_t *shape,
			      struct dray_array **out);
/**
 * Does the same, and each element is @value: its bytes are of the same type.
 */
DRAY_API int dray_array_full(dray_dtype dtype, int ndim, const int64_t *shape,
			     const void *value, struct dray_array **out);

/**
 * Makes an array with a single axis: start, start + step, ... before @stop, with the
 * length and the elements of numpy.arange().
 *
 * @dtype: numbers, also complex; two bools at most; dates and durations, of
 *	which the arguments are counts of their unit; 0: DRAY_INT64, or DRAY_FLOAT64
 *
 * Errors: -EINVAL (another type, a step of 0, no number of steps, more than two
 * bools, a NaT), -ERANGE (the first or the second number is out of bounds for the
 * type), -EOVERFLOW (more steps than 63 bits count), -ENOMEM.
 */
DRAY_API int dray_array_arange(dray_dtype dtype, int64_t start, int64_t stop,
			       int64_t step, struct dray_array **out);
/**
 * Does the same from doubles; integers drop fractions of the first two.  Dates
 * and durations are refused.
 */
DRAY_API int dray_array_arange_real(dray_dtype dtype, double start, double stop,
				    double step, struct dray_array **out);

/**
 * Makes an array with the shape of @view; its elements are undefined.  (Source:
 * numpy.empty_like(), with its strides.)
 *
 * @dtype: 0: the type of @view
 * @order: K keeps the order of the axes of @view, without its gaps
 *
 * Errors: as dray_view_init() for a bad view, as dray_array_empty().
 */
DRAY_API int dray_array_like(const struct dray_view *view, dray_dtype dtype,
			     enum dray_order order, struct dray_array **out);

/**
 * Makes an array like @view and copies its elements.  Errors: also -EPERM (a
 * view that may not be read).
 */
DRAY_API int dray_array_copy(const struct dray_view *view,
			     enum dray_order order, struct dray_array **out);

/**
 * Makes a zeroed array in C order in @pool.
 * Errors: as dray_view_bytes(), -ENOMEM.
 */
DRAY_API int dray_array_create(struct dray_pool *pool, dray_dtype dtype,
			       int ndim, const int64_t *shape,
			       struct dray_array **out);
/**
 * Makes a zeroed array in a buffer of its own, whole pages of @node.  Other
 * processes that receive the array then reach no other memory.
 * Errors: as dray_view_bytes(), dray_buffer_alloc().
 */
DRAY_API int dray_array_create_alone(struct dray_node *node, dray_dtype dtype,
				     int ndim, const int64_t *shape,
				     struct dray_array **out);
/**
 * Makes an array over memory that exists: a slice of another array, or elements
 * in any block.
 *
 * @view: shape, strides, type and permissions; all of it lies in @base
 * @base: the block of the memory: an array's (&array->block), a buffer's, a
 *	file's, ...; counted up, or of a slice, the block beneath it
 * @out: a reference
 *
 * Errors: as dray_view_init() for a bad view, -EINVAL (elements outside @base),
 * -EPERM (writable elements in memory, or of an array, that may not be written),
 * -ENOMEM.
 */
DRAY_API int dray_array_over(const struct dray_view *view,
			     struct dray_block *base, struct dray_array **out);

/**
 * Makes an array over foreign memory, with a function that releases it.
 *
 * @view: shape, strides, type and permissions; its data is the memory
 * @release: called once, with @owner, after the last array over the memory, as
 *	by dray_block_create_external(); may be NULL
 *
 * On failure it is not called: the memory is still the caller's.
 * Errors: as dray_array_over().
 */
DRAY_API int dray_array_from_pointer(const struct dray_view *view,
				     void (*release)(void *owner), void *owner,
				     struct dray_array **out);

/**
 * Makes an array over a buffer, which it keeps.
 *
 * @offset: bytes, of the element [0, 0, ...]
 * @strides: @ndim strides in bytes; NULL: C order
 *
 * The array may be written if the buffer may.
 * Errors: as dray_view_init(), -EINVAL (elements outside the buffer), -ENOMEM.
 */
DRAY_API int dray_array_from_buffer(struct dray_buffer *buffer, uint64_t offset,
				    dray_dtype dtype, int ndim,
				    const int64_t *shape,
				    const int64_t *strides,
				    struct dray_array **out);

/**
 * Lets @copy stand for @target, which may not be written until @copy is written
 * back or discarded.  @copy has the flag DRAY_WRITE_BACK until then.  Its end
 * writes it back, too.  (Source: NumPy's WRITEBACKIFCOPY.)
 *
 * @copy: an array of the same shape, and of any type that converts to @target's;
 *	it is written back by DRAY_CASTING_UNSAFE of <dray/array/cast.h>
 * @target: counted up
 *
 * Both are used by one thread only until then, because flags change.
 * Errors: -EINVAL (shapes differ, @target has a stride of 0, the same array,
 * @target is written back to @copy), -EPERM (@target is read-only), -EBUSY
 * (@copy has a target already), -EOPNOTSUPP, -EOVERFLOW (as dray_cast_find()).
 */
DRAY_API int dray_array_set_write_back(struct dray_array *copy,
				       struct dray_array *target);

/**
 * Copies @copy to its target and parts the two; does nothing without a target.
 * On failure (as dray_view_convert(), such as text that is not a number) they
 * stay together; the end of @copy then drops its elements.
 */
DRAY_API int dray_array_write_back(struct dray_array *copy);

/** Parts @copy and its target without copying. */
DRAY_API void dray_array_discard(struct dray_array *copy);

/**
 * Fills @view with the whole array; returns @view, or NULL if @array is NULL.
 * The view is valid as long as the array.
 */
DRAY_API struct dray_view *dray_array_view(const struct dray_array *array,
					   struct dray_view *view);

/**
 * Prints a view for people: elements in brackets and columns, and a line with
 * shape and type.  Of more than 1000 elements it shows three at each end of an
 * axis.  Floats have eight significant digits; bytes other than printable ASCII
 * are \xNN.  The text may change.
 *
 * Errors: as dray_view_init() for a bad view, -EPERM (it may not be read), -EINVAL
 * (no stream), -EIO (the stream takes no more), -ENOMEM.
 */
DRAY_API int dray_view_print(const struct dray_view *view, FILE *stream);

/**
 * Returns the handler of the array's memory, with its name and version; NULL if
 * the memory is of no handler.  (Source: NEP 49's get_handler_name() and
 * get_handler_version() of an array.)
 */
DRAY_API const struct dray_handler *
dray_array_handler(const struct dray_array *array);

/** Arguments of dray_array_make(); all zero is allowed. */
struct dray_array_options {
	size_t size;		/* of this structure; 0: the first version's */
	dray_dtype dtype;	/* counted up by the array; may be 0 */
	uint64_t flags;		/* DRAY_READ, ...; all are taken as they are */
	int32_t ndim;		/* 0 .. DRAY_MAX_NDIM */
	uint32_t element_meta;	/* bytes of meta-data behind the axes */
	/* bytes of the elements: to be had inline, or in the reference */
	size_t bytes;
	size_t alignment;	/* of inline elements, a power of two; 0: 8 */
	/* the block of the elements; counted up by the array; NULL: inline */
	struct dray_block *reference;
	void *data;		/* the first byte, with a reference only */
	/*
	 * Called before the array's memory is freed, to drop the references in
	 * its meta-data and elements, except @reference; may be NULL
	 */
	void (*destroy)(struct dray_array *array);
};

/**
 * Makes an array of which the caller fills in the axes, the rest of the
 * meta-data and inline elements, all of them zero bytes at first: for elements
 * with meta-data of their own, such as strings.  Inline elements are in ordinary
 * memory; if a device is to reach them, use a reference.
 *
 * Errors: -EINVAL (flags that are unknown or exclude each other, an alignment
 * that is not a power of two, a number of axes that is not 0 to DRAY_MAX_NDIM,
 * elements outside the reference), -EPERM (writable elements in a read-only
 * reference), -EOVERFLOW (more bytes than a size_t holds), -ENOMEM.
 */
DRAY_API int dray_array_make(const struct dray_array_options *options,
			     struct dray_array **out);

/**
 * Receives a view as dray_view_receive() of <dray/record.h> does, as an array.
 * Errors: as that function, -ENOMEM.
 */
DRAY_API int dray_array_receive(int socket, struct dray_node *node,
				struct dray_array **out);

/**
 * Opens the view of a record as dray_view_open() of <dray/record.h> does, as an array;
 * dropping its last reference closes the memory.  Errors: as that function.
 */
DRAY_API int dray_array_open(const void *record, size_t size,
			     struct dray_node *node, struct dray_array **out);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_ARRAY_H */
