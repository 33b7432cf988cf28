// SPDX-License-Identifier: GPL-2.0-only
/*
 * Channels: the engines of a node, which its maker names or passes.  A named
 * engine is asked for on first use: if another driver holds it, that is an
 * error and not a reason to wait.  It is returned with the end of the node.
 */
#include <linux/dma-mapping.h>
#include <linux/dray_node.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/rcupdate.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "base/device.h"
#include "channel.h"
#include "end.h"
#include "engine.h"
#include "feed.h"
#include "fifo.h"
#include "job.h"
#include "points.h"
#include "provider.h"
#include "quirk.h"
#include "repeat.h"
#include "stop.h"
#include "stream.h"

/* The kind of a channel is in its name. */
static u32 dray_channel_kind(const char *name)
{
	if (str_has_prefix(name, "tx"))
		return DRAY_CHANNEL_SEND;
	if (str_has_prefix(name, "rx"))
		return DRAY_CHANNEL_RECV;
	if (str_has_prefix(name, "display"))
		return DRAY_CHANNEL_SHOW;
	return DRAY_CHANNEL_COPY;
}

static int dray_channel_init(struct dray_node *node, u32 index,
			     const struct dray_node_channel *from)
{
	struct dray_channel *channel = &node->channels->channel[index];

	if (!from->name || !*from->name ||
	    strscpy(channel->name, from->name, sizeof(channel->name)) < 0)
		return -EINVAL;
	channel->given = from->chan;
	channel->node = node;
	channel->index = index;
	channel->limits.alignment = 1;
	channel->kind = dray_channel_kind(channel->name);
	channel->stream.direction = channel->kind == DRAY_CHANNEL_RECV
					    ? DMA_DEV_TO_MEM
					    : DMA_MEM_TO_DEV;
	mutex_init(&channel->stream.working);
	mutex_init(&channel->stream.alone);
	channel->stream.engine = &channel->stream.alone;
	INIT_LIST_HEAD(&channel->stream.jobs);
	INIT_LIST_HEAD(&channel->stream.ending);
	INIT_LIST_HEAD(&channel->stream.lost);
	mutex_init(&channel->opening);
	spin_lock_init(&channel->lock);
	INIT_LIST_HEAD(&channel->queues);
	INIT_LIST_HEAD(&channel->ready);
	INIT_LIST_HEAD(&channel->ended);
	init_waitqueue_head(&channel->idle);
	INIT_WORK(&channel->clean, dray_clean);
	INIT_DELAYED_WORK(&channel->feed, channel->kind == DRAY_CHANNEL_COPY
						  ? dray_feed
						  : dray_stream_feed);
	return dray_fifo_init(channel, from->config);
}

/*
 * Links the two devices, so that the node ends and sleeps before its engine
 * does.  A link that the kernel found in the device tree stays.  A driver that
 * passes a channel may be its provider: that needs no link.
 */
static bool dray_channel_link(struct dray_channel *channel,
			      struct dma_chan *chan)
{
	struct device *provider = chan->device->dev;
	struct device *dev = channel->node->dev;

	if (channel->given && (provider == dev || provider->parent == dev))
		return true;
	return dray_provider_link(channel->node, dev, provider);
}

/* Links the node to providers at once: its driver holds their channels already. */
static int dray_channels_link_given(struct dray_node *node)
{
	struct dray_channel *channel;
	int ret;
	u32 i;

	ret = dray_providers_hold(node);
	if (ret)
		return ret == -EINTR ? ret : -EPROBE_DEFER;
	for (i = 0; i < node->channels->count; i++) {
		channel = &node->channels->channel[i];
		if (channel->given &&
		    !dray_channel_link(channel, channel->given))
			ret = -EPROBE_DEFER;
	}
	dray_providers_release();
	return ret;
}

