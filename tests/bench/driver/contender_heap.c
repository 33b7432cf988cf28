// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dma-heap: the default CMA area, whose pieces are contiguous as dray's are,
 * and the page allocator, whose pieces are not.
 */
#include <linux/dma-heap.h>

#include "contender.h"

static int open_named(struct contender *contender, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/dma_heap/%s", name);
	contender->file = open(path, O_RDWR | O_CLOEXEC);
	return contender->file < 0 ? -errno : 0;
}

/* Called after the area, whose name has changed with the kernels. */
int heap_cma_open(struct contender *contender)
{
	static const char *const names[] = { "reserved", "linux,cma",
					     "default_cma_region" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!open_named(contender, names[i]))
			return 0;
	return -ENODEV;
}

int heap_system_open(struct contender *contender)
{
	return open_named(contender, "system");
}

static int heap_allocate(const struct contender *contender, size_t size,
			 struct piece *piece)
{
	struct dma_heap_allocation_data data = {
		.len = size,
		.fd_flags = O_RDWR | O_CLOEXEC,
	};

	if (ioctl(contender->file, DMA_HEAP_IOCTL_ALLOC, &data))
		return -errno;
	piece->fd = (int)data.fd;
	return 0;
}

const struct contender_ops heap_ops = {
	.allocate = heap_allocate,
	.free = piece_close,
};
