// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * SUBMIT: transfers with layouts that fit their buffers and whose runs do not
 * overlap, as long as the call has no flaw and nobody has changed a buffer
 * meanwhile.
 */
#include "run.h"

#define TRANSFERS 4
#define AXES 6
#define IN_FENCES 3

struct submission {
	struct dray_transfer transfers[TRANSFERS];
	struct dray_axis axes[TRANSFERS][AXES];
	int32_t in_fences[IN_FENCES];
};

/*
 * Axes from the inside out, each stepping over what the inner ones cover;
 * sources may step anywhere within the same span.
 */
static uint64_t axes_make(struct dray_axis *axes, uint32_t count, uint64_t run,
			  uint64_t size, uint64_t *state)
{
	uint64_t span = run, stride, most;
	uint32_t i = count;

	while (i--) {
		/* A run of no bytes, which is refused, steps all the same. */
		stride =
			(span ? span : 1) + 8 * pick(state, 4) * pick(state, 8);
		most = size > span ? (size - span) / stride + 1 : 1;
		axes[i].count = 1 + pick(state, most < 12 ? most : 12);
		axes[i].dst_stride = (int64_t)stride;
		axes[i].src_stride = pick(state, 4) ? (int64_t)stride : 0;
		span += (axes[i].count - 1) * stride;
	}
	return span;
}

/* Steps backwards: the first element is the last, then. */
static void axis_flip(struct dray_transfer *transfer, struct dray_axis *axis,
		      bool dst)
{
	__s64 *stride = dst ? &axis->dst_stride : &axis->src_stride;
	uint64_t distance = (axis->count - 1) * (uint64_t)*stride;

	if (dst)
		transfer->dst_offset += distance;
	else
		transfer->src_offset += distance;
	*stride = -*stride;
}

static int memory_pick(const struct call *call, uint32_t index, bool dst,
		       uint64_t *size, uint64_t *state)
{
	uint32_t object = dst ? call->a : call->b;
	enum object_type type = OBJECT_BUFFER;

	if (index)
		object = (uint32_t)pick(state, 8);
	if (!pick(state, 5) && object_fd(OBJECT_ATTACHMENT, object) >= 0)
		type = OBJECT_ATTACHMENT;
	*size = object_size(type, object);
	return object_fd(type, object);
}

static void transfer_make(struct submission *submission, uint32_t index,
			  const struct call *call, uint64_t *state)
{
	struct dray_transfer *transfer = &submission->transfers[index];
	struct dray_axis *axes = submission->axes[index];
	uint64_t dst_size, src_size, span, size, unit;

	transfer->op = pick(state, 4) ? DRAY_OP_COPY : DRAY_OP_FILL;
	transfer->dst_fd = memory_pick(call, index, true, &dst_size, state);
	transfer->src_fd = memory_pick(call, index, false, &src_size, state);
	size = dst_size < src_size ? dst_size : src_size;
	unit = pick(state, 8) ? 64 : 1 + pick(state, 64);
	transfer->run = unit * (1 + pick(state, 16));
	if (!pick(state, 8))
		transfer->run = call->size % (size + 1);
	transfer->axes_count = (uint32_t)pick(state, AXES + 1);
	if (pick(state, 2))
		transfer->axes_count /= 2;
	transfer->axes = (uintptr_t)axes;
	span = axes_make(axes, transfer->axes_count, transfer->run, size,
			 state);
	/* Half of one buffer each, where both are the same. */
	if (transfer->dst_fd == transfer->src_fd && span <= size / 2)
		transfer->src_offset = size / 2 / 64 * 64;
	else if (span < size && !pick(state, 3))
		transfer->dst_offset = call->offset % (size - span);
	if (transfer->op == DRAY_OP_FILL) {
		transfer->src_fd = -1;
		transfer->src_offset = 0;
		transfer->pattern_size = 1u << pick(state, 5);
		transfer->run = (transfer->run + 15) / 16 * 16;
		memcpy(transfer->pattern, state, sizeof(*state));
	}
	for (uint32_t i = 0; i < transfer->axes_count; i++) {
		if (transfer->op == DRAY_OP_FILL)
			axes[i].src_stride = 0;
		else if (!pick(state, 6))
			axis_flip(transfer, &axes[i], false);
		if (!pick(state, 8))
			axis_flip(transfer, &axes[i], true);
	}
}

int run_submit(struct thread *thread, const struct call *call)
{
	struct submission submission = { 0 };
	uint64_t state = call->seed;
	struct dray_submit submit = {
		.channel = pick(&state, 2) ? DRAY_CHANNEL_ANY
					   : (uint32_t)pick(&state, 2),
		.flags = (uint32_t)pick(&state, 4),
		.transfers = (uintptr_t)submission.transfers,
		.count = pick(&state, 3)
				 ? 1
				 : 1 + (uint32_t)pick(&state, TRANSFERS),
		.in_fences = (uintptr_t)submission.in_fences,
		.fence_fd = -1,
	};
	int fence, ret;

	for (uint32_t i = 0; i < submit.count; i++)
		transfer_make(&submission, i, call, &state);
	for (uint32_t i = 0; i < IN_FENCES; i++) {
		fence = object_fd(OBJECT_FENCE, (uint32_t)pick(&state, 6));
		if (pick(&state, 4) || (fence < 0 && pick(&state, 8)))
			continue;
		submission.in_fences[submit.in_fence_count++] = fence;
	}
	flaw_apply(call, 1, submission.transfers,
		   submit.count * sizeof(submission.transfers[0]));
	flaw_apply(call, 2, submission.axes, sizeof(submission.axes[0]));
	ret = node_ioctl(thread, call, DRAY_IOC_SUBMIT, &submit,
			 sizeof(submit));
	if (!ret)
		object_put(OBJECT_FENCE, (uint32_t)pick(&state, 6),
			   submit.fence_fd, 0);
	return ret;
}
