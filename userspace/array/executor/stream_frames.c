// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Cuts calls into frames. */
#include <string.h>

#include "private.h"
#include "executor/stream_frames.h"

/* Whether axis @axis and the next one are one in all operands. */
static bool stream_frames_chains(const struct dray_call_frames *frames,
				 int axis)
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

void dray_frames_cut(struct dray_call_frames *frames,
		     const struct dray_view *views, int operands,
		     uint64_t frame_bytes)
{
	int64_t most, inner, outer;
	uint32_t size = 1;
	int axis, o;

	frames->operands = operands;
	for (o = 0; o < operands; o++) {
		dray_view_copy(&frames->views[o], &views[o]);
		if (dray_dtype_itemsize(views[o].dtype) > size)
			size = dray_dtype_itemsize(views[o].dtype);
	}
	for (axis = frames->views[0].ndim - 2; axis >= 0; axis--)
		if (stream_frames_chains(frames, axis))
			for (o = 0; o < operands; o++)
				merge_next(&frames->views[o], axis);
	/* One element that is larger is for the engine to refuse. */
	most = frame_bytes > size ? (int64_t)(frame_bytes / size) : 1;
	frames->axis = frames->views[0].ndim - 1;
	for (inner = 1; frames->axis > 0; frames->axis--) {
		if (inner * frames->views[0].shape[frames->axis] > most)
			break;
		inner *= frames->views[0].shape[frames->axis];
	}
	frames->rows = frames->parts = frames->count = 1;
	if (frames->axis < 0)
		return;
	frames->rows = most / inner;
	frames->parts =
		(frames->views[0].shape[frames->axis] + frames->rows - 1) /
		frames->rows;
	for (outer = 1, axis = 0; axis < frames->axis; axis++)
		outer *= frames->views[0].shape[axis];
	frames->count = outer * frames->parts;
}

/* Rows of a frame, from row @start on. */
static int64_t frames_rows_from(const struct dray_call_frames *frames,
				int64_t start)
{
	int64_t left = frames->views[0].shape[frames->axis] - start;

	return left < frames->rows ? left : frames->rows;
}

void dray_frames_view(const struct dray_call_frames *frames, int64_t number,
		      int o, struct dray_view *out)
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
	out->shape[0] = frames_rows_from(frames, start);
}

uint64_t dray_frames_bytes(const struct dray_call_frames *frames,
			   int64_t number, int o)
{
	const struct dray_view *view = &frames->views[o];
	uint64_t bytes = dray_dtype_itemsize(view->dtype);
	int i;

	if (frames->axis < 0)
		return bytes;
	bytes *= (uint64_t)frames_rows_from(frames, number % frames->parts *
							    frames->rows);
	for (i = frames->axis + 1; i < view->ndim; i++)
		bytes *= (uint64_t)view->shape[i];
	return bytes;
}

bool dray_frames_equal(const struct dray_call_frames *a,
		       const struct dray_call_frames *b)
{
	size_t axes;
	int o;

	if (a->operands != b->operands || a->axis != b->axis ||
	    a->rows != b->rows || a->count != b->count)
		return false;
	for (o = 0; o < a->operands; o++) {
		const struct dray_view *one = &a->views[o],
				       *other = &b->views[o];

		axes = (size_t)one->ndim * sizeof(one->shape[0]);
		if (one->data != other->data || one->ndim != other->ndim ||
		    memcmp(one->shape, other->shape, axes) ||
		    memcmp(one->strides, other->strides, axes))
			return false;
	}
	return true;
}
