/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Arrow's types and ours, and bits and bools: shared by the files that export and
 * import.  A branch is a structure of Arrow with all of its children.
 */
#ifndef DRAY_INTEROP_ARROW_H
#define DRAY_INTEROP_ARROW_H

#include <dray/array/arrow.h>

/* The difference between the elements of Arrow and of an array. */
enum dray_arrow_change {
	DRAY_ARROW_SAME,
	DRAY_ARROW_BITS, /* a bit each, against a bool of a byte */
	DRAY_ARROW_HALVES, /* 32-bit numbers, against 64 bits */
};

/* A format of elements without children. */
struct dray_arrow_type {
	dray_dtype dtype; /* of arrays; always a builtin type */
	enum dray_arrow_change change;
	uint32_t size; /* bytes of Arrow's elements; 0 of bits */
};

#define DRAY_ARROW_FORMAT_SIZE 24 /* "+w:" and a number of 64 bits */

/* The type of an element, and the text of its format.  -EOPNOTSUPP, -EOVERFLOW. */
int dray_arrow_format(dray_dtype dtype, char text[DRAY_ARROW_FORMAT_SIZE],
		      struct dray_arrow_type *out);

/* Reads the format of elements without children.  -EINVAL, -EOPNOTSUPP. */
int dray_arrow_parse(const char *format, struct dray_arrow_type *out);

/* Reads the number of "w:16" or "+w:3", behind @before.  -EINVAL. */
int dray_arrow_parse_size(const char *format, const char *before,
			  uint32_t *out);

/* Fails if a child, or an element, is larger than Arrow's numbers.  -EOVERFLOW. */
int dray_arrow_check_size(int64_t size);

/* Checks flags of an export or an import.  -EINVAL. */
int dray_arrow_check_flags(uint32_t flags);

/* Checks that there is a first axis: its extent becomes Arrow's length.  -EINVAL. */
int dray_arrow_check_axes(int ndim);

/* Whether the CPU reaches a view's memory: it does not if only a device does. */
bool dray_arrow_is_reached(const struct dray_view *view);

/* Waits until no transfer writes @view, as dray_view_wait(). */
int dray_arrow_wait(const struct dray_view *view, int timeout_ms);

/*
 * Makes an axis of the two parts of a complex number; leaves other views as they
 * are.  -EINVAL (too many axes).
 */
int dray_arrow_open_complex(struct dray_view *view);

/*
 * Makes @out a view of field @index of a structure; the axes of its sub-array, and
 * of a complex number, become the last axes.  -EINVAL.
 */
int dray_arrow_field(const struct dray_view *view, size_t index,
		     struct dray_dtype_field *field, struct dray_view *out);

static inline bool dray_arrow_bit(const uint8_t *bits, int64_t at)
{
	return bits[at / 8] >> (at % 8) & 1;
}

/*
 * Makes a bit of each of @bools, in C order.  @invert: a bit is 1 where
 * a bool is false.  @set: the number of bits that are 1.
 */
int dray_arrow_pack(const struct dray_view *bools, bool invert,
		    struct dray_array **out, int64_t *set);

/* Makes an array of @count bools of the bits from number @first on. */
int dray_arrow_unpack(const uint8_t *bits, int64_t first, int64_t count,
		      struct dray_array **out);

/* Counts bits that are 1. */
int64_t dray_arrow_count(const uint8_t *bits, int64_t first, int64_t count);

#endif /* DRAY_INTEROP_ARROW_H */
