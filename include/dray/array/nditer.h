/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * nditer: an iterator over 1 to 8 operands that finds a good order itself,
 * allocates results, converts through buffers, reduces, and splits among
 * threads.  It works as NumPy's nditer does, in the same order of elements.
 *
 *	const struct dray_view *views[] = { &in, NULL };
 *	const uint32_t flags[] = {
 *		DRAY_OPERAND_READ,
 *		DRAY_OPERAND_WRITE | DRAY_OPERAND_ALLOCATE,
 *	};
 *	const struct dray_nditer_options options = {
 *		.flags = DRAY_NDITER_EXTERNAL_LOOP,
 *		.operand_flags = flags,
 *	};
 *	struct dray_nditer *iter;
 *	const int64_t *strides, *count;
 *	char **data;
 *
 *	ret = dray_nditer_create(views, 2, &options, &iter);
 *	if (ret)
 *		return ret;
 *	data = dray_nditer_data(iter);
 *	strides = dray_nditer_strides(iter);
 *	count = dray_nditer_count(iter);
 *	do {
 *		loop(data, strides, *count, context);
 *	} while (dray_nditer_next(iter));
 *	out = dray_array_ref(dray_nditer_array(iter, 1));
 *	ret = dray_nditer_destroy(iter);
 *
 * An iterator copies its operands' shapes and strides.  It borrows their memory
 * and counts their types.  One thread at a time uses an iterator; each of its
 * copies is an iterator of its own.  Nothing here blocks.  For C order alone, the
 * iterators of <dray/array/iterator.h> are cheaper to start.
 */
#ifndef DRAY_NDITER_H
#define DRAY_NDITER_H

#include <dray/array/cast.h>
#include <dray/array/iterator.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of an iterator.  The numbers are ABI. */
/* Keeps the number of the element in C order, dray_nditer_index(). */
#define DRAY_NDITER_C_INDEX (1u << 0)
/* The same in F order; excludes the other. */
#define DRAY_NDITER_F_INDEX (1u << 1)
/* Keeps the axes, for dray_nditer_multi_index() and changes of them. */
#define DRAY_NDITER_MULTI_INDEX (1u << 2)
/* Each step is an inner loop of the caller's; excludes an index. */
#define DRAY_NDITER_EXTERNAL_LOOP (1u << 3)
/* Operands of READ and WRITE may be stretched: they are reduced into. */
#define DRAY_NDITER_REDUCE_OK (1u << 4)
/* Allows dray_nditer_reset_range(); with an external loop only if BUFFERED. */
#define DRAY_NDITER_RANGED (1u << 5)
/* Puts elements that need it into buffers, converted. */
#define DRAY_NDITER_BUFFERED (1u << 6)
/* Inner loops may exceed the buffer's size if nothing is buffered. */
#define DRAY_NDITER_GROW_INNER (1u << 7)
/* Buffers are allocated and filled by the first dray_nditer_reset(). */
#define DRAY_NDITER_DELAY_BUFFERS (1u << 8)
/* An operand may have no elements. */
#define DRAY_NDITER_ZEROSIZE_OK (1u << 9)
/* Operands that are written and share memory with others are copied aside. */
#define DRAY_NDITER_COPY_IF_OVERLAP (1u << 10)
/* Order 'K' does not turn axes around that run backwards in all operands. */
#define DRAY_NDITER_KEEP_DIRECTION (1u << 11)
/* All operands get the type that theirs promote to. */
#define DRAY_NDITER_COMMON_DTYPE (1u << 12)
/*
 * Conversions leave errors of numbers in the processor's flags, for a caller that reads
 * them after its loops.  Otherwise an iterator reports each kind once, as "cast"
 * (dray/array/fp_state.h), and clears flags that were set before a step.
 */
#define DRAY_NDITER_KEEP_FP_FLAGS (1u << 13)

