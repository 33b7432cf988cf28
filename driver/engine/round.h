/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rounds: what an engine is given at a time, and how long that may take.  For
 * the channel's work item.
 */
#ifndef DRAY_ROUND_H
#define DRAY_ROUND_H

#include <linux/types.h>

struct dray_channel;

bool dray_round_issue(struct dray_channel *channel);
bool dray_round_is_done(struct dray_channel *channel);
bool dray_round_is_complete(struct dray_channel *channel);
void dray_round_await(struct dray_channel *channel);
void dray_round_retry(struct dray_channel *channel);
void dray_deadline_set(struct dray_channel *channel);
bool dray_deadline_passed(struct dray_channel *channel);

#endif /* DRAY_ROUND_H */
