// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * An executor of streams: a call is cut into frames of whole rows, in C order.  For
 * each frame, receives are submitted before sends, so that the IP can give back at
 * once.  Frames come back in order; all of a failed call are cancelled, and ended,
 * before the call ends.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "dtype/dtype.h"
#include "executor/executor.h"

#define FRAME_BYTES 65536u
#define DEPTH 8u
#define MOST_DEPTH 32u
#define TIMEOUT_NS 10000000000u

struct stream_executor {
	struct dray_stream_executor_options options; /* defaults filled in */
	dray_dtype dtypes[DRAY_UFUNC_MAX_OPERANDS]; /* each one reference */
	struct dray_stream *tx[DRAY_UFUNC_MAX_OPERANDS];
	struct dray_stream *rx[DRAY_UFUNC_MAX_OPERANDS];
	pthread_mutex_t mutex; /* of the streams: one call at a time */
	_Atomic bool failed;
};

/* A call cut along one axis: frame n has @rows of it, except for the last. */
struct frames {
	struct stream_executor *executor;
	const struct dray_call *call;
	int operands;
	int axis; /* -1: one element */
	int64_t rows;
	int64_t parts; /* frames of each run along the axis */
	int64_t count;
	struct dray_view views[DRAY_UFUNC_MAX_OPERANDS]; /* merged axes */
	/* of frames in flight; frame n at n modulo the depth */
	struct dray_event *received[MOST_DEPTH][DRAY_UFUNC_MAX_OPERANDS];
	struct dray_event *sent[MOST_DEPTH][DRAY_UFUNC_MAX_OPERANDS];
};

/* Whether axis @axis and the next one are one in all operands. */
static bool chains(const struct frames *frames, int axis)
{
	int o;

	for (o = 0; o < frames->operands; o++) {
		const struct dray_view *view = &frames->views[o];

		if (view->strides[axis] !=
		    view->shape[axis + 1] * view->strides[axis + 1])
			return false;
	}
	return true;
}

static void merge_next(struct dray_view *view, int axis)
{
	int i;

	view->shape[axis] *= view->shape[axis + 1];
	view->strides[axis] = view->strides[axis + 1];
	for (i = axis + 1; i < view->ndim - 1; i++) {
		view->shape[i] = view->shape[i + 1];
		view->strides[i] = view->strides[i + 1];
	}
	view->ndim--;
}

/* Cuts a call: the outermost axis of which a row fits a frame is cut. */
static void cut(struct frames *frames, struct stream_executor *executor,
		const struct dray_call *call)
{
	int64_t most, inner, outer;
	uint32_t size = 1;
	int axis, o;

	frames->executor = executor;
	frames->call = call;
	frames->operands = call->inputs + call->outputs;
	for (o = 0; o < frames->operands; o++) {
		dray_view_copy(&frames->views[o], call->views[o]);
		if (dray_dtype_itemsize(executor->dtypes[o]) > size)
			size = dray_dtype_itemsize(executor->dtypes[o]);
	}
	for (axis = frames->views[0].ndim - 2; axis >= 0; axis--)
		if (chains(frames, axis))
			for (o = 0; o < frames->operands; o++)
				merge_next(&frames->views[o], axis);
	most = (int64_t)(executor->options.frame_bytes / size);
	frames->axis = frames->views[0].ndim - 1;
	for (inner = 1; frames->axis > 0; frames->axis--) {
		if (inner * frames->views[0].shape[frames->axis] > most)
			break;
		inner *= frames->views[0].shape[frames->axis];
	}
	if (frames->axis < 0) {
		frames->count = 1;
		return;
	}
	frames->rows = most / inner;
	frames->parts =
		(frames->views[0].shape[frames->axis] + frames->rows - 1) /
		frames->rows;
	for (outer = 1, axis = 0; axis < frames->axis; axis++)
		outer *= frames->views[0].shape[axis];
	frames->count = outer * frames->parts;
}

/* Describes operand @o of frame @number. */
static void frame_view(const struct frames *frames, int64_t number, int o,
		       struct dray_view *out)
{
	const struct dray_view *view = &frames->views[o];
	int64_t start, index = number;
	char *data = view->data;
	int axis, i;

