// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Rings of the loop-back streams.  A frame keeps its job: it is queued on the
 * line while it is free for packets, and line.c moves them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "memory/backend.h"
#include "memory/line.h"
#include "memory/reason.h"

struct dray_line_job *dray_line_job_create(const struct dray_host_line *line,
					   const struct dray_port_job *asked)
{
	struct dray_axis *axes;
	struct dray_line_job *job;
	size_t all = 0;
	uint32_t i;

	for (i = 0; i < asked->count; i++)
		all += asked->transfers[i].axes_count;
	job = calloc(1, sizeof(*job) + asked->count * sizeof(job->pieces[0]) +
				all * sizeof(*axes));
	if (!job) {
		dray_fail(-ENOMEM, "no memory for a packet");
		return NULL;
	}
	axes = (struct dray_axis *)&job->pieces[asked->count];
	job->count = asked->count;
	job->deadline = asked->deadline_ns
				? dray_clock_now() + asked->deadline_ns
				: DRAY_LINE_NEVER;
	for (i = 0; i < asked->count; i++) {
		const struct dray_transfer *transfer = &asked->transfers[i];
		uint64_t offset = line->sends ? transfer->src_offset
					      : transfer->dst_offset;

		job->pieces[i] = (struct dray_line_piece){
			.first = (char *)asked->buffers[i]->data + offset,
			.run = transfer->run,
			.axes_count = transfer->axes_count,
			.axes = axes,
		};
		if (transfer->axes_count)
			memcpy(axes, (void *)(uintptr_t)transfer->axes,
			       transfer->axes_count * sizeof(*axes));
		axes += transfer->axes_count;
	}
	return job;
}

void dray_line_ring_free(struct dray_line_ring *ring)
{
	uint32_t i;

	for (i = 0; ring && i < ring->count; i++)
		free(ring->frames[i].job);
	free(ring);
}

/* Makes the jobs of all frames; NULL with a sentence. */
static struct dray_line_ring *
line_ring_create(const struct dray_host_line *line,
		 const struct dray_port_ring *asked)
{
	struct dray_line_ring *ring = calloc(
		1, sizeof(*ring) + asked->count * sizeof(ring->frames[0]));

	if (!ring) {
		dray_fail(-ENOMEM, "no memory for %u frames", asked->count);
		return NULL;
	}
	ring->overwrites = asked->flags & DRAY_RING_OVERWRITE;
	ring->released = !line->sends || asked->flags & DRAY_RING_RELEASED;
	while (ring->count < asked->count) {
		struct dray_line_frame *frame = &ring->frames[ring->count];
		struct dray_port_job packet = {
			.count = 1,
			.transfers = &asked->transfers[ring->count],
			.buffers = &asked->buffers[ring->count],
		};

		frame->job = dray_line_job_create(line, &packet);
		if (!frame->job) {
			dray_line_ring_free(ring);
			return NULL;
		}
		frame->job->frame = frame;
		frame->state = DRAY_LINE_OWNED;
		ring->count++;
	}
	return ring;
}

/* Whether the line may still move a frame.  With the lock. */
static bool has_frames(const struct dray_line_ring *ring)
{
	uint32_t i;

	for (i = 0; ring && i < ring->count; i++)
		if (ring->frames[i].state != DRAY_LINE_OWNED &&
		    ring->frames[i].state != DRAY_LINE_UNREAD)
			return true;
	return false;
}

/* With the lock. */
static int loopback_ring_exchange(struct dray_host_line *line,
				  struct dray_line_ring *ring)
{
	uint32_t i;

	if (line->ring && line->ring->ended)
		return dray_fail(-ENODEV, "the ring has ended");
	if (has_frames(line->ring))
		return dray_fail(-EBUSY, "a frame of channel %u is on its way",
				 line->base.channel);
	dray_line_ring_free(line->ring);
	line->ring = ring;
	for (i = 0; ring && i < ring->count && ring->released; i++)
		dray_line_queue(line, ring->frames[i].job);
	dray_line_pump(line);
	return 0;
}

int dray_loopback_ring(struct dray_port *port, struct dray_port_ring *asked)
{
	struct dray_host_line *line = (struct dray_host_line *)port;
	struct dray_line_ring *ring = NULL;
	int ret;

	if (asked->count) {
		ring = line_ring_create(line, asked);
		if (!ring)
			return -ENOMEM;
	}
	dray_line_lock();
	ret = loopback_ring_exchange(line, ring);
	dray_line_unlock();
	if (ret)
		dray_line_ring_free(ring);
	return ret;
}

static bool can_release(const struct dray_line_ring *ring,
			const struct dray_line_frame *frame)
{
	return frame->state == DRAY_LINE_OWNED ||
	       (frame->state == DRAY_LINE_UNREAD && !ring->overwrites);
}

/* With the lock; the stream has checked that the frames exist. */
static int ring_give_back(struct dray_host_line *line,
			  struct dray_release *args)
{
	const uint32_t *frames = (const uint32_t *)(uintptr_t)args->frames;

	for (; args->released < args->count; args->released++) {
		uint32_t index = frames[args->released];
		struct dray_line_frame *frame = &line->ring->frames[index];

		if (!can_release(line->ring, frame))
			return dray_fail_reason(-EINVAL, DRAY_REASON_FRAME,
						index, "a frame of channel %u",
						line->base.channel);
		dray_line_queue(line, frame->job);
	}
	return 0;
}

static void loopback_ring_take(struct dray_host_line *line,
			       struct dray_release *args)
{
	struct dray_point *points =
		(struct dray_point *)(uintptr_t)args->points;
	struct dray_line_frame *frame;

	while (args->acquired < args->room &&
	       (frame = dray_line_unread(line->ring))) {
		frame->state = DRAY_LINE_OWNED;
		points[args->acquired++] = frame->point;
	}
}

int dray_loopback_release(struct dray_port *port, struct dray_release *args)
{
	struct dray_host_line *line = (struct dray_host_line *)port;
	struct dray_point point;
	int ret;

	dray_line_lock();
	ret = line->ring->ended ? dray_fail(-ENODEV, "the ring has ended")
				: ring_give_back(line, args);
	/* Packets may have waited for the frames. */
	dray_line_pump(line);
	if (!ret)
		loopback_ring_take(line, args);
	dray_line_unlock();
	if (ret || args->acquired || !args->until_ns)
		return ret;
	ret = port->ops->wait(port, args->number, args->until_ns, &point);
	if (ret && ret != -EOVERFLOW)
		return ret;
	dray_line_lock();
	loopback_ring_take(line, args);
	dray_line_unlock();
	return 0;
}

void dray_loopback_end_ring(struct dray_port *port)
{
	struct dray_host_line *line = (struct dray_host_line *)port;

	dray_line_lock();
	if (line->ring) {
		line->ring->ended = true;
		line->first = NULL;
		line->last = &line->first;
		line->in_flight = 0;
	}
	dray_line_wake();
	dray_line_unlock();
}
