// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A process that makes random calls on all streams of the node, until the scene is
 * over or somebody kills it; see random.h.
 */
#include "../selftests/fence.h"
#include "../selftests/process.h"
#include "../selftests/step.h"
#include "random.h"

#define FENCES 8
#define MOODS 12

struct worker {
	struct random_stage *stage;
	uint64_t state;
	int node; /* -1: it is closed */
	struct buffer buffer; /* fd -1: none */
	struct lane lanes[RANDOM_LANES];
	uint32_t count; /* of lanes */
	int fences[FENCES]; /* -1: none */
	uint32_t moods[MOODS]; /* how often it does something */
};

static void worker_keep(struct worker *worker, int fence)
{
	int *place = &worker->fences[pick(&worker->state, FENCES)];

	if (fence < 0)
		return;
	if (*place >= 0)
		close(*place);
	*place = fence;
}

static int worker_submit(struct worker *worker, struct lane *lane)
{
	int in_fence = -1, fence, ret;

	if (worker->moods[0] && !pick(&worker->state, 4))
		in_fence = worker->fences[pick(&worker->state, FENCES)];
	ret = lane_submit(lane, &fence, in_fence);
	worker_keep(worker, fence);
	return ret;
}

static int worker_cancel(struct worker *worker, struct lane *lane)
{
	int fence = worker->fences[pick(&worker->state, FENCES)];
	uint64_t point = lane->next + pick(&worker->state, 8);

	switch (pick(&worker->state, 8)) {
	case 0:
		return lane_cancel(lane, DRAY_CHANNEL_ANY, 0, -1);
	case 1:
		return lane_cancel(lane, lane->channel, 0, -1);
	case 2:
	case 3:
		if (fence >= 0)
			return lane_cancel(lane, 0, 0, fence);
		break;
	}
	return lane->is == LANE_PACKETS
		       ? lane_cancel(lane, lane->channel, point, -1)
		       : 0;
}

static int worker_wait(struct worker *worker, struct lane *lane)
{
	uint64_t until = now_ns() + pick(&worker->state, 10 * MILLISECOND);

	if (ring_overwrites(lane) ||
	    (lane->is == LANE_PACKETS && lane->next > lane->last))
		return 0;
	return lane_wait(lane, pick(&worker->state, 4) ? until : 0);
}

static int worker_reap(struct lane *lane)
{
	return lane->is == LANE_RING ? ring_reap(lane) : lane_reap(lane);
}

/* Is it in the mood for the thing @what? */
static bool worker_likes(struct worker *worker, uint32_t what, uint32_t rare)
{
	/* Rings may take turns, and nothing else does without a stop. */
	if (worker->stage->steady && what != 2 && what != 4 && what != 5)
		return false;
	return worker->moods[what] && !pick(&worker->state, rare);
}

static int worker_packets(struct worker *worker, struct lane *lane)
{
	if (worker_likes(worker, 1, 30))
		return worker_cancel(worker, lane);
	if (worker_likes(worker, 2, 40))
		return ring_begin(lane);
	if (!pick(&worker->state, 6))
		return worker_wait(worker, lane);
	return worker_submit(worker, lane);
}

static int worker_ring(struct worker *worker, struct lane *lane)
{
	if (worker_likes(worker, 3, 60))
		return lane_cancel(lane, lane->channel, 0, -1);
	if (worker_likes(worker, 4, 30))
		return ring_begin(lane);
	if (worker_likes(worker, 5, 30))
		return ring_away(lane);
	if (worker_likes(worker, 6, 200))
		return ring_end(lane);
	if (!pick(&worker->state, 6))
		return worker_wait(worker, lane);
	return ring_release(lane);
}

/* One call on one lane, and all that has come. */
static int worker_step(struct worker *worker)
{
	struct lane *lane = &worker->lanes[pick(&worker->state, worker->count)];
	int ret;

	if (lane->is == LANE_CLOSED) {
		ret = lane_open(lane);
		if (ret == -EBUSY)
			usleep(500);
		return ret == -EBUSY ? 0 : ret;
	}
	if (lane->is == LANE_ENDED || worker_likes(worker, 7, 300))
		return lane_close(lane);
	ret = lane->is == LANE_RING ? worker_ring(worker, lane)
				    : worker_packets(worker, lane);
	return ret ? ret : worker_reap(lane);
}

