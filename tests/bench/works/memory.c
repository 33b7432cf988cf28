// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The mappings that are tried; see memory.h.
 */
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>

#include "../../selftests/node.h"
#include "memory.h"

static int memory_map(struct memory *memory, int fd)
{
	memory->bytes = mmap(NULL, memory->size, PROT_READ | PROT_WRITE,
			     MAP_SHARED, fd, 0);
	return memory->bytes == MAP_FAILED ? -errno : 0;
}

static int dray_open(const struct memory_kind *kind, struct memory *memory)
{
	struct dray_alloc alloc = { .size = memory->size, .mode = kind->mode };
	struct dray_heap_info heap;
	int node = node_open(), ret;

	if (node < 0)
		return node;
	ret = node_find_heap(node, kind->heap, &heap);
	if (ret)
		return ret;
	alloc.heap = heap.index;
	ret = node_call(node, DRAY_IOC_ALLOC, &alloc);
	if (ret)
		return ret;
	/* asked for one mode and given another, it would be another row */
	if (alloc.mode != kind->mode)
		return -EOPNOTSUPP;
	memory->fd = alloc.fd;
	return memory_map(memory, memory->fd);
}

static int heap_allocate(const char *name, struct memory *memory)
{
	struct dma_heap_allocation_data data = {
		.len = memory->size,
		.fd_flags = O_RDWR | O_CLOEXEC,
	};
	char path[300];
	int heap, ret;

	snprintf(path, sizeof(path), "/dev/dma_heap/%s", name);
	heap = open(path, O_RDWR | O_CLOEXEC);
	if (heap < 0)
		return -errno;
	ret = ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &data) ? -errno : 0;
	close(heap);
	if (ret)
		return ret;
	memory->fd = (int)data.fd;
	return memory_map(memory, memory->fd);
}

static int heap_system_open(const struct memory_kind *kind,
			    struct memory *memory)
{
	return heap_allocate("system", memory);
}

/* The kernel calls this heap after its area, whose name differs. */
static int heap_cma_open(const struct memory_kind *kind, struct memory *memory)
{
	DIR *folder = opendir("/dev/dma_heap");
	struct dirent *entry;
	int ret = -ENOENT;

	if (!folder)
		return -errno;
	while (ret == -ENOENT && (entry = readdir(folder)))
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, "system"))
			ret = heap_allocate(entry->d_name, memory);
	closedir(folder);
	return ret;
}

/* A memfd and the dma-buf that udmabuf makes of it. */
static int udmabuf_make(struct memory *memory)
{
	struct udmabuf_create create = { .flags = UDMABUF_FLAGS_CLOEXEC,
					 .size = memory->size };
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	int file = memfd_create("udmabuf", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (device < 0 || file < 0 || ftruncate(file, (off_t)memory->size) ||
	    fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK))
		return -errno;
	create.memfd = (uint32_t)file;
	memory->fd = ioctl(device, UDMABUF_CREATE, &create);
	return memory->fd < 0 ? -errno : file;
}

static int udmabuf_open(const struct memory_kind *kind, struct memory *memory)
{
	int file = udmabuf_make(memory);

	return file < 0 ? file : memory_map(memory, memory->fd);
}

static int memfd_open(const struct memory_kind *kind, struct memory *memory)
{
	int file = udmabuf_make(memory);

	return file < 0 ? file : memory_map(memory, file);
}

static int anonymous_map(struct memory *memory, int flags)
{
	memory->bytes = mmap(NULL, memory->size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
	return memory->bytes == MAP_FAILED ? -errno : 0;
}

static int anonymous_open(const struct memory_kind *kind, struct memory *memory)
{
	return anonymous_map(memory, 0);
}

static int hugetlb_open(const struct memory_kind *kind, struct memory *memory)
{
	return anonymous_map(memory, MAP_HUGETLB);
}

const struct memory_kind memory_kinds[] = {
	{ "dray reserved", dray_open, DRAY_HEAP_RESERVED, DRAY_MODE_CACHED },
	{ "dray pages", dray_open, DRAY_HEAP_PAGES, DRAY_MODE_CACHED },
	{ "dray cma", dray_open, DRAY_HEAP_CMA, DRAY_MODE_CACHED },
	{ "dray cma, write-combined", dray_open, DRAY_HEAP_CMA,
	  DRAY_MODE_WRITE_COMBINED },
	{ "dray carveout", dray_open, DRAY_HEAP_CARVEOUT,
	  DRAY_MODE_WRITE_COMBINED },
	{ "dma-heap cma", heap_cma_open, 0, 0 },
	{ "dma-heap system", heap_system_open, 0, 0 },
	{ "udmabuf", udmabuf_open, 0, 0 },
	{ "udmabuf's memfd", memfd_open, 0, 0 },
	{ "hugetlb", hugetlb_open, 0, 0 },
	{ "anonymous", anonymous_open, 0, 0 },
	{ 0 },
};

int memory_open(const struct memory_kind *kind, struct memory *memory)
{
	memory->size = MEMORY_SIZE;
	memory->fd = -1;
	return kind->open(kind, memory);
}

static void memory_sync(const struct memory *memory, uint64_t flags)
{
	struct dma_buf_sync sync = { .flags = DMA_BUF_SYNC_RW | flags };

	if (memory->fd >= 0)
		ioctl(memory->fd, DMA_BUF_IOCTL_SYNC, &sync);
}

void memory_begin(const struct memory *memory)
{
	memory_sync(memory, DMA_BUF_SYNC_START);
}

void memory_end(const struct memory *memory)
{
	memory_sync(memory, DMA_BUF_SYNC_END);
}
