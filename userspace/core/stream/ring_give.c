// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Gives a stream its ring: each frame is checked as a packet of its own, unless it is
 * like the frame before, and its memory is held from before the engine gets it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "stream/packet.h"
#include "stream/ring.h"

/* The parts of a call. */
struct giving {
	struct dray_stream *stream;
	uint32_t count; /* of frames that are described */
	uint32_t flags;
	bool replaces;
	bool of_call;
	/* frames that are unlike those before them: checked, and held */
	struct dray_packet **packets;
	uint32_t packet_count;
	uint32_t first; /* frame of the latest of these */
	struct dray_view like; /* its view */
	struct dray_transfer *transfers;
	struct dray_buffer **buffers;
	struct dray_stream_ring *ring;
};

static int give_check_flags(const struct dray_stream *stream, uint32_t flags)
{
	const uint32_t known =
		DRAY_RING_OVERWRITE | DRAY_RING_REPLACE | DRAY_RING_RELEASED;

	if (flags & ~known)
		return dray_fail(-EINVAL, "unknown flags 0x%x of a ring",
				 flags & ~known);
	if (flags & DRAY_RING_OVERWRITE && stream->sends)
		return dray_fail(
			-EINVAL,
			"%s sends, and only received frames are overwritten",
			stream->name);
	return 0;
}

int dray_ring_check(const struct dray_stream *stream, size_t count,
		    uint32_t flags)
{
	uint32_t points = stream->port->timeline->points;
	int ret = give_check_flags(stream, flags);

	if (ret || (!count && flags & DRAY_RING_REPLACE))
		return ret;
	if (count < 2 || count > DRAY_MAX_FRAMES)
		return dray_fail(-EINVAL, "%zu frame%s, a ring has 2 to %u",
				 count, dray_plural(count), DRAY_MAX_FRAMES);
	if (count > points)
		return dray_fail(
			-EINVAL,
			"%zu frames, and %s was opened with %u points; open it with one for each frame",
			count, stream->name, points);
	return 0;
}

static bool is_like(const struct dray_view *view, const struct dray_view *like)
{
	int i;

	if (view->dtype != like->dtype || view->flags != like->flags ||
	    view->ndim != like->ndim)
		return false;
	for (i = 0; i < like->ndim; i++)
		if (view->shape[i] != like->shape[i] ||
		    view->strides[i] != like->strides[i])
			return false;
	return true;
}

/*
 * Describes a frame by the latest that was checked: a frame that is only moved,
 * within the same block, passes the same checks.
 */
static bool ring_give_follows(struct giving *giving,
			      const struct dray_view *view)
{
	const struct dray_stream *stream = giving->stream;
	const struct dray_location *where;
	const struct dray_operand *operand;
	struct dray_transfer *transfer;
	struct dray_addresses span;
	intptr_t moved;

	if (!view || !giving->packet_count || stream->repeats ||
	    !is_like(view, &giving->like))
		return false;
	operand = &giving->packets[giving->packet_count - 1]->views[0].operand;
	where = &operand->location;
	moved = (intptr_t)((uintptr_t)view->data -
			   (uintptr_t)giving->like.data);
	span.low = operand->span.low + (uintptr_t)moved;
	span.high = operand->span.high + (uintptr_t)moved;
	if ((uintptr_t)moved & (stream->alignment - 1) ||
	    span.high < span.low || span.low < (uintptr_t)where->block ||
	    span.high - (uintptr_t)where->block > where->block_size)
		return false;
	transfer = &giving->transfers[giving->count];
	*transfer = giving->transfers[giving->first];
	if (stream->sends)
		transfer->src_offset += (uint64_t)moved;
	else
		transfer->dst_offset += (uint64_t)moved;
	giving->buffers[giving->count] = where->buffer;
	giving->ring->frames[giving->count].span = span;
	return true;
}

