// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preparing a job: chooses the caller's channel or the one with the fewest
 * jobs, maps memory for its engine, and syncs caches so that the engine sees
 * the CPU's writes.  The caller is inside the node.
 */
#include <linux/err.h>
#include <linux/nospec.h>

#include "base/node.h"
#include "caches.h"
#include "channel.h"
#include "engine.h"
#include "flight.h"
#include "job.h"
#include "prepare.h"

/* The living channel with the fewest jobs. */
static struct dray_channel *dray_channel_any(struct dray_node *node,
					     struct dray_refusal *refusal)
{
	struct dray_channel *channel, *best = NULL;
	u32 i, waiting, fewest = U32_MAX;
	int ret = -EBUSY, opened;

	dray_refuse(refusal, 0, DRAY_REASON_CHANNEL, node->channels->count);
	for (i = 0; i < node->channels->count; i++) {
		channel = &node->channels->channel[i];
		if (channel->kind != DRAY_CHANNEL_COPY)
			continue;
		if (READ_ONCE(channel->dead)) {
			ret = dray_refuse(refusal, -EIO, DRAY_REASON_DEAD, i);
			continue;
		}
		opened = dray_channel_open(channel);
		if (opened == -ENOMEM || opened == -EINTR)
			ret = dray_refuse(refusal, opened, DRAY_REASON_NONE, 0);
		if (opened)
			continue;
		waiting = READ_ONCE(channel->waiting);
		if (waiting < fewest) {
			fewest = waiting;
			best = channel;
		}
	}
	if (!best)
		return ERR_PTR(ret);
	*refusal = (struct dray_refusal){};
	return best;
}

static struct dray_channel *dray_channel_named(struct dray_node *node,
					       u32 index, u32 kind,
					       struct dray_refusal *refusal)
{
	u32 count = node->channels->count;
	struct dray_channel *channel;
	int ret;

	channel = &node->channels->channel[array_index_nospec(index, count)];
	if (channel->kind != kind) {
		ret = dray_refuse(refusal, -EINVAL, DRAY_REASON_KIND, index);
		return ERR_PTR(ret);
	}
	if (READ_ONCE(channel->dead)) {
		ret = dray_refuse(refusal, -EIO, DRAY_REASON_DEAD, index);
		return ERR_PTR(ret);
	}
	ret = dray_channel_open(channel);
	if (ret == -EBUSY)
		dray_refuse(refusal, ret, DRAY_REASON_CHANNEL, count);
	return ret ? ERR_PTR(ret) : channel;
}

static int dray_prepare_move(struct dray_move *move,
			     struct dray_channel *channel, u64 *runs,
			     struct dray_refusal *refusal)
{
	struct dray_node *node = channel->node;
	int ret = 0;

	if (!dray_area_is_none(&move->dst.area))
		ret = dray_area_place(&move->dst.area, node, channel->dev,
				      &move->dst.place, refusal);
	if (!ret && !dray_area_is_none(&move->src.area))
		ret = dray_area_place(&move->src.area, node, channel->dev,
				      &move->src.place, refusal);
	if (!ret)
		ret = dray_move_fit(move, channel->dev, &channel->limits,
				    dray_submit_max_runs(), runs, refusal);
	return ret;
}

int dray_prepare_job(struct dray_job *job, struct dray_node *node,
		     struct dray_submit *args, struct dray_refusal *refusal)
{
	struct dray_channel *channel;
	u32 i;
	int ret;

	if (args->channel == DRAY_CHANNEL_ANY)
		channel = dray_channel_any(node, refusal);
	else
		channel = dray_channel_named(node, args->channel, job->kind,
					     refusal);
	if (IS_ERR(channel))
		return PTR_ERR(channel);
	job->channel = channel;
	for (i = 0; i < job->count; i++) {
		ret = dray_prepare_move(&job->moves[i], channel, &job->runs,
					refusal);
		if (ret) {
			args->failed = i;
			return ret;
		}
	}
	if (job->kind != DRAY_CHANNEL_COPY) {
		ret = dray_flight_prepare(job, refusal);
		if (ret)
			return ret;
	}
	return job->frames ? 0 : dray_job_sync(job, channel->dev);
}
