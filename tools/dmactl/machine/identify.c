// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * BUFFER_INFO by descriptor.  The library would have to map the buffer, and
 * would be counted among its mappings.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/dray.h>

#include "cli.h"
#include "identify.h"

int identify_open(const char *node)
{
	char *path = text_format("/dev/%s", node);
	int fd = open(path, O_RDWR | O_CLOEXEC);

	free(path);
	return fd;
}

uint64_t identify(int node, int fd, bool *read_only)
{
	struct dray_buffer_info info = {
		.fd = fd,
		.flags = DRAY_BUFFER_BY_FD,
	};

	if (ioctl(node, DRAY_IOC_BUFFER_INFO, &info))
		return 0;
	*read_only = info.flags & DRAY_BUFFER_READ_ONLY;
	return info.id;
}

int identify_segments(int node, int fd, struct dray_segment **segments,
		      uint32_t *count)
{
	struct dray_address call = { .fd = fd };
	int ret;

	*segments = NULL;
	*count = 0;
	if (ioctl(node, DRAY_IOC_ADDRESS, &call))
		return -errno;
	*segments = memory_resize(NULL, call.count + 1u, sizeof(**segments));
	call = (struct dray_address){
		.fd = fd,
		.segments = (uintptr_t)*segments,
		.room = call.count,
	};
	ret = ioctl(node, DRAY_IOC_ADDRESS, &call) ? -errno : 0;
	if (ret) {
		free(*segments);
		*segments = NULL;
	} else {
		*count = call.count < call.room ? call.count : call.room;
	}
	return ret;
}

uint64_t identify_own(const char *node, int fd)
{
	bool read_only;
	int opened = identify_open(node);
	uint64_t id = opened < 0 ? 0 : identify(opened, fd, &read_only);

	if (opened >= 0)
		close(opened);
	return id;
}