int dray_channels_probe(struct dray_node *node,
			const struct dray_node_channel *channels,
			unsigned int count)
{
	bool given = false;
	u32 i;
	int ret;

	if (count > DRAY_MAX_CHANNELS)
		return -EINVAL;
	node->channels = kzalloc(struct_size(node->channels, channel, count),
				 GFP_KERNEL);
	if (!node->channels)
		return -ENOMEM;
	node->channels->count = count;
	init_waitqueue_head(&node->channels->slots);
	mutex_init(&node->channels->users_lock);
	INIT_LIST_HEAD(&node->channels->users);
	INIT_LIST_HEAD(&node->channels->timelines);
	for (i = 0; i < count; i++) {
		ret = dray_channel_init(node, i, &channels[i]);
		if (ret)
			return ret;
		given = given || channels[i].chan;
	}
	ret = given ? dray_channels_link_given(node) : 0;
	if (!ret)
		node->flags |= DRAY_NODE_SUBMIT;
	return ret;
}

/*
 * Asks for the engine.  A virtual node lacks a device that could name an engine: it
 * accepts any engine that copies.
 */
static struct dma_chan *dray_channel_request(struct dray_channel *channel)
{
	struct dray_node *node = channel->node;
	dma_cap_mask_t mask;

	if (channel->given)
		return channel->given;
	if (!(node->flags & DRAY_NODE_VIRTUAL))
		return dma_request_chan(node->dev, channel->name);
	dma_cap_zero(mask);
	dma_cap_set(DMA_MEMCPY, mask);
	return dma_request_chan_by_mask(&mask);
}

/* The driver that passed a channel releases it. */
static void dray_channel_release(struct dray_channel *channel,
				 struct dma_chan *chan)
{
	if (!channel->given)
		dma_release_channel(chan);
}

/* Does it show, or send by an engine that can only repeat? */
static bool dray_channel_repeats(const struct dray_channel *channel,
				 struct dma_chan *chan)
{
	return channel->kind == DRAY_CHANNEL_SHOW ||
	       (channel->kind == DRAY_CHANNEL_SEND &&
		!chan->device->device_prep_slave_sg);
}

/* Limits of rows may be finer than the framework can express. */
static void dray_channel_learn_rows(struct dray_channel *channel)
{
	const struct dray_quirk *quirk = channel->stream.quirk;

	channel->stream.alignment = channel->limits.alignment;
	if (!quirk->longest_row)
		return;
	channel->limits.alignment = quirk->row_unit;
	channel->limits.max_segment = quirk->longest_row;
}

static void dray_channel_learn_stream(struct dray_channel *channel,
				      struct dma_chan *chan)
{
	struct dma_slave_caps caps = {};

	channel->stream.quirk = dray_quirk_of(chan);
	if (channel->stream.quirk->splits)
		channel->limits.max_segment = SZ_1G;
	channel->stream.counts =
		!dma_get_slave_caps(chan, &caps) &&
		caps.residue_granularity != DMA_RESIDUE_GRANULARITY_DESCRIPTOR;
	channel->stream.coarse =
		caps.residue_granularity != DMA_RESIDUE_GRANULARITY_BURST;
	channel->stream.repeats = dray_channel_repeats(channel, chan);
	if (channel->stream.repeats)
		dray_channel_learn_rows(channel);
}

/*
 * Chooses the lock of the engine, which streams share that it stops together.  No
 * other channel is opened meanwhile.
 */
static void dray_channel_share(struct dray_channel *channel,
			       struct dma_chan *chan)
{
	struct dray_channels *channels = channel->node->channels;
	struct dray_channel *other;
	u32 i;

	channel->stream.engine = &channel->stream.alone;
	if (channel->kind == DRAY_CHANNEL_COPY ||
	    !channel->stream.quirk->siblings)
		return;
	for (i = 0; i < channels->count; i++) {
		other = &channels->channel[i];
		if (other->kind != DRAY_CHANNEL_COPY && other->chan &&
		    other->chan->device == chan->device)
			channel->stream.engine = other->stream.engine;
	}
}

