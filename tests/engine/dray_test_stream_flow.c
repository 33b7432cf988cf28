// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A pair's bytes on their way: from the sender's memory, or from a source
 * without a sender, into the FIFO, and from there into the receiver's memory.
 * A work item moves them, a piece at a time, and the pair's lock is held for
 * each piece: an engine that was stopped writes nothing more.
 */
#include <linux/dma-direct.h>
#include <linux/io.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "dray_test_stream.h"

#define STREAM_PIECE SZ_4K
#define STREAM_PAUSE_MS 5 /* before it looks again at what stalls it */

/* The descriptor under way, or the next one; NULL: nothing can be moved. */
static struct stream_descriptor *stream_current(struct stream_channel *channel)
{
	struct stream_descriptor *descriptor;

	if (channel->halted || channel->paused ||
	    stream_is(channel, &stream_knobs.stall))
		return NULL;
	list_for_each_entry(descriptor, &channel->active, list)
		if (!descriptor->ended)
			return descriptor;
	if (stream_knobs.batches)
		list_splice_tail_init(&channel->issued, &channel->active);
	else if (!list_empty(&channel->issued))
		list_move_tail(channel->issued.next, &channel->active);
	return list_first_entry_or_null(&channel->active,
					struct stream_descriptor, list);
}

static void *stream_address(struct stream_channel *channel,
			    const struct stream_descriptor *descriptor)
{
	const struct stream_segment *segment =
		&descriptor->segments[descriptor->segment];

	return phys_to_virt(dma_to_phys(channel->chan.device->dev,
					segment->address)) +
	       descriptor->at;
}

/* Bytes of the segment that are left. */
static size_t stream_left(const struct stream_descriptor *descriptor)
{
	return descriptor->segments[descriptor->segment].length -
	       descriptor->at;
}

/* True: that was all of it. */
static bool stream_advance(struct stream_channel *channel,
			   struct stream_descriptor *descriptor, size_t length)
{
	stream_knobs.bytes[channel->chan.chan_id] += length;
	descriptor->moved += length;
	descriptor->at += length;
	if (stream_left(descriptor))
		return false;
	descriptor->segment++;
	descriptor->at = 0;
	return descriptor->segment == descriptor->count;
}

static bool stream_fails(struct stream_channel *channel,
			 struct stream_descriptor *descriptor,
			 enum dmaengine_tx_result result)
{
	if (descriptor->moved || !stream_is(channel, &stream_knobs.fail))
		return false;
	stream_complete(channel, descriptor, result);
	return true;
}

/* Bytes that the FIFO takes at once. */
static size_t stream_room(const struct stream_pair *pair)
{
	size_t room = pair->size - (pair->head - pair->tail);
	size_t straight = pair->size - (pair->head & (pair->size - 1));

	if (pair->ends_head - pair->ends_tail == STREAM_PACKETS)
		return 0;
	room = min3(room, straight, (size_t)STREAM_PIECE);
	if (stream_knobs.split > pair->since)
		room = min_t(size_t, room, stream_knobs.split - pair->since);
	return room;
}

static void stream_end_packet(struct stream_pair *pair)
{
	if (!pair->since)
		return;
	pair->ends[pair->ends_head++ % STREAM_PACKETS] = pair->head;
	pair->since = 0;
	stream_knobs.packets[pair->tx.chan.chan_id / 2]++;
}

/* Bytes at the head have been written; @last of a packet, or not. */
static void stream_take(struct stream_pair *pair, size_t length, bool last)
{
	pair->head += length;
	pair->since += length;
	if (stream_knobs.split && pair->since >= stream_knobs.split)
		stream_end_packet(pair);
	if (!last || ++pair->joined < stream_knobs.join)
		return;
	pair->joined = 0;
	stream_end_packet(pair);
}

static u8 *stream_head(const struct stream_pair *pair)
{
	return pair->fifo + (pair->head & (pair->size - 1));
}

/*
 * A frame has its number in the first eight bytes, least significant first, and
 * then the sum of the number and the byte's index.
 */
static u8 stream_byte(const struct stream_source *source, size_t index)
{
	if (index < sizeof(u64))
		return source->number >> (8 * index);
	return source->number + index;
}

static bool stream_make(struct stream_pair *pair)
{
	struct stream_source *source = &pair->source;
	size_t length, i;
	u8 *to = stream_head(pair);

	length = min(stream_room(pair), source->length - source->at);
	for (i = 0; i < length; i++)
		to[i] = stream_byte(source, source->at + i);
	source->at += length;
	if (length)
		stream_take(pair, length, source->at == source->length);
	if (source->at == source->length)
		source->length = 0;
	return length;
}

