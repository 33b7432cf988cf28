/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Frames of a call: whole rows of all its operands, in C order.  Only numbers, no
 * stream and no memory is touched.
 */
#ifndef DRAY_EXECUTOR_STREAM_FRAMES_H
#define DRAY_EXECUTOR_STREAM_FRAMES_H

#include <dray/array/ufunc.h>

/* A call cut along one axis: each frame has @rows of it, except for the last. */
struct dray_call_frames {
	int operands;
	int axis; /* -1: one element */
	int64_t rows;
	int64_t parts; /* frames of each run along the axis */
	int64_t count;
	struct dray_view views[DRAY_UFUNC_MAX_OPERANDS]; /* merged axes */
};

/*
 * Cuts operands of one shape: the outermost axis of which a row fits a frame is
 * cut.
 * @frame_bytes: of the widest operand, at least one element
 */
void dray_frames_cut(struct dray_call_frames *frames,
		     const struct dray_view *views, int operands,
		     uint64_t frame_bytes);

/* Describes operand @o of frame @number. */
void dray_frames_view(const struct dray_call_frames *frames, int64_t number,
		      int o, struct dray_view *out);

/* Bytes of operand @o in frame @number. */
uint64_t dray_frames_bytes(const struct dray_call_frames *frames,
			   int64_t number, int o);

/* Whether two calls have the same frames in the same memory. */
bool dray_frames_equal(const struct dray_call_frames *a,
		       const struct dray_call_frames *b);

#endif /* DRAY_EXECUTOR_STREAM_FRAMES_H */
