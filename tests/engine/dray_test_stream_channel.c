// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A channel of the engine of streams: descriptors are prepared, submitted and
 * issued; dray_test_stream_flow.c does them.
 */
#include <linux/delay.h>
#include <linux/dma-direct.h>
#include <linux/dma-mapping.h>
#include <linux/ioport.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "dray_test_stream.h"

static dma_cookie_t stream_submit(struct dma_async_tx_descriptor *tx)
{
	struct stream_descriptor *descriptor =
		container_of(tx, struct stream_descriptor, tx);
	struct stream_channel *channel = to_stream(tx->chan);
	struct stream_pair *pair = stream_pair_of(tx->chan);
	dma_cookie_t cookie;

	spin_lock_bh(&pair->lock);
	if (channel->jammed) {
		channel->used -= descriptor->count;
		kfree(descriptor);
		spin_unlock_bh(&pair->lock);
		return -EBUSY;
	}
	cookie = channel->chan.cookie + 1;
	if (cookie < DMA_MIN_COOKIE)
		cookie = DMA_MIN_COOKIE;
	channel->chan.cookie = cookie;
	tx->cookie = cookie;
	list_add_tail(&descriptor->list, &channel->submitted);
	stream_knobs.restless += stream_engine_of(tx->chan)->asleep;
	spin_unlock_bh(&pair->lock);
	return cookie;
}

/* Takes slots; NULL, as real engines say that they have none. */
static struct stream_descriptor *stream_allocate(struct stream_channel *channel,
						 unsigned int count,
						 enum dma_transfer_direction to,
						 unsigned long flags)
{
	enum dma_transfer_direction own =
		stream_sends(channel) ? DMA_MEM_TO_DEV : DMA_DEV_TO_MEM;
	struct stream_pair *pair = stream_pair_of(&channel->chan);
	struct stream_descriptor *descriptor = NULL;

	spin_lock_bh(&pair->lock);
	if (to == own && count && channel->used + count <= stream_knobs.slots)
		descriptor = kzalloc(struct_size(descriptor, segments, count),
				     GFP_ATOMIC);
	if (descriptor)
		channel->used += count;
	else
		stream_knobs.unprepared[channel->chan.chan_id]++;
	spin_unlock_bh(&pair->lock);
	if (!descriptor)
		return NULL;
	dma_async_tx_descriptor_init(&descriptor->tx, &channel->chan);
	descriptor->tx.tx_submit = stream_submit;
	descriptor->tx.flags = flags;
	return descriptor;
}

static void stream_discard(struct stream_channel *channel,
			   struct stream_descriptor *descriptor)
{
	struct stream_pair *pair = stream_pair_of(&channel->chan);

	spin_lock_bh(&pair->lock);
	channel->used -= descriptor->count;
	stream_knobs.unprepared[channel->chan.chan_id]++;
	spin_unlock_bh(&pair->lock);
	kfree(descriptor);
}

/* Memory without a mapping, such as a carveout, has no address in the kernel. */
static bool stream_reaches(struct stream_descriptor *descriptor,
			   dma_addr_t address, size_t length)
{
	phys_addr_t start =
		dma_to_phys(descriptor->tx.chan->device->dev, address);

	return region_intersects(start, length, IORESOURCE_SYSTEM_RAM,
				 IORES_DESC_NONE) == REGION_INTERSECTS;
}

static bool stream_add(struct stream_descriptor *descriptor, dma_addr_t address,
		       size_t length)
{
	struct stream_segment *segment =
		&descriptor->segments[descriptor->count++];

	segment->address = address;
	segment->length = length;
	descriptor->length += length;
	return length && stream_reaches(descriptor, address, length) &&
	       (length <= stream_knobs.max_segment || stream_knobs.axidma) &&
	       !((address | length) & (BIT(stream_knobs.align_shift) - 1));
}

static struct dma_async_tx_descriptor *
stream_prepare_sg(struct dma_chan *chan, struct scatterlist *list,
		  unsigned int count, enum dma_transfer_direction direction,
		  unsigned long flags, void *context)
{
	struct stream_channel *channel = to_stream(chan);
	struct stream_descriptor *descriptor;
	struct scatterlist *entry;
	bool fits = true;
	unsigned int i;

	descriptor = stream_allocate(channel, count, direction, flags);
	if (!descriptor)
		return NULL;
	for (entry = list, i = 0; i < count; entry = sg_next(entry), i++)
		fits &= stream_add(descriptor, sg_dma_address(entry),
				   sg_dma_len(entry));
	if (fits)
		return &descriptor->tx;
	stream_discard(channel, descriptor);
	return NULL;
}

