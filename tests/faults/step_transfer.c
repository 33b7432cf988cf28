// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Steps that move bytes, and many of them while the module's workers lack
 * memory.
 */
#include "../selftests/fence.h"
#include "../selftests/importer.h"
#include "inject.h"
#include "scene.h"
#include "step.h"

int prepare_transfer(void)
{
	struct dray_info info;
	int ret = node_info(scene.node, &info);

	if (ret)
		return ret;
	return info.channel_count ? prepare_buffers() : NOT_HERE;
}

static int submit(const struct dray_transfer *transfer, const int *in_fence)
{
	struct dray_submit args =
		SUBMIT_OF(DRAY_CHANNEL_ANY, transfer, 1,
			  .in_fences = (uintptr_t)in_fence,
			  .in_fence_count = in_fence ? 1 : 0, .fence_fd = -1);
	int ret = node_call(scene.node, DRAY_IOC_SUBMIT, &args);

	if (ret)
		return ret;
	close_one(&scene.fence);
	scene.fence = args.fence_fd;
	return 0;
}

static const struct dray_axis axes[] = {
	{ .count = 4, .dst_stride = 16384, .src_stride = 16384 },
	{ .count = 16, .dst_stride = 512, .src_stride = 1024 },
	{ .count = 2, .dst_stride = 128, .src_stride = 256 },
};

static struct dray_transfer strided(void)
{
	return (struct dray_transfer)COPY_OF(
		scene.dst.fd, scene.src.fd, 64, .axes = (uintptr_t)axes,
		.axes_count = sizeof(axes) / sizeof(axes[0]));
}

int run_copy(void)
{
	struct dray_transfer transfer = strided();

	return submit(&transfer, NULL);
}

/* A new attachment each time: what SUBMIT finds out of it, it keeps. */
int prepare_attached(void)
{
	struct dray_info info;
	int ret = node_info(scene.node, &info);

	if (ret)
		return ret;
	if (!info.channel_count)
		return NOT_HERE;
	ret = prepare_foreign();
	if (!ret)
		ret = run_attach_dmabuf();
	return ret ? ret
		   : buffer_open(scene.node, scenario->heap, SIZE, &scene.dst);
}

int run_copy_attached(void)
{
	struct dray_transfer transfer = strided();

	transfer.src_fd = scene.other;
	return submit(&transfer, NULL);
}

/* Both sides are pinned: SUBMIT looks whether they are the same memory. */
int prepare_pinned(void)
{
	struct dray_info info;
	int ret = node_info(scene.node, &info);

	if (ret)
		return ret;
	if (!info.channel_count)
		return NOT_HERE;
	ret = attach_memory(&scene.src.fd);
	return ret ? ret : attach_memory(&scene.dst.fd);
}

/* The exporter's own writer has not ended. */
int prepare_unfinished(void)
{
	uint32_t fence;
	int ret = prepare_attached();

	return ret ? ret : importer_fence(scene.importer, scene.handle, &fence);
}

int prepare_chain(void)
{
	int ret = prepare_transfer();

	return ret ? ret : run_copy();
}

/* Waits for the one before, which may still be on its way. */
int run_chain(void)
{
	struct dray_transfer transfer = strided();
	int before = scene.fence;

	return submit(&transfer, &before);
}

static int fill(uint64_t run)
{
	struct dray_transfer transfer = {
		.op = DRAY_OP_FILL,
		.dst_fd = scene.dst.fd,
		.src_fd = -1,
		.run = run,
		.pattern_size = 8,
		.pattern = { 1, 2, 3, 4, 5, 6, 7, 8 },
	};

	return submit(&transfer, NULL);
}

int run_fill(void)
{
	return fill(4096);
}

/* Goes without so much memory for the pattern, where that cannot be had. */
int run_long_fill(void)
{
	return fill(SIZE);
}

int run_cancel(void)
{
	struct dray_cancel cancel = { .fence_fd = -1,
				      .channel = DRAY_CHANNEL_ANY };

	return node_call(scene.node, DRAY_IOC_CANCEL, &cancel);
}

/* After this the node has its channel, which it asks for but once. */
static int transfer_first(void)
{
	int ret = run_copy(), status;

	if (ret)
		return ret;
	status = fence_wait(scene.fence);
	close_one(&scene.fence);
	return status == 1 ? 0 : -EIO;
}

int transfers_run(unsigned int number, unsigned int percent)
{
	int ret, status;

	scenario = &scenarios[0];
	ret = prepare_transfer();
	if (!ret)
		ret = transfer_first();
	if (!ret && percent)
		ret = inject_module_begin(percent) ? NOT_HERE : 0;
	while (!ret && number--) {
		ret = run_copy();
		if (ret == -ENOMEM && percent) {
			ret = 0;
			continue;
		}
		if (ret)
			break;
		status = fence_wait(scene.fence);
		if (!status || status == -ETIME)
			ret = -ETIME;
		close_one(&scene.fence);
	}
	if (percent)
		inject_module_end();
	undo_all();
	return ret;
}
