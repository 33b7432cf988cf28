/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * An engine that is simulated, for what a real one does not do on demand:
 * fail, be full, stay in flight.  It stands behind dray_node_submit() (the
 * linker's --wrap) on the host's shareable memory, and reaches that memory
 * only through the descriptors and offsets it is given.  A transfer is done
 * when its fence is waited for, no earlier.  The real engine is tested by
 * test_copy.c on the board.
 */
#ifndef DRAY_TESTS_SIMULATED_ENGINE_H
#define DRAY_TESTS_SIMULATED_ENGINE_H

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <linux/sync_file.h>

#include "memory/node.h"
#include "node.h"

#define ENGINE_JOBS 64
#define ENGINE_TIME 1234567890ull /* of each end; CLOCK_MONOTONIC, ns */

struct engine_job {
	int fd; /* an eventfd in the place of a sync_file */
	int status; /* as SYNC_IOC_FILE_INFO gives it */
	int dst_fd, src_fd; /* duplicated, as the kernel keeps buffers */
	struct dray_transfer transfer;
	struct dray_axis axes[DRAY_MAX_AXES];
};

static struct {
	struct dray_channel_info channel; /* all channels are alike */
	uint32_t channels;
	uint64_t max_runs, max_bytes;
	/* what the next submissions meet */
	int errors[4]; /* one after the other, 0: none */
	uint32_t reason;
	int outcome; /* 1 or -errno, of fences */
	/* what was seen */
	unsigned int calls, waits;
	struct dray_submit last;
	struct dray_transfer last_transfer;
	struct engine_job jobs[ENGINE_JOBS];
	/* how system calls go wrong */
	bool interrupt_poll, fail_status;
	bool poll_lies; /* returns, and nothing is done */
	void (*waited)(void); /* called once before a wait for ever */
	void (*full)(void); /* called once in a submission, which waits for room */
	int info_error, channel_error;
} engine;

static inline void engine_reset(void)
{
	for (int i = 0; i < ENGINE_JOBS; i++)
		assert_int_equal(engine.jobs[i].fd, 0);
	memset(&engine, 0, sizeof(engine));
	engine.channel.flags = DRAY_CHANNEL_COPY;
	engine.channel.alignment = 1;
	engine.channels = 2;
	engine.max_runs = 100000;
	engine.max_bytes = 1 << 30;
	engine.outcome = 1;
}

static inline unsigned char *engine_map(int fd, int protection, size_t *size)
{
	struct stat status;
	void *memory;

	assert_int_equal(fstat(fd, &status), 0);
	*size = (size_t)status.st_size;
	memory = mmap(NULL, *size, protection, MAP_SHARED, fd, 0);
	assert_true(memory != MAP_FAILED);
	return memory;
}

/* Each run of a transfer, each byte inside of the buffers. */
static inline void engine_run(struct engine_job *job)
{
	const struct dray_transfer *transfer = &job->transfer;
	uint64_t position[DRAY_MAX_AXES] = { 0 };
	unsigned char *dst, *src = NULL;
	size_t dst_size, src_size = 0;
	int k;

	dst = engine_map(job->dst_fd, PROT_READ | PROT_WRITE, &dst_size);
	if (transfer->op == DRAY_OP_COPY)
		src = engine_map(job->src_fd, PROT_READ, &src_size);
	do {
		uint64_t to = transfer->dst_offset, from = transfer->src_offset;

		for (uint32_t i = 0; i < transfer->axes_count; i++) {
			to += position[i] * (uint64_t)job->axes[i].dst_stride;
			from += position[i] * (uint64_t)job->axes[i].src_stride;
		}
		assert_true(to <= dst_size && transfer->run <= dst_size - to);
		if (src) {
			assert_true(from <= src_size &&
				    transfer->run <= src_size - from);
			memcpy(dst + to, src + from, transfer->run);
		} else {
			assert_int_equal(transfer->run % transfer->pattern_size,
					 0);
			for (uint64_t i = 0; i < transfer->run; i++)
				dst[to + i] =
					transfer->pattern
						[i % transfer->pattern_size];
		}
		for (k = (int)transfer->axes_count - 1; k >= 0; k--) {
			if (++position[k] < job->axes[k].count)
				break;
			position[k] = 0;
		}
	} while (k >= 0);
	munmap(dst, dst_size);
	if (src)
		munmap(src, src_size);
}

static inline struct engine_job *engine_find(int fd)
{
	for (int i = 0; fd > 0 && i < ENGINE_JOBS; i++) {
		if (engine.jobs[i].fd == fd)
			return &engine.jobs[i];
	}
	return NULL;
}

static inline void engine_finish(struct engine_job *job)
{
	if (job->status)
		return;
	if (engine.outcome > 0)
		engine_run(job);
	job->status = engine.outcome;
	close(job->dst_fd);
	if (job->src_fd >= 0)
		close(job->src_fd);
}

/* All that was submitted, in its order. */
static inline void engine_finish_all(void)
{
	for (int i = 0; i < ENGINE_JOBS; i++) {
		if (engine.jobs[i].fd)
			engine_finish(&engine.jobs[i]);
	}
}

static inline struct engine_job *engine_slot(void)
{
	for (int i = 0; i < ENGINE_JOBS; i++) {
		if (!engine.jobs[i].fd)
			return &engine.jobs[i];
	}
	fail_msg("more than %d transfers in flight", ENGINE_JOBS);
	return NULL;
}
WRAPPED(int, dray_node_submit,
	(struct dray_node *node, struct dray_submit *args))
{
	struct engine_job *job;
	int error = engine.errors[0];
	void (*full)(void) = engine.full;

	engine.full = NULL;
	if (full)
		full();
	engine.calls++;
	engine.last = *args;
	assert_int_equal(args->count, 1);
	engine.last_transfer =
		*(const struct dray_transfer *)(uintptr_t)args->transfers;
	memmove(engine.errors, engine.errors + 1, 3 * sizeof(int));
	engine.errors[3] = 0;
	if (error) {
		if (error != -EINTR)
			args->reason = engine.reason;
		return error; /* whose sentence is that of an earlier error */
	}
	job = engine_slot();
	job->transfer = engine.last_transfer;
	memcpy(job->axes, (void *)(uintptr_t)job->transfer.axes,
	       job->transfer.axes_count * sizeof(job->axes[0]));
	job->status = 0;
	job->dst_fd = dup(job->transfer.dst_fd);
	job->src_fd = job->transfer.src_fd < 0 ? -1 : dup(job->transfer.src_fd);
	job->fd = eventfd(0, EFD_CLOEXEC);
	assert_true(job->fd > 0);
	args->fence_fd = job->fd;
	if (args->channel == DRAY_CHANNEL_ANY)
		args->channel = 1;
	return 0;
}
WRAPPED(int, dray_node_info,
	(struct dray_node *node, struct dray_info *info, size_t size))
{
	int error = __real_dray_node_info(node, info, size);

	if (engine.info_error)
		return engine.info_error;
	if (engine.channels)
		info->flags |= DRAY_NODE_SUBMIT;
	info->channel_count = engine.channels;
	info->max_runs = engine.max_runs;
	info->max_bytes = engine.max_bytes;
	return error;
}
WRAPPED(int, dray_node_channel,
	(struct dray_node *node, uint32_t index, struct dray_channel_info *info,
	 size_t size))
{
	if (engine.channel_error)
		return engine.channel_error;
	assert_int_equal(size, sizeof(*info));
	*info = engine.channel;
	info->index = index;
	return 0;
}
WRAPPED(int, poll, (struct pollfd *fds, nfds_t count, int timeout))
{
	struct engine_job *job = count == 1 ? engine_find(fds->fd) : NULL;

	pthread_testcancel(); /* as poll() is one */
	if (!job)
		return __real_poll(fds, count, timeout);
	engine.waits++;
	if (engine.interrupt_poll) {
		engine.interrupt_poll = false;
		errno = EINTR;
		return -1;
	}
	if (timeout >= 0 && !job->status)
		return 0; /* however long: it is done when waited for ever */
	if (engine.waited) {
		void (*waited)(void) = engine.waited;

		engine.waited = NULL;
		waited();
	}
	for (int i = 0; i < ENGINE_JOBS && !engine.poll_lies; i++) {
		if (engine.jobs[i].fd)
			engine_finish(&engine.jobs[i]);
		if (&engine.jobs[i] == job)
			break;
	}
	fds->revents = POLLIN;
	return 1;
}
WRAPPED(int, ioctl, (int fd, unsigned long request, void *argument))
{
	struct engine_job *job = engine_find(fd);
	struct sync_fence_info *answer;
	struct sync_file_info *info;

	if (!job || request != SYNC_IOC_FILE_INFO)
		return __real_ioctl(fd, request, argument);
	if (engine.fail_status) {
		errno = EBADF;
		return -1;
	}
	info = argument;
	info->status = job->status;
	answer = (void *)(uintptr_t)info->sync_fence_info;
	answer->status = job->status;
	answer->timestamp_ns = job->status ? ENGINE_TIME : 0;
	return 0;
}
WRAPPED(int, close, (int fd))
{
	struct engine_job *job = engine_find(fd);

	if (job) { /* a sync_file may be closed in flight, the engine goes on */
		engine_finish(job);
		job->fd = 0;
	}
	return __real_close(fd);
}

#endif /* DRAY_TESTS_SIMULATED_ENGINE_H */