static void dray_channel_learn(struct dray_channel *channel,
			       struct dma_chan *chan)
{
	struct dma_device *engine = chan->device;
	struct device *dev = dmaengine_get_dma_device(chan);

	channel->dev = dray_device_mapped(channel->node, dev);
	channel->limits.alignment = 1 << engine->copy_align;
	channel->limits.max_segment =
		min_t(u64, DRAY_BATCH_BYTES, dma_get_max_seg_size(dev));
	if (channel->kind != DRAY_CHANNEL_COPY) {
		dray_channel_learn_stream(channel, chan);
		return;
	}
	if (dma_has_cap(DMA_MEMSET, engine->cap_mask) &&
	    engine->device_prep_dma_memset)
		channel->limits.fill_alignment = 1 << engine->fill_align;
}

static void dray_channel_refuse(struct dray_channel *channel,
				struct dma_chan *chan, const char *why)
{
	if (!channel->refused)
		dev_err(channel->node->dev,
			"channel %s: its engine %s %s: not used\n",
			channel->name, dma_chan_name(chan), why);
	channel->refused = true;
}

/* Does the channel belong to the node? */
static bool dray_channels_have(struct dray_channels *channels,
			       struct dma_chan *chan)
{
	u32 i;

	for (i = 0; i < channels->count; i++)
		if (channels->channel[i].chan == chan ||
		    channels->channel[i].given == chan)
			return true;
	return false;
}

/* Would stopping this channel stop a channel of another device? */
static bool dray_channel_is_shared(struct dray_channel *channel,
				   struct dma_chan *chan)
{
	struct dray_channels *channels = channel->node->channels;
	struct dma_chan *other;

	if (!dray_quirk_of(chan)->siblings)
		return false;
	list_for_each_entry(other, &chan->device->channels, device_node)
		if (other != chan && READ_ONCE(other->client_count) &&
		    !dray_channels_have(channels, other))
			return true;
	return false;
}

/* Stopping an engine must wait for its callbacks: they find flights. */
static int dray_channel_fits_stream(struct dray_channel *channel,
				    struct dma_chan *chan)
{
	struct dma_device *engine = chan->device;
	struct dma_slave_caps caps;

	if (dray_channel_repeats(channel, chan) ? !dray_repeat_fits(chan)
						: !engine->device_prep_slave_sg)
		return -EBUSY;
	if (dma_get_slave_caps(chan, &caps) ||
	    !(caps.directions & BIT(channel->stream.direction)))
		return -EBUSY;
	if (!engine->device_terminate_all || !engine->device_synchronize) {
		dray_channel_refuse(channel, chan, "cannot be stopped");
		return -EBUSY;
	}
	if (dray_channel_is_shared(channel, chan)) {
		dray_channel_refuse(channel, chan,
				    "would stop a channel of another device");
		return -EBUSY;
	}
	if (channel->kind == DRAY_CHANNEL_RECV &&
	    caps.residue_granularity == DMA_RESIDUE_GRANULARITY_DESCRIPTOR)
		return -EOPNOTSUPP;
	return 0;
}

/*
 * An engine that cannot be stopped is refused: after a batch that hung it might
 * call back, and write, when its node has been unbound.
 */
static int dray_channel_fits(struct dray_channel *channel,
			     struct dma_chan *chan)
{
	struct dma_device *engine = chan->device;

	if (channel->kind != DRAY_CHANNEL_COPY)
		return dray_channel_fits_stream(channel, chan);
	if (!dma_has_cap(DMA_MEMCPY, engine->cap_mask) ||
	    !engine->device_prep_dma_memcpy)
		return -EBUSY;
	if (engine->device_terminate_all)
		return 0;
	dray_channel_refuse(channel, chan, "cannot be stopped");
	return -EBUSY;
}

/* Its provider stays meanwhile. */
static struct dma_chan *dray_channel_ask(struct dray_channel *channel)
{
	struct dma_chan *chan = dray_channel_request(channel);
	int ret;

