// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Out-fences: sync_files that are waited for with poll(); see fence.h.
 */
#include <linux/sync_file.h>

#include "fence.h"
#include "process.h"

static int fence_poll(int fence, int milliseconds)
{
	struct pollfd poll_fd = { .fd = fence, .events = POLLIN };
	int ret;

	do {
		ret = poll(&poll_fd, 1, milliseconds);
	} while (ret < 0 && errno == EINTR);
	if (ret < 0)
		return -errno;
	if (ret && !(poll_fd.revents & POLLIN))
		return -EBADF;
	return ret;
}

int fence_status(int fence)
{
	struct sync_file_info info = { 0 };

	if (ioctl(fence, SYNC_IOC_FILE_INFO, &info) < 0)
		return -errno;
	return info.status;
}

int fence_wait(int fence)
{
	int ret = fence_poll(fence, DEADLINE_MS);

	if (ret < 0)
		return ret;
	return ret ? fence_status(fence) : -ETIME;
}

bool fence_is_readable(int fence)
{
	return fence_poll(fence, 0) == 1;
}

int fence_merge(int a, int b)
{
	struct sync_merge_data merge = { .name = "merged", .fd2 = b };

	if (ioctl(a, SYNC_IOC_MERGE, &merge) < 0)
		return -errno;
	return merge.fence;
}

int fence_count(int fence)
{
	struct sync_file_info info = { 0 };

	if (ioctl(fence, SYNC_IOC_FILE_INFO, &info) < 0)
		return -errno;
	return (int)info.num_fences;
}
