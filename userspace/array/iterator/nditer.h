/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The iterator behind <dray/array/nditer.h>.
 *
 * Its axes are ordered from the innermost.  They start as the axes of the
 * broadcast, the last first (nditer_axes.c), are then put in the order of
 * iteration (nditer_order.c), and merged if no coordinates are tracked.
 * Operands that do not exist, or do not fit, are replaced by arrays in that
 * order (nditer_replace.c).  With buffers, a step leads through @buffered
 * elements that lie in buffers or in operands (nditer_buffer.c).
 *
 * (Source: NumPy's nditer; order of elements and sizes of buffers are the same.)
 */
#ifndef DRAY_ITERATOR_NDITER_H
#define DRAY_ITERATOR_NDITER_H

#include <dray/array/cast.h>
#include <dray/array/nditer.h>

#include "private.h"

/* Flags of an iterator's own, behind DRAY_NDITER_*. */
#define NDITER_FORCED_ORDER (1u << 24) /* other than 'K' */
#define NDITER_DOUBLE_LOOP (1u << 25) /* through buffers, of a reduction */
#define NDITER_ONE_STEP (1u << 26) /* ends at the first next() */
#define NDITER_DELAYED (1u << 27) /* buffers are not allocated yet */
#define NDITER_IS_PLAIN (1u << 28) /* it owns neither arrays nor buffers */
#define NDITER_IS_FINISHED (1u << 29) /* nothing is written any more */
#define NDITER_PUBLIC ((1u << 14) - 1)
#define NDITER_INDEX (DRAY_NDITER_C_INDEX | DRAY_NDITER_F_INDEX)

/* Flags of an operand's own, behind DRAY_OPERAND_*. */
#define OPERAND_CONVERTS (1u << 24) /* into a buffer, or a copy */
#define OPERAND_REDUCES (1u << 25) /* along an axis of stride 0 */
#define OPERAND_COPIES (1u << 26) /* because it overlaps another */
#define OPERAND_WRITES_BACK (1u << 27) /* its copy, when all ends */
#define OPERAND_IS_UNBUFFERED (1u << 28)
#define OPERAND_HAS_ONE_STRIDE (1u << 29) /* within a buffer */
#define OPERAND_IS_REUSABLE (1u << 30) /* its buffer, if it does not move */
#define OPERAND_IS_DOUBLE (1u << 31) /* belongs to a double loop */
#define OPERAND_PUBLIC ((1u << 12) - 1)
#define OPERAND_READ_WRITE (DRAY_OPERAND_READ | DRAY_OPERAND_WRITE)

struct nditer_axis {
	int64_t count;
	int64_t at; /* coordinate, 0 to count - 1 */
	int64_t strides[DRAY_MAX_OPERANDS]; /* bytes */
	int64_t index_stride; /* elements, in C or F order */
	int16_t axis; /* of the broadcast */
	bool flipped; /* it runs from the last element to the first */
};

struct nditer_operand {
	uint32_t flags;
	int32_t ndim;
	/* The caller's view; without data if an array was allocated for it. */
	char *data;
	dray_dtype stored;
	uint32_t permissions;
	/* Its extents, in iter->extents; its strides follow. */
	uint32_t extents_at;
	dray_dtype dtype; /* that the loop sees; a reference */
	struct dray_array *array; /* in place of the view, or NULL */
	char *buffer; /* or NULL */
	int64_t buffer_stride; /* bytes from an element to the next */
	int64_t outer_stride; /* bytes, of a reduction's outer loop */
	char *outer_data;
};

/* The conversions of an operand that is buffered. */
struct nditer_casts {
	struct dray_cast read, write; /* if it is read, or written */
};

struct dray_nditer {
	dray_nditer_step_fn *next;
	size_t bytes; /* of all of it */
	uint32_t flags;
	int32_t ndim;
	int32_t operands;
	int32_t mask; /* operand, or -1 */
	int32_t error;
	uint32_t reported; /* errors of numbers: DRAY_FP_* */
	/* In elements of the iteration; size -1: too many. */
	int64_t size, start, end, position;
	/* The elements at the start, and now; number in C or F order. */
	char *first[DRAY_MAX_OPERANDS];
	char *data[DRAY_MAX_OPERANDS];
	int64_t first_index, index;
	/* The caller's copy of data, if a step is an inner loop or buffered. */
	char *user[DRAY_MAX_OPERANDS];
	/* Bytes from an operand's [0, 0, ...] to first, if axes are flipped. */
	int64_t offsets[DRAY_MAX_OPERANDS];

	/* Elements of a buffer, and of its part that is whole in all of them. */
	int64_t buffer_wanted, buffer_size, core;
	int64_t core_offset; /* the place in a core, after a jump */
	int outer; /* the axis around the core */
	int64_t buffered; /* elements of an inner loop; 0: none are left */
	int64_t buffer_end; /* position */
	int64_t reduce_at, reduce_count; /* inner loops of a reduction */
	int64_t inner_strides[DRAY_MAX_OPERANDS];

	/* Behind the axes; casts with buffers only. */
	struct nditer_operand *operand;
	struct nditer_casts *casts;
	int64_t *extents;
	struct nditer_axis axes[]; /* innermost first, at least 1 */
};

/* Multiplies; may wrap if the iteration is empty. */
static inline int64_t nditer_product(int64_t a, int64_t b)
{
	int64_t product;

	(void)dray_mul_overflow(a, b, &product);
	return product;
}

/* The operand as it is iterated over: extents and strides of an axis. */
static inline int64_t nditer_extent(const struct dray_nditer *iter,
				    const struct nditer_operand *operand,
				    int axis)
{
	if (operand->array)
		return dray_array_axes(operand->array)[axis].size;
	return iter->extents[operand->extents_at + (uint32_t)axis];
}

static inline int64_t nditer_stride(const struct dray_nditer *iter,
				    const struct nditer_operand *operand,
				    int axis)
{
	if (operand->array)
		return dray_array_axes(operand->array)[axis].stride;
	return iter->extents[operand->extents_at +
			     (uint32_t)(operand->ndim + axis)];
}

/* Whether there is a view, or an array in its place. */
static inline bool nditer_exists(const struct nditer_operand *operand)
{
	return operand->stored || operand->array;
}

/* Removes DRAY_REDUCTION_AXIS() from an entry of operand_axes. */
static inline int nditer_mapped_axis(int entry, bool *reduces)
{
	*reduces = entry >= DRAY_REDUCTION_AXIS(-1);
	return *reduces ? entry - DRAY_REDUCTION_AXIS(0) : entry;
}

/* The entries of operand @o, or NULL if it keeps its own axes. */
static inline const int *
nditer_map_of(const struct dray_nditer_options *options, int o)
{
	return options->operand_axes ? options->operand_axes[o] : NULL;
}

/* nditer_plain.c: describes plain iterations at once. */
bool dray_nditer_is_plain(const struct dray_view *const *views, int count,
			  const struct dray_nditer_options *options,
			  int64_t *elements);
void dray_nditer_describe(struct dray_nditer *iter,
			  const struct dray_view *const *views,
			  const struct dray_nditer_options *options,
			  int64_t elements);

/* nditer_prepare.c: checks flags and operands, and describes them. */
int dray_nditer_check_flags(const struct dray_nditer_options *options);
int dray_nditer_prepare(struct dray_nditer *iter,
			const struct dray_view *const *views,
			const struct dray_nditer_options *options);
int dray_nditer_choose_types(struct dray_nditer *iter,
			     const struct dray_nditer_options *options);

/* nditer_axes.c: broadcasts the operands into axes. */
int dray_nditer_check_map(int count, const struct dray_nditer_options *options);
int dray_nditer_fill_axes(struct dray_nditer *iter,
			  const struct dray_nditer_options *options);
/* Multiplies the extents; -EOVERFLOW unless axes may still be removed. */
int dray_nditer_measure(struct dray_nditer *iter);

/* nditer_order.c: puts the axes in the order of iteration. */
void dray_nditer_number(struct dray_nditer *iter);
void dray_nditer_force_order(struct dray_nditer *iter, char order,
			     bool all_fortran);
void dray_nditer_find_order(struct dray_nditer *iter);
void dray_nditer_flip(struct dray_nditer *iter);
void dray_nditer_merge(struct dray_nditer *iter);

/* nditer_replace.c: arrays in place of operands. */
int dray_nditer_replace_operands(struct dray_nditer *iter,
				 const struct dray_nditer_options *options);
int dray_nditer_write_back(struct dray_nditer *iter);

/* nditer_overlap.c: marks operands to be copied. */
int dray_nditer_mark_overlaps(struct dray_nditer *iter);

/* nditer_buffer.c, nditer_transfer.c: buffers. */
/*
 * Checks that an operand, which is buffered or copied, contains the elements that
 * the iteration visits: its map may leave out an empty axis.  -EINVAL.
 */
int dray_nditer_check_elements(const struct dray_nditer *iter, int o);
int dray_nditer_plan_buffers(struct dray_nditer *iter);
void dray_nditer_free_buffers(struct dray_nditer *iter);
int dray_nditer_allocate_buffers(struct dray_nditer *iter);
/* @before: the elements at the start of the last buffers, or NULL. */
int dray_nditer_fill_buffers(struct dray_nditer *iter, char *const *before);
int dray_nditer_flush_buffers(struct dray_nditer *iter);

/* nditer_next.c: chooses the function of a step. */
void dray_nditer_choose_step(struct dray_nditer *iter);

/* nditer_move.c: sets coordinates and addresses, without checks. */
void dray_nditer_place(struct dray_nditer *iter, int64_t position);

/* Fills a view of an operand as it is iterated over. */
void dray_nditer_view_of(const struct dray_nditer *iter, int o,
			 struct dray_view *view);

#endif /* DRAY_ITERATOR_NDITER_H */
