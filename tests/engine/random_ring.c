// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Rings of a lane: they take turns with its submissions, and replace each other.
 * Each has one half of the lane's memory; see random.h.
 */
#include "../selftests/process.h"
#include "random.h"

#define HALF (RANDOM_SLOTS / 2)
#define ACQUIRED 8

static int ring_call(struct lane *lane, struct dray_ring *args)
{
	static const int allowed[] = { -EBUSY, -ENODEV, -EIO, 0 };
	int ret = ioctl(lane->line.fd, DRAY_IOC_RING, args) < 0 ? -errno : 0;

	return lane_expect(lane, "RING", ret, allowed);
}

static uint32_t ring_busy(const struct lane *lane)
{
	uint32_t busy = 0;

	for (uint32_t i = 0; i < lane->frames; i++)
		busy += lane->flights[i].busy;
	return busy;
}

static bool ring_write(struct lane *lane, struct flight *flight)
{
	flight->packet = packet_write(lane->stage, lane->channel / 2,
				      &flight->layout, lane->buffer);
	return flight->packet;
}

/* Frames like the one before, or of any shape; false: the scene is over. */
static bool ring_pick(struct lane *lane, struct dray_transfer *frames,
		      uint32_t first)
{
	uint32_t slots = lane->stage->plain ? 5 : 1 + pick(lane->state, 4);
	bool alike = pick(lane->state, 2), sends = lane_sends(lane);
	enum shape most =
		stage_is_plain(lane->stage, sends) ? ONE_PIECE : ONE_TRANSFER;
	struct flight *flight = lane->flights;

	lane->frames = 2 + pick(lane->state, HALF / slots - 1);
	for (uint32_t i = 0; i < lane->frames; i++, flight++) {
		uint32_t slot = first + i * slots;
		uint64_t at = (uint64_t)(lane_part(lane, slot) - lane->buffer);

		*flight = (struct flight){
			.slot = slot,
			.slots = slots,
			.busy = !sends || lane->flags & DRAY_RING_RELEASED
		};
		layout_pick(&flight->layout, lane->state, sends, lane->fd, at,
			    (sends && lane->stage->plain ? 4 : slots) *
				    RANDOM_SLOT,
			    most);
		if (i && alike) {
			flight->layout = flight[-1].layout;
			flight->layout.transfers[0].src_offset +=
				sends ? slots * RANDOM_SLOT : 0;
			flight->layout.transfers[0].dst_offset +=
				sends ? 0 : slots * RANDOM_SLOT;
			layout_tie(&flight->layout);
		}
		if (!sends)
			memset(lane_part(lane, slot), RANDOM_GUARD,
			       slots * RANDOM_SLOT);
		else if (flight->busy && !ring_write(lane, flight))
			return false;
		frames[i] = flight->layout.transfers[0];
	}
	return true;
}

/* The state of a ring that stays if another one is refused. */
struct ring_before {
	struct flight flights[RANDOM_SLOTS];
	uint32_t frames;
	uint32_t flags;
	uint32_t busy;
};

int ring_begin(struct lane *lane)
{
	struct dray_transfer frames[HALF];
	struct dray_ring args = { .frames = (uintptr_t)frames };
	struct ring_before *before;
	bool replaces = lane->is == LANE_RING;
	int ret = 0;

	if (ring_overwrites(lane) || (!replaces && lane->used))
		return 0;
	before = malloc(sizeof(*before));
	if (!before)
		return FAULT("there is no memory");
	*before =
		(struct ring_before){ .frames = lane->frames,
				      .flags = lane->flags,
				      .busy = replaces ? ring_busy(lane) : 0 };
	memcpy(before->flights, lane->flights, sizeof(before->flights));
	lane->flags = 0;
	if (pick(lane->state, 2))
		lane->flags = lane_sends(lane) ? DRAY_RING_RELEASED
					       : DRAY_RING_OVERWRITE;
	args.flags = lane->flags;
	if (replaces || pick(lane->state, 4) == 0)
		args.flags |= DRAY_RING_REPLACE;
	if (ring_pick(lane, frames,
		      replaces && before->flights[0].slot < HALF ? HALF : 0)) {
		args.count = lane->frames;
		ret = ring_call(lane, &args);
	} else {
		ret = -EBUSY;
	}
	if (ret) {
		memcpy(lane->flights, before->flights, sizeof(before->flights));
		lane->frames = before->frames;
		lane->flags = before->flags;
	} else {
		/* Their points have come meanwhile. */
		lane->next += before->busy;
		if (before->busy)
			lane->receiver.lost = true;
		lane->is = LANE_RING;
	}
	free(before);
	for (uint32_t i = 0; lane->is == LANE_RING && i < lane->frames; i++)
		layout_tie(&lane->flights[i].layout);
	return ret == -EBUSY ? 0 : ret;
}

