// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Frames of a call in rings.  The engines know the memory of certain operands from
 * the start, so a frame costs as much as one of a plain ring: all frames of a call
 * are released at once.  Between calls the executor has acquired all frames.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "dtype/dtype.h"
#include "executor/stream_executor.h"
#include "view/view.h"

#define POINTS 64u
#define CANCEL_MS \
	10 /* until frames that were not in flight are cancelled, too */

const struct dray_ring_set *
dray_stream_find_set(const struct dray_stream_executor *executor,
		     const struct dray_frames *frames)
{
	uint32_t i;

	for (i = 0; i < executor->options.ring_count; i++)
		if (dray_frames_equal(&executor->sets[i].frames, frames))
			return &executor->sets[i];
	return NULL;
}

static uint64_t frames_owned(struct dray_stream *stream)
{
	struct dray_ring_counts counts;

	if (dray_stream_ring_counts(stream, &counts, sizeof(counts)))
		return 0;
	return counts.owned;
}

/*
 * Acquires all frames.  Those that an engine has are cancelled, again and again: it
 * goes on with the next ones.
 */
static int take_all(struct dray_stream *stream, uint32_t count)
{
	struct dray_point points[POINTS];
	int ret = 0;

	while (ret >= 0 && frames_owned(stream) < count) {
		ret = dray_stream_acquire(stream, points, POINTS, 0);
		if (ret != -ETIME)
			continue;
		ret = dray_stream_cancel(stream);
		if (!ret)
			ret = dray_stream_acquire(stream, points, POINTS,
						  CANCEL_MS);
		if (ret == -ETIME || ret == -EINTR)
			ret = 0;
	}
	return ret < 0 ? ret : 0;
}

static struct dray_stream *
stream_of(const struct dray_stream_executor *executor, int o)
{
	const int inputs = executor->options.ufunc->inputs;

	return o < inputs ? executor->tx[o] : executor->rx[o - inputs];
}

/* Gives one stream the frames of operand @o. */
static int make_ring(struct dray_stream_executor *executor, int o,
		     uint32_t count)
{
	const struct dray_view **pointers =
		calloc(count, sizeof(const struct dray_view *));
	struct dray_view *views = calloc(count, sizeof(*views));
	uint32_t i, at = 0;
	int64_t n;
	int ret = -ENOMEM;

	for (i = 0; views && pointers && i < executor->options.ring_count; i++)
		for (n = 0; n < executor->sets[i].frames.count; n++) {
			dray_frames_view(&executor->sets[i].frames, n, o,
					 &views[at]);
			pointers[at] = &views[at];
			at++;
		}
	if (views && pointers)
		ret = dray_stream_ring(stream_of(executor, o), pointers, count,
				       0);
	else
		dray_fail(ret, "no memory for %u frames", count);
	free(views);
	free(pointers);
	return ret ? dray_fail_adding(ret, " (operand %d)", o)
		   : take_all(stream_of(executor, o), count);
}

/* Checks operand @o of set @i, which has the shape of the first one. */
static int check_operand(const struct dray_stream_executor *executor,
			 uint32_t i, int o, const struct dray_view *view,
			 const struct dray_view *first)
{
	int ret = dray_view_check(view, "an operand of a ring", NULL);

	if (ret)
		return ret;
	if (view->ndim == first->ndim &&
	    !memcmp(view->shape, first->shape,
		    (size_t)view->ndim * sizeof(view->shape[0])) &&
	    dray_view_size(view) &&
	    dray_dtype_equal(view->dtype, executor->dtypes[o]))
		return 0;
	return dray_fail(
		-EINVAL,
		"operand %d of ring %u has another type than the streams, another shape than operand 0, or no elements",
		o, i);
}

/* Cuts the operands of all sets; fills in the count of frames. */
static int cut_sets(struct dray_stream_executor *executor, uint32_t *count)
{
	const struct dray_stream_executor_options *options = &executor->options;
	const int operands = dray_ufunc_operands(options->ufunc);
	struct dray_view views[DRAY_UFUNC_MAX_OPERANDS];
	uint64_t all = 0;
	uint32_t i;
	int o, ret;

	for (i = 0; i < options->ring_count; i++) {
		for (o = 0; o < operands; o++) {
			const struct dray_view *view =
				options->ring[i * (uint32_t)operands +
					      (uint32_t)o];

			if (!dray_given(view, "dray_stream_executor_create"))
				return -EINVAL;
			ret = check_operand(executor, i, o, view,
					    o ? &views[0] : view);
			if (ret)
				return ret;
			dray_view_copy(&views[o], view);
		}
		dray_stream_cut(executor, views, &executor->sets[i].frames);
		executor->sets[i].first = (uint32_t)all;
		all += (uint64_t)executor->sets[i].frames.count;
		if (all > DRAY_MAX_FRAMES)
			return dray_fail(-EINVAL,
					 "%" PRIu64
					 " frames or more, a ring has up to %u",
					 all, DRAY_MAX_FRAMES);
	}
	*count = (uint32_t)all;
	return 0;
}

