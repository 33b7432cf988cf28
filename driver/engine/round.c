// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rounds: so many descriptors are given to the engine at a time, and none that
 * needs another one done: an engine may read ahead, and finish in any order.  Its
 * callbacks only count and wake the channel's work item, which then asks the
 * engine whether the round's last descriptor is really done.
 */
#include <linux/jiffies.h>
#include <linux/rcupdate.h>

#include "channel.h"
#include "engine.h"
#include "fill.h"
#include "job.h"
#include "round.h"

#define DRAY_RETRY_DELAY msecs_to_jiffies(1)

/* From here on there is all the time that a round may take. */
void dray_deadline_set(struct dray_channel *channel)
{
	channel->deadline = jiffies + msecs_to_jiffies(dray_watchdog_ms());
	channel->late = false;
}

/*
 * Has the deadline passed for good?  The first time it says little: the whole
 * machine may have stood still, and the engine with it, or its interrupts wait
 * to be handled as this work item did.  So there is a quarter more, however
 * late it is by now, and then the engine is asked for its status.
 */
bool dray_deadline_passed(struct dray_channel *channel)
{
	if (time_before(jiffies, channel->deadline))
		return false;
	if (channel->late)
		return true;
	channel->deadline = jiffies + msecs_to_jiffies(dray_watchdog_ms() / 4);
	channel->late = true;
	return false;
}

/* From the engine's tasklet or interrupt; dray_channels_remove() waits. */
static void dray_piece_done(struct dray_channel *channel, bool failed)
{
	rcu_read_lock();
	if (failed)
		atomic_inc(&channel->failed_pieces);
	/* Below 0: engines were seen to call back for an earlier use. */
	if (atomic_dec_return(&channel->pieces) <= 0)
		mod_delayed_work(dray_workqueue, &channel->feed, 0);
	rcu_read_unlock();
}

static void dray_piece_callback(void *data)
{
	dray_piece_done(data, false);
}

static void dray_piece_result(void *data, const struct dmaengine_result *result)
{
	dray_piece_done(data, result && result->result != DMA_TRANS_NOERROR);
}

static struct dma_async_tx_descriptor *
dray_piece_prepare(struct dray_channel *channel, struct dray_plan *plan,
		   const struct dray_piece *piece)
{
	unsigned long flags = DMA_PREP_INTERRUPT | DMA_CTRL_ACK;

	if (plan->memset)
		return dmaengine_prep_dma_memset(channel->chan, piece->dst,
						 plan->pattern[0],
						 piece->length, flags);
	return dmaengine_prep_dma_memcpy(channel->chan, piece->dst, piece->src,
					 piece->length, flags);
}

/* Gives @descriptor to the engine; false when that has failed. */
static bool dray_round_submit(struct dray_channel *channel,
			      struct dma_async_tx_descriptor *descriptor)
{
	dma_cookie_t cookie;

	/* Engines use descriptors again without clearing any of these. */
	descriptor->callback = dray_piece_callback;
	descriptor->callback_result = dray_piece_result;
	descriptor->callback_param = channel;
	atomic_inc(&channel->pieces);
	cookie = dmaengine_submit(descriptor);
	if (dma_submit_error(cookie)) {
		atomic_dec(&channel->pieces);
		channel->error = -EIO;
		return false;
	}
	channel->last = cookie;
	return true;
}

/* Issues one piece; false when the engine takes none. */
static bool dray_piece_issue(struct dray_channel *channel,
			     struct dray_plan *plan,
			     const struct dray_piece *piece)
{
	struct dma_async_tx_descriptor *descriptor;

	descriptor = dray_piece_prepare(channel, plan, piece);
	if (!descriptor || !dray_round_submit(channel, descriptor))
		return false;
	dray_plan_advance(plan, piece->length);
	return true;
}

/* Issues a round; false when the engine took nothing. */
bool dray_round_issue(struct dray_channel *channel)
{
	struct dray_job *job = channel->running;
	struct dray_plan *plan = &job->plans[job->at];
	struct dma_async_tx_descriptor *token;
	unsigned int pieces = 0;
	struct dray_piece piece;
	u64 bytes = 0;

	if (!dray_token_prepare(&channel->token, channel->chan))
		return false;
	/* One more than there are, so that none of them is the last yet. */
	atomic_set(&channel->pieces, 1);
	atomic_set(&channel->failed_pieces, 0);
	while (job->at < job->count && pieces < DRAY_ROUND_PIECES) {
		dray_plan_piece(plan, &piece);
		if (bytes + piece.length > DRAY_ROUND_BYTES ||
		    !dray_piece_issue(channel, plan, &piece))
			break;
		pieces++;
		bytes += piece.length;
		if (!plan->ended)
			continue;
		plan = &job->plans[++job->at];
		if (job->at < job->count && plan->waits)
			break;
	}
	if (!pieces)
		return false;
	token = dray_token_take(&channel->token);
	if (token)
		dray_round_submit(channel, token);
	WRITE_ONCE(channel->out, true);
	dray_deadline_set(channel);
	dma_async_issue_pending(channel->chan);
	dray_piece_done(channel, false);
	return true;
}

/* The status of the round's last descriptor; sets the job's error. */
static enum dma_status dray_round_status(struct dray_channel *channel)
{
	enum dma_status status;

	status = dma_async_is_tx_complete(channel->chan, channel->last, NULL,
					  NULL);
	if (status == DMA_ERROR || atomic_read(&channel->failed_pieces) ||
	    (status == DMA_COMPLETE &&
	     !dray_token_has_arrived(&channel->token)))
		channel->error = -EIO;
	return status;
}

bool dray_round_is_done(struct dray_channel *channel)
{
	enum dma_status status;

	if (atomic_read(&channel->pieces) > 0)
		return false;
	status = dray_round_status(channel);
	/* Out of order: the callbacks, all of which came, are all there is. */
	return status == DMA_COMPLETE || status == DMA_ERROR ||
	       status == DMA_OUT_OF_ORDER;
}

/*
 * Asks the engine alone, when it is too late for callbacks: an interrupt may
 * be lost.  A callback that comes later still finds the channel.
 */
bool dray_round_is_complete(struct dray_channel *channel)
{
	return dray_round_status(channel) == DMA_COMPLETE;
}

/*
 * Wakes the work item at the deadline, if no callback does before; sooner where
 * only the engine's status is missing.
 */
void dray_round_await(struct dray_channel *channel)
{
	unsigned long delay = DRAY_RETRY_DELAY;

	if (atomic_read(&channel->pieces) > 0)
		delay = max_t(long, channel->deadline - jiffies, 1);
	queue_delayed_work(dray_workqueue, &channel->feed, delay);
}

/* The same when the engine took nothing, so that nothing will call back. */
void dray_round_retry(struct dray_channel *channel)
{
	queue_delayed_work(dray_workqueue, &channel->feed, DRAY_RETRY_DELAY);
}
