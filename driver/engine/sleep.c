// SPDX-License-Identifier: GPL-2.0-only
/*
 * Suspending a node.  Jobs that can run are done first, since other drivers may
 * wait for their fences before they sleep.  Later submissions wait, so that no
 * fence is published that only waking up would signal.  A job that waits for
 * other fences, or does not end in time, stays queued.  Waking up feeds it: its
 * fence is late, and does not fail.
 */
#include "base/node.h"
#include "channel.h"
#include "engine.h"
#include "queue.h"
#include "sleep.h"
#include "stream.h"

int dray_node_enter_awake(struct dray_node *node, bool wait)
{
	struct dray_channels *channels = node->channels;
	int ret;

	for (;;) {
		ret = dray_node_enter(node);
		if (ret || !channels->asleep)
			return ret;
		dray_node_leave(node);
		if (!wait)
			return -EAGAIN;
		ret = wait_event_interruptible(channels->slots,
					       !READ_ONCE(channels->asleep) ||
						       READ_ONCE(node->gone));
		if (ret)
			return ret;
	}
}

/* Is the channel idle, without a job that could run? */
static bool dray_channel_is_drained(struct dray_channel *channel)
{
	bool drained;

	/* A stream may stay silent for ever. */
	if (channel->kind != DRAY_CHANNEL_COPY)
		return true;
	spin_lock_irq(&channel->lock);
	drained = !channel->running && !channel->ending &&
		  !dray_jobs_ready(channel);
	spin_unlock_irq(&channel->lock);
	return drained;
}

/* Returns the jiffies left of @most; 0: jobs were left at the end. */
static long dray_sleep_drain(struct dray_channel *channel, long most)
{
	return wait_event_timeout(channel->idle,
				  dray_channel_is_drained(channel), most);
}

/*
 * Drains with a limit: jobs cannot be cancelled while the system falls asleep,
 * and openers may queue the work of minutes.
 */
static void dray_channels_drain(struct dray_channels *channels)
{
	long left = msecs_to_jiffies(dray_watchdog_ms());
	struct dray_channel *channel;
	u32 i = 0, drained = 0;

	/* A job may have waited for a job of another channel. */
	while (drained < channels->count && left) {
		channel = &channels->channel[i];
		drained = dray_channel_is_drained(channel) ? drained + 1 : 0;
		left = dray_sleep_drain(channel, left);
		i = (i + 1) % channels->count;
	}
}

/* Waits for batches in hardware; the watchdog ends them, too. */
static void dray_channel_suspend(struct dray_channel *channel)
{
	WRITE_ONCE(channel->asleep, true);
	/* The work item issues nothing any more. */
	flush_delayed_work(&channel->feed);
	if (channel->kind != DRAY_CHANNEL_COPY)
		dray_stream_sleep(channel);
	wait_event(channel->idle, !READ_ONCE(channel->out));
}

static void dray_channels_set_asleep(struct dray_node *node, bool asleep)
{
	/* Calls inside have submitted by then; later calls see the state. */
	down_write(&node->inside);
	WRITE_ONCE(node->channels->asleep, asleep);
	up_write(&node->inside);
}

void dray_channels_suspend(struct dray_node *node)
{
	u32 i;

	dray_channels_set_asleep(node, true);
	dray_channels_drain(node->channels);
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
	dray_channels_set_asleep(node, false);
	wake_up_all(&node->channels->slots);
}