int dray_stream_make_rings(struct dray_stream_executor *executor)
{
	const struct dray_stream_executor_options *options = &executor->options;
	const int operands = dray_ufunc_operands(options->ufunc);
	uint32_t count;
	int o, ret;

	if (!options->ring_count)
		return 0;
	if (options->tx_count != (uint32_t)options->ufunc->inputs)
		return dray_fail(-EINVAL,
				 "with rings, each input has a stream");
	executor->sets = calloc(options->ring_count, sizeof(executor->sets[0]));
	if (!executor->sets)
		return dray_fail(-ENOMEM, "no memory for %u rings",
				 options->ring_count);
	ret = cut_sets(executor, &count);
	for (o = 0; !ret && o < operands; o++)
		ret = make_ring(executor, o, count);
	return ret;
}

/* Releases all frames of a set. */
static int release_set(struct dray_stream *stream,
		       const struct dray_ring_set *set)
{
	uint32_t indices[DRAY_MAX_FRAMES], i;

	for (i = 0; i < set->frames.count; i++)
		indices[i] = set->first + i;
	return dray_stream_release(stream, indices, i);
}

static int check_cancelled(const struct dray_stream_call *run)
{
	if (!dray_call_is_cancelled(run->call))
		return 0;
	return dray_fail(-ECANCELED, "the call of %s was cancelled",
			 run->call->ufunc->name);
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

/* Acquires all frames of operand @o again. */
static int collect(const struct dray_stream_call *run, int o)
{
	const uint64_t ms = run->executor->options.timeout_ns / 1000000;
	struct dray_stream *stream = stream_of(run->executor, o);
	struct dray_point points[POINTS];
	int64_t at = 0;
	int ret = 0;

	while (ret >= 0 && at < run->frames.count) {
		ret = check_cancelled(run);
		if (ret)
			return ret;
		ret = dray_stream_acquire(stream, points, POINTS,
					  ms < 1000000 ? (int)ms + 1 : 1000000);
		if (ret == -EINTR)
			ret = 0;
		if (ret == -ETIME)
			ret = dray_fail(-ETIMEDOUT,
					"no frame %" PRId64
					" of %s within %" PRIu64 " ms",
					at, run->call->ufunc->name, ms);
		if (ret > 0) {
			int count = ret;

			ret = check_points(run, o, at, points, count);
			at += count;
		}
	}
	return ret;
}

/* Takes all frames back.  Keeps the sentence. */
static void abandon(const struct dray_stream_call *run, int ret)
{
	struct dray_stream_executor *executor = run->executor;
	const struct dray_ring_set *last =
		&executor->sets[executor->options.ring_count - 1];
	const uint32_t count = last->first + (uint32_t)last->frames.count;
	char sentence[256];
	int o;

	strncpy(sentence, dray_last_error(), sizeof(sentence) - 1);
	sentence[sizeof(sentence) - 1] = '\0';
	for (o = 0; o < run->frames.operands; o++)
		take_all(stream_of(executor, o), count);
	dray_fail(ret, "%s", sentence);
}

int dray_stream_run_rings(struct dray_stream_call *run)
{
	struct dray_stream_executor *executor = run->executor;
	const struct dray_ring_set *set =
		dray_stream_find_set(executor, &run->frames);
	int o, ret = 0;

	if (!set)
		return dray_fail(-EINVAL, "the call has no ring");
	/* Receives come first, so that the IP can give back at once. */
	for (o = run->frames.operands - 1; !ret && o >= 0; o--)
		ret = release_set(stream_of(executor, o), set);
	for (o = run->frames.operands - 1; !ret && o >= 0; o--)
		ret = collect(run, o);
	if (ret)
		abandon(run, ret);
	return ret;
}
