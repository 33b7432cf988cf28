// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Streams: timelines, packets, rings.  A timeline's place in the table tells its
 * channel: even ones send, odd ones receive, as those of dray_test_stream.ko.
 * Channel 0 may be a display.  No call waits for long, since a stream may be silent
 * for ever.
 */
#include <sys/eventfd.h>

#include "../selftests/timeline.h"
#include "run.h"

#define CHANNELS 4
#define FRAMES 8
#define PIECES 2

static uint32_t channel_of(const struct call *call)
{
	return (call->a & 0xff) % CHANNELS;
}

int run_timeline(struct thread *thread, const struct call *call)
{
	static const uint32_t counts[] = { 0, 1, 2, 8, 100, 65536 };
	uint64_t state = call->seed;
	struct dray_timeline line = {
		.channel = channel_of(call),
		.points = counts[pick(&state, 6)],
		.batch = (uint32_t)(pick(&state, 2) ? 1 : pick(&state, 70)),
		.event_fd = pick(&state, 4) ? -1 : eventfd(0, EFD_CLOEXEC),
		.fd = -1,
	};
	int event_fd = line.event_fd;
	int ret = node_ioctl(thread, call, DRAY_IOC_TIMELINE, &line,
			     sizeof(line));

	if (event_fd >= 0)
		close(event_fd);
	if (!ret)
		object_put(OBJECT_LINE, call->a, line.fd, line.size);
	return ret;
}

static uint32_t operation_of(uint32_t channel, uint64_t *state)
{
	if (!channel && !pick(state, 4))
		return DRAY_OP_SHOW;
	return channel % 2 ? DRAY_OP_RECV : DRAY_OP_SEND;
}

/* A view of rows in @size bytes at @offset of the memory. */
static void piece_make(struct dray_transfer *piece, struct dray_axis *axis,
		       const struct call *call, uint64_t offset, uint64_t size,
		       uint64_t *state)
{
	bool sends = channel_of(call) % 2 == 0;
	int fd = object_fd(call->seed % 5 ? OBJECT_BUFFER : OBJECT_ATTACHMENT,
			   call->b);
	uint64_t pitch;

	size = size ? size : 1;
	axis->count = 1 + pick(state, size < 16 ? size : 16);
	pitch = size / axis->count;
	axis->src_stride = sends ? (int64_t)pitch : 0;
	axis->dst_stride = sends ? 0 : (int64_t)pitch;
	*piece = (struct dray_transfer){
		.op = operation_of(channel_of(call), state),
		.src_fd = sends ? fd : -1,
		.dst_fd = sends ? -1 : fd,
		.src_offset = sends ? offset : 0,
		.dst_offset = sends ? 0 : offset,
		.run = 1 + pick(state, pitch),
		.axes = (uintptr_t)axis,
		.axes_count = (uint32_t)pick(state, 2),
	};
}

int run_packet(struct thread *thread, const struct call *call)
{
	uint64_t state = call->seed, size = object_size(OBJECT_BUFFER, call->b);
	struct dray_transfer pieces[PIECES];
	struct dray_axis axes[PIECES];
	uint64_t deadline = pick(&state, 3) ? 0 : 1 + pick(&state, SECOND / 10);
	struct dray_submit submit = {
		.channel = channel_of(call),
		.flags = deadline ? 0 : DRAY_SUBMIT_NO_FENCE,
		.transfers = (uintptr_t)pieces,
		.count = 1 + (uint32_t)pick(&state, PIECES),
		.deadline_ns = deadline,
		.fence_fd = -1,
	};
	int ret;

	if (!pick(&state, 8))
		submit.flags |= DRAY_SUBMIT_NO_SYNC;
	for (uint32_t i = 0; i < submit.count; i++)
		piece_make(&pieces[i], &axes[i], call, i * (size / PIECES),
			   size / PIECES, &state);
	flaw_apply(call, 0, &submit, sizeof(submit));
	flaw_apply(call, 1, pieces, submit.count * sizeof(pieces[0]));
	flaw_apply(call, 2, axes, submit.count * sizeof(axes[0]));
	submit.flags |= DRAY_SUBMIT_NONBLOCK;
	ret = object_ioctl(thread, call, object_fd(OBJECT_NODE, call->c),
			   DRAY_IOC_SUBMIT, &submit, sizeof(submit));
	if (!ret && submit.fence_fd >= 0)
		object_put(OBJECT_FENCE, (uint32_t)pick(&state, 6),
			   submit.fence_fd, 0);
	return ret;
}