/* Checks a frame and holds its memory. */
static int ring_give_lead(struct giving *giving, const struct dray_view *view)
{
	struct dray_ring_frame *frame = &giving->ring->frames[giving->count];
	struct dray_packet *packet = calloc(1, sizeof(*packet));
	struct dray_stream *stream = giving->stream;
	struct dray_operand *operand;
	int ret;

	if (!packet)
		return dray_fail(-ENOMEM, "no memory for frame %u",
				 giving->count);
	giving->packets[giving->packet_count++] = packet;
	ret = dray_packet_init(packet, stream, stream->sends, &view, 1, NULL);
	if (!ret)
		ret = dray_packet_choose(packet);
	if (ret)
		return dray_fail_adding(ret, " (frame %u)", giving->count);
	operand = &packet->views[0].operand;
	frame->location = operand->location;
	frame->span = operand->span;
	frame->held = operand->held;
	operand->held = false;
	giving->buffers[giving->count] = operand->location.buffer;
	giving->transfers[giving->count] = dray_packet_transfer(
		packet, operand->location.buffer, &packet->pieces[0]);
	dray_view_copy(&giving->like, view);
	giving->first = giving->count;
	return 0;
}

static int add_frames(struct giving *giving,
		      const struct dray_ring_source *source)
{
	const struct dray_view *view;
	int ret = 0;

	while (!ret && giving->count < source->count) {
		view = source->view(source->context, giving->count);
		if (!ring_give_follows(giving, view))
			ret = ring_give_lead(giving, view);
		giving->count++;
	}
	return ret;
}

/* Finds a frame before frame @i that it meets. */
static bool find_meeting(const struct dray_ring_frame *frames, uint32_t i,
			 uint32_t *found)
{
	for (*found = 0; *found < i; ++*found)
		if (dray_addresses_meet(frames[*found].span, frames[i].span))
			return true;
	return false;
}

/* Frames that receive must be apart: mostly each follows the frame before. */
static int give_check_apart(const struct giving *giving)
{
	const struct dray_ring_frame *frames;
	bool rises = true;
	uint32_t i, k;

	if (!giving->ring)
		return 0;
	frames = giving->ring->frames;
	for (i = 1; !giving->stream->sends && i < giving->count; i++) {
		rises = rises && frames[i].span.low >= frames[i - 1].span.high;
		if (!rises && find_meeting(frames, i, &k))
			return dray_fail(
				-EINVAL,
				"frames %u and %u overlap, each must end before another begins",
				k, i);
	}
	return 0;
}

/*
 * Removes the ring, so that no thread passes frames meanwhile; its own place keeps
 * the turn.
 */
static int give_take_out(struct giving *giving, struct dray_stream_ring **old)
{
	struct dray_stream *stream = giving->stream;
	uint64_t count = stream->counts.in_flight;

	*old = stream->ring;
	if (count)
		return dray_fail(
			-EBUSY,
			"%s has %" PRIu64
			" packet%s in flight, a ring begins without any",
			stream->name, count, dray_plural(count));
	if (*old && ((*old)->owned < (*old)->count || stream->users))
		return dray_fail(
			-EBUSY,
			"%u of %u frames of %s are acquired: all must be to replace its ring, and no thread may wait",
			(*old)->owned, (*old)->count, stream->name);
	stream->ring = NULL;
	return 0;
}

/* Hands the frames to the port. */
static int give_hand_in(struct giving *giving)
{
	struct dray_stream *stream = giving->stream;
	struct dray_port_ring args = {
		.flags = giving->flags,
		.count = giving->count,
		.transfers = giving->transfers,
		.buffers = giving->buffers,
	};
	const struct dray_timeline_head *head = stream->port->timeline;
	struct dray_stream_ring *ring = giving->ring;
	int ret;

	if (ring) {
		ring->lost = __atomic_load_n(&head->lost, __ATOMIC_ACQUIRE);
		ring->held_back =
			__atomic_load_n(&head->held_back, __ATOMIC_RELAXED);
		/* Nothing is in flight, so this is the number of the last frame. */
		ring->base =
			__atomic_load_n(&head->completed, __ATOMIC_ACQUIRE);
		ring->next = ring->base + 1;
	}
	ret = stream->port->ops->ring(stream->port, &args);
	return ret && args.failed
		       ? dray_fail_adding(ret, " (frame %u)", args.failed)
		       : ret;
}

