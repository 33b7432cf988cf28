// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tells whether streams can run a call: by its types, layouts and memory. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "private.h"
#include "executor/stream_executor.h"

/* Whether output @o shares bytes with an operand, but for the very same elements. */
static bool stream_check_overlaps(const struct dray_call *call, int o)
{
	const struct dray_view *out = call->views[o];
	int i;

	for (i = 0; i < o; i++) {
		const struct dray_view *in = call->views[i];
		size_t axes = (size_t)in->ndim * sizeof(in->strides[0]);

		if (dray_view_spans_overlap(in, out) &&
		    (i >= call->inputs || in->data != out->data ||
		     in->dtype != out->dtype ||
		     memcmp(in->strides, out->strides, axes)))
			return true;
	}
	return false;
}

/* Whether an output's elements share bytes, so that no engine fills it. */
static bool stream_check_folds(const struct dray_call *call, int o)
{
	int i;

	for (i = 0; i < call->views[o]->ndim; i++)
		if (!call->views[o]->strides[i] && call->views[o]->shape[i] > 1)
			return true;
	return false;
}

bool dray_stream_needs_aside(const struct dray_stream_executor *executor,
			     const struct dray_call *call, int o)
{
	return !dray_dtype_equal(call->views[o]->dtype, executor->dtypes[o]) ||
	       (o >= call->inputs && call->where);
}

static int check_types(const struct dray_stream_executor *executor,
		       const struct dray_call *call)
{
	const bool copies = executor->options.flags & DRAY_PACKET_STAGE;
	char has[DRAY_DTYPE_TYPESTR_SIZE], wants[DRAY_DTYPE_TYPESTR_SIZE];
	int o;

	if (call->ufunc != executor->options.ufunc)
		return dray_fail(-EOPNOTSUPP, "the streams compute %s",
				 executor->options.ufunc->name);
	for (o = 0; o < call->inputs + call->outputs; o++) {
		dray_dtype dtype =
			copies ? call->dtypes[o] : call->views[o]->dtype;

		if (!dray_dtype_equal(dtype, executor->dtypes[o]))
			return dray_fail(
				-EOPNOTSUPP,
				"operand %d is %s, the streams take %s", o,
				dray_dtype_text(dtype, has),
				dray_dtype_text(executor->dtypes[o], wants));
	}
	if (call->where && !copies)
		return dray_fail(
			-EOPNOTSUPP,
			"streams take no mask unless the CPU may copy, by DRAY_PACKET_STAGE");
	return 0;
}

static int stream_check_overlap(const struct dray_stream_executor *executor,
				const struct dray_call *call)
{
	int o;

	for (o = call->inputs; o < call->inputs + call->outputs; o++)
		if (stream_check_folds(call, o) ||
		    (!dray_stream_needs_aside(executor, call, o) &&
		     stream_check_overlaps(call, o)))
			return dray_fail(
				-EOPNOTSUPP,
				"output %d shares bytes with another operand, or its own elements do",
				o - call->inputs);
	for (o = call->inputs; o < call->inputs + call->outputs; o++)
		if (call->where &&
		    dray_view_spans_overlap(call->where, call->views[o]))
			return dray_fail(-EOPNOTSUPP,
					 "output %d shares bytes with the mask",
					 o - call->inputs);
	return 0;
}

/* A copy has any address, but its lengths are those of frames. */
static int check_copy(const struct dray_stream *stream, uint64_t bytes)
{
	if (bytes & (stream->alignment - 1))
		return dray_fail(
			-EOPNOTSUPP,
			"the engine cannot: it needs lengths in multiples of %u bytes, not %" PRIu64,
			stream->alignment, bytes);
	if (bytes > stream->max_bytes)
		return dray_fail(
			-EOPNOTSUPP,
			"the engine cannot: a packet has up to %" PRIu64
			" bytes, not %" PRIu64,
			stream->max_bytes, bytes);
	return 0;
}