	/* -ENODEV is for nodes that have ended; an engine may follow. */
	if (IS_ERR(chan))
		return PTR_ERR(chan) == -ENOMEM ? chan : ERR_PTR(-EBUSY);
	ret = dray_channel_fits(channel, chan);
	if (!ret && (dray_fifo_configure(channel, chan) ||
		     (!channel->given && !dray_channel_link(channel, chan))))
		ret = -EBUSY;
	if (!ret)
		ret = dray_token_init(&channel->token, chan);
	if (!ret)
		return chan;
	dray_channel_release(channel, chan);
	return ERR_PTR(ret);
}

int dray_channel_open(struct dray_channel *channel)
{
	struct dma_chan *chan;
	int ret = 0;

	/* The task that holds it may be waiting for the lock of the engine. */
	if (mutex_lock_killable(&channel->opening))
		return -EINTR;
	if (channel->chan)
		goto out;
	ret = dray_providers_hold(channel->node);
	if (ret)
		goto out;
	chan = dray_channel_ask(channel);
	if (IS_ERR(chan)) {
		ret = PTR_ERR(chan);
		goto release;
	}
	dray_channel_learn(channel, chan);
	dray_channel_share(channel, chan);
	/* Readers of @chan see the limits and the lock too. */
	smp_store_release(&channel->chan, chan);
release:
	dray_providers_release();
out:
	mutex_unlock(&channel->opening);
	return ret;
}

/* All its fences signal. */
static void dray_channel_drain(struct dray_channel *channel)
{
	spin_lock_irq(&channel->lock);
	WRITE_ONCE(channel->closing, true);
	spin_unlock_irq(&channel->lock);
	mod_delayed_work(dray_workqueue, &channel->feed, 0);
	wait_event(channel->idle, !READ_ONCE(channel->waiting));
	cancel_delayed_work_sync(&channel->feed);
}

/* The lost job's fence holds the module until now. */
static void dray_channel_keep(struct dray_channel *channel)
{
	dev_err(channel->node->dev,
		"channel %s cannot be stopped: the module stays\n",
		channel->name);
	channel->kept = true;
	__module_get(THIS_MODULE);
	dray_node_get(channel->node);
}

/*
 * An engine without device_synchronize may have a tasklet pending that calls
 * back.  Only releasing the channel waits for that.
 */
static bool dray_channel_stops(struct dray_channel *channel)
{
	struct dma_device *engine = channel->chan->device;

	if (channel->kind != DRAY_CHANNEL_COPY)
		return dray_stream_halt(channel);
	return !dmaengine_terminate_sync(channel->chan) &&
	       (!channel->given || engine->device_synchronize);
}

/*
 * A late callback, until the channel is released or for good, still finds the
 * channel, and wakes no task.
 */
static void dray_channel_deafen(struct dray_channel *channel)
{
	/* More than will ever call back. */
	atomic_add(INT_MAX / 2, &channel->descriptors);
}

/* Asks the engine to stop. */
static void dray_channel_halt(struct dray_channel *channel)
{
	mutex_lock(&channel->opening);
	if (channel->chan) {
		if (!dray_channel_stops(channel) &&
		    (READ_ONCE(channel->lost) ||
		     !list_empty(&channel->stream.lost)))
			dray_channel_keep(channel);
		dray_channel_deafen(channel);
	}
	mutex_unlock(&channel->opening);
}

/* Drops jobs of a stream whose engine may still write. */
static void dray_channel_abandon(struct dray_channel *channel)
{
	struct dray_job *job, *next;

	list_for_each_entry_safe(job, next, &channel->stream.lost, list) {
		list_del(&job->list);
		/* The engine may still report it. */
		if (channel->kept)
			dray_job_keep_flight(job);
		dray_job_abandon(job);
	}
}