static struct dma_async_tx_descriptor *
stream_prepare_rows(struct dma_chan *chan,
		    struct dma_interleaved_template *rows, unsigned long flags)
{
	struct stream_channel *channel = to_stream(chan);
	struct stream_descriptor *descriptor;
	dma_addr_t address = rows->src_start;
	bool fits = true;
	size_t i;

	if (!stream_rows_fit(rows, flags))
		return NULL;
	descriptor = stream_allocate(channel, rows->numf, rows->dir, flags);
	if (!descriptor)
		return NULL;
	for (i = 0; i < rows->numf; i++) {
		fits &= stream_add(descriptor, address, rows->sgl[0].size);
		address += rows->sgl[0].size + rows->sgl[0].icg;
	}
	if (fits)
		return &descriptor->tx;
	stream_discard(channel, descriptor);
	return NULL;
}

/* An idle engine that makes batches begins with what it is given at once. */
static void stream_issue(struct dma_chan *chan)
{
	struct stream_channel *channel = to_stream(chan);
	struct stream_pair *pair = stream_pair_of(chan);
	struct stream_descriptor *descriptor;
	bool begins = stream_knobs.chains;

	spin_lock_bh(&pair->lock);
	begins |= stream_knobs.batches && list_empty(&channel->active) &&
		  list_empty(&channel->issued);
	list_for_each_entry(descriptor, &channel->submitted, list)
		stream_knobs.out[chan->chan_id]++;
	list_splice_tail_init(&channel->submitted,
			      begins ? &channel->active : &channel->issued);
	spin_unlock_bh(&pair->lock);
	if (!stream_knobs.shows)
		stream_wake(pair);
}

/* Bytes that a descriptor has not moved; the AXI DMA notes whole pieces only. */
static size_t stream_rest_of(const struct stream_descriptor *descriptor)
{
	size_t moved = descriptor->moved;

	if (stream_knobs.axidma && !descriptor->ended)
		moved -= descriptor->at;
	return descriptor->length - moved;
}

/* The same of a cookie; 0 if its descriptor is not there any more. */
static size_t stream_residue(const struct list_head *list, dma_cookie_t cookie)
{
	const struct stream_descriptor *descriptor;

	if (stream_knobs.blind && !list_empty(list)) {
		descriptor =
			list_last_entry(list, struct stream_descriptor, list);
		return stream_rest_of(descriptor);
	}
	list_for_each_entry(descriptor, list, list)
		if (descriptor->tx.cookie == cookie && !descriptor->silent)
			return stream_rest_of(descriptor);
	return 0;
}

/* Waits as long as the knob names the channel, but at most a minute. */
static void stream_wait(struct dma_chan *chan, const unsigned int *knob)
{
	unsigned long end = jiffies + 60 * HZ;

	while (stream_is(to_stream(chan), knob) && time_before(jiffies, end))
		usleep_range(1000, 2000);
}

/* As of many drivers, it tells a residue only while the descriptor is out. */
static enum dma_status stream_status(struct dma_chan *chan, dma_cookie_t cookie,
				     struct dma_tx_state *state)
{
	struct stream_channel *channel = to_stream(chan);
	struct stream_pair *pair = stream_pair_of(chan);
	enum dma_status status;
	size_t residue = 0;

	spin_lock_bh(&pair->lock);
	status = dma_async_is_complete(cookie, chan->completed_cookie,
				       chan->cookie);
	if (status == DMA_COMPLETE &&
	    test_bit(cookie % STREAM_COOKIES, channel->failed))
		status = DMA_ERROR;
	if (status == DMA_IN_PROGRESS && !stream_knobs.no_residue)
		residue = stream_residue(&channel->active, cookie) ?:
			  stream_residue(&channel->issued, cookie) ?:
			  stream_residue(&channel->submitted, cookie);
	dma_set_tx_state(state, chan->completed_cookie, chan->cookie, residue);
	stream_knobs.asked[chan->chan_id]++;
	spin_unlock_bh(&pair->lock);
	stream_wait(chan, &stream_knobs.ask);
	return status;
}

static int stream_configure(struct dma_chan *chan,
			    struct dma_slave_config *config)
{
	bool sends = stream_sends(to_stream(chan));
	int id = chan->chan_id;

	if (stream_knobs.refuse_config ||
	    config->direction != (sends ? DMA_MEM_TO_DEV : DMA_DEV_TO_MEM))
		return -EINVAL;
	stream_knobs.fifo_addresses[id] =
		sends ? config->dst_addr : config->src_addr;
	stream_knobs.fifo_widths[id] =
		sends ? config->dst_addr_width : config->src_addr_width;
	stream_knobs.fifo_bursts[id] =
		sends ? config->dst_maxburst : config->src_maxburst;
	return 0;
}

static void stream_capabilities(struct dma_chan *chan,
				struct dma_slave_caps *caps)
{
	caps->directions = BIT(stream_sends(to_stream(chan)) ? DMA_MEM_TO_DEV
							     : DMA_DEV_TO_MEM);
}

