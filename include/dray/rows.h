/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * rows: a view as a list of rows, for libraries and devices that expect memory
 * as addresses and lengths.
 *
 * A row is some pieces of equal length at even distances: (address, length,
 * stride, count).  NIXL 1.5 reads such rows, with a device's number between
 * length and stride.  Verbs and iovec read rows of a single piece: address and
 * length.
 *
 *	struct iovec entries[8];
 *	size_t count;
 *
 *	ret = dray_view_iovec(&view, 0, entries, 8, &count);
 *	if (ret)
 *		return ret;
 *	if (count > 8)
 *		return -E2BIG;
 *	if (writev(STDOUT_FILENO, entries, count) < 0)
 *		return -errno;
 *
 * Nothing is copied, kept or waited for: the memory must outlive the rows, and
 * dray_view_wait() waits until no transfer uses it.  A loan (dray/loan.h) does
 * both.  All functions may be called from any thread.  They read the view, never its elements, so that
 * memory of DRAY_MODE_DEVICE can be described, too.
 */
#ifndef DRAY_ROWS_H
#define DRAY_ROWS_H

#include <sys/uio.h>
#include <dray/view.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A row: @count pieces of @length bytes, @stride bytes from the start of each
 * to the start of the next.  ABI: 32 bytes on every machine.
 */
struct dray_row {
	uint64_t address;	/* of the first byte, in this process */
	uint64_t length;	/* bytes of a piece, > 0 */
	uint64_t stride;	/* bytes, >= length; of a single piece: length */
	uint64_t count;		/* pieces, > 0 */
};

/*
 * Rows list the elements in C order, as in a stream, and repeat elements along
 * axes with a stride of 0.  Otherwise rows describe memory: in any order, each
 * byte once.
 */
#define DRAY_ROWS_ORDERED	(1u << 0)

/** Limits of rows, 0: none.  All zero is allowed. */
struct dray_row_limits {
	size_t size;		/* of this structure; 0: the first version's */
	uint64_t max_length;	/* bytes of a piece; longer pieces are cut */
	uint64_t max_stride;	/* bytes */
	uint64_t max_count;	/* pieces of a row; 1: rows without strides */
	uint64_t max_rows;	/* -E2BIG above */
	uint64_t first;		/* rows that are left out, from the start */
	uint32_t flags;		/* DRAY_ROWS_ORDERED */
	uint32_t reserved;	/* 0 */
};

#ifdef __cplusplus
#define DRAY_ABI(fact) static_assert(fact, #fact)
#else
#define DRAY_ABI(fact) _Static_assert(fact, #fact)
#endif
DRAY_ABI(sizeof(struct dray_row) == 32);
#undef DRAY_ABI

/**
 * Describes @view by rows.  Axes are sorted, reversed and merged before, as for a
 * transfer, except if the rows are ordered.  Pieces are as long as the view and
 * the limits allow.  The axis that leaves the fewest rows becomes the count of
 * all rows.  Without a fitting axis, pieces that touch are joined.
 *
 * @limits: NULL: none
 * @rows: @room rows; may be NULL if @room is 0
 * @count: the rows of the whole view, those left out and those beyond @room
 *	included; 0 for a view without elements, or of elements without bytes
 *
 * Long lists are written in parts, by @limits->first.
 *
 * Overlapping elements are allowed only for a stride of 0 and for sliding
 * windows; without DRAY_ROWS_ORDERED each byte appears once.  Ordered rows
 * contain a row for each piece if an axis is repeated or runs backwards, or if
 * its pieces overlap.
 *
 * Errors: -EINVAL (a view that dray_view_init() would refuse, no @count, unknown
 * flags, elements that share bytes), -EOVERFLOW (also more rows than a size_t
 * counts), -E2BIG (more rows than @limits->max_rows; @count is set).
 */
DRAY_API int dray_view_rows(const struct dray_view *view,
			    const struct dray_row_limits *limits,
			    struct dray_row *rows, size_t room, size_t *count);

/**
 * Describes @view for readv(), writev() and the like: the elements in C order, an
 * entry for each run of bytes.  The kernel accepts 1024 entries at a time
 * (IOV_MAX).
 *
 * @first: entries that are left out, from the start
 * @entries: @room entries; may be NULL if @room is 0
 * @count: the entries of the whole view
 *
 * Reads into a view whose elements share bytes leave the last bytes there.
 *
 * Errors: as dray_view_rows().
 */
DRAY_API int dray_view_iovec(const struct dray_view *view, uint64_t first,
			     struct iovec *entries, size_t room, size_t *count);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_ROWS_H */