	if (frames->axis < 0) {
		dray_view_copy(out, view);
		return;
	}
	start = index % frames->parts * frames->rows;
	index /= frames->parts;
	for (axis = frames->axis - 1; axis >= 0; axis--) {
		data += index % view->shape[axis] * view->strides[axis];
		index /= view->shape[axis];
	}
	out->data = data + start * view->strides[frames->axis];
	out->dtype = view->dtype;
	out->flags = view->flags & (DRAY_READ | DRAY_WRITE);
	out->ndim = view->ndim - frames->axis;
	for (i = 0; i < out->ndim; i++) {
		out->shape[i] = view->shape[frames->axis + i];
		out->strides[i] = view->strides[frames->axis + i];
	}
	if (out->shape[0] - start < frames->rows)
		out->shape[0] -= start;
	else
		out->shape[0] = frames->rows;
}

static uint64_t bytes_of(const struct dray_view *view)
{
	uint64_t bytes = dray_dtype_itemsize(view->dtype);
	int i;

	for (i = 0; i < view->ndim; i++)
		bytes *= (uint64_t)view->shape[i];
	return bytes;
}

/* Submits frame @number: its receives, then its sends. */
static int submit_frame(struct frames *frames, int64_t number)
{
	const struct stream_executor *executor = frames->executor;
	const struct dray_packet_options options = {
		.flags = executor->options.flags,
		.deadline_ns = executor->options.timeout_ns,
	};
	const int64_t place = number % executor->options.depth;
	const struct dray_view *pointers[DRAY_UFUNC_MAX_OPERANDS];
	struct dray_view views[DRAY_UFUNC_MAX_OPERANDS];
	uint32_t i, each, inputs = (uint32_t)frames->call->inputs;
	int o, ret = 0;

	for (o = 0; o < frames->operands; o++) {
		frame_view(frames, number, o, &views[o]);
		pointers[o] = &views[o];
	}
	for (i = 0; !ret && i < executor->options.rx_count; i++)
		ret = dray_stream_recv(executor->rx[i], pointers[inputs + i],
				       &options, &frames->received[place][i]);
	each = inputs / executor->options.tx_count;
	for (i = 0; !ret && i < executor->options.tx_count; i++)
		ret = dray_stream_send_pieces(executor->tx[i],
					      &pointers[(size_t)i * each], each,
					      &options,
					      &frames->sent[place][i]);
	return ret;
}

/* Waits for one transfer.  The streams end it within the time limit. */
static int await(struct dray_event **event)
{
	int ret;

	do {
		ret = dray_event_wait(*event, -1);
	} while (ret == -EINTR);
	return ret;
}

static void drop(struct dray_event **event)
{
	dray_event_unref(*event);
	*event = NULL;
}

/* Ends frame @number, and compares its lengths. */
static int collect_frame(struct frames *frames, int64_t number)
{
	const struct stream_executor *executor = frames->executor;
	const int64_t place = number % executor->options.depth;
	struct dray_view view;
	struct dray_point point;
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < executor->options.rx_count; i++) {
		ret = await(&frames->received[place][i]);
		if (!ret)
			ret = dray_event_point(frames->received[place][i],
					       &point, sizeof(point));
		if (ret)
			break;
		frame_view(frames, number, frames->call->inputs + (int)i,
			   &view);
		if (point.bytes != bytes_of(&view))
			ret = dray_fail(-EPROTO,
					"frame %" PRId64
					" of %s came back with %" PRIu64
					" bytes on stream %u, not %" PRIu64,
					number, frames->call->ufunc->name,
					(uint64_t)point.bytes, i,
					bytes_of(&view));
		drop(&frames->received[place][i]);
	}
	for (i = 0; !ret && i < executor->options.tx_count; i++) {
		ret = await(&frames->sent[place][i]);
		drop(&frames->sent[place][i]);
	}
	return ret;
}

/* Cancels and ends all that is in flight.  Keeps the sentence. */
static void abandon(struct frames *frames, int ret)
{
	const struct stream_executor *executor = frames->executor;
	char sentence[256];
	uint32_t place, i;

	strncpy(sentence, dray_last_error(), sizeof(sentence) - 1);
	sentence[sizeof(sentence) - 1] = '\0';
	for (i = 0; i < executor->options.tx_count; i++)
		dray_stream_cancel(executor->tx[i]);
	for (i = 0; i < executor->options.rx_count; i++)
		dray_stream_cancel(executor->rx[i]);
	for (place = 0; place < executor->options.depth; place++)
		for (i = 0; i < DRAY_UFUNC_MAX_OPERANDS; i++) {
			if (frames->received[place][i])
				await(&frames->received[place][i]);
			if (frames->sent[place][i])
				await(&frames->sent[place][i]);
			drop(&frames->received[place][i]);
			drop(&frames->sent[place][i]);
		}
	dray_fail(ret, "%s", sentence);
}

