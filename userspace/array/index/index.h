/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Preparation of an index, and the walk over the elements that it leads to.
 *
 * A prepared index is the rest, the view that integers, slices and new axes leave
 * of the source, and the arrays.  For each element of the arrays'
 * broadcast shape, they add an offset in bytes to each element of the rest.
 * Offsets are computed in chunks that stay in the nearest cache: nothing is
 * allocated for them.
 */
#ifndef DRAY_INDEX_INDEX_H
#define DRAY_INDEX_INDEX_H

#include <dray/array/index.h>

#include "private.h"

/* Loads integers of a type from addresses @stride bytes apart. */
typedef void dray_index_load(const unsigned char *data, int64_t stride,
			     size_t count, int64_t *out);

/* The loader of a type; NULL if it is not an integer's. */
dray_index_load *dray_index_load_for(dray_dtype dtype);

/*
 * Other processes may write indices and booleans at any time.  So a copy is checked
 * and used: a chunk of integers, or as many trues as were counted.
 */
static inline void dray_index_copied(void)
{
	/* No load of the copy may become another load of the memory. */
	__asm__ volatile("" : : : "memory");
}

/* Whether integers of @dtype need no loader. */
static inline bool dray_index_is_plain(dray_dtype dtype)
{
	return dtype == DRAY_INT64;
}

static inline bool dray_dtype_is_bool(dray_dtype dtype)
{
	return dray_dtype_kind(dtype) == '?' || dray_dtype_kind(dtype) == 'b';
}

/* An array of a prepared index. */
struct dray_index_array {
	const unsigned char *data; /* NULL: coordinates of a mask, later */
	const int64_t *shape;
	const int64_t *strides;
	int ndim;
	int axis; /* of the source; for sentences */
	int64_t extent; /* of that axis */
	int64_t stride; /* of that axis, bytes */
	dray_index_load *load;
	bool plain; /* int64_t, which need no loader */
	const struct dray_view *flat; /* NULL; the source, of all its axes */
	const struct dray_view *from; /* the integers, or the booleans */
	int64_t trues; /* true elements, of booleans: the shape */
};

struct dray_index_plan {
	struct dray_view rest;
	int arrays_count;
	int broadcast_ndim;
	int at; /* the axis of the result where the broadcast axes stand */
	enum dray_index_mode mode;
	/* booleans of all axes at once: the only step, then not an array */
	const struct dray_view *mask;
	int64_t mask_trues;
	int64_t *coordinates; /* memory of masks; NULL: none */
	int64_t broadcast[DRAY_MAX_NDIM];
	struct dray_index_array arrays[DRAY_MAX_NDIM];
};

/*
 * Prepares an index for a checked view.  Integers of arrays are not read yet.
 * Errors: see <dray/array/index.h>.
 */
int dray_index_prepare(struct dray_index_plan *plan,
		       const struct dray_view *view,
		       const struct dray_index *index, size_t count);

/* Prepares a single array of integers along an axis (or DRAY_FLAT) of @view. */
int dray_index_prepare_one(struct dray_index_plan *plan,
			   const struct dray_view *view,
			   const struct dray_view *indices, int axis,
			   enum dray_index_mode mode);

/* Begins a plan without steps. */
void dray_index_start(struct dray_index_plan *plan,
		      const struct dray_view *view);

/* Checks an indexing array; adds the axes that it indexes to *taken. */
int dray_index_check_array(const struct dray_view *array, size_t *taken);

/*
 * Adds an array for an axis; @from: its integers or booleans.  NULL, with a
 * sentence, if there are too many.
 */
struct dray_index_array *
dray_index_put_array(struct dray_index_plan *plan, int axis,
		     const struct dray_view *from);

/* Makes it an array of integers, or of coordinates of true elements, later. */
void dray_index_use_integers(struct dray_index_array *array,
			     const struct dray_view *from);
void dray_index_use_coordinates(struct dray_index_array *array, int64_t trues);

/* Finds the common shape of all arrays after broadcasting. */
int dray_index_broadcast_arrays(struct dray_index_plan *plan);

/* Axes and shape of the result; -ERANGE if there are too many. */
int dray_index_result(const struct dray_index_plan *plan, int *ndim,
		      int64_t *shape);

/* The stride of an array along an axis of the broadcast shape. */
static inline int64_t dray_index_stride(const struct dray_index_plan *plan,
					const struct dray_index_array *array,
					int axis)
{
	axis -= plan->broadcast_ndim - array->ndim;
	return axis < 0 || array->shape[axis] == 1 ? 0 : array->strides[axis];
}

/* Elements of the broadcast shape. */
static inline int64_t dray_index_size(const struct dray_index_plan *plan)
{
	int64_t size = 1;
	int i;

	for (i = 0; i < plan->broadcast_ndim; i++)
		size *= plan->broadcast[i];
	return size;
}

/*
 * Lists the axes of a new result as they lie in memory, outermost first: the
 * broadcast axes as in the arrays, the axes of the rest as in the source.
 */
void dray_index_order(const struct dray_index_plan *plan, int *axes);

/* Finds the coordinates of masks.  -ENOMEM, -ERANGE if they changed. */
int dray_index_expand(struct dray_index_plan *plan);

/* Frees the coordinates. */
void dray_index_end(struct dray_index_plan *plan);

/* Checks all integers.  -ERANGE with the first wrong integer. */
int dray_index_check_bounds(struct dray_index_plan *plan);