/* Flags of an operand.  The numbers are ABI. */
#define DRAY_OPERAND_READ (1u << 0)	/* it, or WRITE, or both */
#define DRAY_OPERAND_WRITE (1u << 1)
/* A conversion may copy the whole operand; it is not written. */
#define DRAY_OPERAND_COPY (1u << 2)
/* The same; if it is written, dray_nditer_destroy() copies back. */
#define DRAY_OPERAND_COPY_BACK (1u << 3)
#define DRAY_OPERAND_NATIVE_ORDER (1u << 4)	/* in the machine's byte order */
#define DRAY_OPERAND_ALIGNED (1u << 5)	/* at addresses for its type */
#define DRAY_OPERAND_CONTIGUOUS (1u << 6)	/* inner loops without gaps */
/* A view that is NULL is allocated, with the handler of this thread. */
#define DRAY_OPERAND_ALLOCATE (1u << 7)
#define DRAY_OPERAND_NO_BROADCAST (1u << 8)	/* never stretched */
/* For COPY_IF_OVERLAP: the loop reads an element before it writes it. */
#define DRAY_OPERAND_ELEMENTWISE (1u << 9)
/* Buffers are written back only where the mask is true. */
#define DRAY_OPERAND_WRITE_MASKED (1u << 10)
/* The mask: an operand of a byte an element. */
#define DRAY_OPERAND_MASK (1u << 11)

/* An entry of operand_axes: reduces along the axis, of 1 element or -1. */
#define DRAY_REDUCTION_AXIS(axis) ((axis) + (1 << 30))

/** Arguments of dray_nditer_create(); all zero is allowed. */
struct dray_nditer_options {
	size_t size;		/* of this structure; 0: the first version's */
	uint32_t flags;		/* DRAY_NDITER_* */
	/* 'C'; 'F'; 'A': F if all operands are, else C; 'K' or 0: memory */
	char order;
	uint8_t casting;	/* the loosest conversion, enum dray_casting */
	int16_t ndim;		/* axes of operand_axes and shape */
	/* DRAY_OPERAND_*, for each operand; NULL: READ */
	const uint32_t *operand_flags;
	/* types that the loop sees; 0, or NULL for all: an operand's own */
	const dray_dtype *dtypes;
	/*
	 * For each operand @ndim of its axes, -1 where it is stretched, or NULL
	 * for its own axes, aligned at the last; NULL: all of these
	 */
	const int *const *operand_axes;
	/* @ndim extents, below 0: from the operands; NULL: all from them */
	const int64_t *shape;
	int64_t buffer_size;	/* elements; 0: 8192 */
};

struct dray_nditer;

/** A step of one iterator: see dray_nditer_step(). */
typedef bool dray_nditer_step_fn(struct dray_nditer *iter);

/**
 * Makes an iterator at its first element.
 *
 * @views: @count of them; NULL for an operand to allocate
 * @count: 1 to DRAY_MAX_OPERANDS
 * @options: NULL: all zero
 * @out: to be ended by dray_nditer_destroy()
 *
 * An allocated operand has the shape of the iteration, without the axes that
 * operand_axes leaves out, and strides in the order of iteration.  Its type, if
 * none is given, is that which the operands that are read promote to.
 *
 * Errors: -EINVAL (too many operands, flags that exclude each other, shapes that
 * cannot be broadcast, a reduction or a conversion that was not allowed, a bad
 * map of axes; no elements without ZEROSIZE_OK), -EPERM (WRITE of a read-only
 * operand), -EOVERFLOW (more elements than 63 bits count), -ENOMEM, and as
 * dray_view_init() for a bad view.
 */
DRAY_API int dray_nditer_create(const struct dray_view *const *views, int count,
				const struct dray_nditer_options *options,
				struct dray_nditer **out);

/**
 * Makes another iterator at the same place, with its own buffers.  It shares
 * copies and allocated operands, but never copies back: the first iterator does, so
 * it has to be destroyed last.
 *
 * Errors: -ENOMEM, errors of a conversion.
 */
DRAY_API int dray_nditer_copy(const struct dray_nditer *iter,
			      struct dray_nditer **out);