/* Keeps up to the depth of frames in flight until all have come back. */
static int run(struct frames *frames)
{
	const struct stream_executor *executor = frames->executor;
	int64_t submitted = 0, collected = 0;
	int ret = 0;

	while (!ret && collected < frames->count) {
		while (!ret && submitted < frames->count &&
		       submitted - collected < executor->options.depth)
			ret = submit_frame(frames, submitted++);
		if (!ret && dray_call_is_cancelled(frames->call))
			ret = dray_fail(-ECANCELED,
					"the call of %s was cancelled",
					frames->call->ufunc->name);
		if (!ret)
			ret = collect_frame(frames, collected++);
	}
	return ret;
}

static int stream_submit(void *context, struct dray_call *call)
{
	struct stream_executor *executor = context;
	struct frames *frames = calloc(1, sizeof(*frames));
	int ret;

	if (!frames)
		return dray_fail(-ENOMEM, "no memory for frames");
	cut(frames, executor, call);
	pthread_mutex_lock(&executor->mutex);
	ret = atomic_load(&executor->failed)
		      ? dray_fail(-EIO, "the streams failed in an earlier call")
		      : run(frames);
	if (ret) {
		abandon(frames, ret);
		atomic_store(&executor->failed, true);
	}
	pthread_mutex_unlock(&executor->mutex);
	free(frames);
	dray_call_end(call, ret);
	return 0;
}

