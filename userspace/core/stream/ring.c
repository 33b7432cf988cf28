// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Passes the frames of a ring between callers and engine.  The points of frames
 * that wait are read from the timeline; if frames may be overwritten, only the
 * port can pass a frame on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/error.h"
#include "base/options.h"
#include "pool/busy.h"
#include "stream/ring.h"

/* A call: frames to release, and room for points. */
struct ring_passing {
	struct dray_stream *stream;
	const uint32_t *frames;
	uint32_t count;
	struct dray_point *points;
	uint32_t room;
	uint32_t least; /* points to wait for; of a ring that overwrites: 1 */
	int timeout_ms;
};

/* Refuses to wait for a frame, which the caller must acquire. */
static int refuse_wait(struct dray_use *use, const struct dray_use_part *part,
		       int timeout_ms)
{
	const struct dray_stream_ring *ring = (void *)use;
	uint32_t frame = 0;

	(void)timeout_ms;
	while (&ring->frames[frame].part != part)
		frame++;
	return dray_fail(
		-EBUSY, "the view meets frame %u of %s, which was not acquired",
		frame, ring->name);
}

static void ring_free_use(struct dray_use *use)
{
	free(use);
}

static const struct dray_use_kind kind = { DRAY_USE_TRANSFER, refuse_wait,
					   ring_free_use };

struct dray_stream_ring *dray_ring_create(const struct dray_stream *stream,
					  uint32_t count)
{
	struct dray_stream_ring *ring =
		calloc(1, sizeof(*ring) + count * sizeof(ring->frames[0]));

	if (!ring)
		return NULL;
	dray_use_init(&ring->use, &kind);
	memcpy(ring->name, stream->name, sizeof(ring->name));
	ring->count = count;
	return ring;
}

static void ring_describe(struct dray_stream_ring *ring, bool writes)
{
	struct dray_ring_frame *frame;

	for (frame = ring->frames; frame < ring->frames + ring->count;
	     frame++) {
		dray_use_add(&ring->use, &frame->part, frame->span, writes);
		atomic_store(&frame->part.idle, frame->owned);
	}
}

/* Refuses frames that are lent: a ring does not wait. */
int dray_ring_enter(struct dray_stream_ring *ring, bool writes)
{
	int ret;

	ring_describe(ring, writes);
	ret = dray_use_enter_alone(&ring->use, 1 << DRAY_USE_LOAN, 0);
	return ret == -ETIME ? -EBUSY : ret;
}

int dray_ring_abandon(struct dray_stream *stream, uint32_t count)
{
	dray_streams_lock();
	if (stream->ring && !stream->ring->use.number) {
		ring_describe(stream->ring, !stream->sends);
		dray_use_enter(&stream->ring->use);
	}
	dray_streams_unlock();
	return dray_fail(
		-ETIMEDOUT,
		"%s was cancelled and keeps %u frame%s: close the stream before their memory is used again",
		stream->name, count, dray_plural(count));
}

void dray_ring_free(struct dray_stream_ring *ring)
{
	uint32_t i;

	dray_use_leave(&ring->use);
	for (i = 0; i < ring->count; i++)
		if (ring->frames[i].held)
			dray_locate_release(&ring->frames[i].location);
	dray_use_unref(&ring->use);
}

void dray_ring_close(struct dray_stream *stream)
{
	if (!stream->ring)
		return;
	stream->ring->closing = true;
	dray_streams_unlock();
	stream->port->ops->end_ring(stream->port);
	dray_streams_lock();
}

void dray_ring_drop(struct dray_stream *stream)
{
	if (stream->ring)
		dray_ring_free(stream->ring);
	stream->ring = NULL;
}

static int no_ring(const struct dray_stream *stream)
{
	return dray_fail(-EINVAL,
			 "%s has no ring, dray_stream_ring() gives it one",
			 stream->name);
}

/* The functions below are called with the lock of all streams. */

static void ring_own(struct dray_stream_ring *ring, uint32_t frame, bool owned)
{
	ring->frames[frame].owned = owned;
	atomic_store(&ring->frames[frame].part.idle, owned);
	ring->owned += owned ? 1 : -1u;
}

/* Refuses a frame that is lent.  It is not idle, so that no loan of it begins. */
static int ring_check_lent(const struct dray_stream *stream, uint32_t frame)
{
	const struct dray_addresses span = stream->ring->frames[frame].span;
	struct dray_use_query query = { .before = UINT64_MAX,
					.sorts = 1 << DRAY_USE_LOAN };
	int ret;

	if (stream->sends)
		query.reads = span;
	else
		query.writes = span;
	ret = dray_use_wait(&query, 0);
	return ret == -ETIME ? dray_fail_adding(-EBUSY, " (frame %u of %s)",
						frame, stream->name)
			     : ret;
}

