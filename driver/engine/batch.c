// SPDX-License-Identifier: GPL-2.0-only
/*
 * Batches: the engine gets a limited number of descriptors at a time, and none
 * that depends on another: an engine may read ahead, and finish in any order.
 * Its callbacks only count and wake the channel's work item, which then asks the
 * engine if the batch's last descriptor is really done.
 */
#include <linux/jiffies.h>
#include <linux/rcupdate.h>

#include "batch.h"
#include "channel.h"
#include "engine.h"
#include "job.h"

#define DRAY_RETRY_DELAY msecs_to_jiffies(1)

/* Starts the time limit of a batch. */
void dray_deadline_set(struct dray_channel *channel)
{
	channel->deadline = jiffies + msecs_to_jiffies(dray_watchdog_ms());
	channel->late = false;
}

/*
 * Whether the deadline is over for good.  At first it says little: the whole
 * machine may have stood still, and the engine with it, or its interrupts wait
 * to be handled as this work item did.  So it is extended by a quarter, however
 * late the time is by now, and then the engine is asked for its status.
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

/*
 * Called from the engine's tasklet or interrupt; dray_channels_remove() waits.
 */
static void dray_descriptor_done(struct dray_channel *channel, bool failed)
{
	rcu_read_lock();
	if (failed)
		atomic_inc(&channel->failed_descriptors);
	/* Below 0: engines were seen to call back for an earlier use. */
	if (atomic_dec_return(&channel->descriptors) <= 0)
		mod_delayed_work(dray_workqueue, &channel->feed, 0);
	rcu_read_unlock();
}

static void dray_descriptor_callback(void *data)
{
	dray_descriptor_done(data, false);
}

static void dray_descriptor_result(void *data,
				   const struct dmaengine_result *result)
{
	dray_descriptor_done(data,
			     result && result->result != DMA_TRANS_NOERROR);
}

static struct dma_async_tx_descriptor *
dray_descriptor_prepare(struct dray_channel *channel, struct dray_move *move,
			const struct dray_descriptor *descriptor)
{
	unsigned long flags = DMA_PREP_INTERRUPT | DMA_CTRL_ACK;

	if (move->memset)
		return dmaengine_prep_dma_memset(channel->chan, descriptor->dst,
						 move->pattern[0],
						 descriptor->length, flags);
	return dmaengine_prep_dma_memcpy(channel->chan, descriptor->dst,
					 descriptor->src, descriptor->length,
					 flags);
}

/* Submits @tx to the engine; false if that failed. */
static bool dray_batch_submit(struct dray_channel *channel,
			      struct dma_async_tx_descriptor *tx)
{
	dma_cookie_t cookie;

	/* Engines use descriptors again without clearing any of these. */
	tx->callback = dray_descriptor_callback;
	tx->callback_result = dray_descriptor_result;
	tx->callback_param = channel;
	atomic_inc(&channel->descriptors);
	cookie = dmaengine_submit(tx);
	if (dma_submit_error(cookie)) {
		atomic_dec(&channel->descriptors);
		channel->error = -EIO;
		return false;
	}
	channel->last = cookie;
	return true;
}

/* Issues a descriptor; false if the engine accepts none. */
static bool dray_descriptor_issue(struct dray_channel *channel,
				  struct dray_move *move,
				  const struct dray_descriptor *descriptor)
{
	struct dma_async_tx_descriptor *tx;

	tx = dray_descriptor_prepare(channel, move, descriptor);
	if (!tx || !dray_batch_submit(channel, tx))
		return false;
	dray_move_advance(move, descriptor->length);
	return true;
}

/* Issues a batch; false when the engine took nothing. */
bool dray_batch_issue(struct dray_channel *channel)
{
	struct dray_job *job = channel->running;
	struct dray_move *move = &job->moves[job->at];
	struct dma_async_tx_descriptor *token;
	unsigned int count = 0;
	struct dray_descriptor descriptor;
	u64 bytes = 0;

	if (!dray_token_prepare(&channel->token, channel->chan))
		return false;
	/* Counts an extra descriptor, so that none of them is the last yet. */
	atomic_set(&channel->descriptors, 1);
	atomic_set(&channel->failed_descriptors, 0);
	while (job->at < job->count && count < DRAY_BATCH_DESCRIPTORS) {
		dray_move_descriptor(move, &descriptor);
		if (bytes + descriptor.length > DRAY_BATCH_BYTES ||
		    !dray_descriptor_issue(channel, move, &descriptor))
			break;
		count++;
		bytes += descriptor.length;
		if (!move->ended)
			continue;
		move = &job->moves[++job->at];
		if (job->at < job->count && move->waits)
			break;
	}
	if (!count)
		return false;
	token = dray_token_take(&channel->token);
	if (token)
		dray_batch_submit(channel, token);
	WRITE_ONCE(channel->out, true);
	dray_deadline_set(channel);
	dma_async_issue_pending(channel->chan);
	dray_descriptor_done(channel, false);
	return true;
}

/* The status of the batch's last descriptor; sets the job's error. */
static enum dma_status dray_batch_status(struct dray_channel *channel)
{
	enum dma_status status;

	status = dma_async_is_tx_complete(channel->chan, channel->last, NULL,
					  NULL);
	if (status == DMA_ERROR || atomic_read(&channel->failed_descriptors) ||
	    (status == DMA_COMPLETE &&
	     !dray_token_has_arrived(&channel->token)))
		channel->error = -EIO;
	return status;
}

bool dray_batch_is_done(struct dray_channel *channel)
{
	enum dma_status status;

	if (atomic_read(&channel->descriptors) > 0)
		return false;
	status = dray_batch_status(channel);
	/* Out of order: the callbacks, all of which came, are all there is. */
	return status == DMA_COMPLETE || status == DMA_ERROR ||
	       status == DMA_OUT_OF_ORDER;
}

/*
 * Asks the engine alone, when it is too late for callbacks: an interrupt may
 * be lost.  A callback that comes later still finds the channel.
 */
bool dray_batch_is_complete(struct dray_channel *channel)
{
	return dray_batch_status(channel) == DMA_COMPLETE;
}

/*
 * Wakes the work item at the deadline, if no callback does before; sooner if
 * only the engine's status is missing.
 */
void dray_batch_await(struct dray_channel *channel)
{
	unsigned long delay = DRAY_RETRY_DELAY;

	if (atomic_read(&channel->descriptors) > 0)
		delay = max_t(long, channel->deadline - jiffies, 1);
	queue_delayed_work(dray_workqueue, &channel->feed, delay);
}

/* Wakes it soon: the engine took nothing, so that it will not call back. */
void dray_batch_retry(struct dray_channel *channel)
{
	queue_delayed_work(dray_workqueue, &channel->feed, DRAY_RETRY_DELAY);
}