/*
 * Copies @count integers of an array, @step bytes apart, to @out; false if any is out
 * of range.  Negative integers count from the end of the axis.
 * @natural: whether none is below 0
 */
bool dray_index_read(const struct dray_index_array *array,
		     enum dray_index_mode mode, const unsigned char *data,
		     int64_t step, size_t count, int64_t *out, bool *natural);

/* Whether all integers are -below to extent - 1. */
bool dray_index_are_inside(const int64_t *integers, size_t count, int64_t below,
			   int64_t extent);

/* Makes them offsets in bytes, added to those that are there unless @first. */
void dray_index_add(const struct dray_index_array *array,
		    const int64_t *integers, size_t count, bool first,
		    int64_t *offsets);

/* The sentence of the first of @count integers that is out of range. */
int dray_index_fail_bounds(const struct dray_index_array *array,
			   const int64_t *integers, size_t count);

/* Integers of a chunk. */
#define DRAY_INDEX_CHUNK 512

enum dray_index_way {
	DRAY_INDEX_GATHER, /* from the source to the other view */
	DRAY_INDEX_SCATTER, /* from the other view to the source */
};

/*
 * Copies between the source and @other, which is of the result's shape; its strides
 * may be 0 for DRAY_INDEX_SCATTER.  They share no memory.  Integers
 * are checked on the way: -ERANGE.
 * @first: checks all of them before the first copy
 */
int dray_index_move(struct dray_index_plan *plan, const struct dray_view *other,
		    enum dray_index_way way, bool first);

/*
 * Copies between elements of @view with a true boolean and a row of elements
 * @stride bytes apart.
 * @trues: elements of the row; -ERANGE if the mask no longer counts as many
 */
int dray_index_move_masked(const struct dray_view *view,
			   const struct dray_view *mask, unsigned char *row,
			   int64_t stride, int64_t trues,
			   enum dray_index_way way);

/* Writes an element for all true booleans. */
void dray_index_fill_masked(const struct dray_view *view,
			    const struct dray_view *mask,
			    unsigned char *element);

/* -ERANGE: booleans are others than those that were counted. */
int dray_index_fail_changed(void);

/*
 * Lists true elements of a piece by number: @first, and @step more for each
 * element.  @offsets holds all elements.
 */
size_t dray_list_trues(const unsigned char *mask, int64_t stride, size_t count,
		       int64_t first, int64_t step, int64_t *offsets);

/* Counts bytes other than 0 at addresses @stride bytes apart. */
int64_t dray_count_bytes(const unsigned char *data, int64_t stride,
			 size_t count);

/* Counts the true elements of a checked view of booleans. */
int64_t dray_count_trues(const struct dray_view *mask);

/* Whether two operands share, or may share, a byte. */
bool dray_operands_share(const struct dray_operand *a,
			 const struct dray_operand *b);

/* The same for an operand and a checked view. */
bool dray_index_shares(const struct dray_operand *operand,
		       const struct dray_view *array);

/* Checks views that are to be written, and read; measures the first. */
int dray_index_check_values(struct dray_operand *to,
			    const struct dray_view *view,
			    const struct dray_view *values);

/* Copies the elements of a prepared index to a new array, or to a view. */
int dray_index_fetch_new(struct dray_index_plan *plan,
			 const struct dray_view *view, bool c_order,
			 struct dray_array **out);
int dray_index_fetch_into(struct dray_index_plan *plan,
			  const struct dray_operand *source,
			  const struct dray_view *dst);

/*
 * A dense copy of a view, of its own memory and maybe another type; ended by
 * free(data).  -ENOMEM, as dray_view_convert().
 */
int dray_view_put_aside(const struct dray_view *view, dray_dtype dtype,
			struct dray_view *out);

/* Values as they are to be written. */
struct dray_values {
	const struct dray_view *view;
	void *own; /* to be freed by the user; may be NULL */
	struct dray_view converted;
};

/*
 * Puts values aside, converted, if they are of another type than the elements, or
 * share memory with them.  @in_order: the user sees to shared memory.
 */
int dray_values_use(const struct dray_operand *to,
		    const struct dray_view *values, bool in_order,
		    struct dray_values *out);

/* Values, each behind the other. */
struct dray_row {
	unsigned char *data;
	int64_t stride; /* bytes */
	int64_t count; /* before they repeat */
	void *own; /* to be freed by the user; may be NULL */
};

/*
 * Puts values in a row in C order, repeated to @least at least.  -EOVERFLOW,
 * -ENOMEM.
 */
int dray_values_in_row(const struct dray_view *values, int64_t least,
		       struct dray_row *row);

/*
 * Makes @view describe @value broadcast to @shape, which it may exceed by axes
 * of length 1 in front.  False if it does not fit.
 */
bool dray_index_broadcast(const struct dray_view *value, int ndim,
			  const int64_t *shape, struct dray_view *view);

/*
 * Fills @view with a new array of @dtype and @ndim axes as requested: the axes of a
 * sub-array, which are the array's last axes, are in the type again.
 */
static inline struct dray_view *
dray_array_view_closed(const struct dray_array *array, dray_dtype dtype,
		       int ndim, struct dray_view *view)
{
	dray_array_view(array, view);
	view->dtype = dtype;
	view->ndim = ndim;
	return view;
}

/* Makes an array with its axes in memory as in @axes, outermost first. */
int dray_array_ordered(dray_dtype dtype, int ndim, const int64_t *shape,
		       const int *axes, struct dray_array **out);

#endif /* DRAY_INDEX_INDEX_H */