/* In this thread's turn: no packet is submitted meanwhile. */
static int ring_give_begin(struct giving *giving)
{
	struct dray_stream_ring *old;
	int ret;

	dray_streams_lock();
	ret = give_take_out(giving, &old);
	dray_streams_unlock();
	if (ret)
		return ret;
	if (giving->ring && !giving->of_call)
		ret = dray_ring_enter(giving->ring, !giving->stream->sends);
	if (!ret)
		ret = give_hand_in(giving);
	dray_streams_lock();
	giving->stream->ring = ret ? old : giving->ring;
	dray_streams_unlock();
	if (ret)
		return ret;
	giving->ring = NULL;
	if (old)
		dray_ring_free(old);
	return 0;
}

static int stream_ring_give(struct giving *giving,
			    const struct dray_ring_source *source)
{
	int ret = add_frames(giving, source);

	if (!ret)
		ret = give_check_apart(giving);
	if (ret)
		return ret;
	ret = dray_stream_begin_ring(giving->stream, giving->replaces);
	if (ret)
		return ret;
	ret = ring_give_begin(giving);
	dray_stream_finish(giving->stream);
	return ret;
}

static int give_make_ring(struct giving *giving, uint32_t count)
{
	struct dray_stream_ring *ring;

	if (!count)
		return 0;
	ring = dray_ring_create(giving->stream, count);
	giving->ring = ring;
	giving->packets = malloc(count * sizeof(struct dray_packet *));
	giving->transfers = malloc(count * sizeof(giving->transfers[0]));
	giving->buffers = malloc(count * sizeof(struct dray_buffer *));
	if (!ring || !giving->packets || !giving->transfers || !giving->buffers)
		return dray_fail(-ENOMEM, "no memory for %u frames", count);
	ring->overwrites = giving->flags & DRAY_RING_OVERWRITE;
	ring->fresh =
		giving->stream->sends && !(giving->flags & DRAY_RING_RELEASED)
			? 0
			: count;
	return 0;
}

int dray_ring_give(struct dray_stream *stream,
		   const struct dray_ring_source *source, uint32_t flags,
		   bool replaces)
{
	struct giving giving = {
		.stream = stream,
		.flags = flags,
		.replaces = replaces,
		.of_call = source->of_call,
	};
	uint32_t i;
	int ret = give_make_ring(&giving, source->count);

	if (!ret)
		ret = stream_ring_give(&giving, source);
	for (i = 0; i < giving.packet_count; i++) {
		dray_packet_drop(giving.packets[i]);
		free(giving.packets[i]);
	}
	if (giving.ring)
		dray_ring_free(giving.ring);
	free(giving.packets);
	free(giving.transfers);
	free(giving.buffers);
	return ret;
}

static const struct dray_view *given_view(void *context, uint32_t index)
{
	const struct dray_view *const *views = context;

	return views[index];
}

int dray_stream_ring(struct dray_stream *stream,
		     const struct dray_view *const *views, size_t count,
		     uint32_t flags)
{
	struct dray_ring_source source = {
		.view = given_view,
		.context = (void *)(uintptr_t)views,
		.count = (uint32_t)count,
	};
	int ret;

	if (!dray_given(stream, __func__) ||
	    (count && !dray_given(views, __func__)))
		return -EINVAL;
	ret = dray_stream_check(stream);
	if (!ret)
		ret = dray_ring_check(stream, count, flags);
	return ret ? ret
		   : dray_ring_give(stream, &source, flags,
				    flags & DRAY_RING_REPLACE);
}
