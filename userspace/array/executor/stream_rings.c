// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Rings over the operands of certain calls.  The engines know their memory from the
 * start.  Between calls the executor has acquired all frames.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "private.h"
#include "executor/stream_executor.h"

const struct dray_ring_set *
dray_stream_find_set(const struct dray_stream_executor *executor,
		     const struct dray_call_frames *frames)
{
	uint32_t i;

	for (i = 0; i < executor->options.ring_count; i++)
		if (dray_frames_equal(&executor->sets[i].frames, frames))
			return &executor->sets[i];
	return NULL;
}

/* Frames of operand @operand of all sets, one set after the other. */
struct ring_listing {
	const struct dray_stream_executor *executor;
	int operand;
	uint32_t set; /* of the latest frame */
	struct dray_view view;
};

static const struct dray_view *listed_view(void *context, uint32_t index)
{
	struct ring_listing *listing = context;
	const struct dray_ring_set *set;

	set = &listing->executor->sets[listing->set];
	if (index - set->first == set->frames.count) {
		listing->set++;
		set++;
	}
	dray_frames_view(&set->frames, index - set->first, listing->operand,
			 &listing->view);
	return &listing->view;
}

/* Gives one stream the frames of operand @o. */
static int rings_make_ring(struct dray_stream_executor *executor, int o,
			   uint32_t count)
{
	struct dray_stream *stream = dray_stream_of(executor, o);
	struct ring_listing listing = { .executor = executor, .operand = o };
	const struct dray_ring_source source = {
		.view = listed_view,
		.context = &listing,
		.count = count,
		.of_call = true,
	};
	int ret = dray_ring_check(stream, count, 0);

	if (!ret)
		ret = dray_ring_give(stream, &source, 0, false);
	return ret ? dray_fail_adding(ret, " (operand %d)", o)
		   : dray_stream_take_all(executor, stream, count);
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
		ret = rings_make_ring(executor, o, count);
	return ret;
}

int dray_stream_run_rings(struct dray_stream_call *run)
{
	struct dray_stream_executor *executor = run->executor;
	const struct dray_ring_set *last =
		&executor->sets[executor->options.ring_count - 1];
	const struct dray_ring_set *set =
		dray_stream_find_set(executor, &run->frames);
	struct dray_stream_turn turn = {
		.run = run,
		.frames = last->first + (uint32_t)last->frames.count,
		.held = true,
	};

	if (!set)
		return dray_fail(-EINVAL, "the call has no ring");
	turn.first = set->first;
	turn.count = (uint32_t)set->frames.count;
	return dray_stream_run_turn(&turn);
}
