// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Works of the load: transfers, and fences that nobody waits for.
 */
#include "../selftests/fence.h"
#include "works.h"

void fences_look(void)
{
	int i, waiting = 0;

	for (i = 0; i < FENCES; i++) {
		if (me.fences[i] < 0)
			continue;
		if (!fence_is_readable(me.fences[i])) {
			waiting++;
			continue;
		}
		count(WORK_FINISHED, fence_status(me.fences[i]) != 1);
		close(me.fences[i]);
		me.fences[i] = -1;
	}
	atomic_store(&me.load.board->in_flight[me.load.index], waiting);
}

static int any_fence(void)
{
	size_t start = pick(FENCES), i;

	for (i = 0; i < FENCES && pick(FENCES); i++)
		if (me.fences[(start + i) % FENCES] >= 0)
			return me.fences[(start + i) % FENCES];
	return -1;
}

/* Every other element of one buffer into another, or a fill. */
void work_submit(void)
{
	struct buffer *dst = any_buffer(), *src = any_buffer();
	uint64_t unit = 64, most;
	struct dray_axis axis = { .dst_stride = 128, .src_stride = 128 };
	struct dray_transfer transfer = { .axes = (uintptr_t)&axis,
					  .axes_count = 1 };
	struct dray_submit submit = SUBMIT_OF(DRAY_CHANNEL_ANY, &transfer, 1,
					      .flags = (uint32_t)pick(4));
	int *fence = &me.fences[pick(FENCES)], in = any_fence(), ret;

	if (!dst || !src || dst == src)
		return;
	most = dst->size < src->size ? dst->size : src->size;
	axis.count = 1 + pick(most / axis.dst_stride);
	transfer.run = unit;
	transfer.dst_fd = dst->fd;
	transfer.src_fd = src->fd;
	transfer.op = DRAY_OP_COPY;
	if (!pick(4)) {
		transfer.op = DRAY_OP_FILL;
		transfer.src_fd = -1;
		transfer.pattern_size = 4;
		axis.src_stride = 0;
	}
	if (in >= 0) {
		submit.in_fences = (uintptr_t)&in;
		submit.in_fence_count = 1;
	}
	ret = node_call(me.node, DRAY_IOC_SUBMIT, &submit);
	count(WORK_SUBMIT, ret);
	if (in >= 0)
		count(WORK_CHAIN, ret);
	if (ret)
		return;
	if (*fence >= 0)
		close(*fence);
	*fence = submit.fence_fd;
	fences_look();
}

/* Memory of this process, pinned and copied into a buffer. */
void work_attach(void)
{
	static uint8_t memory[4][16384] __attribute__((aligned(64)));
	struct dray_attach attach = {
		.dmabuf_fd = -1,
		.flags = DRAY_ATTACH_USER,
		.address = (uintptr_t)memory[pick(4)],
		.length = sizeof(memory[0]),
	};
	struct buffer *buffer = any_buffer();
	struct dray_transfer transfer = { .op = DRAY_OP_COPY, .run = 4096 };
	struct dray_submit submit = SUBMIT_OF(DRAY_CHANNEL_ANY, &transfer, 1);
	int *fence = &me.fences[pick(FENCES)];
	int ret = node_call(me.node, DRAY_IOC_ATTACH, &attach);

	count(WORK_ATTACH, ret);
	if (ret)
		return;
	if (buffer) {
		transfer.dst_fd = buffer->fd;
		transfer.src_fd = attach.fd;
		if (!node_call(me.node, DRAY_IOC_SUBMIT, &submit)) {
			if (*fence >= 0)
				close(*fence);
			*fence = submit.fence_fd;
		}
	}
	close(attach.fd);
}

void work_cancel(void)
{
	struct dray_cancel cancel = { .fence_fd = -1,
				      .channel = DRAY_CHANNEL_ANY };

	count(WORK_CANCEL, node_call(me.node, DRAY_IOC_CANCEL, &cancel));
}