/**
 * Writes buffers and copies back, once; dray_nditer_destroy() does not repeat it.  The
 * memory of buffers and copies stays until then, but nothing that is written there
 * later reaches an operand.  Only questions about @iter may follow.
 * Returns the first error of a step or of this, else 0; -EINVAL for no iterator.
 */
DRAY_API int dray_nditer_finish(struct dray_nditer *iter);

/**
 * Writes buffers and copies back, and frees the iterator; NULL is ignored.
 * Returns the first error of a step or of this, else 0.
 */
DRAY_API int dray_nditer_destroy(struct dray_nditer *iter);

/**
 * Moves on, by an element or an inner loop.  Returns true, or false at the end
 * and if a conversion failed.  dray_nditer_error() returns its error: -EDOM for
 * an error of numbers that the thread's state raises.  After that, only a reset
 * or a jump may follow.  A new iterator of no elements must not be moved:
 * dray_nditer_size() is 0 then, and there is nothing at its addresses.
 */
DRAY_API bool dray_nditer_next(struct dray_nditer *iter);

/**
 * Returns the function that dray_nditer_next() calls for this iterator, for
 * tight loops.  It may change if axes or an index are removed, an external loop
 * is enabled, or delayed buffers are allocated.
 */
DRAY_API dray_nditer_step_fn *dray_nditer_step(const struct dray_nditer *iter);

/**
 * Returns the error that ended the iteration, or 0; its sentence may be gone.
 */
DRAY_API int dray_nditer_error(const struct dray_nditer *iter);

/**
 * Returns the current element of each operand.  The pointer is valid as long as
 * the iterator, but changes with dray_nditer_enable_external_loop().  The inner
 * loop of a caller may advance the addresses; dray_nditer_next() sets them
 * anew.
 */
DRAY_API char **dray_nditer_data(struct dray_nditer *iter);
/**
 * Returns the inner loop's stride in bytes of each operand, which
 * dray_nditer_next() changes.
 */
DRAY_API const int64_t *dray_nditer_strides(const struct dray_nditer *iter);
/**
 * Returns the number of the inner loop's elements, which dray_nditer_next()
 * changes; 1 without EXTERNAL_LOOP.
 */
DRAY_API const int64_t *dray_nditer_count(const struct dray_nditer *iter);

/**
 * Returns the number of elements to iterate over; -1 if it needs more than 63
 * bits.
 */
DRAY_API int64_t dray_nditer_size(const struct dray_nditer *iter);
/** Returns the steps of an element from the start of the iteration. */
DRAY_API int64_t dray_nditer_position(const struct dray_nditer *iter);
/**
 * Returns the number of the current element in C or F order; -1 if the iterator
 * keeps no index.
 */
DRAY_API int64_t dray_nditer_index(const struct dray_nditer *iter);
/**
 * Returns the number of axes: fewer than of the operands if some were merged.
 */
DRAY_API int dray_nditer_ndim(const struct dray_nditer *iter);
/** Returns the number of operands. */
DRAY_API int dray_nditer_operands(const struct dray_nditer *iter);
/** Returns the flags DRAY_NDITER_* that hold now. */
DRAY_API uint32_t dray_nditer_flags(const struct dray_nditer *iter);
/**
 * Returns the number of elements of a buffer; 0 if the iterator is not
 * buffered.
 */
DRAY_API int64_t dray_nditer_buffer_size(const struct dray_nditer *iter);

/**
 * Writes the extents of dray_nditer_ndim() axes: with MULTI_INDEX in the
 * operands' order, else the fastest first.
 */
DRAY_API void dray_nditer_shape(const struct dray_nditer *iter, int64_t *shape);

/**
 * Writes the strides of an axis, numbered as in dray_nditer_shape(), a stride
 * for each operand.
 * Errors: -EINVAL (an axis it does not have).
 */
DRAY_API int dray_nditer_axis_strides(const struct dray_nditer *iter, int axis,
				      int64_t *strides);

/**
 * Writes the coordinates of the current element.
 * Errors: -EINVAL (no MULTI_INDEX).
 */
DRAY_API int dray_nditer_multi_index(const struct dray_nditer *iter,
				     int64_t *coordinates);

