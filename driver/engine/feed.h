/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The work item of a channel that copies.
 */
#ifndef DRAY_FEED_H
#define DRAY_FEED_H

struct work_struct;

/* Brings the channel's jobs forward. */
void dray_feed(struct work_struct *work);

#endif /* DRAY_FEED_H */