/* Acquires all frames from the caller, or none. */
static int ring_take_back(const struct ring_passing *passing)
{
	struct dray_stream_ring *ring = passing->stream->ring;
	uint32_t i, frame = 0;
	int ret = 0;

	for (i = 0; i < passing->count && !ret; i++) {
		frame = passing->frames[i];
		if (frame >= ring->count || !ring->frames[frame].owned)
			break;
		ring_own(ring, frame, false);
		ret = ring_check_lent(passing->stream, frame);
	}
	if (i == passing->count && !ret)
		return 0;
	while (i-- > 0)
		ring_own(ring, passing->frames[i], true);
	if (ret)
		return ret;
	if (frame >= ring->count)
		return dray_fail(-EINVAL, "frame %u of %s, its ring has %u",
				 frame, passing->stream->name, ring->count);
	return dray_fail(
		-EINVAL,
		"frame %u of %s is released twice, or was not acquired", frame,
		passing->stream->name);
}

static uint64_t ring_completed(const struct dray_stream *stream)
{
	return __atomic_load_n(&stream->port->timeline->completed,
			       __ATOMIC_ACQUIRE);
}

/* Reads points from the timeline; returns their count. */
static uint32_t read_points(const struct ring_passing *passing)
{
	struct dray_stream *stream = passing->stream;
	struct dray_stream_ring *ring = stream->ring;
	uint32_t n = 0;

	while (n < passing->room && ring->fresh < ring->count) {
		passing->points[n] = (struct dray_point){
			.frame = ring->fresh++,
		};
		ring_own(ring, passing->points[n++].frame, true);
	}
	while (n < passing->room && dray_port_read(stream->port, ring->next,
						   &passing->points[n]) > 0) {
		ring_own(ring, passing->points[n++].frame, true);
		ring->next++;
		ring->acquired++;
	}
	return n;
}

/* Whether frames can be acquired without the port. */
static bool ring_is_ready(const struct ring_passing *passing)
{
	const struct dray_stream *stream = passing->stream;
	const struct dray_stream_ring *ring = stream->ring;

	return !ring->overwrites &&
	       (ring->fresh < ring->count ||
		ring_completed(stream) >= ring->next + passing->least - 1);
}

/*
 * Asks the port, which releases frames, acquires some if it may overwrite them,
 * and waits until @until_ns if there are none, 0: not.  Drops the lock meanwhile.
 */
static int ask_port(struct ring_passing *passing, uint64_t until_ns)
{
	struct dray_stream *stream = passing->stream;
	struct dray_stream_ring *ring = stream->ring;
	struct dray_release args = {
		.frames = (uintptr_t)passing->frames,
		.count = passing->count,
		.points = (uintptr_t)passing->points,
		.room = ring->overwrites ? passing->room : 0,
		.number = ring->next,
		.until_ns = until_ns,
	};
	uint64_t seen = ring_completed(stream), last = 0;
	uint32_t i;
	int ret;

	dray_streams_unlock();
	ret = stream->port->ops->release(stream->port, &args);
	dray_streams_lock();
	for (i = args.released; i < passing->count; i++)
		ring_own(ring, passing->frames[i], true);
	passing->count = 0;
	if (ret)
		return ret;
	for (i = 0; i < args.acquired; i++) {
		ring_own(ring, passing->points[i].frame, true);
		last = passing->points[i].number;
	}
	ring->acquired += args.acquired;
	/* The oldest are first, and all pass if there is room. */
	if (args.acquired == args.room || last > seen)
		seen = last;
	if (ring->next <= seen)
		ring->next = seen + 1;
	return (int)args.acquired;
}

/* Waits for the points that are wanted.  Drops the lock meanwhile. */
static int wait_for_points(const struct ring_passing *passing,
			   uint64_t until_ns)
{
	struct dray_stream *stream = passing->stream;
	uint64_t last = stream->ring->next + passing->least - 1;
	struct dray_point point;
	int ret;

	dray_streams_unlock();
	ret = stream->port->ops->wait(stream->port, last, until_ns, &point);
	dray_streams_lock();
	/* Another thread acquired it, and later frames arrived since. */
	return ret == -EOVERFLOW ? 0 : ret;
}

/*
 * Passes frames with a single call of the port at most; with none if frames wait and
 * none is released.  Waits until @until_ns, 0: not.  Returns the count of frames
 * acquired, 0 if another thread was faster, or a negative errno.
 */
static int stream_ring_pass(struct ring_passing *passing, uint64_t until_ns)
{
	struct dray_stream *stream = passing->stream;
	const struct dray_stream_ring *ring = stream->ring;
	bool asks = ring->overwrites && passing->room &&
		    (until_ns || ring_completed(stream) >= ring->next);
	uint32_t acquired;
	int ret = 0;

	if (ring_is_ready(passing))
		until_ns = 0;
	if (asks || passing->count)
		ret = ask_port(passing, until_ns);
	else if (until_ns)
		ret = wait_for_points(passing, until_ns);
	if (ring->overwrites || (ret && passing->least == 1))
		return ret;
	/* Fewer than were wanted are better than none. */
	acquired = read_points(passing);
	return acquired ? (int)acquired : ret;
}

