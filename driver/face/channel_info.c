// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports about channels: CHANNEL_INFO, their part of INFO, and debugfs.
 */
#include <linux/dmaengine.h>
#include <linux/nospec.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "engine/channel.h"
#include "engine/engine.h"
#include "engine/flight.h"
#include "engine/frames.h"
#include "engine/job.h"
#include "engine/points.h"
#include "engine/queue.h"
#include "engine/quirk.h"
#include "calls.h"
#include "channel_info.h"

/* Descriptors that the engine has.  Under both locks of a stream. */
static int dray_channel_out(struct dray_channel *channel)
{
	int out = atomic_read(&channel->descriptors);
	struct dray_job *job;

	list_for_each_entry(job, &channel->stream.jobs, list)
		out += job->flight->aloft;
	return out;
}

static void dray_channel_print(struct dray_channel *channel,
			       struct seq_file *file)
{
	int out;

	spin_lock_irq(&channel->lock);
	seq_printf(file, "%u %s%s%s, waiting %u", channel->index, channel->name,
		   channel->dead ? ", dead" : "",
		   channel->closing ? ", closing" : "", channel->waiting);
	if (channel->running)
		seq_printf(file, ", running %llu:%llu, transfer %u of %u",
			   channel->running->fence->context,
			   channel->running->fence->seqno, channel->running->at,
			   channel->running->count);
	out = dray_channel_out(channel);
	spin_unlock_irq(&channel->lock);
	seq_printf(file, ", out %d, submitted %lld, bytes %lld, failed %lld\n",
		   out, (long long)atomic64_read(&channel->submitted),
		   (long long)atomic64_read(&channel->bytes),
		   (long long)atomic64_read(&channel->failed));
}

void dray_channels_print(struct dray_node *node, struct seq_file *file)
{
	u32 i;

	for (i = 0; i < node->channels->count; i++) {
		struct dray_channel *channel = &node->channels->channel[i];
		/* Another one if the engine is opened meanwhile, and has no job. */
		struct mutex *engine = READ_ONCE(channel->stream.engine);

		mutex_lock(engine);
		dray_channel_print(channel, file);
		mutex_unlock(engine);
	}
}

static void dray_stream_print(struct dray_channel *channel,
			      struct dray_queue *queue, struct seq_file *file)
{
	const struct dray_timeline_head *head;
	struct dray_points *points;
	u32 frames, ready;

	spin_lock_irq(&channel->lock);
	points = queue->points;
	if (points)
		dray_points_get(points);
	frames = dray_frames_fill(channel, &ready);
	spin_unlock_irq(&channel->lock);
	if (!points)
		return;
	head = points->head;
	seq_printf(file, "dray-stream-%s:\tpackets %llu bytes %llu",
		   channel->name, READ_ONCE(head->published),
		   dray_points_bytes(points));
	seq_printf(file, " lost %llu held-back %llu ready %u frames %u\n",
		   READ_ONCE(head->lost), READ_ONCE(head->held_back), ready,
		   frames);
	dray_points_put(points);
}

void dray_streams_print(struct dray_opener *opener, struct seq_file *file)
{
	struct dray_channels *channels = opener->node->channels;
	u32 i;

	for (i = 0; i < channels->count; i++)
		if (channels->channel[i].kind != DRAY_CHANNEL_COPY)
			dray_stream_print(&channels->channel[i],
					  &opener->queues->queue[i], file);
}

void dray_channels_limits(struct dray_node *node, struct dray_info *info)
{
	info->channel_count = node->channels->count;
	info->max_runs = dray_submit_max_runs();
	info->max_bytes = dray_submit_max_bytes();
	info->queue_depth = DRAY_QUEUE_DEPTH;
}

int dray_channel_info_call(struct dray_opener *opener, void *data,
			   struct dray_reply *reply)
{
	struct dray_node *node = opener->node;
	struct dray_channel_info *info = data;
	struct dray_channel *channel;
	u32 index = info->index;
	int ret;

	if (info->reserved)
		return -EINVAL;
	ret = dray_node_enter(node);
	if (ret)
		return ret;
	if (index >= node->channels->count) {
		ret = -EINVAL;
		goto leave;
	}
	index = array_index_nospec(index, node->channels->count);
	channel = &node->channels->channel[index];
	memset(info, 0, sizeof(*info));
	info->index = index;
	info->flags = channel->kind;
	info->alignment = 1;
	memcpy(info->name, channel->name, sizeof(info->name));
	/* The limits were learnt before @chan was set. */
	if (smp_load_acquire(&channel->chan)) {
		info->flags |= DRAY_CHANNEL_OPEN;
		if (channel->limits.fill_alignment)
			info->flags |= DRAY_CHANNEL_FILL;
		info->alignment = channel->limits.alignment;
		info->max_segment = channel->limits.max_segment;
		strscpy(info->device, dma_chan_name(channel->chan),
			sizeof(info->device));
		if (channel->stream.quirk)
			info->max_pieces = channel->stream.quirk->pieces;
		info->first_alignment = channel->stream.alignment;
		if (channel->stream.repeats)
			info->flags |= DRAY_CHANNEL_REPEAT;
	}
	if (READ_ONCE(channel->dead))
		info->flags |= DRAY_CHANNEL_DEAD;
	info->submitted = atomic64_read(&channel->submitted);
	info->bytes = atomic64_read(&channel->bytes);
	info->failed = atomic64_read(&channel->failed);
	info->packets = atomic64_read(&channel->packets);
	info->lost = atomic64_read(&channel->overwritten);
	info->held_back = atomic64_read(&channel->held_back);
	spin_lock_irq(&channel->lock);
	info->ring_frames = dray_frames_fill(channel, &info->ring_ready);
	spin_unlock_irq(&channel->lock);
leave:
	dray_node_leave(node);
	return ret;
}
