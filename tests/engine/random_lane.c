// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A lane: one channel's timeline and its submissions, each in a part of the
 * lane's memory, whose other bytes are guards; see random.h.
 */
#include "../selftests/process.h"
#include "random.h"

#define DEPTH RANDOM_SLOTS /* submissions in flight */
#define REACH 32 /* so many numbers never wait for a place on the timeline */

int lane_expect(const struct lane *lane, const char *call, int ret,
		const int *allowed)
{
	while (*allowed && ret != *allowed)
		allowed++;
	if (!ret || *allowed)
		return ret;
	return FAULT("%s of channel %u: %s", call, lane->channel,
		     strerror(-ret));
}

uint8_t *lane_part(const struct lane *lane, uint32_t slot)
{
	return lane->buffer + lane->channel * RANDOM_AREA + slot * RANDOM_SLOT;
}

static uint64_t lane_bits(uint32_t slots, uint32_t slot)
{
	return ((1ull << slots) - 1) << slot;
}

int lane_check_guards(const struct lane *lane, uint32_t slot, uint32_t slots)
{
	int64_t at = first_other_byte(lane_part(lane, slot),
				      slots * RANDOM_SLOT, RANDOM_GUARD);

	if (at < 0)
		return 0;
	return FAULT("byte %" PRId64 " of %u slots of channel %u was written",
		     at, slots, lane->channel);
}

bool lane_take(struct lane *lane, uint32_t slots, uint32_t *slot)
{
	uint32_t first = pick(lane->state, RANDOM_SLOTS - slots + 1);

	for (uint32_t i = 0; i <= RANDOM_SLOTS - slots; i++) {
		*slot = (first + i) % (RANDOM_SLOTS - slots + 1);
		if (lane->used & lane_bits(slots, *slot))
			continue;
		lane->used |= lane_bits(slots, *slot);
		return true;
	}
	return false;
}

int lane_open(struct lane *lane)
{
	static const uint32_t points[] = { 0, 1, 256 };
	static const int allowed[] = { -EBUSY, -ENODEV, -EIO, 0 };
	struct dray_timeline args = {
		.channel = lane->channel,
		.points = points[pick(lane->state, 3)],
		.batch = 1 + pick(lane->state, pick(lane->state, 2) ? 4 : 64),
		.event_fd = -1,
	};
	int ret = line_open_as(lane->node, &args, &lane->line);

	if (ret)
		return lane_expect(lane, "TIMELINE", ret, allowed);
	lane->is = LANE_PACKETS;
	lane->last = line_completed(&lane->line);
	lane->next = lane->last + 1;
	lane->used = 0;
	lane->flags = 0;
	lane->receiver = (struct receiver){ .stage = lane->stage,
					    .pair = lane->channel / 2,
					    .lost = true };
	memset(lane_part(lane, 0), RANDOM_GUARD, RANDOM_AREA);
	return 0;
}

static uint64_t deadline_pick(uint64_t *state)
{
	switch (pick(state, 8)) {
	case 0:
		return DRAY_MAX_FENCE_DEADLINE;
	case 1:
		return DRAY_MAX_DEADLINE;
	case 2:
	case 3:
		return 1 + pick(state, 5 * MILLISECOND);
	case 4:
		return 1 + pick(state, 300 * MILLISECOND);
	default:
		return 0;
	}
}

