/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * index: elements of a view, by integers, slices, arrays of integers and booleans.
 *
 * An index is an array of steps, view[index[0], index[1], ...], with the results
 * of NumPy's indexing: shape, order in memory, errors.  Integers, slices, new
 * axes and the ellipsis alone lead to a view of the same memory.  An array of
 * integers or booleans picks elements: they are copied out, or written.
 *
 *	const int64_t count = 2;
 *	int64_t numbers[] = { 2, 0 };
 *	struct dray_array *picked;
 *	struct dray_view rows;
 *
 *	// view[[2, 0]]
 *	ret = dray_view_init(&rows, numbers, DRAY_INT64, 1, &count, NULL);
 *	if (!ret)
 *		ret = dray_index_get(&view, &DRAY_BY(&rows), 1, &picked);
 *
 * All arrays of an index are broadcast together, and their common axes are
 * axes of the result: where the arrays stand if they stand next to each other,
 * else in front.  An integer beside arrays counts as an array.  An array of booleans
 * replaces as many axes as it has; the result has each true element.
 *
 * Functions here return 0 or a negative errno: -ERANGE if NumPy raises an
 * IndexError (an element outside of its axis, more indices than axes, booleans
 * of another length, arrays that cannot be broadcast together, more than
 * DRAY_MAX_NDIM axes, an array of another type), -EINVAL if it raises a
 * ValueError or a TypeError (NULL, a step of 0, shapes and types of values),
 * -EOVERFLOW (more elements than 63 bits count), and those named below.  A
 * function that fails has written no element.
 *
 * Every function may be called from any thread.  The caller orders writes to
 * elements, also those of indices, that other threads read.  Indices that another
 * process changes meanwhile lead to any elements of the view, or to -ERANGE with some
 * elements written, and never to other memory.
 */
#ifndef DRAY_INDEX_H
#define DRAY_INDEX_H

#include <dray/array/array.h>
#include <dray/slice.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Writes the shape of the result of an index of any kind.  Reads booleans, but
 * not the values of integers: they may still be out of range.
 *
 * Errors: as above, -ENOMEM.
 */
DRAY_API int dray_index_shape(const struct dray_view *view,
			      const struct dray_index *index, size_t count,
			      int *ndim, int64_t shape[DRAY_MAX_NDIM]);

/**
 * Copies the elements that an index of any kind leads to, to a new array, from
 * the handler that this thread allocates with.
 *
 * @out: a reference; its axes lie in memory as NumPy's: in the order of the
 *	indexing arrays, then of the view
 *
 * Errors: as above, -EPERM (@view or an index may not be read), -ENOMEM.
 */
DRAY_API int dray_index_get(const struct dray_view *view,
			    const struct dray_index *index, size_t count,
			    struct dray_array **out);

/**
 * Does the same to elements that exist.
 *
 * @dst: of the result's shape; elements are converted to its type by any cast;
 *	may share memory with the others
 *
 * Errors: as dray_index_get(), -EPERM (@dst is read-only), -EINVAL (another
 * shape, a stride of 0), as dray_view_convert().
 */
DRAY_API int dray_index_get_into(const struct dray_view *view,
				 const struct dray_index *index, size_t count,
				 const struct dray_view *dst);

/**
 * Writes to the elements of an index: view[index] = value.  Elements are written
 * in C order of the result, so that elements named twice keep the last value.
 *
 * @value: converted by any cast, and broadcast to the result's shape, of which
 *	it may have more axes of a single element in front; for a single array of
 *	booleans of the view's own shape, at most one axis.  It and the indices
 *	may share memory with @view: they are read before anything is written
 *
 * Errors: as above, -EPERM (@view is read-only), -ENOMEM, as
 * dray_view_convert().
 */
DRAY_API int dray_index_set(const struct dray_view *view,
			    const struct dray_index *index, size_t count,
			    const struct dray_view *value);

/** Meaning of integers outside of an axis.  -EINVAL for an unknown value. */
enum dray_index_mode {
	DRAY_INDEX_RAISE,	/* -size to size - 1, others are an error */
	DRAY_INDEX_WRAP,	/* modulo the size */
	DRAY_INDEX_CLIP,	/* the nearest of 0 to size - 1 */
};

/* An axis: of the view's elements in C order, as if it had one axis. */
#define DRAY_FLAT INT32_MIN

/**
 * Takes elements along an axis: a new array in C order, with the axes of
 * @indices in place of that axis.
 *
 * @indices: integers of any type and shape
 * @axis: negative from the last; DRAY_FLAT
 *
 * Errors: as dray_index_get(), -EINVAL (an axis that does not exist).
 */
DRAY_API int dray_take(const struct dray_view *view,
		       const struct dray_view *indices, int axis,
		       enum dray_index_mode mode, struct dray_array **out);
/** Does the same to @dst, of that shape, as dray_index_get_into(). */
DRAY_API int dray_take_into(const struct dray_view *view,
			    const struct dray_view *indices, int axis,
			    enum dray_index_mode mode,
			    const struct dray_view *dst);

/**
 * Writes values to elements named by their number in C order.
 *
 * @indices: integers of any type and shape, taken in C order
 * @values: converted by any cast; taken in C order, and again from the first if
 *	there are fewer than indices; nothing is written if there are none
 *
 * Errors: as dray_index_set().
 */
DRAY_API int dray_put(const struct dray_view *view,
		      const struct dray_view *indices,
		      const struct dray_view *values,
		      enum dray_index_mode mode);

/**
 * Writes values where a boolean is true.
 *
 * @mask: booleans, as many as elements, both taken in C order
 * @values: converted by any cast; element n takes value n, modulo their number;
 *	nothing is written if there are none
 *
 * Errors: as dray_index_set(), -EINVAL (another number of booleans).
 */
DRAY_API int dray_put_mask(const struct dray_view *view,
			   const struct dray_view *mask,
			   const struct dray_view *values);

/**
 * Chooses elements: of @yes where @condition is true, else of @no.  All three
 * are broadcast together; the result is a new array in C order.
 *
 * @condition: true as dray_count_nonzero() has it; a structure or sub-array is
 *	converted to a bool, which types of several fields refuse, as in NumPy
 * @yes, @no: converted to the type that dray_promote() finds for both
 *
 * Errors: -EINVAL (shapes that cannot be broadcast together, types), -EPERM
 * (a view may not be read), -EOVERFLOW, -ENOMEM, as dray_view_convert().
 */
DRAY_API int dray_where(const struct dray_view *condition,
			const struct dray_view *yes, const struct dray_view *no,
			struct dray_array **out);

/**
 * Returns the number of elements that are not 0, not empty (bytes and
 * characters), have a byte other than 0 (raw data), a field or item that is
 * counted, or for which the function nonzero of a user type is true; a negative
 * errno for a bad view.
 */
DRAY_API int64_t dray_count_nonzero(const struct dray_view *view);

/**
 * Finds the elements that dray_count_nonzero() counts, in C order.
 *
 * @out: for each axis of @view, a reference to an array of its int64 indices;
 *	@view needs 1 axis or more
 *
 * Errors: -EINVAL (a bad view, a view without axes), -EPERM (it may not be read),
 * -ENOMEM.
 */
DRAY_API int dray_nonzero(const struct dray_view *view,
			  struct dray_array **out);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_INDEX_H */