/* Asks a stream whether it takes @count operands of a frame as one packet. */
static int check_packet(const struct dray_stream_call *run, int64_t number,
			struct dray_stream *stream, int first, int count)
{
	const struct dray_packet_options options = {
		.flags = run->executor->options.flags,
	};
	const struct dray_view *pointers[DRAY_UFUNC_MAX_OPERANDS];
	struct dray_view views[DRAY_UFUNC_MAX_OPERANDS];
	struct dray_explanation plan = { .size = sizeof(plan) };
	uint64_t bytes, all = 0;
	size_t there = 0;
	int o, ret = 0;

	for (o = first; !ret && o < first + count; o++) {
		bytes = dray_frames_bytes(&run->frames, number, o);
		all += bytes;
		if (run->aside[o]) {
			ret = check_copy(stream, bytes);
			continue;
		}
		dray_frames_view(&run->frames, number, o, &views[there]);
		pointers[there] = &views[there];
		there++;
	}
	if (!ret && there < (size_t)count)
		ret = check_copy(stream, all);
	if (!ret && there)
		ret = dray_stream_explain(stream, pointers, there, &options,
					  &plan);
	return ret ? dray_fail_adding(-EOPNOTSUPP, " (operand %d)", first) : 0;
}

/* Asks the streams whether they take frame @number. */
static int check_frame(const struct dray_stream_call *run, int64_t number)
{
	const struct dray_stream_executor *executor = run->executor;
	const int inputs = run->call->inputs;
	const int each = inputs / (int)executor->options.tx_count;
	int o, ret = 0;

	for (o = 0; !ret && o < inputs; o += each)
		ret = check_packet(run, number, executor->tx[o / each], o,
				   each);
	for (; !ret && o < run->frames.operands; o++)
		ret = check_packet(run, number, executor->rx[o - inputs], o, 1);
	return ret;
}

/* Cuts the call, with copies that are not made yet. */
static void stream_check_cut(struct dray_stream_call *run)
{
	struct dray_view views[DRAY_UFUNC_MAX_OPERANDS];
	const struct dray_call *call = run->call;
	int o;

	for (o = 0; o < call->inputs + call->outputs; o++) {
		dray_view_copy(&views[o], call->views[o]);
		run->aside[o] = dray_stream_needs_aside(run->executor, call, o);
		if (!run->aside[o])
			continue;
		views[o].dtype = run->executor->dtypes[o];
		dray_strides_fill(views[o].ndim, views[o].shape,
				  dray_dtype_itemsize(views[o].dtype), true,
				  views[o].strides);
	}
	dray_stream_cut(run->executor, views, &run->frames);
}

/* The last frame may be shorter than the others. */
static int stream_check_place(struct dray_stream_executor *executor,
			      const struct dray_call *call)
{
	struct dray_stream_call *run = calloc(1, sizeof(*run));
	bool aside = false;
	int o, ret;

	if (!run)
		return dray_fail(-ENOMEM, "no memory for frames");
	run->executor = executor;
	run->call = call;
	stream_check_cut(run);
	if (executor->options.ring_count) {
		for (o = 0; o < run->frames.operands; o++)
			aside |= run->aside[o];
		ret = aside ? dray_fail(
				      -EOPNOTSUPP,
				      "rings take no masks and no conversions")
		      : dray_stream_find_set(executor, &run->frames)
			      ? 0
			      : dray_fail(-EOPNOTSUPP,
					  "no ring has these operands");
	} else {
		ret = check_frame(run, 0);
		if (!ret)
			ret = check_frame(run, run->frames.count - 1);
	}
	free(run);
	return ret;
}

int dray_stream_check_call(struct dray_stream_executor *executor,
			   const struct dray_call *call)
{
	int ret;

	if (dray_stream_check(executor->streams[0]))
		return -EOPNOTSUPP;
	if (dray_stream_is_stale(executor))
		return dray_fail(
			-EOPNOTSUPP,
			"the streams failed in an earlier call, and were not reset");
	ret = check_types(executor, call);
	if (!ret)
		ret = stream_check_overlap(executor, call);
	return ret ? ret : stream_check_place(executor, call);
}
