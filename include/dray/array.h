/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * array: strided views, and counted arrays that can be passed to other
 * processes.
 *
 * A view is shape, strides, a data type and a borrowed address.  It owns
 * nothing: its memory must outlive it.  Functions that make a view from another
 * never touch the data and allocate nothing, and @out may be the same object as
 * the input.
 *
 * An array is a counted object that keeps its memory alive.  It is made in a
 * pool or in a buffer of its own, received from another process, or opened by a
 * record.
 *
 * Every function may be called from any thread.  The caller orders writes to a
 * view, or to elements, that other threads read.
 */
#ifndef DRAY_ARRAY_H
#define DRAY_ARRAY_H

#include <dray/pool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DRAY_MAX_NDIM 64

/** An element's type, as the typestr of an array interface describes it. */
struct dray_dtype {
	char kind;		/* one of "?biufcmMSUV" ('?' is a bool) */
	char order;		/* '<', '>' or '|' (no order) */
	uint16_t reserved;	/* 0 */
	uint32_t itemsize;	/* bytes; may be 0 for S, U and V */
};

/**
 * Parses a typestr ("<f4", "|u1", "|V12"); "b1" is a bool.  -EINVAL for any
 * other text, such as an object's ('O').
 */
DRAY_API int dray_dtype_parse(const char *typestr, struct dray_dtype *out);

/**
 * Writes the typestr of a type, at most 16 bytes with the terminating zero.
 * -EINVAL if no typestr describes it.
 */
DRAY_API int dray_dtype_format(const struct dray_dtype *dtype, char out[16]);

/* dray_view.flags */
#define DRAY_VIEW_READONLY	(1u << 0)

struct dray_view {
	void *data;		/* the element [0, 0, ...]; may be NULL if empty */
	struct dray_dtype dtype;
	int32_t ndim;		/* 0 .. DRAY_MAX_NDIM; 0 is one element */
	uint32_t flags;		/* DRAY_VIEW_* */
	/* only the first ndim entries of each are ever read or copied */
	int64_t shape[DRAY_MAX_NDIM];	/* elements, >= 0 */
	int64_t strides[DRAY_MAX_NDIM];	/* bytes, may be negative or 0 */
};

/**
 * Describes memory at @data.
 *
 * @shape: @ndim extents, each >= 0
 * @strides: @ndim strides in bytes; NULL: C order
 *
 * Errors: -EINVAL (ndim, an extent below 0, a type, elements without data),
 * -EOVERFLOW (the bytes it covers do not fit 63 bits or the address space).
 * dray_view_index() and dray_view_assign() check their views the same way.
 */
DRAY_API int dray_view_init(struct dray_view *out, void *data,
			    struct dray_dtype dtype, int ndim,
			    const int64_t *shape, const int64_t *strides);

/**
 * Writes to @bytes the size of the memory that a view in C order needs.
 *
 * @shape: @ndim extents, each >= 0
 *
 * Errors: -EINVAL (ndim, an extent below 0, a type), -EOVERFLOW (more than
 * SIZE_MAX or 63 bits).
 */
DRAY_API int dray_view_bytes(struct dray_dtype dtype, int ndim,
			     const int64_t *shape, size_t *bytes);

/**
 * Copies one view, ndim axes only.  This function and the questions about a
 * view (dray_view_size(), _span(), _is_contiguous(), _spans_overlap()) return
 * no error.  They trust ndim to be 0 .. DRAY_MAX_NDIM and extents to be 0 or
 * more, as in any view that a function here has made.
 */
DRAY_API void dray_view_copy(struct dray_view *out,
			     const struct dray_view *view);

/** One step of basic indexing, as in NumPy. */
enum dray_index_kind {
	DRAY_INDEX_INTEGER,	/* start: drops the axis; negative from its end */
	DRAY_INDEX_SLICE,	/* start:stop:step */
	DRAY_INDEX_NEWAXIS,	/* an axis of one element */
	DRAY_INDEX_ELLIPSIS,	/* as many whole axes as fit; at most one */
};

#define DRAY_OMIT INT64_MIN	/* start, stop or step left out */

