/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Records of views on their way between processes. */
#ifndef DRAY_RECORD_RECORD_H
#define DRAY_RECORD_RECORD_H

#include <dray/record.h>

/*
 * A view as bytes, in the machine's byte order.  The first 64 lead to the
 * memory: a record of it, or on a socket the description of a buffer.  The
 * fields here, ndim extents and ndim strides follow; then, if dtype is 0, the
 * length of a type's text, 4 bytes of 0, and the text with its zero.
 */
struct dray_view_record {
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
int dray_view_record_measure(const struct dray_view *view, size_t *size);

/* Writes the record of a measured view. */
void dray_view_record_write(void *record, const struct dray_ipc_record *memory,
			     const struct dray_view *view, uint64_t offset);

/*
 * Reads a record of at most @size bytes.  Of @view only the number of axes is
 * checked: dray_view_place() does the rest.  -EBADMSG, -EPROTO, -ENOMEM.
 * @view: its type is a reference, the caller's
 * @used: bytes of the record
 */
int dray_view_record_read(const void *record, size_t size,
			   struct dray_view_record *fixed,
			   struct dray_view *view, size_t *used);

#endif /* DRAY_RECORD_RECORD_H */
