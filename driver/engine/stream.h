/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A channel that serves a stream: one opener at a time has it.
 */
#ifndef DRAY_STREAM_H
#define DRAY_STREAM_H

#include <linux/types.h>

struct dray_channel;
struct dray_queues;
struct work_struct;

/* Brings the stream's jobs forward: the channel's work item. */
void dray_stream_feed(struct work_struct *work);

/*
 * The opener with @queues has the stream from here on: -EBUSY.  @batch: jobs
 * that the engine may take up together.
 */
int dray_stream_claim(struct dray_channel *channel, struct dray_queues *queues,
		      u32 batch);
/* May this opener submit?  Under the order of its queue. */
bool dray_stream_is_claimed(struct dray_channel *channel,
			    struct dray_queues *queues);
/* Ends all jobs, and waits until the engine has nothing of them. */
void dray_stream_release(struct dray_channel *channel,
			 struct dray_queues *queues);

/* Stops the engine before it sleeps; jobs that wait go on later. */
void dray_stream_sleep(struct dray_channel *channel);

#endif /* DRAY_STREAM_H */
