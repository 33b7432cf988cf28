// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Loop-back streams: a packet that is sent to "tx0" is received from "rx0".
 * This file is the port of each end; line.c moves the bytes.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/fork.h"
#include "memory/backend.h"
#include "memory/line.h"
#include "memory/reason.h"

#define DEFAULT_POINTS 1024

/* Two devices, as dray_node_same() tells them apart, and two pairs in each. */
static struct dray_host_line *lines[2][DRAY_LOOPBACK_CHANNELS];
static struct dray_line_counts counts[2][DRAY_LOOPBACK_CHANNELS];

static bool is_sender(uint32_t channel)
{
	return channel % 2 == 0;
}

static void free_line(struct dray_host_line *line)
{
	struct dray_line_job *job, *next;

	for (job = line->first; job && !line->ring; job = next) {
		next = job->next;
		free(job);
	}
	dray_line_ring_free(line->ring);
	close(line->event);
	close(line->timer);
	close(line->base.fd);
	free(line->timeline);
	free(line);
}

static int loopback_port_watch(const struct dray_host_line *line, int fd)
{
	struct epoll_event wanted = { .events = EPOLLIN };

	return epoll_ctl(line->base.fd, EPOLL_CTL_ADD, fd, &wanted);
}

static int open_descriptors(struct dray_host_line *line)
{
	int error;

	line->event = dray_descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	line->timer = dray_descriptor(
		timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
	line->base.fd = dray_descriptor(epoll_create1(EPOLL_CLOEXEC));
	if (line->event >= 0 && line->timer >= 0 && line->base.fd >= 0 &&
	    !loopback_port_watch(line, line->event) &&
	    !loopback_port_watch(line, line->timer))
		return 0;
	error = errno;
	return dray_fail(-error, "descriptors of a stream: %s",
			 strerror(error));
}

static int make_timeline(struct dray_host_line *line,
			 struct dray_timeline *args)
{
	uint32_t points = DRAY_MIN_POINTS;
	size_t size;

	if (!args->points)
		args->points = DEFAULT_POINTS;
	if (args->points > DRAY_MAX_POINTS)
		return dray_fail_reason(-EINVAL, DRAY_REASON_POINTS,
					DRAY_MAX_POINTS, "%u points",
					args->points);
	while (points < args->points)
		points *= 2;
	size = sizeof(*line->timeline) + points * sizeof(*line->points);
	line->timeline = calloc(1, size);
	if (!line->timeline)
		return dray_fail(-ENOMEM, "no memory for %u points", points);
	line->points = (struct dray_point *)(line->timeline + 1);
	line->timeline->points = points;
	line->timeline->first = sizeof(*line->timeline);
	line->base.timeline = line->timeline;
	line->base.size = size;
	args->points = points;
	args->size = size;
	return 0;
}

/* Puts the line at its place in the table, if that is free. */
static int take_place(struct dray_host_line *line, struct dray_timeline *args)
{
	int ret = 0;

	dray_line_lock();
	if (dray_line_at(line->place))
		ret = dray_fail_reason(-EBUSY, DRAY_REASON_STREAM,
				       args->channel,
				       "opening channel %u of the host",
				       args->channel);
	else
		*line->place = line;
	dray_line_unlock();
	args->reason = ret ? DRAY_REASON_STREAM : DRAY_REASON_NONE;
	return ret;
}

static int open_line(struct dray_node *node, struct dray_timeline *args,
		     struct dray_port **out)
{
	DRAY_NO_CANCEL;
	struct dray_host_line *line = calloc(1, sizeof(*line));
	int ret;

	if (!line)
		return dray_fail(-ENOMEM, "no memory for a port");
	line->base.node = node;
	line->base.channel = args->channel;
	line->base.fd = -1;
	line->event = -1;
	line->timer = -1;
	line->place = &lines[node->shareable][args->channel];
	line->process = dray_fork_process();
	line->counts = &counts[node->shareable][args->channel];
	line->sends = is_sender(args->channel);
	line->last = &line->first;
	ret = make_timeline(line, args);
	if (!ret)
		ret = open_descriptors(line);
	if (!ret)
		ret = take_place(line, args);
	if (ret) {
		free_line(line);
		return ret;
	}
	*out = &line->base;
	return 0;
}

static void close_line(struct dray_port *port)
{
	DRAY_NO_CANCEL;
	struct dray_host_line *line = (struct dray_host_line *)port;

	dray_line_lock();
	if (line->process == dray_fork_process())
		dray_line_stop(line, 0);
	if (*line->place == line)
		*line->place = NULL;
	dray_line_unlock();
	free_line(line);
}

/* Waits for room in the line; returns with the lock if there is. */
static int lock_with_room(struct dray_host_line *line, bool nonblock)
{
	uint32_t seen;
	uint64_t next;

	for (;;) {
		dray_line_lock();
		next = dray_line_pump(line);
		if (line->in_flight < DRAY_LOOPBACK_DEPTH)
			return 0;
		seen = dray_line_changes();
		dray_line_unlock();
		if (nonblock)
			return dray_fail_reason(-EAGAIN, DRAY_REASON_BUSY,
						DRAY_LOOPBACK_DEPTH,
						"a packet on channel %u",
						line->base.channel);
		if (dray_line_wait(seen, next))
			return dray_fail(
				-EINTR,
				"a signal came before there was room, nothing was submitted");
	}
}

static int loopback_port_submit(struct dray_port *port,
				struct dray_port_job *asked)
{
	struct dray_host_line *line = (struct dray_host_line *)port;
	struct dray_line_job *job = dray_line_job_create(line, asked);
	int ret;

	if (!job)
		return -ENOMEM;
	ret = lock_with_room(line, asked->flags & DRAY_SUBMIT_NONBLOCK);
	if (ret) {
		free(job);
		return ret;
	}
	dray_line_add(line, job);
	asked->point = job->number;
	dray_line_pump(line);
	dray_line_unlock();
	return 0;
}

static int loopback_port_cancel(struct dray_port *port, uint64_t number)
{
	struct dray_host_line *line = (struct dray_host_line *)port;

	dray_line_lock();
	dray_line_stop(line, number);
	dray_line_pump(line);
	dray_line_unlock();
	return 0;
}

static int loopback_port_wait_for(struct dray_port *port, uint64_t number,
				  uint64_t until_ns, struct dray_point *out)
{
	struct dray_host_line *line = (struct dray_host_line *)port;
	uint64_t next;
	uint32_t seen;
	bool over;
	int ret;

	for (;;) {
		dray_line_lock();
		next = dray_line_pump(line);
		over = line->ring && line->ring->ended;
		seen = dray_line_changes();
		ret = dray_port_read(port, number, out);
		dray_line_unlock();
		if (ret > 0)
			return 0;
		if (ret)
			return dray_fail(ret,
					 "point %" PRIu64 " was overwritten",
					 number);
		if (over)
			return dray_fail(-ENODEV, "the ring has ended");
		if (until_ns <= dray_clock_now())
			return dray_fail(-ETIME,
					 "point %" PRIu64 " has not come",
					 number);
		if (dray_line_wait(seen, next < until_ns ? next : until_ns))
			return dray_fail(-EINTR,
					 "a signal came before point %" PRIu64,
					 number);
	}
}

static void loopback_port_progress(struct dray_port *port)
{
	dray_line_lock();
	dray_line_pump((struct dray_host_line *)port);
	dray_line_unlock();
}

static uint64_t loopback_port_ended(struct dray_port *port)
{
	DRAY_NO_CANCEL;
	struct dray_host_line *line = (struct dray_host_line *)port;
	uint64_t published;
	eventfd_t count;

	dray_line_lock();
	dray_line_pump(line);
	eventfd_read(line->event, &count);
	published = line->timeline->published;
	dray_line_unlock();
	return published;
}

int dray_loopback_channel(struct dray_node *node,
			  struct dray_channel_info *info)
{
	size_t device = node->shareable;
	uint32_t index = info->index;
	bool sends = is_sender(index);

	info->flags = sends ? DRAY_CHANNEL_SEND : DRAY_CHANNEL_RECV;
	info->alignment = 1;
	info->max_segment = DRAY_LOOPBACK_BYTES;
	snprintf(info->name, sizeof(info->name), "%s%u", sends ? "tx" : "rx",
		 index / 2);
	snprintf(info->device, sizeof(info->device), "loopback%u", index / 2);
	dray_fork_check();
	dray_line_lock();
	if (dray_line_at(&lines[device][index]))
		info->flags |= DRAY_CHANNEL_OPEN;
	info->submitted = counts[device][index].submitted;
	info->bytes = counts[device][index].bytes;
	info->failed = counts[device][index].failed;
	dray_line_unlock();
	return 0;
}

const struct dray_port_ops dray_loopback_ports = {
	.open = open_line,
	.close = close_line,
	.submit = loopback_port_submit,
	.cancel = loopback_port_cancel,
	.wait = loopback_port_wait_for,
	.ring = dray_loopback_ring,
	.release = dray_loopback_release,
	.end_ring = dray_loopback_end_ring,
	.ended = loopback_port_ended,
	.progress = loopback_port_progress,
};