int run_wait(struct thread *thread, const struct call *call)
{
	uint64_t limit = now_ns() + 20 * MILLISECOND;
	struct dray_wait wait = {
		.number = 1 + call->b % 8,
		.until_ns = call->seed & 1 ? limit : 0,
	};

	flaw_apply(call, 0, &wait, sizeof(wait));
	if (wait.until_ns > limit)
		wait.until_ns = limit;
	return object_ioctl(thread, call, object_fd(OBJECT_LINE, call->a),
			    DRAY_IOC_WAIT, &wait, sizeof(wait));
}

int run_frames(struct thread *thread, const struct call *call)
{
	uint64_t state = call->seed, size = object_size(OBJECT_BUFFER, call->b);
	struct dray_transfer frames[FRAMES];
	struct dray_axis axes[FRAMES];
	struct dray_ring ring = {
		.frames = (uintptr_t)frames,
		.count = 2 + (uint32_t)pick(&state, FRAMES - 1),
		.flags = channel_of(call) % 2 && pick(&state, 2)
				 ? DRAY_RING_OVERWRITE
				 : 0,
	};

	if (!pick(&state, 4)) {
		ring.flags |= DRAY_RING_REPLACE;
		ring.count *= (uint32_t)pick(&state, 2);
	}
	for (uint32_t i = 0; i < ring.count; i++)
		piece_make(&frames[i], &axes[i], call, i * (size / FRAMES),
			   size / FRAMES, &state);
	flaw_apply(call, 0, &ring, sizeof(ring));
	flaw_apply(call, 1, frames, sizeof(frames));
	flaw_apply(call, 2, axes, sizeof(axes));
	return object_ioctl(thread, call, object_fd(OBJECT_LINE, call->a),
			    DRAY_IOC_RING, &ring, sizeof(ring));
}

int run_release(struct thread *thread, const struct call *call)
{
	uint64_t state = call->seed, limit = now_ns() + 20 * MILLISECOND;
	struct dray_point points[FRAMES];
	uint32_t frames[FRAMES];
	struct dray_release release = {
		.frames = (uintptr_t)frames,
		.count = (uint32_t)pick(&state, 4),
		.room = pick(&state, 2) ? 0 : (uint32_t)pick(&state, FRAMES),
		.points = (uintptr_t)points,
		.number = 1 + call->b % 8,
		.until_ns = pick(&state, 4) ? 0 : limit,
	};
	int ret;

	for (uint32_t i = 0; i < FRAMES; i++)
		frames[i] = (uint32_t)pick(&state, FRAMES);
	flaw_apply(call, 0, &release, sizeof(release));
	if (release.until_ns > limit)
		release.until_ns = limit;
	flaw_apply(call, 1, frames, sizeof(frames));
	ret = object_ioctl(thread, call, object_fd(OBJECT_LINE, call->a),
			   DRAY_IOC_RELEASE, &release, sizeof(release));
	/* There is no ring, and a short run may see none. */
	if (ret == -EINVAL && release.reason == DRAY_REASON_FRAMES)
		return -EOPNOTSUPP;
	return ret;
}

/* Maps the points over a window, for writing too if it is allowed. */
int run_points(struct thread *thread, const struct call *call)
{
	uint64_t size = object_size(OBJECT_LINE, call->a), published;
	int fd = object_fd(OBJECT_LINE, call->a);
	void *at = window_address(call->b);

	if (call->seed & 1)
		return read(fd, &published, sizeof(published)) < 0 ? -errno : 0;
	if (call->seed & 2)
		size = call->size;
	at = mmap(at, size <= WINDOW_SIZE ? size : WINDOW_SIZE,
		  call->seed & 12 ? PROT_READ : PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_FIXED, fd,
		  call->seed & 48 ? 0 : (off_t)(call->offset & ~(PAGE - 1)));
	if (at == MAP_FAILED)
		return -errno;
	copy_safely(&published, at, sizeof(published));
	return 0;
}