/* As real engines do: descriptors that are out are forgotten. */
static void stream_forget(struct stream_channel *channel,
			  struct list_head *forgotten)
{
	list_splice_tail_init(&channel->submitted, forgotten);
	list_splice_tail_init(&channel->issued, forgotten);
	list_splice_tail_init(&channel->active, forgotten);
	list_splice_tail_init(&channel->done, forgotten);
	channel->used = 0;
	channel->repetitions = 0;
	channel->halted = false;
	channel->paused = false;
	channel->jammed = false;
	stream_knobs.out[channel->chan.chan_id] = 0;
}

static void stream_free(struct list_head *forgotten)
{
	struct stream_descriptor *descriptor, *next;

	list_for_each_entry_safe(descriptor, next, forgotten, list)
		kfree(descriptor);
}

/* AXI DMA resets both directions. */
static void stream_halt_sibling(struct stream_channel *channel)
{
	struct stream_pair *pair = stream_pair_of(&channel->chan);
	struct stream_channel *other =
		stream_sends(channel) ? &pair->rx : &pair->tx;

	if (!list_empty(&other->active) || !list_empty(&other->issued))
		other->halted = true;
}

/* Goes on without reports. */
static int stream_jam(struct stream_channel *channel)
{
	struct stream_pair *pair = stream_pair_of(&channel->chan);
	struct stream_descriptor *descriptor;

	if (!stream_knobs.deaf)
		return -EBUSY;
	spin_lock_bh(&pair->lock);
	channel->jammed = true;
	list_for_each_entry(descriptor, &channel->active, list)
		descriptor->silent = true;
	list_for_each_entry(descriptor, &channel->issued, list)
		descriptor->silent = true;
	spin_unlock_bh(&pair->lock);
	return 0;
}

/* Moves nothing from here on, until it is stopped. */
static int stream_pause(struct dma_chan *chan)
{
	struct stream_pair *pair = stream_pair_of(chan);

	if (stream_is(to_stream(chan), &stream_knobs.stubborn))
		return -EBUSY;
	spin_lock_bh(&pair->lock);
	to_stream(chan)->paused = true;
	spin_unlock_bh(&pair->lock);
	return 0;
}

static int stream_terminate(struct dma_chan *chan)
{
	struct stream_channel *channel = to_stream(chan);
	struct stream_pair *pair = stream_pair_of(chan);
	LIST_HEAD(forgotten);

	if (stream_is(channel, &stream_knobs.stubborn))
		return stream_jam(channel);
	spin_lock_bh(&pair->lock);
	if (stream_knobs.siblings)
		stream_halt_sibling(channel);
	stream_forget(channel, &forgotten);
	stream_knobs.terminated[chan->chan_id]++;
	spin_unlock_bh(&pair->lock);
	stream_free(&forgotten);
	return 0;
}

static void stream_synchronize(struct dma_chan *chan)
{
	stream_wait(chan, &stream_knobs.hold);
	stream_report_end(to_stream(chan));
}

static void stream_free_resources(struct dma_chan *chan)
{
	if (!stream_terminate(chan))
		stream_synchronize(chan);
	stream_knobs.fifo_addresses[chan->chan_id] = 0;
}

void stream_operations(struct dma_device *device)
{
	device->device_config = stream_configure;
	device->device_caps = stream_capabilities;
	if (stream_knobs.shows)
		device->device_prep_interleaved_dma = stream_prepare_rows;
	else
		device->device_prep_slave_sg = stream_prepare_sg;
	device->device_issue_pending = stream_issue;
	device->device_tx_status = stream_status;
	if (!stream_knobs.axidma)
		device->device_pause = stream_pause;
	if (!stream_knobs.no_terminate)
		device->device_terminate_all = stream_terminate;
	device->device_synchronize = stream_synchronize;
	device->device_free_chan_resources = stream_free_resources;
}

void stream_channel_init(struct stream_channel *channel,
			 struct dma_device *device)
{
	channel->chan.device = device;
	channel->chan.cookie = DMA_MIN_COOKIE;
	channel->chan.completed_cookie = DMA_MIN_COOKIE;
	INIT_LIST_HEAD(&channel->submitted);
	INIT_LIST_HEAD(&channel->issued);
	INIT_LIST_HEAD(&channel->active);
	INIT_LIST_HEAD(&channel->done);
	stream_report_init(channel);
	list_add_tail(&channel->chan.device_node, &device->channels);
}

/* Nobody uses the engine any more, and nothing is moved. */
void stream_channel_end(struct stream_channel *channel)
{
	LIST_HEAD(forgotten);

	stream_report_end(channel);
	stream_forget(channel, &forgotten);
	stream_free(&forgotten);
}