/* Whether frames written would be read later: all but the very same elements. */
static bool overwrites_inputs(const struct dray_call *call)
{
	int i, o;

	for (o = call->inputs; o < call->inputs + call->outputs; o++)
		for (i = 0; i < o; i++) {
			const struct dray_view *in = call->views[i];
			const struct dray_view *out = call->views[o];
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
static bool folds_output(const struct dray_call *call)
{
	int o, i;

	for (o = call->inputs; o < call->inputs + call->outputs; o++)
		for (i = 0; i < call->views[o]->ndim; i++)
			if (!call->views[o]->strides[i] &&
			    call->views[o]->shape[i] > 1)
				return true;
	return false;
}

/* Asks the streams whether they take frame @number. */
static int check_frame(const struct frames *frames, int64_t number)
{
	const struct stream_executor *executor = frames->executor;
	const struct dray_packet_options options = {
		.flags = executor->options.flags,
	};
	const uint32_t inputs = (uint32_t)frames->call->inputs;
	const uint32_t operands = (uint32_t)frames->operands;
	const struct dray_view *pointer;
	struct dray_explanation plan;
	struct dray_view view;
	uint32_t o, tx;
	int ret = 0;

	pointer = &view;
	for (o = 0; !ret && o < operands; o++) {
		frame_view(frames, number, (int)o, &view);
		tx = executor->options.tx_count == inputs ? o : 0;
		ret = dray_stream_explain(o < inputs ? executor->tx[tx]
						     : executor->rx[o - inputs],
					  &pointer, 1, &options, &plan,
					  sizeof(plan));
	}
	return ret ? dray_fail_adding(-EOPNOTSUPP, " (operand %u)", o - 1) : 0;
}

/* The last frame may be shorter than the others. */
static int check_place(struct stream_executor *executor,
		       const struct dray_call *call)
{
	struct frames *frames = calloc(1, sizeof(*frames));
	int ret;

	if (!frames)
		return dray_fail(-ENOMEM, "no memory for frames");
	cut(frames, executor, call);
	ret = check_frame(frames, 0);
	if (!ret)
		ret = check_frame(frames, frames->count - 1);
	free(frames);
	return ret;
}

static int stream_check(void *context, const struct dray_call *call)
{
	struct stream_executor *executor = context;
	char has[DRAY_DTYPE_TYPESTR_SIZE], wants[DRAY_DTYPE_TYPESTR_SIZE];
	int o;

	if (atomic_load(&executor->failed))
		return dray_fail(-EOPNOTSUPP,
				 "the streams failed in an earlier call");
	if (call->ufunc != executor->options.ufunc)
		return dray_fail(-EOPNOTSUPP, "the streams compute %s",
				 executor->options.ufunc->name);
	for (o = 0; o < call->inputs + call->outputs; o++)
		if (!dray_dtype_equal(call->views[o]->dtype,
				      executor->dtypes[o]))
			return dray_fail(
				-EOPNOTSUPP,
				"operand %d is %s, the streams take %s", o,
				dray_dtype_text(call->views[o]->dtype, has),
				dray_dtype_text(executor->dtypes[o], wants));
	if (call->where)
		return dray_fail(-EOPNOTSUPP, "streams take no mask");
	if (overwrites_inputs(call) || folds_output(call))
		return dray_fail(
			-EOPNOTSUPP,
			"an output shares bytes with another operand, or its own elements do");
	return check_place(executor, call);
}

static void stream_release(void *context)
{
	struct stream_executor *executor = context;
	int o;

	for (o = 0; o < dray_ufunc_operands(executor->options.ufunc); o++)
		dray_dtype_unref(executor->dtypes[o]);
	dray_ufunc_unref(executor->options.ufunc);
	pthread_mutex_destroy(&executor->mutex);
	free(executor);
}

static int check_streams(const struct dray_stream_executor_options *options)
{
	const uint32_t inputs = (uint32_t)options->ufunc->inputs;
	const uint32_t outputs = (uint32_t)options->ufunc->outputs;
	uint32_t i;

	if (options->tx_count != inputs && options->tx_count != 1)
		return dray_fail(
			-EINVAL,
			"%u inputs of %s take as many streams, or one, not %u",
			inputs, options->ufunc->name, options->tx_count);
	if (options->rx_count != outputs)
		return dray_fail(
			-EINVAL,
			"%u outputs of %s take as many streams, not %u",
			outputs, options->ufunc->name, options->rx_count);
	for (i = 0; i < options->tx_count; i++)
		if (!options->tx[i] || !options->tx[i]->sends)
			return dray_fail(-EINVAL,
					 "stream %u of tx does not send", i);
	for (i = 0; i < options->rx_count; i++)
		if (!options->rx[i] || options->rx[i]->sends)
			return dray_fail(-EINVAL,
					 "stream %u of rx does not receive", i);
	return 0;
}

static int check_numbers(const struct dray_stream_executor_options *options)
{
	int o;

	if (options->depth > MOST_DEPTH)
		return dray_fail(-EINVAL,
				 "at most %u frames are in flight, not %u",
				 MOST_DEPTH, options->depth);
	if (options->flags & ~DRAY_PACKET_STAGE)
		return dray_fail(
			-EINVAL,
			"flags 0x%x of an executor, of which only DRAY_PACKET_STAGE is known",
			options->flags);
	for (o = 0; o < dray_ufunc_operands(options->ufunc); o++)
		if (!options->dtypes[o] ||
		    (options->frame_bytes &&
		     options->frame_bytes <
			     dray_dtype_itemsize(options->dtypes[o])))
			return dray_fail(
				-EINVAL,
				"operand %d has no type, or a frame of %" PRIu64
				" bytes has none of its elements",
				o, options->frame_bytes);
	return 0;
}

int dray_stream_executor_create(
	const struct dray_stream_executor_options *options,
	struct dray_executor **out)
{
	static const struct dray_executor_functions functions = {
		sizeof(functions), stream_check, stream_submit, stream_release
	};
	struct stream_executor *executor;
	uint32_t i;
	int o, ret;

	if (!dray_given(options, __func__) || !dray_given(out, __func__) ||
	    !dray_given(options->ufunc, __func__) ||
	    !dray_given(options->dtypes, __func__) ||
	    !dray_given(options->tx, __func__) ||
	    !dray_given(options->rx, __func__))
		return -EINVAL;
	ret = check_streams(options);
	if (!ret)
		ret = check_numbers(options);
	if (ret)
		return ret;
	executor = calloc(1, sizeof(*executor));
	if (!executor)
		return dray_fail(-ENOMEM, "no memory for an executor");
	executor->options = *options;
	if (!options->frame_bytes)
		executor->options.frame_bytes = FRAME_BYTES;
	if (!options->depth)
		executor->options.depth = DEPTH;
	if (!options->timeout_ns)
		executor->options.timeout_ns = TIMEOUT_NS;
	for (i = 0; i < options->tx_count; i++)
		executor->tx[i] = options->tx[i];
	for (i = 0; i < options->rx_count; i++)
		executor->rx[i] = options->rx[i];
	for (o = 0; o < dray_ufunc_operands(options->ufunc); o++)
		executor->dtypes[o] = dray_dtype_ref(options->dtypes[o]);
	dray_ufunc_ref(options->ufunc);
	pthread_mutex_init(&executor->mutex, NULL);
	ret = dray_executor_create("streams", &functions, executor, out);
	if (ret)
		stream_release(executor);
	return ret;
}
