// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A channel of the engine for tests: descriptors are prepared, submitted and
 * issued, and a work item does one after the other, or what the knobs say.
 */
#include <linux/bits.h>
#include <linux/dma-direct.h>
#include <linux/io.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "dray_test_engine.h"

struct test_descriptor {
	struct dma_async_tx_descriptor tx;
	struct list_head list;
	dma_addr_t dst;
	dma_addr_t src;
	size_t length;
	int value; /* to fill with; -1: copy */
	void *early; /* what to copy, where that was read ahead */
};

static struct test_channel *to_channel(struct dma_chan *chan)
{
	return container_of(chan, struct test_channel, chan);
}

static void *test_address(struct test_channel *channel, dma_addr_t address)
{
	return phys_to_virt(dma_to_phys(channel->chan.device->dev, address));
}

static void test_move(struct test_channel *channel,
		      struct test_descriptor *descriptor)
{
	void *dst = test_address(channel, descriptor->dst);

	if (descriptor->value >= 0)
		memset(dst, descriptor->value, descriptor->length);
	else if (descriptor->early)
		memcpy(dst, descriptor->early, descriptor->length);
	else
		memcpy(dst, test_address(channel, descriptor->src),
		       descriptor->length);
}

static void test_descriptor_free(struct test_descriptor *descriptor)
{
	kfree(descriptor->early);
	kfree(descriptor);
}

/* Reads for the one behind @descriptor, which has not written yet. */
static void test_read_ahead(struct test_channel *channel,
			    const struct test_descriptor *descriptor)
{
	struct test_descriptor *next;

	if (!test_knobs.ahead || descriptor->tx.flags & DMA_PREP_FENCE)
		return;
	spin_lock_bh(&channel->lock);
	next = list_first_entry_or_null(&channel->issued,
					struct test_descriptor, list);
	if (next && next->value < 0 && !next->early) {
		next->early = kmemdup(test_address(channel, next->src),
				      next->length, GFP_ATOMIC);
		test_knobs.early += !!next->early;
	}
	spin_unlock_bh(&channel->lock);
}

/* As zynqmp_dma does after an error of the bus: no callback, no status. */
static void test_lose(struct test_channel *channel)
{
	struct test_descriptor *descriptor, *next;

	lockdep_assert_held(&channel->lock);
	list_for_each_entry_safe(descriptor, next, &channel->issued, list) {
		list_del(&descriptor->list);
		channel->used--;
		test_descriptor_free(descriptor);
	}
}

static void test_call_back(struct test_descriptor *descriptor,
			   const struct dmaengine_result *result)
{
	if (descriptor->tx.callback_result)
		descriptor->tx.callback_result(descriptor->tx.callback_param,
					       result);
	else if (descriptor->tx.callback)
		descriptor->tx.callback(descriptor->tx.callback_param);
}

/* The one to be done; NULL: there is none. */
static struct test_descriptor *test_next(struct test_channel *channel)
{
	struct test_descriptor *descriptor = NULL;

	spin_lock_bh(&channel->lock);
	if (!list_empty(&channel->issued)) {
		descriptor =
			test_knobs.unordered
				? list_last_entry(&channel->issued,
						  struct test_descriptor, list)
				: list_first_entry(&channel->issued,
						   struct test_descriptor,
						   list);
		list_del(&descriptor->list);
	}
	spin_unlock_bh(&channel->lock);
	return descriptor;
}

/* Does one descriptor; false when there is none. */
static bool test_do_one(struct test_channel *channel)
{
	struct dmaengine_result result = { .result = DMA_TRANS_NOERROR };
	struct test_descriptor *descriptor = test_next(channel);

	if (!descriptor)
		return false;

	test_read_ahead(channel, descriptor);
	if (test_knobs.fail)
		result.result = DMA_TRANS_WRITE_FAILED;
	else if (!test_knobs.reset && !test_knobs.idle)
		test_move(channel, descriptor);
	spin_lock_bh(&channel->lock);
	channel->used--;
	channel->chan.completed_cookie = descriptor->tx.cookie;
	if (test_knobs.fail)
		channel->failed = descriptor->tx.cookie;
	test_knobs.descriptors++;
	if (test_knobs.lose || test_knobs.reset)
		test_lose(channel);
	spin_unlock_bh(&channel->lock);

	if (!test_knobs.mute)
		test_call_back(descriptor, &result);
	if (test_knobs.stale)
		test_call_back(descriptor, &result);
	test_descriptor_free(descriptor);
	return true;
}

static bool test_hangs(const struct test_channel *channel)
{
	return test_knobs.hang || test_knobs.stuck & BIT(channel->chan.chan_id);
}

static void test_work(struct work_struct *work)
{
	struct test_channel *channel =
		container_of(work, struct test_channel, work.work);

	if (test_hangs(channel)) {
		schedule_delayed_work(&channel->work, msecs_to_jiffies(10));
		return;
	}
	if (test_do_one(channel))
		schedule_delayed_work(&channel->work,
				      msecs_to_jiffies(test_knobs.delay_ms));
}

