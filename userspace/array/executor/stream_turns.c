// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Frames of a call in rings, as many at a time as a ring may hold.  A turn begins
 * with all frames released, and ends when all were acquired.  If its operands lack a
 * ring, a call makes rings for itself, and removes them at its end: no stream keeps
 * memory between calls.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "private.h"
#include "executor/stream_executor.h"

#define POINTS 128u
/* milliseconds until frames that were not in flight are cancelled, too */
#define CANCEL_MS 10

struct dray_stream *dray_stream_of(const struct dray_stream_executor *executor,
				   int o)
{
	const int inputs = executor->options.ufunc->inputs;

	return o < inputs ? executor->tx[o] : executor->rx[o - inputs];
}

static uint64_t frames_owned(struct dray_stream *stream)
{
	struct dray_ring_counts counts = { .size = sizeof(counts) };

	if (dray_stream_ring_counts(stream, &counts))
		return 0;
	return counts.owned;
}

/* Cancels frames that an engine owns, and acquires some of them; 0: none yet. */
static int cancel_frames(struct dray_stream *stream, struct dray_point *points)
{
	int ret = dray_stream_cancel(stream);

	if (!ret)
		ret = dray_stream_acquire(stream, points, POINTS, CANCEL_MS);
	return ret == -ETIME || ret == -EINTR ? 0 : ret;
}

/* Cancels an engine's frames again and again: it continues with others. */
int dray_stream_take_all(const struct dray_stream_executor *executor,
			 struct dray_stream *stream, uint32_t count)
{
	const uint64_t most =
		executor->options.timeout_ns / 1000000 / CANCEL_MS + 1;
	uint64_t waits = 0, owned;
	struct dray_point points[POINTS];
	int ret = 0;

	while (ret >= 0 && (owned = frames_owned(stream)) < count) {
		ret = dray_stream_acquire(stream, points, POINTS, 0);
		if (ret == -ETIME && waits++ < most)
			ret = cancel_frames(stream, points);
		else if (ret == -ETIME)
			ret = dray_ring_abandon(stream,
						count - (uint32_t)owned);
		if (ret > 0)
			waits = 0;
	}
	return ret < 0 ? ret : 0;
}

/* Releases the turn's frames of operand @o. */
static int stream_turns_release(const struct dray_stream_turn *turn, int o)
{
	uint32_t indices[DRAY_MAX_FRAMES], i;

	for (i = 0; i < turn->count; i++)
		indices[i] = turn->first + i;
	return dray_stream_release(dray_stream_of(turn->run->executor, o),
				   indices, i);
}

/* Checks the frames of operand @o that came; the first is frame @at of the call. */
static int check_points(const struct dray_stream_call *run, int o, int64_t at,
			const struct dray_point *points, int count)
{
	const int inputs = run->call->inputs;
	int i;

	for (i = 0; i < count; i++) {
		if (points[i].status)
			return dray_fail(points[i].status,
					 "frame %" PRId64
					 " of %s failed after %" PRIu64
					 " bytes: %s",
					 at + i, run->call->ufunc->name,
					 (uint64_t)points[i].bytes,
					 strerror(-points[i].status));
		if (o >= inputs &&
		    points[i].bytes !=
			    dray_frames_bytes(&run->frames, at + i, o))
			return dray_stream_wrong_length(run, at + i,
							(uint32_t)(o - inputs),
							points[i].bytes);
	}
	return 0;
}

/* Waits for @least frames, looking now and then whether the call is cancelled. */
static int stream_turns_acquire(const struct dray_stream_call *run,
				struct dray_stream *stream,
				struct dray_point *points, uint32_t least)
{
	uint64_t left = run->executor->options.timeout_ns / 1000000 + 1;
	int step, ret;

	do {
		ret = dray_stream_check_cancelled(run);
		DRAY_HOLDS(ret <= 0);
		if (ret)
			return ret;
		step = left < DRAY_CALLS_LOOK_MS ? (int)left
						 : DRAY_CALLS_LOOK_MS;
		ret = dray_ring_acquire(stream, points, POINTS, least, step);
		left -= (uint64_t)step;
	} while (ret == -ETIME && left);
	return ret == -EINTR ? 0 : ret;
}

/* Acquires the turn's frames of operand @o again, many with a single wait. */
static int stream_turns_collect(const struct dray_stream_turn *turn, int o)
{
	const struct dray_stream_call *run = turn->run;
	const uint64_t ms = run->executor->options.timeout_ns / 1000000;
	struct dray_stream *stream = dray_stream_of(run->executor, o);
	struct dray_point points[POINTS];
	uint32_t at = 0, least;
	int ret = 0;

	while (ret >= 0 && at < turn->count) {
		least = turn->count - at < POINTS ? turn->count - at : POINTS;
		ret = stream_turns_acquire(run, stream, points, least);
		if (ret == -ETIME)
			ret = dray_fail(-ETIMEDOUT,
					"no frame %" PRId64
					" of %s within %" PRIu64 " ms",
					turn->from + at, run->call->ufunc->name,
					ms);
		if (ret > 0) {
			int count = ret;

			ret = check_points(run, o, turn->from + at, points,
					   count);
			at += (uint32_t)count;
		}
	}
	return ret;
}

/* Acquires all frames of the last @operands operands; the first error. */
static int turns_take_back(const struct dray_stream_turn *turn, int operands)
{
	const struct dray_stream_executor *executor = turn->run->executor;
	int o, ret, first = 0;

	for (o = turn->run->frames.operands - operands;
	     o < turn->run->frames.operands; o++) {
		ret = dray_stream_take_all(
			executor, dray_stream_of(executor, o), turn->frames);
		first = first ? first : ret;
	}
	return first;
}

