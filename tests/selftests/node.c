// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The node under test, its heaps and its buffers; see node.h.
 */
#include "node.h"

const char *node_path(void)
{
	const char *path = getenv("DRAY_NODE");

	return path && *path ? path : "/dev/dray0";
}

int node_open(void)
{
	int fd = open(node_path(), O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int node_call(int node, unsigned long request, void *argument)
{
	return ioctl(node, request, argument) < 0 ? -errno : 0;
}

bool node_copies(void)
{
	int fd = open("/sys/module/dray/parameters/bounce", O_RDONLY);
	char answer = 'N';

	if (fd >= 0) {
		if (read(fd, &answer, 1) != 1)
			answer = 'N';
		close(fd);
	}
	return answer == 'Y';
}

bool node_is_maintained(const struct dray_info *info)
{
	return !(info->flags & DRAY_NODE_COHERENT) || node_copies();
}

int node_info(int node, struct dray_info *info)
{
	memset(info, 0, sizeof(*info));
	return node_call(node, DRAY_IOC_INFO, info);
}

int node_heap(int node, uint32_t index, struct dray_heap_info *heap)
{
	memset(heap, 0, sizeof(*heap));
	heap->index = index;
	return node_call(node, DRAY_IOC_HEAP_INFO, heap);
}

int node_channel(int node, uint32_t index, struct dray_channel_info *channel)
{
	memset(channel, 0, sizeof(*channel));
	channel->index = index;
	return node_call(node, DRAY_IOC_CHANNEL_INFO, channel);
}

int node_find_heap(int node, uint32_t type, struct dray_heap_info *heap)
{
	struct dray_info info;
	int ret = node_info(node, &info);

	if (ret)
		return ret;
	for (uint32_t i = 0; i < info.heap_count; i++) {
		ret = node_heap(node, i, heap);
		if (ret)
			return ret;
		if (heap->type == type)
			return 0;
	}
	return -ENOENT;
}

const char *heap_type_name(uint32_t type)
{
	switch (type) {
	case DRAY_HEAP_RESERVED:
		return "reserved";
	case DRAY_HEAP_CMA:
		return "cma";
	case DRAY_HEAP_PAGES:
		return "pages";
	case DRAY_HEAP_CARVEOUT:
		return "carveout";
	}
	return "unknown";
}

int node_count(int node)
{
	struct dray_list list = { 0 };
	int ret = node_call(node, DRAY_IOC_LIST, &list);

	return ret ? ret : (int)list.count;
}

int node_lists(int node, uint64_t id)
{
	static uint64_t ids[65536];
	struct dray_list list = {
		.ids = (uintptr_t)ids,
		.room = sizeof(ids) / sizeof(ids[0]),
	};
	uint32_t i;
	int ret = node_call(node, DRAY_IOC_LIST, &list);

	if (ret)
		return ret;
	if (list.count > list.room)
		return -ENOSPC;
	for (i = 0; i < list.count; i++)
		if (ids[i] == id)
			return 1;
	return 0;
}

int node_buffer_info(int node, uint64_t id, struct dray_buffer_info *info)
{
	memset(info, 0, sizeof(*info));
	info->id = id;
	return node_call(node, DRAY_IOC_BUFFER_INFO, info);
}

int node_reclaim(void)
{
	struct dray_reclaim reclaim = { 0 };
	int node = node_open();
	int ret = node < 0 ? node : node_call(node, DRAY_IOC_RECLAIM, &reclaim);

	if (node >= 0)
		close(node);
	return ret;
}

uint32_t heap_usual_mode(const struct dray_heap_info *heap)
{
	if (!heap->modes)
		return DRAY_MODE_CACHED;
	return (uint32_t)__builtin_ctz(heap->modes);
}

static uint32_t usual_mode(int node, uint32_t heap)
{
	struct dray_heap_info info;

	if (heap == DRAY_HEAP_ANY || node_heap(node, heap, &info))
		return DRAY_MODE_CACHED;
	return heap_usual_mode(&info);
}

int buffer_allocate(int node, uint32_t heap, size_t size, struct buffer *buffer)
{
	struct dray_alloc alloc = { .size = size,
				    .heap = heap,
				    .mode = usual_mode(node, heap) };
	int ret = node_call(node, DRAY_IOC_ALLOC, &alloc);

	buffer->fd = -1;
	buffer->bytes = NULL;
	if (ret)
		return ret;
	buffer->fd = alloc.fd;
	buffer->id = alloc.id;
	buffer->size = alloc.size;
	return 0;
}

int buffer_open(int node, uint32_t heap, size_t size, struct buffer *buffer)
{
	int ret = buffer_allocate(node, heap, size, buffer);
	void *map;

	if (ret)
		return ret;
	map = mmap(NULL, buffer->size, PROT_READ | PROT_WRITE, MAP_SHARED,
		   buffer->fd, 0);
	if (map == MAP_FAILED) {
		ret = -errno;
		buffer_close(buffer);
		return ret;
	}
	buffer->bytes = map;
	return 0;
}

void buffer_close(struct buffer *buffer)
{
	if (buffer->bytes)
		munmap(buffer->bytes, buffer->size);
	if (buffer->fd >= 0)
		close(buffer->fd);
	buffer->bytes = NULL;
	buffer->fd = -1;
}

int buffer_cpu_access(int fd, uint64_t flags)
{
	struct dma_buf_sync sync = { .flags = flags };

	return ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync) < 0 ? -errno : 0;
}

int buffer_sync(int node, int fd, uint32_t owner, uint32_t direction,
		uint64_t offset, uint64_t width)
{
	struct dray_range range = {
		.fd = fd,
		.offset = offset,
		.width = width,
		.rows = 1,
	};
	struct dray_sync sync =
		SYNC_OF(DRAY_TARGET_NODE, owner, direction, &range, 1);

	return node_call(node, DRAY_IOC_SYNC, &sync);
}

int64_t first_other_byte(const uint8_t *bytes, size_t size, uint8_t value)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i] != value)
			return (int64_t)i;
	return -1;
}

int64_t first_difference(const uint8_t *a, const uint8_t *b, size_t size)
{
	if (!memcmp(a, b, size))
		return -1;
	for (size_t i = 0; i < size; i++)
		if (a[i] != b[i])
			return (int64_t)i;
	return -1;
}

/* splitmix64 */
uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

void fill_random(uint8_t *bytes, size_t size, uint64_t seed)
{
	uint64_t word = 0;

	for (size_t i = 0; i < size; i++) {
		if (i % 8 == 0)
			word = next_random(&seed);
		bytes[i] = (uint8_t)(word >> (i % 8 * 8));
	}
}
