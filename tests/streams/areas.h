/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Registers and interrupts of the node under test, by the calls of linux/dray.h.  Each
 * function returns a descriptor, or a negative errno.
 */
#ifndef STREAMS_AREAS_H
#define STREAMS_AREAS_H

#include "../selftests/node.h"

/* Registers of the IP brighten (tools/fpga.d/examples). */
enum { GAIN, FRAMES };

static inline int area_open(int node)
{
	struct dray_register_area args = { .flags = DRAY_REGISTERS_OPEN };
	int ret = node_call(node, DRAY_IOC_REGISTER_AREA, &args);

	return ret ? ret : args.fd;
}

static inline int interrupt_open(int node)
{
	struct dray_interrupt_line args = { .flags = DRAY_INTERRUPT_OPEN };
	int ret = node_call(node, DRAY_IOC_INTERRUPT_LINE, &args);

	return ret ? ret : args.fd;
}

static inline volatile uint32_t *area_map(int area, size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, area, 0);
}

/* The count, or a negative errno. */
static inline int64_t interrupt_read(int interrupt)
{
	uint64_t count;
	ssize_t size = read(interrupt, &count, sizeof(count));

	if (size < 0)
		return -errno;
	return size == sizeof(count) ? (int64_t)count : -EIO;
}

/* The events of a poll() of @timeout milliseconds, or a negative errno. */
static inline int interrupt_poll(int interrupt, int timeout)
{
	struct pollfd one = { .fd = interrupt, .events = POLLIN };

	return poll(&one, 1, timeout) < 0 ? -errno : one.revents;
}

#endif
