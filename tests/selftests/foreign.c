// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Dma-bufs of other drivers; see foreign.h.  The structures of udmabuf and of
 * the heaps are given here, because not every compiler has their headers.
 */
#include "foreign.h"
#include "importer.h"

struct udmabuf_create {
	uint32_t memfd;
	uint32_t flags;
	uint64_t offset;
	uint64_t size;
};

struct heap_allocation {
	uint64_t size;
	uint32_t fd;
	uint32_t fd_flags;
	uint64_t heap_flags;
};

#define UDMABUF_CREATE _IOW('u', 0x42, struct udmabuf_create)
#define UDMABUF_CLOEXEC 1
#define HEAP_ALLOCATE _IOWR('H', 0x0, struct heap_allocation)

static int vgem_open(size_t size)
{
	int importer = importer_open(), fd;
	uint32_t handle;

	if (importer < 0)
		return importer;
	fd = importer_create(importer, size, &handle);
	if (!fd)
		fd = importer_export(importer, handle);
	close(importer);
	return fd;
}

int foreign_memory(size_t size)
{
	int memory = memfd_create("udmabuf", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (memory < 0 || ftruncate(memory, (off_t)size) ||
	    fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK))
		return -errno;
	return memory;
}

int foreign_of_memory(int memory, size_t offset, size_t size)
{
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), fd;
	struct udmabuf_create create = { .memfd = (uint32_t)memory,
					 .flags = UDMABUF_CLOEXEC,
					 .offset = offset,
					 .size = size };

	if (device < 0)
		return -ENODEV;
	fd = ioctl(device, UDMABUF_CREATE, &create);
	if (fd < 0)
		fd = -errno;
	close(device);
	return fd;
}

static int udmabuf_open(size_t size)
{
	int memory = foreign_memory(size), fd;

	if (memory < 0)
		return -ENODEV;
	fd = foreign_of_memory(memory, 0, size);
	close(memory);
	return fd;
}

static int system_heap_open(size_t size)
{
	int heap = open("/dev/dma_heap/system", O_RDWR | O_CLOEXEC), ret;
	struct heap_allocation allocation = { .size = size,
					      .fd_flags = O_RDWR | O_CLOEXEC };

	if (heap < 0)
		return -ENODEV;
	ret = ioctl(heap, HEAP_ALLOCATE, &allocation) ? -errno
						      : (int)allocation.fd;
	close(heap);
	return ret;
}

int foreign_open(enum foreign_kind kind, size_t size)
{
	switch (kind) {
	case FOREIGN_VGEM:
		return vgem_open(size);
	case FOREIGN_UDMABUF:
		return udmabuf_open(size);
	case FOREIGN_SYSTEM_HEAP:
		return system_heap_open(size);
	}
	return -ENODEV;
}