static int ring_failed(const struct ring_passing *passing, int error)
{
	const char *name = passing->stream->name;

	if (passing->stream->ring->closing)
		return dray_fail(-ECANCELED, "%s was closed", name);
	if (error == -ETIME)
		return dray_fail(error, "no frame of %s within %d ms", name,
				 passing->timeout_ms);
	if (error == -EINTR)
		return dray_fail(error, "a signal came before a frame of %s",
				 name);
	return error;
}

/* The rest is called without the lock. */

static int ring_carry_out(struct ring_passing *passing)
{
	DRAY_NO_CANCEL;
	struct dray_stream *stream = passing->stream;
	uint64_t until_ns = 0;
	int ret;

	if (passing->room && passing->timeout_ms)
		until_ns = dray_use_until(passing->timeout_ms);
	dray_streams_lock();
	ret = stream->ring ? ring_take_back(passing) : no_ring(stream);
	if (ret) {
		dray_streams_unlock();
		return ret;
	}
	dray_stream_use(stream);
	do {
		ret = stream_ring_pass(passing, until_ns);
	} while (!ret && until_ns);
	if (!ret && passing->room)
		ret = -ETIME;
	if (ret < 0)
		ret = ring_failed(passing, ret);
	dray_stream_leave(stream);
	dray_streams_unlock();
	return ret;
}

static int ring_check(const struct dray_stream *stream, size_t count)
{
	int ret = dray_stream_check(stream);

	if (ret || count <= DRAY_MAX_FRAMES)
		return ret;
	return dray_fail(-EINVAL, "%zu frames, a ring has up to %u", count,
			 DRAY_MAX_FRAMES);
}

int dray_stream_release(struct dray_stream *stream, const uint32_t *frames,
			size_t count)
{
	struct ring_passing passing = {
		.stream = stream,
		.frames = frames,
		.count = (uint32_t)count,
		.least = 1,
	};
	int ret;

	if (!dray_given(stream, __func__) || !dray_given(frames, __func__))
		return -EINVAL;
	ret = ring_check(stream, count);
	return ret ? ret : ring_carry_out(&passing);
}

static int ring_exchange(struct dray_stream *stream, const uint32_t *frames,
			 size_t count, struct dray_point *points, size_t room,
			 int timeout_ms)
{
	struct ring_passing passing = {
		.stream = stream,
		.frames = frames,
		.count = (uint32_t)count,
		.points = points,
		.room = room < DRAY_MAX_FRAMES ? (uint32_t)room
					       : DRAY_MAX_FRAMES,
		.least = 1,
		.timeout_ms = timeout_ms,
	};
	int ret;

	ret = ring_check(stream, count);
	if (ret)
		return ret;
	if (!room)
		return dray_fail(-EINVAL, "no room for a frame of %s",
				 stream->name);
	return ring_carry_out(&passing);
}

int dray_stream_acquire(struct dray_stream *stream, struct dray_point *points,
			size_t room, int timeout_ms)
{
	if (!dray_given(stream, __func__) || !dray_given(points, __func__))
		return -EINVAL;
	return ring_exchange(stream, NULL, 0, points, room, timeout_ms);
}

int dray_stream_exchange(struct dray_stream *stream, const uint32_t *frames,
			 size_t count, struct dray_point *points, size_t room,
			 int timeout_ms)
{
	if (!dray_given(stream, __func__) || !dray_given(points, __func__) ||
	    (count && !dray_given(frames, __func__)))
		return -EINVAL;
	return ring_exchange(stream, frames, count, points, room, timeout_ms);
}

int dray_ring_acquire(struct dray_stream *stream, struct dray_point *points,
		      uint32_t room, uint32_t least, int timeout_ms)
{
	struct ring_passing passing = {
		.stream = stream,
		.points = points,
		.room = room,
		.least = least,
		.timeout_ms = timeout_ms,
	};

	return ring_carry_out(&passing);
}

int dray_stream_ring_counts(struct dray_stream *stream,
			    struct dray_ring_counts *counts)
{
	const struct dray_timeline_head *head;
	const struct dray_stream_ring *ring;
	struct dray_ring_counts known = { .frames = 0 };
	int ret;

	if (!dray_given(stream, __func__) || !dray_given(counts, __func__))
		return -EINVAL;
	ret = dray_stream_check(stream);
	if (ret)
		return ret;
	head = stream->port->timeline;
	dray_streams_lock();
	ring = stream->ring;
	if (ring) {
		known.frames = ring->count;
		known.acquired = ring->acquired;
		known.owned = ring->owned;
		known.base = ring->base;
		known.lost = __atomic_load_n(&head->lost, __ATOMIC_ACQUIRE) -
			     ring->lost;
		known.held_back =
			__atomic_load_n(&head->held_back, __ATOMIC_RELAXED) -
			ring->held_back;
		known.ended = ring_completed(stream) - ring->base;
	}
	dray_streams_unlock();
	if (!ring)
		return no_ring(stream);
	/* A frame may be acquired just before its point is there. */
	if (known.ended > known.acquired + known.lost)
		known.waiting = known.ended - known.acquired - known.lost;
	return DRAY_WRITE_RESULT(counts, &known, DRAY_RING_COUNTS_SIZE_FIRST);
}
