/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Arrays over blocks, and as records on their way between processes. */
#ifndef DRAY_ARRAY_ARRAY_H
#define DRAY_ARRAY_ARRAY_H

#include <dray/array.h>
#include <dray/ipc.h>

/*
 * Makes an array over @base of a view that was checked and has its facts; counts
 * @base up.  @flags: besides the view's.  -EINVAL, -EPERM, -ENOMEM.
 */
int dray_array_adopt(const struct dray_view *view, uint32_t flags,
		     struct dray_block *base, struct dray_array **out);

/* Bytes beside a block's object for an array of @ndim axes. */
size_t dray_array_room(int ndim);

/*
 * Makes an array in the room of @base, and takes over the caller's reference.  It
 * has all of @base's memory; @view was checked and has its facts.
 * @start, @bytes: of its elements
 * @flags: besides the view's
 */
struct dray_array *dray_array_place(const struct dray_view *view, void *start,
				    size_t bytes, uint32_t flags,
				    struct dray_block *base);

/*
 * Makes an array of the handler that this thread allocates with; @strides NULL is
 * C order, others leave no gap and start at the lowest byte.
 */
int dray_array_from_handler(dray_dtype dtype, int ndim, const int64_t *shape,
			    const int64_t *strides, bool zeroed,
			    struct dray_array **out);

/*
 * Notes a complete array for snapshots of pools, if it owns its memory.  Called if
 * dray_notes_are_wanted().
 */
void dray_array_note(struct dray_array *array);

/* The array that @array is copied back to, one reference; NULL: none. */
struct dray_array **dray_array_target(struct dray_array *array);

/* Makes a block of open memory, which it takes over, or closes.  -ENOMEM. */
int dray_block_create_opened(struct dray_ipc_memory *memory,
			     struct dray_block **out);

/*
 * An array as bytes, in the machine's byte order.  The first 64 lead to the
 * memory: a record of it, or on a socket the description of a buffer.  The
 * fields here, ndim extents and ndim strides follow; then, if dtype is 0, the
 * length of a type's text, 4 bytes of 0, and the text with its zero.
 */
struct dray_array_record {
	struct dray_ipc_record memory;
	uint32_t magic;
	uint32_t version;
	uint32_t flags; /* DRAY_READ, ... */
	uint32_t ndim;
	dray_dtype dtype; /* a builtin type, or 0: a text follows */
	uint64_t offset; /* bytes, of the element [0, 0, ...] in the memory */
};

/*
 * Measures the record of a checked view.  -EINVAL if its type means nothing in
 * another process, -E2BIG if its text is too long.
 */
int dray_array_record_measure(const struct dray_view *view, size_t *size);

/* Writes the record of a measured view. */
void dray_array_record_write(void *record, const struct dray_ipc_record *memory,
			     const struct dray_view *view, uint64_t offset);

/*
 * Reads a record of at most @size bytes.  Of @view only the number of axes is
 * checked: dray_view_place() does the rest.  -EBADMSG, -EPROTO, -ENOMEM.
 * @view: its type is one reference, the caller's
 * @used: bytes of the record
 */
int dray_array_record_read(const void *record, size_t size,
			   struct dray_array_record *fixed,
			   struct dray_view *view, size_t *used);

#endif /* DRAY_ARRAY_ARRAY_H */