struct dray_index {
	enum dray_index_kind kind;
	int64_t start;
	int64_t stop;
	int64_t step;		/* never 0; negative runs backwards */
};

#define DRAY_AT(i)	((struct dray_index){ DRAY_INDEX_INTEGER, (i), 0, 0 })
#define DRAY_SLICE(start, stop, step) \
	((struct dray_index){ DRAY_INDEX_SLICE, (start), (stop), (step) })
/* ::step, every step-th element; -1 reverses the axis */
#define DRAY_STEP(step)	DRAY_SLICE(DRAY_OMIT, DRAY_OMIT, step)
#define DRAY_ALL	DRAY_STEP(DRAY_OMIT)
#define DRAY_NEWAXIS	((struct dray_index){ DRAY_INDEX_NEWAXIS, 0, 0, 0 })
#define DRAY_ELLIPSIS	((struct dray_index){ DRAY_INDEX_ELLIPSIS, 0, 0, 0 })

/**
 * Indexes a view as NumPy's basic indexing does: view[index[0], index[1], ...].
 *
 * Errors: -EINVAL (a step of 0, two ellipses, more indices than axes, more than
 * DRAY_MAX_NDIM axes), -ERANGE (an integer outside its axis).
 */
DRAY_API int dray_view_index(const struct dray_view *view,
			     const struct dray_index *index, size_t count,
			     struct dray_view *out);

/**
 * Reorders axes: axis i of the result is axis axes[i] of @view, negative from
 * the last.  NULL reverses the order.
 *
 * Errors: -EINVAL (an axis that does not exist or is named twice; @view has a
 * number of axes or an extent that dray_view_init() would refuse).
 */
DRAY_API int dray_view_transpose(const struct dray_view *view, const int *axes,
				 struct dray_view *out);

/**
 * Repeats axes of one element (stride 0) and adds axes in front.
 *
 * Errors: -EINVAL (fewer axes than @view has, an extent that differs from one
 * above 1; else as dray_view_transpose()), -EOVERFLOW as dray_view_init().
 */
DRAY_API int dray_view_broadcast(const struct dray_view *view, int ndim,
				 const int64_t *shape, struct dray_view *out);

/** Returns the number of elements; 1 without axes, INT64_MAX on overflow. */
DRAY_API int64_t dray_view_size(const struct dray_view *view);

/**
 * Returns the bytes that the elements cover, relative to data: [low, high). low
 * is below 0 if strides are negative; low == high if the view is empty.
 */
DRAY_API void dray_view_span(const struct dray_view *view, int64_t *low,
			     int64_t *high);

/** Whether elements follow each other without gaps, the last axis fastest. */
DRAY_API bool dray_view_is_contiguous(const struct dray_view *view);

/** Whether the spans of two views have a byte in common. */
DRAY_API bool dray_view_spans_overlap(const struct dray_view *a,
				      const struct dray_view *b);

/**
 * Copies elements with the CPU, between views of the same shape and type.
 * Nothing is converted: to copy bits to another type of the same size, give one
 * view the other's dtype.
 *
 * If the views overlap, the result is that of a source copied aside first; the
 * copy aside is made only if it makes a difference.
 *
 * Errors: -EINVAL (shapes or types differ; the destination has a stride of 0),
 * -EPERM (read-only), -ENOMEM (for the copy aside).
 */
DRAY_API int dray_view_assign(const struct dray_view *dst,
			      const struct dray_view *src);

struct dray_array;

/**
 * Makes a zeroed array in C order in @pool.
 * Errors: as dray_view_bytes(), -ENOMEM.
 */
DRAY_API int dray_array_create(struct dray_pool *pool, struct dray_dtype dtype,
			       int ndim, const int64_t *shape,
			       struct dray_array **out);
/**
 * Makes a zeroed array in a buffer of its own, whole pages of @node.  Other
 * processes that receive the array then reach no other memory.
 * Errors: as dray_view_bytes(), dray_buffer_alloc().
 */
DRAY_API int dray_array_create_alone(struct dray_node *node,
				     struct dray_dtype dtype, int ndim,
				     const int64_t *shape,
				     struct dray_array **out);
