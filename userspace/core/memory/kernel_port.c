// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Ports of the kernel back end: the file of a timeline, which keeps the stream
 * open, mapped for reading.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "memory/kernel.h"
#include "memory/reason.h"
#include "memory/unlocked.h"

/* A module without TIMELINE answers -ENOTTY. */
static int open_failed(const struct dray_node *node,
		       const struct dray_timeline *args, int error)
{
	if (error == -ENOTTY)
		return dray_fail(-EOPNOTSUPP,
				 "the module behind %s does not know streams",
				 node->info.name);
	return dray_fail_reason(error, args->reason, args->limit,
				"opening channel %u of %s, %u points",
				args->channel, node->info.name, args->points);
}

static int open_port(struct dray_node *node, struct dray_timeline *args,
		     struct dray_port **out)
{
	DRAY_NO_CANCEL;
	struct dray_port *port = calloc(1, sizeof(*port));
	void *timeline;
	int ret;

	if (!port)
		return dray_fail(-ENOMEM, "no memory for a port");
	args->event_fd = -1;
	args->fd = -1;
	ret = dray_kernel_call(node->fd, DRAY_IOC_TIMELINE, args);
	if (ret) {
		ret = open_failed(node, args, ret);
		goto free_port;
	}
	args->fd = dray_descriptor(args->fd);
	if (args->fd < 0) {
		ret = dray_fail(-errno, "opening channel %u of %s: %s",
				args->channel, node->info.name,
				strerror(errno));
		goto free_port;
	}
	timeline = mmap(NULL, (size_t)args->size, PROT_READ, MAP_SHARED,
			args->fd, 0);
	if (timeline == MAP_FAILED) {
		ret = dray_map_refused("a timeline", args->size, errno);
		close(args->fd);
		goto free_port;
	}
	port->channel = args->channel;
	port->fd = args->fd;
	port->timeline = timeline;
	port->size = args->size;
	*out = port;
	return 0;
free_port:
	free(port);
	return ret;
}

static void close_port(struct dray_port *port)
{
	DRAY_NO_CANCEL;

	/*
	 * The mapping holds the file: the stream ends with the later of both.
	 */
	munmap((void *)port->timeline, (size_t)port->size);
	close(port->fd);
	free(port);
}

static void set_descriptors(struct dray_transfer *transfers,
			    struct dray_buffer *const *buffers, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		bool sends = transfers[i].op != DRAY_OP_RECV;

		transfers[i].dst_fd = sends ? -1 : buffers[i]->fd;
		transfers[i].src_fd = sends ? buffers[i]->fd : -1;
	}
}

static int kernel_port_submit(struct dray_port *port, struct dray_port_job *job)
{
	struct dray_submit args = {
		.channel = port->channel,
		.flags = job->flags | DRAY_SUBMIT_NO_FENCE,
		.transfers = (uintptr_t)job->transfers,
		.count = job->count,
		.in_fences = (uintptr_t)job->fences,
		.in_fence_count = job->fence_count,
		.fence_fd = -1,
		.deadline_ns = job->deadline_ns,
	};
	int ret;

	set_descriptors(job->transfers, job->buffers, job->count);
	ret = dray_node_submit(port->node, &args);
	if (!ret)
		job->point = args.point;
	return ret;
}

static int kernel_port_cancel(struct dray_port *port, uint64_t number)
{
	struct dray_cancel args = {
		.fence_fd = -1,
		.channel = port->channel,
		.point = number,
	};
	int ret = dray_kernel_call(port->node->fd, DRAY_IOC_CANCEL, &args);

	if (ret)
		return dray_fail_reason(ret, args.reason, args.limit,
					"CANCEL on channel %u of %s",
					port->channel, port->node->info.name);
	return 0;
}

static int port_wait_for(struct dray_port *port, uint64_t number,
			 uint64_t until_ns, struct dray_point *out)
{
	DRAY_NO_CANCEL;
	struct dray_wait args = { .number = number, .until_ns = until_ns };
	int error;

	/* A signal ends the wait, and the caller decides. */
	if (ioctl(port->fd, DRAY_IOC_WAIT, &args)) {
		error = errno;
		return dray_fail(-error, "waiting for point %" PRIu64 ": %s",
				 number, strerror(error));
	}
	*out = args.point;
	return 0;
}

static int give_ring(struct dray_port *port, struct dray_port_ring *ring)
{
	struct dray_ring args = {
		.frames = (uintptr_t)ring->transfers,
		.count = ring->count,
		.flags = ring->flags,
	};
	int ret;

	set_descriptors(ring->transfers, ring->buffers, ring->count);
	ret = dray_kernel_call(port->fd, DRAY_IOC_RING, &args);
	ring->failed = args.failed;
	if (ret)
		return dray_fail_reason(ret, args.reason, args.limit,
					"RING of %u frames on channel %u of %s",
					ring->count, port->channel,
					port->node->info.name);
	return 0;
}

static int kernel_port_release(struct dray_port *port,
			       struct dray_release *args)
{
	DRAY_NO_CANCEL;

	/* Once: after a signal the frames have been released. */
	if (ioctl(port->fd, DRAY_IOC_RELEASE, args))
		return dray_fail_reason(-errno, args->reason, args->limit,
					"RELEASE on channel %u of %s",
					port->channel, port->node->info.name);
	return 0;
}

static void end_ring(struct dray_port *port)
{
	struct dray_ring none = { .count = 0 };

	dray_kernel_call(port->fd, DRAY_IOC_RING, &none);
}

static uint64_t kernel_port_ended(struct dray_port *port)
{
	DRAY_NO_CANCEL;
	uint64_t published;

	if (read(port->fd, &published, sizeof(published)) == sizeof(published))
		return published;
	return __atomic_load_n(&port->timeline->published, __ATOMIC_ACQUIRE);
}

const struct dray_port_ops dray_kernel_ports = {
	.takes_fences = true,
	.open = open_port,
	.close = close_port,
	.submit = kernel_port_submit,
	.cancel = kernel_port_cancel,
	.wait = port_wait_for,
	.ring = give_ring,
	.release = kernel_port_release,
	.end_ring = end_ring,
	.ended = kernel_port_ended,
};
