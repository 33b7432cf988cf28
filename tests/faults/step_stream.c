// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Steps with timelines and streams.  The streams are those of another node, of
 * ../engine/dray_test_stream.ko.  rx1 receives: that is queued without a sender.
 * With shows=1, display0 repeats rows, and nothing receives.
 */
#include "../selftests/timeline.h"
#include "scene.h"
#include "step.h"

#define NODES 16
#define DISPLAY 0
#define RECEIVER 3 /* channels of the node */
#define FRAME 4096
#define FRAMES 4

/* Opens the node that has such a channel. */
static int open_node_with(uint32_t index, uint32_t flag)
{
	struct dray_channel_info channel;
	char path[32];

	for (int i = 0; i < NODES; i++) {
		snprintf(path, sizeof(path), "/dev/dray%d", i);
		scene.streams = open(path, O_RDWR | O_CLOEXEC);
		if (scene.streams >= 0 &&
		    !node_channel(scene.streams, index, &channel) &&
		    channel.flags & flag)
			return 0;
		close_one(&scene.streams);
	}
	return NOT_HERE;
}

static bool has_display(void)
{
	bool found = !open_node_with(DISPLAY, DRAY_CHANNEL_SHOW);

	close_one(&scene.streams);
	return found;
}

int prepare_streams(void)
{
	return has_display() ? NOT_HERE
			     : open_node_with(RECEIVER, DRAY_CHANNEL_RECV);
}

static int open_line(uint32_t channel)
{
	struct dray_timeline args = { .channel = channel,
				      .batch = 1,
				      .event_fd = -1 };
	int ret = node_call(scene.streams, DRAY_IOC_TIMELINE, &args);

	if (ret)
		return ret;
	scene.line = args.fd;
	scene.line_size = args.size;
	return 0;
}

int run_timeline(void)
{
	return open_line(RECEIVER);
}

int prepare_line(void)
{
	int ret = prepare_streams();

	return ret ? ret : open_line(RECEIVER);
}

int run_line_map(void)
{
	void *at = mmap(FAR, scene.line_size, PROT_READ,
			MAP_SHARED | MAP_FIXED_NOREPLACE, scene.line, 0);

	return at == MAP_FAILED || munmap(at, scene.line_size) ? -errno : 0;
}

static int open_frames(void)
{
	return buffer_open(scene.streams, scenario->heap, SIZE, &scene.dst);
}

int prepare_receiver(void)
{
	int ret = prepare_line();

	return ret ? ret : open_frames();
}

int prepare_display(void)
{
	int ret = open_node_with(DISPLAY, DRAY_CHANNEL_SHOW);

	if (!ret)
		ret = open_line(DISPLAY);
	return ret ? ret : open_frames();
}

static int queue_on(uint32_t channel, const struct dray_transfer *transfer)
{
	struct dray_submit args =
		SUBMIT_OF(channel, transfer, 1, .flags = DRAY_SUBMIT_NO_FENCE,
			  .fence_fd = -1);

	return node_call(scene.streams, DRAY_IOC_SUBMIT, &args);
}

/* The end of the timeline's file cancels it. */
int run_receive(void)
{
	const struct dray_transfer transfer = RECV_OF(scene.dst.fd, 0, SIZE);

	return queue_on(RECEIVER, &transfer);
}

int run_show(void)
{
	const struct dray_transfer transfer = {
		.op = DRAY_OP_SHOW,
		.dst_fd = -1,
		.src_fd = scene.dst.fd,
		.run = FRAME,
	};

	return queue_on(DISPLAY, &transfer);
}

static int make_ring(const struct dray_axis *axis, uint64_t run)
{
	struct dray_transfer frames[FRAMES];
	struct dray_ring ring = { .frames = (uintptr_t)frames,
				  .count = FRAMES };

	for (uint64_t i = 0; i < FRAMES; i++)
		frames[i] = (struct dray_transfer)RECV_OF(
			scene.dst.fd, i * FRAME, run, .axes = (uintptr_t)axis,
			.axes_count = axis ? 1 : 0);
	return ioctl(scene.line, DRAY_IOC_RING, &ring) < 0 ? -errno : 0;
}

int run_ring(void)
{
	return make_ring(NULL, FRAME);
}

/* Each frame has an axis, and a flight of two pieces. */
int run_ring_of_rows(void)
{
	const struct dray_axis axis = { .count = 2, .dst_stride = FRAME / 2 };

	return make_ring(&axis, FRAME / 4);
}
