// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Descriptors that are done, and their callbacks, which a tasklet makes as in
 * real drivers.  A batch is reported at its end.
 */
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "dray_test_stream.h"

static void stream_call_back(struct stream_descriptor *descriptor)
{
	struct dma_async_tx_descriptor *tx = &descriptor->tx;

	if (!(tx->flags & DMA_PREP_INTERRUPT))
		return;
	if (tx->callback_result)
		tx->callback_result(tx->callback_param, &descriptor->result);
	else if (tx->callback)
		tx->callback(tx->callback_param);
}

/* Calls back for one repetition; false if there is none. */
static bool stream_call_repeat(struct stream_channel *channel)
{
	struct stream_pair *pair = stream_pair_of(&channel->chan);
	dma_async_tx_callback repeat = NULL;
	void *param;

	spin_lock_bh(&pair->lock);
	if (channel->repetitions) {
		channel->repetitions--;
		repeat = channel->repeat;
		param = channel->repeat_param;
	}
	spin_unlock_bh(&pair->lock);
	if (repeat)
		repeat(param);
	return repeat;
}

static struct stream_descriptor *stream_done(struct stream_channel *channel)
{
	return list_first_entry_or_null(&channel->done,
					struct stream_descriptor, list);
}

static void stream_callbacks(struct tasklet_struct *tasklet)
{
	struct stream_channel *channel =
		container_of(tasklet, struct stream_channel, callbacks);
	struct stream_pair *pair = stream_pair_of(&channel->chan);
	struct stream_descriptor *descriptor;

	while (stream_call_repeat(channel))
		;
	for (;;) {
		spin_lock_bh(&pair->lock);
		descriptor = stream_done(channel);
		if (descriptor)
			list_del(&descriptor->list);
		spin_unlock_bh(&pair->lock);
		if (!descriptor)
			return;
		stream_call_back(descriptor);
		kfree(descriptor);
	}
}

static void stream_report_late(struct work_struct *work)
{
	tasklet_schedule(&container_of(work, struct stream_channel, report.work)
				  ->callbacks);
}

static void stream_report(struct stream_channel *channel,
			  struct stream_descriptor *descriptor)
{
	channel->used -= descriptor->count;
	stream_knobs.out[channel->chan.chan_id]--;
	stream_knobs.descriptors[channel->chan.chan_id]++;
	if (descriptor->silent) {
		list_del(&descriptor->list);
		kfree(descriptor);
		return;
	}
	channel->chan.completed_cookie = descriptor->tx.cookie;
	__assign_bit(descriptor->tx.cookie % STREAM_COOKIES, channel->failed,
		     descriptor->result.result != DMA_TRANS_NOERROR);
	if (!stream_knobs.no_residue)
		descriptor->result.residue =
			descriptor->length - descriptor->moved;
	if (stream_is(channel, &stream_knobs.lose)) {
		list_del(&descriptor->list);
		kfree(descriptor);
	} else {
		list_move_tail(&descriptor->list, &channel->done);
	}
}

/* The first of the batch that is not done. */
static struct stream_descriptor *stream_rest(struct stream_channel *channel)
{
	struct stream_descriptor *descriptor;

	list_for_each_entry(descriptor, &channel->active, list)
		if (!descriptor->ended)
			return descriptor;
	return NULL;
}

void stream_complete(struct stream_channel *channel,
		     struct stream_descriptor *descriptor,
		     enum dmaengine_tx_result result)
{
	struct stream_descriptor *rest, *next;

	descriptor->ended = true;
	descriptor->result.result = result;
	if (stream_knobs.chains) {
		stream_report(channel, descriptor);
		stream_report_soon(channel);
		return;
	}
	rest = stream_rest(channel);
	if (rest && !(stream_knobs.unfinished &&
		      list_is_last(&rest->list, &channel->active)))
		return;
	list_for_each_entry_safe(descriptor, next, &channel->active, list)
		stream_report(channel, descriptor);
	stream_report_soon(channel);
}

void stream_report_soon(struct stream_channel *channel)
{
	if (stream_knobs.late_ms)
		schedule_delayed_work(&channel->report,
				      msecs_to_jiffies(stream_knobs.late_ms));
	else
		tasklet_schedule(&channel->callbacks);
}

void stream_report_init(struct stream_channel *channel)
{
	INIT_DELAYED_WORK(&channel->report, stream_report_late);
	tasklet_setup(&channel->callbacks, stream_callbacks);
}

void stream_report_end(struct stream_channel *channel)
{
	cancel_delayed_work_sync(&channel->report);
	tasklet_kill(&channel->callbacks);
}
