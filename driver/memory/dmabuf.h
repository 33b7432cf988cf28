/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Buffers as dma-bufs.
 */
#ifndef DRAY_DMABUF_H
#define DRAY_DMABUF_H

#include <linux/types.h>

struct dma_buf;
struct dray_buffer;
struct dray_refusal;
struct dray_reply;

/* Replies with a dma-buf; takes over the caller's reference. */
int dray_dmabuf_export(struct dray_buffer *buffer, bool writable,
		       struct dray_reply *reply);

/* The buffer of a dma-buf of dray's, which holds it; NULL for any other. */
struct dray_buffer *dray_dmabuf_buffer(struct dma_buf *dmabuf, bool *writable);

/*
 * Returns the buffer behind a file descriptor, with a reference, and in
 * *@writable if it may be written through that; an ERR_PTR for any other file.
 */
struct dray_buffer *dray_dmabuf_of_fd(int fd, bool *writable,
				      struct dray_refusal *refusal);

#endif /* DRAY_DMABUF_H */
