// SPDX-License-Identifier: GPL-2.0-only
/*
 * The usage of an opener, and its keys in fdinfo.
 */
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "usage.h"

static atomic64_t dray_last_opener;

struct dray_usage *dray_usage_create(void)
{
	struct dray_usage *usage = kzalloc(sizeof(*usage), GFP_KERNEL_ACCOUNT);

	if (!usage)
		return NULL;
	kref_init(&usage->kref);
	usage->id = atomic64_inc_return_relaxed(&dray_last_opener);
	return usage;
}

static void dray_usage_release(struct kref *kref)
{
	kfree(container_of(kref, struct dray_usage, kref));
}

void dray_usage_get(struct dray_usage *usage)
{
	kref_get(&usage->kref);
}

void dray_usage_put(struct dray_usage *usage)
{
	kref_put(&usage->kref, dray_usage_release);
}

static void dray_usage_line(struct seq_file *file, const char *key,
			    atomic64_t *count)
{
	seq_printf(file, "dray-%s:\t%lld\n", key,
		   (long long)atomic64_read(count));
}

void dray_usage_print(struct dray_usage *usage, struct seq_file *file)
{
	seq_printf(file, "dray-client-id:\t%llu\n", usage->id);
	dray_usage_line(file, "buffers", &usage->buffers);
	dray_usage_line(file, "memory", &usage->memory);
	dray_usage_line(file, "allocated-buffers", &usage->allocated_buffers);
	dray_usage_line(file, "allocated", &usage->allocated);
	dray_usage_line(file, "attachments", &usage->attachments);
	dray_usage_line(file, "attached", &usage->attached);
	dray_usage_line(file, "sync-bytes", &usage->sync_bytes);
	dray_usage_line(file, "transfers", &usage->transfers);
	dray_usage_line(file, "transfer-bytes", &usage->transfer_bytes);
	dray_usage_line(file, "transfers-running", &usage->running);
}