/*
 * Whether the ring to be made last sends from the start.  Of several rings that
 * send, any might fail to be made after another sent.
 */
static bool sends_at_once(const struct dray_stream_turn *turn)
{
	return turn->run->call->inputs == 1;
}

static int stream_turns_pass(const struct dray_stream_turn *turn)
{
	const int operands = turn->run->frames.operands;
	const int inputs = turn->run->call->inputs;
	int o, ret = 0;

	/* Receives first, so that the IP can answer at once. */
	for (o = operands - 1; !ret && o >= 0; o--)
		if (turn->held || (o < inputs && !sends_at_once(turn)))
			ret = stream_turns_release(turn, o);
	for (o = operands - 1; !ret && o >= 0; o--)
		ret = stream_turns_collect(turn, o);
	return ret;
}

int dray_stream_run_turn(const struct dray_stream_turn *turn)
{
	struct dray_kept_failure first, second;
	int ret = stream_turns_pass(turn);

	if (!ret)
		return 0;
	dray_failure_keep(&first);
	if (!turns_take_back(turn, turn->run->frames.operands))
		return dray_failure_restore(ret, &first);
	dray_failure_keep(&second);
	dray_failure_restore(ret, &first);
	return dray_fail_adding(ret, "; %s", second.sentence);
}

/* The turn's frames of an operand. */
struct turn_part {
	const struct dray_stream_turn *turn;
	int operand;
	struct dray_view view;
};

static const struct dray_view *part_view(void *context, uint32_t index)
{
	struct turn_part *part = context;

	dray_frames_view(&part->turn->run->frames, part->turn->from + index,
			 part->operand, &part->view);
	return &part->view;
}

/* Lends the frames of operand @o to a stream. */
static int stream_turns_lend(const struct dray_stream_turn *turn, int o)
{
	struct turn_part part = { .turn = turn, .operand = o };
	const struct dray_ring_source source = {
		.view = part_view,
		.context = &part,
		.count = turn->count,
		.of_call = true,
	};
	const uint32_t flags = sends_at_once(turn) ? DRAY_RING_RELEASED : 0;
	struct dray_stream *stream = dray_stream_of(turn->run->executor, o);
	int ret = dray_ring_give(stream, &source, DRAY_RING_REPLACE | flags,
				 turn->from > 0);

	/* The frames of a new ring that sends are there to acquire. */
	if (!ret && o < turn->run->call->inputs && !flags)
		ret = dray_stream_take_all(turn->run->executor, stream,
					   turn->count);
	return ret;
}

/* Removes the rings of the last @operands operands. */
static int take_away(const struct dray_stream_call *run, int operands)
{
	const struct dray_ring_source none = { .count = 0 };
	int o, ret, first = 0;

	for (o = run->frames.operands - operands; o < run->frames.operands;
	     o++) {
		ret = dray_ring_give(dray_stream_of(run->executor, o), &none,
				     DRAY_RING_REPLACE, true);
		first = first ? first : ret;
	}
	return first;
}

/* As many frames as rings may hold: all streams show as many points. */
static int64_t most_frames(const struct dray_stream_call *run)
{
	const struct dray_stream_executor *executor = run->executor;
	uint32_t most = DRAY_MAX_FRAMES, i;

	for (i = 0; i < executor->streams_count; i++)
		if (executor->streams[i]->port->timeline->points < most)
			most = executor->streams[i]->port->timeline->points;
	return most;
}

/* Whether the engines reach the inputs in place: a ring is not copied. */
static bool reaches_inputs(const struct dray_stream_call *run)
{
	const struct dray_view *pointer;
	struct dray_explanation plan = { .size = sizeof(plan) };
	struct dray_view view;
	int o;

	pointer = &view;
	for (o = 0; o < run->call->inputs; o++) {
		dray_frames_view(&run->frames, 0, o, &view);
		if (dray_stream_explain(run->executor->tx[o], &pointer, 1, NULL,
					&plan))
			return false;
	}
	return true;
}

bool dray_stream_may_lend(const struct dray_stream_call *run)
{
	const struct dray_stream_executor_options *options =
		&run->executor->options;

	if (run->frames.count < DRAY_STREAM_LEAST ||
	    options->tx_count != (uint32_t)run->call->inputs)
		return false;
	/* Without leave to copy, the call was refused. */
	return !(options->flags & DRAY_PACKET_STAGE) || reaches_inputs(run);
}

/* Makes a turn's rings, receiving rings first; false, all frames held, on failure. */
static bool lend_all(const struct dray_stream_turn *turn, int *made)
{
	const int operands = turn->run->frames.operands;
	int o;

	for (o = operands - 1; o >= 0 && !stream_turns_lend(turn, o); o--)
		;
	/* Rings of the turn before still exist. */
	if (o < 0 || !turn->from)
		*made = operands - 1 - o;
	if (o >= 0)
		(void)turns_take_back(turn, operands - 1 - o);
	return o < 0;
}

int dray_stream_run_lent(struct dray_stream_call *run, int64_t *done)
{
	struct dray_stream_turn turn = { .run = run };
	const int64_t most = most_frames(run);
	int64_t left = run->frames.count;
	int made = 0, ret = 0;
	struct dray_kept_failure kept;

	while (!ret && left) {
		turn.count = (uint32_t)(left / ((left + most - 1) / most));
		turn.frames = turn.count;
		if (!lend_all(&turn, &made))
			break;
		ret = dray_stream_run_turn(&turn);
		turn.from += turn.count;
		left -= turn.count;
	}
	*done = turn.from;
	if (!ret)
		return take_away(run, made);
	dray_failure_keep(&kept);
	(void)take_away(run, made);
	return dray_failure_restore(ret, &kept);
}
