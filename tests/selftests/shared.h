/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * All by which memory comes to others, and theirs to dray, at once: for tests
 * of what takes a node or an engine away under it.
 */
#ifndef SELFTEST_SHARED_H
#define SELFTEST_SHARED_H

#include "node.h"

struct shared {
	size_t size;
	int reader; /* a read-only descriptor of a buffer, and its mapping */
	const uint8_t *seen;
	int importer; /* has the buffer */
	struct dray_attach user; /* memory of this process, attached */
	uint8_t *memory;
	int foreign; /* a dma-buf of another driver, attached, and mapped */
	struct dray_attach dmabuf;
	uint8_t *bytes;
};

/* What is attached is filled.  0, -ENODEV without vgem, or another errno. */
int shared_open(int node, const struct buffer *buffer, struct shared *shared);

/*
 * Says what is not as it was, or "".  @anew: the node is another one than that
 * of which they are, so that it does not take the attachments.
 */
const char *shared_change(int node, const struct buffer *buffer,
			  const struct shared *shared, bool anew);

/*
 * Copies of the memory and, behind it, of the dma-buf, half of either: two
 * transfers on the first channel.
 */
int shared_submit(int node, const struct buffer *to,
		  const struct shared *shared, int fences[2]);
bool shared_arrived(const struct buffer *to, const struct shared *shared);

void shared_close(struct shared *shared);

#endif
