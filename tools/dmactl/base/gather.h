/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* All buffers and attachments, read once and sorted by id. */
#ifndef DMACTL_GATHER_H
#define DMACTL_GATHER_H

#include "access.h"

struct buffer_entry {
	struct dray_buffer_info info;
	const struct open_node *node; /* one that reaches it, borrowed */
};

/* Tells a buffer from an attachment, which has no heap. */
static inline bool is_buffer(const struct dray_buffer_info *info)
{
	return info->kind == DRAY_KIND_BUFFER;
}

struct buffer_list {
	struct buffer_entry *entries;
	size_t count;
	struct open_nodes nodes;
	/* EXIT_FAILED if a node could not be read, after a complaint */
	enum exit_code status;
};

/*
 * Reads the buffers and attachments of all nodes, or of the node that the
 * request names.  Skips a buffer that is freed meanwhile.  Returns false after a
 * complaint if no node could be opened.
 */
bool buffers_gather(const struct request *request, struct buffer_list *list);
void buffers_free(struct buffer_list *list);

/* Reads an id, a decimal number from 1 on; complains if it is not one. */
bool parse_id(const char *text, uint64_t *id);

#endif /* DMACTL_GATHER_H */