/* Calls SUBMIT for a flight that is ready; 0: it is under way. */
static int lane_call(struct lane *lane, struct flight *flight, int *fence,
		     int in_fence)
{
	static const int allowed[] = { -EAGAIN, -EBUSY, -ENODEV, -EIO, 0 };
	uint64_t deadline =
		lane->stage->steady ? 0 : deadline_pick(lane->state);
	struct dray_submit submit =
		SUBMIT_OF(lane->channel, flight->layout.transfers,
			  flight->layout.count, .deadline_ns = deadline,
			  .fence_fd = -1, .in_fences = (uintptr_t)&in_fence,
			  .in_fence_count = in_fence >= 0);
	int ret;

	if (!deadline || deadline > DRAY_MAX_FENCE_DEADLINE ||
	    pick(lane->state, 2))
		submit.flags |= DRAY_SUBMIT_NO_FENCE;
	if (lane->last + 1 - lane->next > REACH || pick(lane->state, 2))
		submit.flags |= DRAY_SUBMIT_NONBLOCK;
	ret = lane_expect(lane, "SUBMIT",
			  node_call(lane->node, DRAY_IOC_SUBMIT, &submit),
			  allowed);
	if (ret)
		return ret;
	*fence = submit.fence_fd;
	if (submit.point != ++lane->last)
		return FAULT("submission %" PRIu64 " has number %" PRIu64,
			     lane->last, (uint64_t)submit.point);
	flight->deadline_ns = deadline ? now_ns() + deadline : 0;
	return 0;
}

int lane_submit(struct lane *lane, int *fence, int in_fence)
{
	bool sends = lane_sends(lane);
	enum shape most =
		stage_is_plain(lane->stage, sends) ? ONE_PIECE : MANY_TRANSFERS;
	struct flight *flight = &lane->flights[(lane->last + 1) % DEPTH];
	int ret;

	*fence = -1;
	if (lane->last + 1 - lane->next >= DEPTH)
		return 0;
	*flight = (struct flight){ 0 };
	flight->slots =
		1 + pick(lane->state, pick(lane->state, 8) ? 3 : RANDOM_MOST);
	if (lane->stage->plain)
		flight->slots = sends ? 4 : 5;
	if (!lane_take(lane, flight->slots, &flight->slot))
		return 0;
	if (!sends && lane_check_guards(lane, flight->slot, flight->slots))
		return -1;
	layout_pick(&flight->layout, lane->state, sends, lane->fd,
		    (uint64_t)(lane_part(lane, flight->slot) - lane->buffer),
		    flight->slots * RANDOM_SLOT, most);
	ret = sends &&
	      !(flight->packet = packet_write(lane->stage, lane->channel / 2,
					      &flight->layout, lane->buffer));
	if (!ret)
		ret = lane_call(lane, flight, fence, in_fence);
	flight->busy = !ret;
	if (ret)
		lane->used &= ~lane_bits(flight->slots, flight->slot);
	return ret == -EAGAIN || ret == -EBUSY || ret > 0 ? 0 : ret;
}

static int word_guard(void *context, uint32_t index, uint64_t *word)
{
	(void)context;
	(void)index;
	memset(word, RANDOM_GUARD, sizeof(*word));
	return 0;
}

/* Bytes that came; then only guards are left, or something wrote beside them. */
static int lane_came(struct lane *lane, struct flight *flight,
		     const struct dray_point *point)
{
	uint32_t words = flight->layout.words;

	if (!point->status) {
		if (receiver_check(&lane->receiver, &flight->layout,
				   lane->buffer, point->bytes))
			return -1;
		words = (uint32_t)(point->bytes / RANDOM_WORD);
	} else {
		lane->receiver.lost = true;
	}
	/* A packet may have come before, and was overwritten. */
	if (ring_overwrites(lane))
		words = flight->layout.words;
	layout_each(&flight->layout, lane->buffer, words, word_guard, NULL);
	return lane_check_guards(lane, flight->slot, flight->slots);
}

int lane_settle(struct lane *lane, struct flight *flight,
		const struct dray_point *point)
{
	static const int allowed[] = { -EIO,	    -ETIMEDOUT, -ECANCELED,
				       -ECONNRESET, -ENODEV,	0 };
	uint64_t bytes = flight->layout.words * RANDOM_WORD;

	flight->busy = false;
	if (lane_expect(lane, "the point", point->status, allowed) == -1)
		return -1;
	if (point->status == -ETIMEDOUT && !flight->deadline_ns)
		return FAULT("a submission without a deadline has met it");
	if (point->bytes > bytes ||
	    (lane_sends(lane) && !point->status && point->bytes != bytes))
		return FAULT("%" PRIu64 " bytes of %" PRIu64 " were moved",
			     (uint64_t)point->bytes, bytes);
	if (lane_sends(lane)) {
		lane->stage->packet[flight->packet].end =
			point->status ? point->status : PACKET_SENT;
		return 0;
	}
	/* A dead channel may write this memory for ever. */
	if (lane->stage->deaf && point->status == -EIO)
		return -EIO;
	return lane_came(lane, flight, point);
}

