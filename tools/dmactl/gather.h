/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What is known of all buffers and attachments, taken once, sorted by id. */
#ifndef DMACTL_GATHER_H
#define DMACTL_GATHER_H

#include "access.h"

struct buffer_entry {
	struct dray_buffer_info info;
	const struct open_node *node; /* one that reaches it, borrowed */
};

/* Else it is an attachment, which no heap has. */
static inline bool is_buffer(const struct dray_buffer_info *info)
{
	return info->kind == DRAY_KIND_BUFFER;
}

struct buffer_list {
	struct buffer_entry *entries;
	size_t count;
	/* EXIT_FAILED where a node could not be read; that has been said */
	enum exit_code status;
};

/*
 * Buffers come and go meanwhile: one that is gone when it is asked about is
 * left out.  So are buffers without a heap of the node that the request names, and
 * attachments of another node.
 */
void buffers_gather(const struct request *request,
		    const struct open_nodes *nodes, struct buffer_list *list);
void buffers_free(struct buffer_list *list);

#endif /* DMACTL_GATHER_H */
