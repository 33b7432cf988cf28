// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dma-bufs, which the kernel knows once for each open device: measured before XRT
 * gets them, and found again by their inode.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/error.h"
#include "xrt/xrt.h"

/* The file system that every dma-buf lives on (linux/magic.h). */
#define DMA_BUF_FILE_SYSTEM 0x444d4142

int dray_xrt_measure(int fd, uint64_t *size, struct dray_xrt_inode *inode)
{
	long page = sysconf(_SC_PAGESIZE);
	struct statfs system;
	struct stat status;
	off_t end;

	if (fstatfs(fd, &system) || fstat(fd, &status))
		return dray_fail(-errno, "file descriptor %d: %s", fd,
				 strerror(errno));
	if ((unsigned long)system.f_type != DMA_BUF_FILE_SYSTEM)
		return dray_fail(
			-EOPNOTSUPP,
			"file descriptor %d is not a dma-buf: XRT imports memory of the kernel module or of other drivers, not of the host",
			fd);
	end = lseek(fd, 0, SEEK_END);
	if (end < 0)
		return dray_fail(-errno, "the size of dma-buf %d: %s", fd,
				 strerror(errno));
	lseek(fd, 0, SEEK_SET);
	/* The kernel's import stops the machine if it is not. */
	if (!end || end % page)
		return dray_fail(
			-EINVAL,
			"dma-buf %d has %jd bytes, not a multiple of the page size %ld",
			fd, (intmax_t)end, page);
	*size = (uint64_t)end;
	inode->device = status.st_dev;
	inode->number = status.st_ino;
	return 0;
}

int dray_xrt_find(const struct dray_xrt_device *device,
		  const struct dray_xrt_inode *inode,
		  struct dray_xrt_whole **out)
{
	struct dray_xrt_whole *whole;
	bool foreign = false;

	*out = NULL;
	for (whole = dray_xrt_wholes(); whole; whole = whole->next) {
		if (whole->inode.number != inode->number ||
		    whole->inode.device != inode->device)
			continue;
		if (whole->device &&
		    whole->device->identity != device->identity)
			continue;
		if (whole->kind != DRAY_XRT_FOREIGN) {
			*out = whole;
			return 0;
		}
		foreign = true;
	}
	if (foreign)
		return dray_fail(
			-EBUSY,
			"the memory is a BO of dray_xrt_wrap() already: a second import would end it");
	return 0;
}