int lane_reap(struct lane *lane)
{
	struct dray_point point;
	struct flight *flight;
	int ret = 0;

	while (!ret && lane->next <= lane->last) {
		ret = line_read(&lane->line, lane->next, &point);
		if (ret == -EAGAIN)
			return 0;
		if (ret)
			return FAULT("point %" PRIu64 " of channel %u: %s",
				     lane->next, lane->channel, strerror(-ret));
		flight = &lane->flights[lane->next++ % DEPTH];
		ret = lane_settle(lane, flight, &point);
		lane->used &= ~lane_bits(flight->slots, flight->slot);
	}
	return ret;
}

int lane_wait(struct lane *lane, uint64_t until_ns)
{
	static const int allowed[] = { -ETIME, -ENODEV, 0 };
	struct dray_wait wait = { .number = lane->next, .until_ns = until_ns };
	int ret = lane_expect(lane, "WAIT", line_call(&lane->line, &wait),
			      allowed);

	return ret == -ETIME ? 0 : ret;
}

int lane_cancel(struct lane *lane, uint32_t channel, uint64_t point, int fence)
{
	static const int allowed[] = { -ENODEV, 0 };
	struct dray_cancel cancel = { .fence_fd = fence,
				      .channel = channel,
				      .point = point };

	return lane_expect(lane, "CANCEL",
			   node_call(lane->node, DRAY_IOC_CANCEL, &cancel),
			   allowed);
}

static bool lane_is_through(void *context)
{
	const struct lane *lane = context;

	return line_completed(&lane->line) >= lane->last;
}

/* All submissions must end; @why tells the reason of a line. */
static int lane_await(struct lane *lane, const char *why)
{
	if (!wait_for(lane_is_through, lane))
		return FAULT("%s, channel %u has %" PRIu64 " of %" PRIu64
			     " points",
			     why, lane->channel, line_completed(&lane->line),
			     lane->last);
	return lane_reap(lane);
}

int lane_end(struct lane *lane, const char *why)
{
	return lane->is == LANE_PACKETS ? lane_await(lane, why) : 0;
}

int lane_close(struct lane *lane)
{
	int ret = 0;

	if (lane->is == LANE_CLOSED)
		return 0;
	close(lane->line.fd);
	/* Points stay readable as long as they are mapped. */
	if (lane->is == LANE_PACKETS && !lane_is_through(lane))
		ret = FAULT("close() left %" PRIu64 " of %" PRIu64
			    " points of channel %u",
			    line_completed(&lane->line), lane->last,
			    lane->channel);
	if (lane->is == LANE_PACKETS && !ret)
		ret = lane_reap(lane);
	munmap((void *)lane->line.head, lane->line.size);
	lane->is = LANE_CLOSED;
	return ret;
}

/* Those with a deadline end by it. */
static int lane_await_deadlines(struct lane *lane)
{
	uint64_t soon = now_ns() + SECOND;
	struct dray_point point;
	int ret = 0;

	for (uint64_t i = lane->next; i <= lane->last && !ret; i++) {
		const struct flight *flight = &lane->flights[i % DEPTH];

		if (!flight->deadline_ns || flight->deadline_ns > soon)
			continue;
		ret = line_wait(&lane->line, i, &point);
		if (ret && ret != -ENODEV)
			return FAULT("point %" PRIu64 " of channel %u, which "
				     "has a deadline: %s",
				     i, lane->channel, strerror(-ret));
	}
	return ret;
}

int lane_drain(struct lane *lane)
{
	int ret = lane_reap(lane);

	if (!ret)
		ret = lane_await_deadlines(lane);
	if (!ret)
		ret = lane_cancel(lane, lane->channel, 0, -1);
	return ret && ret != -ENODEV ? ret : lane_await(lane, "behind CANCEL");
}