static int worker_drain(struct lane *lane)
{
	switch (lane->is) {
	case LANE_PACKETS:
		return lane_drain(lane);
	case LANE_RING:
		return ring_drain(lane);
	default:
		return 0;
	}
}

/* Closes everything, in one of several ways; a dead channel is no surprise. */
static int worker_leave(struct worker *worker, bool gone)
{
	uint32_t way = gone ? 0 : pick(&worker->state, 3);
	int ret = 0;

	if (!way && worker->node >= 0) {
		close(worker->node);
		worker->node = -1;
	}
	for (uint32_t i = 0; i < worker->count && !ret; i++) {
		struct lane *lane = &worker->lanes[i];

		if (!way)
			ret = lane_end(lane,
				       gone ? "after the node's end"
					    : "after close() of the node");
		else if (way == 1)
			ret = worker_drain(lane);
		if (!ret || ret == -ENODEV)
			ret = lane_close(lane);
	}
	if (worker->node >= 0)
		close(worker->node);
	worker->node = -1;
	return ret;
}

/* Those of another opener cancel nothing. */
static void worker_forget(struct worker *worker)
{
	for (uint32_t i = 0; i < FENCES; i++)
		if (worker->fences[i] >= 0)
			close(worker->fences[i]);
	memset(worker->fences, -1, sizeof(worker->fences));
}

/* Opens the node, with new memory or with that of an earlier node. */
static int worker_arrive(struct worker *worker)
{
	int ret;

	worker->node = node_open();
	if (worker->node < 0)
		return -ENODEV;
	worker_forget(worker);
	if (worker->buffer.fd >= 0 && pick(&worker->state, 2)) {
		buffer_close(&worker->buffer);
		worker->buffer.fd = -1;
	}
	if (worker->buffer.fd < 0) {
		ret = buffer_open(worker->node, DRAY_HEAP_ANY,
				  RANDOM_LANES * RANDOM_AREA, &worker->buffer);
		if (ret) {
			worker->buffer.fd = -1;
			close(worker->node);
			worker->node = -1;
			return ret == -ENODEV
				       ? ret
				       : FAULT("ALLOC: %s", strerror(-ret));
		}
	}
	for (uint32_t i = 0; i < worker->count; i++) {
		worker->lanes[i].node = worker->node;
		worker->lanes[i].fd = worker->buffer.fd;
		worker->lanes[i].buffer = worker->buffer.bytes;
	}
	return 0;
}

static int worker_play(struct worker *worker)
{
	int ret = worker_arrive(worker);

	if (ret) {
		usleep(2000);
		return ret == -ENODEV ? 0 : ret;
	}
	while (!ret && !atomic_load(&worker->stage->over) &&
	       !worker_likes(worker, 8, 2000))
		ret = worker_step(worker);
	return !ret || ret == -ENODEV ? worker_leave(worker, ret) : ret;
}

int worker_main(void *context)
{
	const struct random_worker *args = context;
	static struct worker worker;
	int ret = 0;

	worker = (struct worker){ .stage = args->stage,
				  .state = args->seed,
				  .node = -1,
				  .buffer.fd = -1,
				  .count = 2 * args->stage->pairs };
	memset(worker.fences, -1, sizeof(worker.fences));
	for (uint32_t i = 0; i < MOODS; i++)
		worker.moods[i] = pick(&worker.state, 2);
	for (uint32_t i = 0; i < worker.count; i++)
		worker.lanes[i] = (struct lane){ .stage = args->stage,
						 .state = &worker.state,
						 .channel = i,
						 .node = -1 };
	while (!ret && !atomic_load(&args->stage->over))
		ret = worker_play(&worker);
	if (ret == -EIO && args->stage->deaf)
		return 0;
	if (ret == -EIO)
		FAULT("a channel is dead");
	return ret ? STEP_FAILED : 0;
}
