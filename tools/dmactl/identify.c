// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * BUFFER_INFO by descriptor.  The library would have to map the buffer, and
 * would be counted among its mappings.
 */
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

uint64_t identify_own(const char *node, int fd)
{
	bool read_only;
	int opened = identify_open(node);
	uint64_t id = opened < 0 ? 0 : identify(opened, fd, &read_only);

	if (opened >= 0)
		close(opened);
	return id;
}
