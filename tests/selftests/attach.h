/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * ATTACH as its tests call it: a descriptor, or a negative errno with the
 * reply to look at.
 */
#ifndef SELFTEST_ATTACH_H
#define SELFTEST_ATTACH_H

#include "binding.h"
#include "node.h"

/* Pages that nobody has touched. */
static inline uint8_t *fresh_memory(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static inline int attach_memory(int node, const void *address, size_t length,
				uint32_t flags, struct dray_attach *attach)
{
	int ret;

	*attach = (struct dray_attach){
		.dmabuf_fd = -1,
		.flags = DRAY_ATTACH_USER | flags,
		.address = (uintptr_t)address,
		.length = length,
		.fd = -1,
	};
	ret = node_call(node, DRAY_IOC_ATTACH, attach);
	return ret ? ret : attach->fd;
}

static inline int attach_dma_buf(int node, int fd, uint32_t flags,
				 struct dray_attach *attach)
{
	int ret;

	*attach = (struct dray_attach){
		.dmabuf_fd = fd,
		.flags = flags,
		.fd = -1,
	};
	ret = node_call(node, DRAY_IOC_ATTACH, attach);
	return ret ? ret : attach->fd;
}

/*
 * Between the two the same memory is mapped twice for a device, on purpose:
 * the debugger of the DMA API cannot tell; see tools/lib/dma-reports.awk.
 */
static inline void mapped_twice_begin(void)
{
	write_text("/dev/kmsg", "dray test: memory is mapped twice\n");
}

static inline void mapped_twice_end(void)
{
	write_text("/dev/kmsg", "dray test: no memory is mapped twice\n");
}

#endif
