// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Calls of the kernel. */
#include <errno.h>
#include <sys/ioctl.h>

#include "memory/kernel.h"

int dray_kernel_call(int fd, unsigned int request, void *args)
{
	while (ioctl(fd, request, args)) {
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}