/**
 * Describes an operand as it is iterated over, allocated or copied or the
 * caller's.  @view is valid as long as the iterator.
 * Errors: -EINVAL (an operand it does not have).
 */
DRAY_API int dray_nditer_operand(const struct dray_nditer *iter, int operand,
				 struct dray_view *view);

/**
 * Returns the array that was allocated for an operand, or its copy, borrowed;
 * NULL if the caller's view is used.
 */
DRAY_API struct dray_array *dray_nditer_array(const struct dray_nditer *iter,
					      int operand);

/**
 * Returns the type of an operand that the loop sees, borrowed; 0 for a bad
 * operand.
 */
DRAY_API dray_dtype dray_nditer_dtype(const struct dray_nditer *iter,
				      int operand);

/** Returns whether an operand needs a buffer. */
DRAY_API bool dray_nditer_needs_buffers(const struct dray_nditer *iter);

/**
 * Returns whether the elements of a reduced operand are seen for the first
 * time, for a loop that sets them then.  With buffers, only if EXTERNAL_LOOP is
 * on.
 */
DRAY_API bool dray_nditer_is_first_visit(const struct dray_nditer *iter,
					 int operand);

/**
 * Goes back to the start of the range; allocates and fills delayed buffers.
 * Errors: -ENOMEM, errors of a conversion.
 */
DRAY_API int dray_nditer_reset(struct dray_nditer *iter);

/**
 * The same with other memory: @data has one address for each operand, of
 * elements that lie as the view's do.
 */
DRAY_API int dray_nditer_reset_data(struct dray_nditer *iter,
				    char *const *data);

/**
 * Restricts the iteration to elements @start to @end - 1 and goes to its first.
 * Errors: -EINVAL (not RANGED, an end before the start), -ERANGE (outside of
 * the iteration), -EOVERFLOW (more elements than 63 bits count), else as
 * dray_nditer_reset().
 */
DRAY_API int dray_nditer_reset_range(struct dray_nditer *iter, int64_t start,
				     int64_t end);

/** Writes the range. */
DRAY_API void dray_nditer_range(const struct dray_nditer *iter, int64_t *start,
				int64_t *end);

/**
 * Goes to an element by its coordinates, one for each axis of the iteration.
 * Errors: -EINVAL (no MULTI_INDEX, buffers), -ERANGE (outside of the iteration
 * or its range), -EOVERFLOW (more elements than 63 bits count).  Nothing is
 * moved then.
 */
DRAY_API int dray_nditer_go(struct dray_nditer *iter,
			    const int64_t *coordinates);
/**
 * Goes to an element by its number in the order of C_INDEX or F_INDEX.
 * Errors: -EINVAL (no index, buffers), else as dray_nditer_go().
 */
DRAY_API int dray_nditer_go_index(struct dray_nditer *iter, int64_t index);
/**
 * Goes to an element by its steps from the start of the iteration.
 * Errors: -EINVAL (EXTERNAL_LOOP), else as dray_nditer_go(); errors of a
 * conversion.
 */
DRAY_API int dray_nditer_go_position(struct dray_nditer *iter,
				     int64_t position);

/**
 * Removes an axis, of which the first element stays, and resets.  For callers
 * that walk this axis themselves.
 * Errors: -EINVAL (no MULTI_INDEX, an index, buffers, an axis it does not have).
 */
DRAY_API int dray_nditer_remove_axis(struct dray_nditer *iter, int axis);

/**
 * Stops tracking coordinates, merges axes where possible, and resets.
 * Errors: -EOVERFLOW (more elements than 63 bits count), as dray_nditer_reset().
 */
DRAY_API int dray_nditer_remove_multi_index(struct dray_nditer *iter);

/**
 * Turns EXTERNAL_LOOP on, and resets.
 * Errors: -EINVAL (an index or coordinates are tracked; ranges without
 * buffers), as dray_nditer_reset().
 */
DRAY_API int dray_nditer_enable_external_loop(struct dray_nditer *iter);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_NDITER_H */