/* False: the sender can move nothing now. */
static bool stream_send(struct stream_pair *pair)
{
	struct stream_descriptor *descriptor = stream_current(&pair->tx);
	size_t length;
	bool last;

	/* A source waits for the packet that the sender has begun. */
	if (pair->source.length && !(descriptor && descriptor->moved))
		return stream_make(pair);
	if (!descriptor)
		return false;
	if (stream_fails(&pair->tx, descriptor, DMA_TRANS_READ_FAILED))
		return true;
	length = min(stream_room(pair), stream_left(descriptor));
	if (!length)
		return false;
	memcpy(stream_head(pair), stream_address(&pair->tx, descriptor),
	       length);
	last = stream_advance(&pair->tx, descriptor, length);
	stream_take(pair, length, last);
	if (last)
		stream_complete(&pair->tx, descriptor, DMA_TRANS_NOERROR);
	return true;
}

/* Bytes up to the end of a packet that can be read at once. */
static size_t stream_ready(const struct stream_pair *pair)
{
	size_t straight = pair->size - (pair->tail & (pair->size - 1));
	u64 end = pair->head;

	if (pair->ends_head != pair->ends_tail)
		end = pair->ends[pair->ends_tail % STREAM_PACKETS];
	return min3((size_t)(end - pair->tail), straight, (size_t)STREAM_PIECE);
}

/* True: the packet at the tail has ended, and with it the descriptor. */
static bool stream_ends(struct stream_pair *pair)
{
	if (pair->ends_head == pair->ends_tail ||
	    pair->ends[pair->ends_tail % STREAM_PACKETS] != pair->tail)
		return false;
	pair->ends_tail++;
	return true;
}

/*
 * As of the driver of the AXI DMA in later kernels: a packet that ends before the
 * last segment ends no descriptor, and the next packet continues in the next segment.
 */
static bool stream_merges(struct stream_descriptor *descriptor)
{
	if (!stream_knobs.merges)
		return false;
	if (!descriptor->at)
		return true;
	if (descriptor->segment + 1 == descriptor->count)
		return false;
	descriptor->segment++;
	descriptor->at = 0;
	return true;
}

static bool stream_receive(struct stream_pair *pair)
{
	struct stream_descriptor *descriptor = stream_current(&pair->rx);
	bool full, ends;
	size_t length;

	if (!descriptor)
		return false;
	if (stream_fails(&pair->rx, descriptor, DMA_TRANS_WRITE_FAILED))
		return true;
	length = min(stream_ready(pair), stream_left(descriptor));
	if (!length)
		return false;
	memcpy(stream_address(&pair->rx, descriptor),
	       pair->fifo + (pair->tail & (pair->size - 1)), length);
	pair->tail += length;
	full = stream_advance(&pair->rx, descriptor, length);
	ends = stream_ends(pair);
	if (full || (ends && !stream_merges(descriptor)))
		stream_complete(&pair->rx, descriptor, DMA_TRANS_NOERROR);
	return true;
}

/* Returns true if bytes wait for a knob, or for the other side. */
static bool stream_waits(const struct stream_pair *pair)
{
	return pair->source.length || !list_empty(&pair->tx.issued) ||
	       !list_empty(&pair->tx.active) || !list_empty(&pair->rx.issued) ||
	       !list_empty(&pair->rx.active);
}

static void stream_move(struct work_struct *work)
{
	struct stream_pair *pair =
		container_of(work, struct stream_pair, move.work);
	bool moved, waits;

	do {
		spin_lock_bh(&pair->lock);
		moved = stream_send(pair);
		moved |= stream_receive(pair);
		waits = stream_waits(pair);
		spin_unlock_bh(&pair->lock);
		cond_resched();
	} while (moved);
	if (waits)
		queue_delayed_work(system_unbound_wq, &pair->move,
				   msecs_to_jiffies(STREAM_PAUSE_MS));
}

void stream_wake(struct stream_pair *pair)
{
	mod_delayed_work(system_unbound_wq, &pair->move, 0);
}

int stream_inject(struct stream_pair *pair, size_t length, u64 number)
{
	int ret = 0;

	spin_lock_bh(&pair->lock);
	if (pair->source.length)
		ret = -EBUSY;
	else
		pair->source = (struct stream_source){
			.length = length,
			.number = number,
		};
	spin_unlock_bh(&pair->lock);
	if (!ret)
		stream_wake(pair);
	return ret;
}

void stream_pair_empty(struct stream_pair *pair)
{
	spin_lock_bh(&pair->lock);
	pair->source.length = 0;
	pair->tail = pair->head;
	pair->ends_tail = pair->ends_head;
	pair->since = 0;
	pair->joined = 0;
	spin_unlock_bh(&pair->lock);
}

int stream_pair_init(struct stream_pair *pair)
{
	spin_lock_init(&pair->lock);
	INIT_DELAYED_WORK(&pair->move, stream_move);
	pair->size = rounddown_pow_of_two(max(stream_knobs.fifo, 16U));
	pair->fifo = kvzalloc(pair->size, GFP_KERNEL);
	return pair->fifo ? 0 : -ENOMEM;
}

void stream_pair_end(struct stream_pair *pair)
{
	cancel_delayed_work_sync(&pair->move);
	kvfree(pair->fifo);
}
