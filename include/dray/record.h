/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * record: views passed to other processes, by a socket or as plain bytes.
 *
 * Both sides reach the same memory; nothing is copied.  A record is checked as a
 * whole against the size of the memory that it leads to, so a forged record
 * never leads out of it.  Every function may be called from any thread.
 *
 *	struct dray_view received;
 *	struct dray_block *block;
 *
 *	ret = dray_view_send(sockets[0], &view);
 *	if (ret)
 *		return ret;
 *	// in the process at the other end
 *	ret = dray_view_receive(sockets[1], NULL, &received, &block);
 *	if (ret)
 *		return ret;
 *	printf("%lld elements\n", (long long)dray_view_size(&received));
 *	dray_dtype_unref(received.dtype);
 *	dray_block_unref(block);
 */
#ifndef DRAY_RECORD_H
#define DRAY_RECORD_H

#include <dray/ipc.h>
#include <dray/view.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Sends @view to the process at the other end of @socket (a connected Unix socket):
 * the buffer's file descriptor, and offset, shape, strides and type.  The receiver
 * reaches the whole buffer, so use a pool or a buffer of its own for sharing.
 *
 * The block stays the sender's.  After its free the bytes hold other data, which
 * every receiver sees: a receiver keeps only the mapping.  An open record of
 * dray_view_export() also keeps the block.
 *
 * Errors: -EINVAL (a view that does not lie in a single block of dray's memory;
 * the sentence says so), -EOPNOTSUPP (private host memory; reserved huge
 * pages), -EINTR before the first byte, errors of sendmsg.  Blocks as the
 * socket does, but finishes a record that it began: -ETIMEDOUT if the receiver
 * stops in the middle for five seconds.
 */
DRAY_API int dray_view_send(int socket, const struct dray_view *view);

/**
 * Receives a view that dray_view_send() sends.
 *
 * @node: NULL opens the node that the record names
 * @view: the caller drops the reference to its type by dray_dtype_unref()
 * @block: the memory, a reference; the view is valid as long as the block
 *
 * Errors: -EBADMSG (not a record, or truncated, or forged), -EINVAL (a file
 * descriptor that is not a buffer), -EPROTO (another version), -ECONNRESET (the
 * sender is gone), -ETIMEDOUT (the sender stopped in the middle of a record for
 * five seconds), -EINTR before the first byte, errors of recvmsg,
 * dray_node_open() and dray_buffer_import().  After a truncated or refused
 * record a stream socket is useless: the start of the next record is unknown.
 */
DRAY_API int dray_view_receive(int socket, struct dray_node *node,
			       struct dray_view *view,
			       struct dray_block **block);

/**
 * Bytes of the longest record of a view: 96, 16 for each axis, and for a type
 * object 8 and its text, as dray_dtype_format() writes it, with its zero.
 */
#define DRAY_VIEW_RECORD_SIZE (96 + 16 * DRAY_MAX_NDIM + 8 + 4088)

/**
 * Makes a record of @view: plain bytes that lead another process to it.  They are a
 * record of its memory (<dray/ipc.h> says how long it is valid, and for which
 * users), type, shape and strides.
 *
 * @flags: DRAY_IPC_*
 * @record: @room bytes, DRAY_VIEW_RECORD_SIZE are always enough
 * @size: bytes written
 *
 * Errors: -ENOSPC (too little room, or too many exports), -EINVAL (a user type,
 * which means nothing elsewhere), -E2BIG (a type whose text is longer than 4088
 * bytes), as dray_view_init() for a bad view, as dray_ipc_export().
 */
DRAY_API int dray_view_export(const struct dray_view *view, uint32_t flags,
			      void *record, size_t room, size_t *size);

/**
 * Opens the view that a record leads to.
 *
 * @node: NULL opens the node of the memory
 * @view: the caller drops the reference to its type by dray_dtype_unref()
 * @block: the open memory, a reference; the last drop closes it
 *
 * Errors: -EBADMSG (not a record, or truncated, or forged), -EPROTO (another
 * version), -ENOMEM, as dray_ipc_open().
 */
DRAY_API int dray_view_open(const void *record, size_t size,
			    struct dray_node *node, struct dray_view *view,
			    struct dray_block **block);

/**
 * Copies the view that a record leads to, without opening it: dray_ipc_copy()
 * says when to.  Gaps between the elements are copied too.
 *
 * @to: @room bytes, for the memory that the record names
 * @needed: bytes of that memory, also if there is too little room
 * @out: the view in @to, with the flags that it was exported with; the caller drops
 *	the reference to its type by dray_dtype_unref()
 *
 * Errors: -ENOSPC (too little room: the exporter was not asked), -EBADMSG,
 * -EPROTO as dray_view_open(), as dray_ipc_copy().
 */
DRAY_API int dray_view_fetch(const void *record, size_t size, void *to,
			     uint64_t room, uint64_t *needed,
			     struct dray_view *out);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_RECORD_H */