/** Adds a reference, dropped by dray_array_unref(); returns @array. */
DRAY_API struct dray_array *dray_array_ref(struct dray_array *array);
/** Drops a reference, and frees the memory with the last.  NULL is ignored. */
DRAY_API void dray_array_unref(struct dray_array *array);
/** Returns the whole array, borrowed: valid as long as the array. */
DRAY_API const struct dray_view *
dray_array_view(const struct dray_array *array);

/**
 * Passes the array of @view to the process at the other end of @socket (a
 * connected Unix socket): the buffer's file descriptor, and offset, shape,
 * strides and type.  Nothing is copied; both processes see the same memory.
 * The receiver reaches the whole buffer, so use a pool or an array of its own
 * for sharing.
 *
 * The block stays the sender's.  Once it is freed, it is used for other data,
 * which every receiver sees.  A receiver keeps only the mapping.  Records
 * (dray_array_export()) also hold the block while it is open.
 *
 * Errors: -EINVAL (a view that does not lie in one block of dray's memory; the
 * sentence says so), -EOPNOTSUPP (private host memory; reserved huge pages),
 * -EINTR before the first byte, errors of sendmsg.
 * Blocks as the socket does, but finishes a record that has begun: -ETIMEDOUT
 * if the receiver stops in the middle for five seconds.
 */
DRAY_API int dray_array_send(int socket, const struct dray_view *view);

/**
 * Receives an array.  The whole record is checked against the real size of the
 * buffer.
 * @node: NULL opens the node that the record names
 *
 * Errors: -EBADMSG (not a record, a truncated or a forged one), -EINVAL (a file
 * descriptor that is not a buffer), -EPROTO (another version), -ECONNRESET (the
 * sender is gone), -ETIMEDOUT (the sender stopped in the middle of a record for
 * five seconds), -EINTR before the first byte, errors of recvmsg,
 * dray_node_open() and dray_buffer_import().  After a truncated or refused
 * record a stream socket is useless: the start of the next record is unknown.
 */
DRAY_API int dray_array_receive(int socket, struct dray_node *node,
				struct dray_array **out);

/** Bytes of the longest record of an array: 96, and 16 for each axis. */
#define DRAY_ARRAY_RECORD_SIZE (96 + 16 * DRAY_MAX_NDIM)

/**
 * Makes a record of the array of @view: plain bytes that lead another process
 * to it.  They are a record of its memory (<dray/ipc.h> tells how long it
 * holds, and for which users), type, shape and strides.
 *
 * @flags: DRAY_IPC_*
 * @record: @room bytes, DRAY_ARRAY_RECORD_SIZE are always enough
 * @size: bytes written
 *
 * Errors: -ENOSPC (too little room, or too many exports), as dray_view_init()
 * for a bad view, as dray_ipc_export().
 */
DRAY_API int dray_array_export(const struct dray_view *view, uint32_t flags,
			       void *record, size_t room, size_t *size);

/**
 * Opens the array that a record leads to.  All of it is checked against the
 * exported memory: strides never lead out of it.
 *
 * @node: NULL opens the node of the memory
 * @out: one reference; dropping the last closes the memory
 *
 * Errors: -EBADMSG (not a record, a truncated or a forged one), -EPROTO
 * (another version), -ENOMEM, as dray_ipc_open().
 */
DRAY_API int dray_array_open(const void *record, size_t size,
			     struct dray_node *node, struct dray_array **out);

/**
 * Copies the array that a record leads to, without opening it: dray_ipc_copy()
 * tells when to.  Gaps between the elements are copied too.
 *
 * @to: @room bytes, for the memory that the record names
 * @needed: bytes of that memory, also if there is too little room
 * @out: the array in @to, with the flags that it was exported with
 *
 * Errors: -ENOSPC (too little room: the exporter was not asked), -EBADMSG,
 * -EPROTO as dray_array_open(), as dray_ipc_copy().
 */
DRAY_API int dray_array_fetch(const void *record, size_t size, void *to,
			      uint64_t room, uint64_t *needed,
			      struct dray_view *out);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_ARRAY_H */
