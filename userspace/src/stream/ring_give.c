// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Gives a stream its ring: each frame is checked as a packet of its own, and
 * its memory is held from before the engine gets it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "stream/packet.h"
#include "stream/ring.h"

/* The parts of one call. */
struct giving {
	struct dray_stream *stream;
	uint32_t count;
	struct dray_packet *packets;
	struct dray_transfer *transfers;
	struct dray_buffer **buffers;
};

static int check(const struct dray_stream *stream, size_t count, uint32_t flags)
{
	uint32_t points = stream->port->timeline->points;

	if (flags & ~DRAY_RING_OVERWRITE)
		return dray_fail(-EINVAL, "unknown flags 0x%x of a ring",
				 flags & ~DRAY_RING_OVERWRITE);
	if (flags && stream->sends)
		return dray_fail(
			-EINVAL,
			"%s sends, and only received frames are overwritten",
			stream->name);
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

/* Checks one frame and holds its memory. */
static int add_frame(struct giving *giving, const struct dray_view *view)
{
	uint32_t index = giving->count++;
	struct dray_packet *packet = &giving->packets[index];
	struct dray_stream *stream = giving->stream;
	int ret;

	ret = dray_packet_init(packet, stream, stream->sends, &view, 1, NULL);
	if (!ret)
		ret = dray_packet_choose(packet);
	if (ret)
		return dray_fail_adding(ret, " (frame %u)", index);
	giving->buffers[index] = packet->views[0].operand.location.buffer;
	giving->transfers[index] = dray_packet_transfer(
		packet, giving->buffers[index], &packet->pieces[0]);
	return 0;
}

/* Frames that receive must be apart, as the kernel interface says. */
static int check_apart(const struct giving *giving)
{
	uint32_t i, k;

	for (i = 0; !giving->stream->sends && i < giving->count; i++) {
		for (k = 0; k < i; k++) {
			const struct dray_packet *a = &giving->packets[i];
			const struct dray_packet *b = &giving->packets[k];

			if (dray_addresses_meet(a->views[0].operand.span,
						b->views[0].operand.span))
				return dray_fail(
					-EINVAL,
					"frames %u and %u overlap, each must end before another begins",
					k, i);
		}
	}
	return 0;
}

static struct dray_stream_ring *make_ring(const struct giving *giving,
					  uint32_t flags)
{
	struct dray_stream_ring *ring = calloc(
		1, sizeof(*ring) + giving->count * sizeof(ring->frames[0]));
	uint32_t i;

	if (!ring) {
		dray_fail(-ENOMEM, "no memory for %u frames", giving->count);
		return NULL;
	}
	ring->overwrites = flags & DRAY_RING_OVERWRITE;
	ring->count = giving->count;
	ring->fresh = giving->stream->sends ? 0 : giving->count;
	for (i = 0; i < giving->count; i++) {
		struct dray_operand *operand =
			&giving->packets[i].views[0].operand;

		ring->frames[i].location = operand->location;
		ring->frames[i].span = operand->span;
		ring->frames[i].held = operand->held;
		operand->held = false;
	}
	return ring;
}

static int check_quiet(const struct dray_stream *stream)
{
	uint64_t count = stream->counts.in_flight;

	if (!count)
		return 0;
	return dray_fail(-EBUSY,
			 "%s has %" PRIu64
			 " packet%s in flight, a ring begins without any",
			 stream->name, count, dray_plural(count));
}

/* Hands the frames to the port. */
static int hand_in(struct giving *giving, struct dray_stream_ring *ring,
		   uint32_t flags)
{
	struct dray_stream *stream = giving->stream;
	struct dray_port_ring args = {
		.flags = flags,
		.count = giving->count,
		.transfers = giving->transfers,
		.buffers = giving->buffers,
	};
	int ret;

	dray_streams_lock();
	ret = check_quiet(stream);
	dray_streams_unlock();
	if (ret)
		return ret;
	/* There is no packet, so this is the number of the last one. */
	ring->base = __atomic_load_n(&stream->port->timeline->completed,
				     __ATOMIC_ACQUIRE);
	ring->next = ring->base + 1;
	ret = stream->port->ops->ring(stream->port, &args);
	return ret && args.failed
		       ? dray_fail_adding(ret, " (frame %u)", args.failed)
		       : ret;
}

/* In this thread's turn: no packet is submitted meanwhile. */
static int begin(struct giving *giving, uint32_t flags)
{
	struct dray_stream_ring *ring = make_ring(giving, flags);
	int ret;

	if (!ring)
		return -ENOMEM;
	ret = hand_in(giving, ring, flags);
	if (ret) {
		dray_ring_free(ring);
		return ret;
	}
	dray_streams_lock();
	giving->stream->ring = ring;
	dray_streams_unlock();
	return 0;
}

static int give(struct giving *giving, const struct dray_view *const *views,
		size_t count, uint32_t flags)
{
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < count; i++)
		ret = add_frame(giving, views[i]);
	if (!ret)
		ret = check_apart(giving);
	if (ret)
		return ret;
	ret = dray_stream_begin(giving->stream, false);
	if (ret)
		return ret;
	ret = begin(giving, flags);
	dray_stream_finish(giving->stream);
	return ret;
}

int dray_stream_ring(struct dray_stream *stream,
		     const struct dray_view *const *views, size_t count,
		     uint32_t flags)
{
	struct giving giving = { .stream = stream };
	uint32_t i;
	int ret;

	if (!dray_given(stream, __func__) || !dray_given(views, __func__))
		return -EINVAL;
	ret = dray_stream_check(stream);
	if (!ret)
		ret = check(stream, count, flags);
	if (ret)
		return ret;
	giving.packets = calloc(count, sizeof(giving.packets[0]));
	giving.transfers = calloc(count, sizeof(giving.transfers[0]));
	giving.buffers = calloc(count, sizeof(struct dray_buffer *));
	if (giving.packets && giving.transfers && giving.buffers)
		ret = give(&giving, views, count, flags);
	else
		ret = dray_fail(-ENOMEM, "no memory for %zu frames", count);
	for (i = 0; i < giving.count; i++)
		dray_packet_drop(&giving.packets[i]);
	free(giving.packets);
	free(giving.transfers);
	free(giving.buffers);
	return ret;
}
