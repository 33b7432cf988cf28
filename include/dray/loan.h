/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * loan: memory that another engine uses for a while, as an MPI library, a network card or
 * a GPU's driver.
 *
 * A loan makes the use of memory by others look like a transfer of dray: the loan begins
 * when no transfer, packet, queued call or other loan uses the bytes, and until it ends
 * those that come later wait for it:
 *
 *	waits	dray_view_wait(), exports to DLPack and Arrow: -ETIME after the timeout
 *	transfers	copies, fills, packets: -EINTR, or -EAGAIN with their NONBLOCK flag
 *	calls	queued calls and sequences wait until they are cancelled
 *	runs	of a sequence: their copies wait until the end, through signals
 *	rings	do not wait: -EBUSY if a frame is released or a ring begins
 *
 *	struct dray_loan *loan;
 *
 *	ret = dray_view_lend(&view, DRAY_ACCESS_READ, 1000, NULL, &loan);
 *	if (ret)
 *		return ret;
 *	if (write(STDOUT_FILENO, view.data, bytes) < 0)
 *		ret = -errno;
 *	dray_loan_end(loan);
 *
 * Their sentences name the engine, and dray_last_failure() is DRAY_FAILURE_LENT.  Reads do
 * not wait for loans that only read.  A copy by the CPU that is under way in another
 * thread, dray_view_assign() and calls of universal functions without a queue are accesses
 * of the program as any other: they wait for nothing, and no loan waits for them.
 *
 * The block of a loan is busy: freed meanwhile, it is parked until the loan ends.  No
 * bytes move and no caches are maintained: an engine that is not coherent needs
 * dray_view_sync() before and after.
 *
 * A thread must not wait for a loan that only the same thread ends: a dray_copy() over
 * memory that it lent waits until a signal comes.  The library does not refuse that, since
 * any thread may end a loan.  A timeout or a NONBLOCK flag makes it an error.
 *
 * A child of fork() inherits no loan: its transfers and waits pass over the parent's, and
 * dray_loan_end() only drops the child's hold there.  A process that dies ends its
 * loans.  It does not end the engine: the driver that it was lent to keeps pages that it
 * pinned, and shared memory that other processes use is theirs still.
 *
 * All functions may be called from any thread.
 */
#ifndef DRAY_LOAN_H
#define DRAY_LOAN_H

#include <dray/memory.h>
#include <dray/transfer.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dray_loan;

#define DRAY_LOAN_NAME 32 /* bytes of a name, with the zero */

/*
 * The engine takes the buffer's file descriptor, a dma-buf, and needs no mapping: memory
 * of DRAY_MODE_DEVICE can be lent, too.
 */
#define DRAY_LOAN_DMABUF	(1u << 0)

/** How to lend; all zero is the default. */
struct dray_loan_options {
	size_t size;		/* of this structure; 0: the first version's */
	const char *to;		/* a name for the engine, copied; NULL: "another engine" */
	uint32_t flags;		/* DRAY_LOAN_DMABUF */
	uint32_t reserved;	/* 0 */
};

/**
 * Lends all bytes of @view from its first to its last, once no transfer, packet, queued
 * call or loan uses them in a way that conflicts with @access.  Memory in a block of dray
 * is held until the loan ends; other memory is kept by its owner.  The loan of a view
 * without elements holds nothing.
 *
 * @access: DRAY_ACCESS_READ: the engine reads; DRAY_ACCESS_WRITE: it writes; or both
 * @timeout_ms: how long to wait for present users; 0: not, below 0: no limit
 * @options: NULL: the default
 * @out: the loan, which the caller ends by dray_loan_end()
 *
 * Errors: -EINVAL (a view that dray_view_init() would refuse, a view that leaves its
 * block, @access, unknown flags, a name that is empty, too long or
 * has control characters; to write, elements
 * that share an address), -EPERM (to write into a read-only view, or read a view that may
 * not be), -EOPNOTSUPP (memory of DRAY_MODE_DEVICE without DRAY_LOAN_DMABUF), -EBUSY (a
 * frame of a ring, which the caller must acquire), -ETIME, -EINTR, -ENOMEM.
 */
DRAY_API int dray_view_lend(const struct dray_view *view, unsigned int access,
			    int timeout_ms,
			    const struct dray_loan_options *options,
			    struct dray_loan **out);

/**
 * Lends @bytes bytes of a buffer from @offset, and keeps a reference to it; otherwise as
 * dray_view_lend().  Bytes within a block of a pool hold that block.  Bytes of several
 * blocks do not: these may be freed, and their bytes allocated again, before the loan ends.
 *
 * Errors: as dray_view_lend(); -EINVAL (bytes outside of the buffer), -EPERM (to write into
 * a buffer that is read-only).
 */
DRAY_API int dray_buffer_lend(struct dray_buffer *buffer, uint64_t offset,
			      uint64_t bytes, unsigned int access,
			      int timeout_ms,
			      const struct dray_loan_options *options,
			      struct dray_loan **out);

/**
 * Ends a loan, once the engine uses the memory no longer: wakes all that wait for it, and
 * frees the block if it was freed meanwhile.  NULL is ignored.
 */
DRAY_API void dray_loan_end(struct dray_loan *loan);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_LOAN_H */
