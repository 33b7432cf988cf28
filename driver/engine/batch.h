/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Batches of descriptors for an engine, and their deadlines.  For the channel's
 * work item.
 */
#ifndef DRAY_BATCH_H
#define DRAY_BATCH_H

#include <linux/types.h>

struct dray_channel;

bool dray_batch_issue(struct dray_channel *channel);
bool dray_batch_is_done(struct dray_channel *channel);
bool dray_batch_is_complete(struct dray_channel *channel);
void dray_batch_await(struct dray_channel *channel);
void dray_batch_retry(struct dray_channel *channel);
void dray_deadline_set(struct dray_channel *channel);
bool dray_deadline_passed(struct dray_channel *channel);

#endif /* DRAY_BATCH_H */
