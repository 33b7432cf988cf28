/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The places of a buffer: processes that map it, devices that have it, and its
 * addresses.
 */
#ifndef DMACTL_WHERE_H
#define DMACTL_WHERE_H

#include <jansson.h>

#include <linux/dray.h>

#include "machine/dmabufs.h"
#include "base/gather.h"
#include "machine/holders.h"

struct where {
	const struct buffer_entry *entry; /* borrowed */
	struct dmabuf_list all;
	uint32_t mappings; /* that were found */
	char *command; /* of the owner; NULL: unknown */
	struct dray_segment *segments;
	uint32_t segment_count;
	char *hidden; /* why there are no segments; NULL: not asked, or known */
};

/*
 * Looks for the buffer in /proc and debugfs.  With @segments, asks for its
 * addresses by a descriptor of one of the holders.
 */
void where_find(const struct buffer_entry *entry,
		const struct holder_list *holders, bool segments,
		struct where *where);
void where_free(struct where *where);

void where_print(const struct where *where);
void where_document(const struct where *where, json_t *object);

#endif /* DMACTL_WHERE_H */