/* Callbacks from before the halt woke the work item already. */
static void dray_channel_close(struct dray_channel *channel)
{
	mutex_lock(&channel->opening);
	if (channel->chan) {
		cancel_delayed_work_sync(&channel->feed);
		dray_token_exit(&channel->token, channel->chan, channel->lost);
		if (channel->lost) {
			dray_job_abandon(channel->lost);
			channel->lost = NULL;
		}
		dray_channel_abandon(channel);
		/* The jobs hold memory of the engine's device. */
		flush_work(&channel->clean);
		dray_channel_release(channel, channel->chan);
		channel->chan = NULL;
	}
	mutex_unlock(&channel->opening);
}

/* Stops a dead channel's engine once more, and maybe its other direction. */
static bool dray_channel_stops_again(struct dray_channel *channel)
{
	if (channel->kind == DRAY_CHANNEL_COPY)
		return dray_channel_stops(channel);
	return dray_stream_stop_again(channel);
}

/*
 * Reopens a dead channel.  No call is inside the node, so none submits or
 * looks.
 */
static int dray_channel_restart(struct dray_channel *channel)
{
	if (!channel->dead)
		return 0;
	/* A dead channel's fences wait for nothing. */
	wait_event(channel->idle, !READ_ONCE(channel->waiting));
	if (!dray_channel_stops_again(channel))
		return -EBUSY;
	dray_channel_deafen(channel);
	synchronize_rcu();
	dray_channel_close(channel);
	spin_lock_irq(&channel->lock);
	WRITE_ONCE(channel->dead, false);
	spin_unlock_irq(&channel->lock);
	dev_info(channel->node->dev, "channel %s is opened anew\n",
		 channel->name);
	return 0;
}

int dray_channel_reopen(struct dray_node *node, u32 index)
{
	u32 count = node->channels->count;
	int ret;

	if (index >= count)
		return -EINVAL;
	index = array_index_nospec(index, count);
	down_write(&node->inside);
	ret = dray_channel_restart(&node->channels->channel[index]);
	up_write(&node->inside);
	return ret;
}

void dray_channels_show(struct dray_channels *channels,
			struct dray_points *points)
{
	mutex_lock(&channels->users_lock);
	list_add(&points->link, &channels->timelines);
	mutex_unlock(&channels->users_lock);
}

void dray_channels_forget(struct dray_channels *channels,
			  struct dray_points *points)
{
	mutex_lock(&channels->users_lock);
	list_del(&points->link);
	mutex_unlock(&channels->users_lock);
}

/* All jobs ended: no timeline moves any more. */
static void dray_channels_end(struct dray_channels *channels)
{
	struct dray_points *points;

	mutex_lock(&channels->users_lock);
	list_for_each_entry(points, &channels->timelines, link)
		dray_points_end(points);
	mutex_unlock(&channels->users_lock);
}

/*
 * When the node is unbound and no call submits any more: drains running jobs
 * and refuses waiting jobs.
 */
void dray_channels_remove(struct dray_node *node)
{
	u32 i;

	wake_up_all(&node->channels->slots);
	/* A lock that a channel's jobs need may wait for another channel's fences. */
	for (i = 0; i < node->channels->count; i++)
		dray_channel_drain(&node->channels->channel[i]);
	dray_channels_end(node->channels);
	for (i = 0; i < node->channels->count; i++)
		dray_channel_halt(&node->channels->channel[i]);
	synchronize_rcu();
	for (i = 0; i < node->channels->count; i++)
		dray_channel_close(&node->channels->channel[i]);
}

int dray_channel_device(struct dray_node *node, u32 index, struct device **dev,
			struct dray_refusal *refusal)
{
	struct dray_channel *channel;
	u32 count = node->channels->count;
	int ret;

	if (index >= count)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_CHANNEL,
				   count);
	channel = &node->channels->channel[array_index_nospec(index, count)];
	ret = dray_channel_open(channel);
	if (ret == -EBUSY)
		return dray_refuse(refusal, ret, DRAY_REASON_CHANNEL, count);
	if (ret == -EOPNOTSUPP)
		return dray_refuse(refusal, ret, DRAY_REASON_RESIDUE, index);
	if (!ret)
		*dev = channel->dev;
	return ret;
}
