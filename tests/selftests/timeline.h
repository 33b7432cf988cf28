/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The timeline of a queue, as a test sees it: its file and its mapping.
 */
#ifndef SELFTEST_TIMELINE_H
#define SELFTEST_TIMELINE_H

#include "node.h"
#include "process.h"
#include "system.h"

#define MILLISECOND 1000000ull
#define SECOND (1000 * MILLISECOND)

#define SEND_OF(from, at, bytes, ...)                                \
	{                                                            \
		.op = DRAY_OP_SEND, .dst_fd = -1, .src_fd = (from),  \
		.src_offset = (at), .run = (bytes), __VA_ARGS__      \
	}
#define RECV_OF(to, at, bytes, ...)                                  \
	{                                                            \
		.op = DRAY_OP_RECV, .dst_fd = (to), .src_fd = -1,    \
		.dst_offset = (at), .run = (bytes), __VA_ARGS__      \
	}

struct line {
	int fd;
	uint64_t size;
	uint32_t reason;
	uint64_t limit;
	const struct dray_timeline_head *head;
	const struct dray_point *points;
};

static inline uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

/* 0, or a negative errno with the reason and its limit in @line. */
static inline int line_open_as(int node, struct dray_timeline *args,
			       struct line *line)
{
	void *map;
	int ret = node_call(node, DRAY_IOC_TIMELINE, args);

	*line = (struct line){ .fd = -1,
			       .reason = args->reason,
			       .limit = args->limit };
	if (ret)
		return ret;
	map = mmap(NULL, args->size, PROT_READ, MAP_SHARED, args->fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	line->fd = args->fd;
	line->size = args->size;
	line->head = map;
	line->points = (const void *)((const char *)map + line->head->first);
	return 0;
}

static inline int line_open(int node, uint32_t channel, uint32_t batch,
			    struct line *line)
{
	struct dray_timeline args = { .channel = channel,
				      .batch = batch,
				      .event_fd = -1 };

	return line_open_as(node, &args, line);
}

static inline void line_close(struct line *line)
{
	munmap((void *)line->head, line->size);
	close(line->fd);
}

static inline int line_call(const struct line *line, struct dray_wait *wait)
{
	return ioctl(line->fd, DRAY_IOC_WAIT, wait) < 0 ? -errno : 0;
}

/* Waits at most as long as all tests do. */
static inline int line_wait(const struct line *line, uint64_t number,
			    struct dray_point *point)
{
	struct dray_wait wait = {
		.number = number,
		.until_ns = now_ns() + DEADLINE_MS * MILLISECOND,
	};
	int ret = line_call(line, &wait);

	*point = wait.point;
	return ret;
}

/* The point's status, or what WAIT says. */
static inline int line_status(const struct line *line, uint64_t number)
{
	struct dray_point point;
	int ret = line_wait(line, number, &point);

	return ret ? ret : point.status;
}

/* The point's bytes if its status is 0, else that. */
static inline int64_t line_bytes(const struct line *line, uint64_t number)
{
	struct dray_point point;
	int ret = line_wait(line, number, &point);

	if (!ret)
		ret = point.status;
	return ret ? ret : (int64_t)point.bytes;
}

static inline uint64_t line_completed(const struct line *line)
{
	return __atomic_load_n(&line->head->completed, __ATOMIC_ACQUIRE);
}

/*
 * Reads a point as the header says: 0; -EAGAIN: it is not there; -EOVERFLOW: it
 * was overwritten.
 */
static inline int line_read(const struct line *line, uint64_t number,
			    struct dray_point *point)
{
	const struct dray_point *at =
		&line->points[number % line->head->points];
	uint64_t seen = __atomic_load_n(&at->number, __ATOMIC_ACQUIRE);

	if (seen < number)
		return -EAGAIN;
	if (seen > number)
		return -EOVERFLOW;
	*point = *(const volatile struct dray_point *)at;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	seen = __atomic_load_n(&at->number, __ATOMIC_RELAXED);
	return seen == number ? 0 : -EOVERFLOW;
}

#endif
