// SPDX-License-Identifier: GPL-2.0-only
/*
 * Suspending a node: its engines get no more work, and what they have been
 * given is waited for.  Jobs stay in their queues, new ones join them, and
 * waking up feeds on.  A fence is late because of it, never failed.
 */
#include "channel.h"

static void dray_channel_suspend(struct dray_channel *channel)
{
	WRITE_ONCE(channel->asleep, true);
	/* From here on the work item issues nothing. */
	flush_delayed_work(&channel->feed);
	/* In time: the watchdog ends a round too. */
	wait_event(channel->idle, !READ_ONCE(channel->out));
}

void dray_channels_suspend(struct dray_node *node)
{
	u32 i;

	for (i = 0; i < node->channels->count; i++)
		dray_channel_suspend(&node->channels->channel[i]);
}

void dray_channels_resume(struct dray_node *node)
{
	struct dray_channel *channel;
	u32 i;

	for (i = 0; i < node->channels->count; i++) {
		channel = &node->channels->channel[i];
		WRITE_ONCE(channel->asleep, false);
		mod_delayed_work(dray_workqueue, &channel->feed, 0);
	}
}