static dma_cookie_t test_submit(struct dma_async_tx_descriptor *tx)
{
	struct test_descriptor *descriptor =
		container_of(tx, struct test_descriptor, tx);
	struct test_channel *channel = to_channel(tx->chan);
	dma_cookie_t cookie;

	spin_lock_bh(&channel->lock);
	cookie = channel->chan.cookie + 1;
	if (cookie < DMA_MIN_COOKIE)
		cookie = DMA_MIN_COOKIE;
	channel->chan.cookie = cookie;
	tx->cookie = cookie;
	list_add_tail(&descriptor->list, &channel->submitted);
	test_knobs.restless += test_asleep;
	spin_unlock_bh(&channel->lock);
	return cookie;
}

static struct dma_async_tx_descriptor *
test_prepare(struct dma_chan *chan, dma_addr_t dst, dma_addr_t src,
	     size_t length, int value, unsigned long flags)
{
	struct test_channel *channel = to_channel(chan);
	struct test_descriptor *descriptor;
	bool room;

	descriptor = kzalloc(sizeof(*descriptor), GFP_NOWAIT);
	if (!descriptor)
		return NULL;
	spin_lock_bh(&channel->lock);
	room = channel->used < test_knobs.slots;
	channel->used += room;
	spin_unlock_bh(&channel->lock);
	if (!room) {
		kfree(descriptor);
		return NULL;
	}
	dma_async_tx_descriptor_init(&descriptor->tx, chan);
	descriptor->tx.tx_submit = test_submit;
	descriptor->tx.flags = flags;
	descriptor->dst = dst;
	descriptor->src = src;
	descriptor->length = length;
	descriptor->value = value;
	return &descriptor->tx;
}

struct dma_async_tx_descriptor *test_prepare_copy(struct dma_chan *chan,
						  dma_addr_t dst,
						  dma_addr_t src, size_t length,
						  unsigned long flags)
{
	return test_prepare(chan, dst, src, length, -1, flags);
}

struct dma_async_tx_descriptor *test_prepare_fill(struct dma_chan *chan,
						  dma_addr_t dst, int value,
						  size_t length,
						  unsigned long flags)
{
	return test_prepare(chan, dst, 0, length, value & 0xff, flags);
}

void test_issue(struct dma_chan *chan)
{
	struct test_channel *channel = to_channel(chan);
	struct test_descriptor *descriptor;
	size_t bytes = 0;

	spin_lock_bh(&channel->lock);
	list_for_each_entry(descriptor, &channel->submitted, list)
		bytes += descriptor->length;
	test_knobs.most = max_t(size_t, test_knobs.most, bytes);
	list_splice_tail_init(&channel->submitted, &channel->issued);
	spin_unlock_bh(&channel->lock);
	schedule_delayed_work(&channel->work,
			      msecs_to_jiffies(test_knobs.delay_ms));
}

enum dma_status test_status(struct dma_chan *chan, dma_cookie_t cookie,
			    struct dma_tx_state *state)
{
	struct test_channel *channel = to_channel(chan);
	enum dma_status status;

	spin_lock_bh(&channel->lock);
	dma_set_tx_state(state, chan->completed_cookie, chan->cookie, 0);
	status = dma_async_is_complete(cookie, chan->completed_cookie,
				       chan->cookie);
	if (status == DMA_COMPLETE && cookie == channel->failed)
		status = DMA_ERROR;
	spin_unlock_bh(&channel->lock);
	/* The order of cookies says nothing then. */
	return test_knobs.unordered ? DMA_OUT_OF_ORDER : status;
}

/* As real engines do: what was out is forgotten, without a callback. */
int test_terminate(struct dma_chan *chan)
{
	struct test_channel *channel = to_channel(chan);
	struct test_descriptor *descriptor, *next;
	LIST_HEAD(forgotten);

	if (test_knobs.stubborn)
		return -EBUSY;
	if (test_knobs.parting)
		return 0;
	spin_lock_bh(&channel->lock);
	list_splice_tail_init(&channel->submitted, &forgotten);
	list_splice_tail_init(&channel->issued, &forgotten);
	list_for_each_entry_safe(descriptor, next, &forgotten, list) {
		channel->used--;
		test_descriptor_free(descriptor);
	}
	spin_unlock_bh(&channel->lock);
	return 0;
}

void test_synchronize(struct dma_chan *chan)
{
	if (!test_knobs.stubborn)
		cancel_delayed_work_sync(&to_channel(chan)->work);
}

/* As engines whose tasklet nobody waits for before their channel is released. */
static void test_part(struct test_channel *channel)
{
	struct dmaengine_result result = { .result = DMA_TRANS_ABORTED };
	struct test_descriptor *descriptor;

	while ((descriptor = test_next(channel))) {
		spin_lock_bh(&channel->lock);
		channel->used--;
		test_knobs.descriptors++;
		spin_unlock_bh(&channel->lock);
		test_call_back(descriptor, &result);
		test_descriptor_free(descriptor);
	}
}

void test_free(struct dma_chan *chan)
{
	if (test_knobs.parting)
		test_part(to_channel(chan));
	test_terminate(chan);
	test_synchronize(chan);
}

void test_channel_init(struct test_channel *channel, struct dma_device *device)
{
	channel->chan.device = device;
	channel->chan.cookie = DMA_MIN_COOKIE;
	channel->chan.completed_cookie = DMA_MIN_COOKIE;
	spin_lock_init(&channel->lock);
	INIT_LIST_HEAD(&channel->submitted);
	INIT_LIST_HEAD(&channel->issued);
	INIT_DELAYED_WORK(&channel->work, test_work);
	list_add_tail(&channel->chan.device_node, &device->channels);
}