/* Frames that the ring does not have; those to send get packets. */
static uint32_t ring_idle(struct lane *lane, uint32_t *frames)
{
	uint32_t first = pick(lane->state, lane->frames), count = 0, i;
	uint32_t most = 1 + pick(lane->state, 6);

	for (uint32_t k = 0; k < lane->frames && count < most; k++) {
		i = (first + k) % lane->frames;
		if (lane->flights[i].busy ||
		    (lane_sends(lane) && !ring_write(lane, &lane->flights[i])))
			continue;
		frames[count++] = i;
	}
	return count;
}

/* A frame's point; in a ring that overwrites, some are missing. */
static int ring_settle(struct lane *lane, const struct dray_point *point)
{
	struct flight *flight;

	if (point->frame >= lane->frames || !lane->flights[point->frame].busy)
		return FAULT("point %" PRIu64 " of channel %u names frame %u, "
			     "which did not fly",
			     (uint64_t)point->number, lane->channel,
			     point->frame);
	flight = &lane->flights[point->frame];
	if (point->number != lane->next)
		lane->receiver.lost = true;
	lane->next = point->number + 1;
	return lane_settle(lane, flight, point);
}

int ring_release(struct lane *lane)
{
	static const int allowed[] = { -ETIME, -ENODEV, 0 };
	uint32_t frames[ACQUIRED];
	struct dray_point points[ACQUIRED];
	struct dray_release args = { .frames = (uintptr_t)frames,
				     .points = (uintptr_t)points };
	int ret = 0;

	args.count = ring_idle(lane, frames);
	if (ring_overwrites(lane))
		args.room = pick(lane->state, ACQUIRED + 1);
	if (pick(lane->state, 2)) {
		args.number = lane->next;
		args.until_ns = now_ns() + pick(lane->state, 5 * MILLISECOND);
	}
	for (uint32_t i = 0; i < args.count && !lane_sends(lane) && !ret; i++)
		ret = lane_check_guards(lane, lane->flights[frames[i]].slot,
					lane->flights[frames[i]].slots);
	if (ret)
		return ret;
	ret = ioctl(lane->line.fd, DRAY_IOC_RELEASE, &args) < 0 ? -errno : 0;
	ret = lane_expect(lane, "RELEASE", ret, allowed);
	for (uint32_t i = 0; i < args.released; i++)
		lane->flights[frames[i]].busy = true;
	if (ret == -ETIME)
		ret = 0;
	for (uint32_t i = 0; i < args.acquired && !ret; i++)
		ret = ring_settle(lane, &points[i]);
	return ret;
}

int ring_reap(struct lane *lane)
{
	struct dray_point point;
	int ret;

	while (!ring_overwrites(lane)) {
		ret = line_read(&lane->line, lane->next, &point);
		if (ret == -EAGAIN)
			break;
		if (ret)
			return FAULT("point %" PRIu64 " of a ring: %s",
				     lane->next, strerror(-ret));
		ret = ring_settle(lane, &point);
		if (ret)
			return ret;
	}
	return 0;
}

int ring_away(struct lane *lane)
{
	struct dray_ring none = { .flags = DRAY_RING_REPLACE };
	uint32_t busy = ring_busy(lane);
	int ret;

	if (ring_overwrites(lane))
		return 0;
	ret = ring_call(lane, &none);
	if (ret)
		return ret == -EBUSY ? 0 : ret;
	if (busy)
		lane->receiver.lost = true;
	lane->last = lane->next + busy - 1;
	lane->next = lane->last + 1;
	lane->is = LANE_PACKETS;
	lane->used = 0;
	lane->flags = 0;
	memset(lane_part(lane, 0), RANDOM_GUARD, RANDOM_AREA);
	return 0;
}

int ring_end(struct lane *lane)
{
	struct dray_ring none = { .flags = 0 };
	struct dray_point point;
	int ret = ring_call(lane, &none);

	if (ret)
		return ret;
	lane->is = LANE_ENDED;
	ret = line_wait(&lane->line, lane->next + (1ull << 40), &point);
	if (ret != -ENODEV)
		return FAULT("WAIT after the end of a ring: %s",
			     strerror(-ret));
	return 0;
}

static bool ring_is_idle(void *context)
{
	struct lane *lane = context;

	return ring_reap(lane) || !ring_busy(lane);
}

int ring_drain(struct lane *lane)
{
	int ret;

	if (ring_overwrites(lane))
		return ring_end(lane);
	ret = lane_cancel(lane, lane->channel, 0, -1);
	if (ret)
		return ret;
	if (!wait_for(ring_is_idle, lane))
		return FAULT("behind CANCEL, %u frames of channel %u fly on",
			     ring_busy(lane), lane->channel);
	return ring_reap(lane);
}
