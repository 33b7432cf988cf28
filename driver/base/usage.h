/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The usage of an opener: counts of its memory and its transfers, now and since
 * it opened the node.  Its buffers and jobs outlive it and go on counting here.
 */
#ifndef DRAY_USAGE_H
#define DRAY_USAGE_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/types.h>

struct seq_file;

struct dray_usage {
	struct kref kref;
	u64 id; /* of the opener, from 1 on; no other has ever had it */

	/* Now. */
	atomic64_t buffers;
	atomic64_t memory; /* bytes that they take */
	atomic64_t attachments;
	atomic64_t attached; /* bytes */
	atomic64_t running; /* submissions */

	/* Since it opened the node. */
	atomic64_t allocated_buffers;
	atomic64_t allocated; /* bytes */
	atomic64_t sync_bytes; /* of all that it made */
	atomic64_t transfers; /* submissions and frames that have ended */
	atomic64_t transfer_bytes;
};

/* NULL if there is no memory. */
struct dray_usage *dray_usage_create(void);
void dray_usage_get(struct dray_usage *usage);
void dray_usage_put(struct dray_usage *usage);

/* For fdinfo: lines of a key and a number. */
void dray_usage_print(struct dray_usage *usage, struct seq_file *file);

#endif /* DRAY_USAGE_H */
