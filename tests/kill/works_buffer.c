// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Works of the load: buffers and dray's own calls about them.
 */
#include "works.h"

#define LARGEST (512 * 1024)

void work_alloc(void)
{
	struct buffer *buffer = &me.buffers[pick(BUFFERS)];
	size_t size = 1 + pick(pick(4) ? 65536 : LARGEST);
	int ret;

	buffer_close(buffer);
	ret = buffer_open(me.node, (uint32_t)pick(me.info.heap_count), size,
			  buffer);
	if (!ret)
		memset(buffer->bytes, (int)pick(256), buffer->size);
	count(WORK_ALLOC, ret);
}

void work_sync(void)
{
	struct buffer *buffer = any_buffer();
	uint64_t offset;

	if (!buffer)
		return;
	offset = pick(buffer->size);
	count(WORK_SYNC, buffer_sync(me.node, buffer->fd, 1 + (uint32_t)pick(2),
				     1 + (uint32_t)pick(3), offset,
				     1 + pick(buffer->size - offset)));
	buffer_cpu_access(buffer->fd, DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW);
	buffer_cpu_access(buffer->fd, DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW);
}

void work_address(void)
{
	struct dray_segment segment;
	struct dray_address address = { .segments = (uintptr_t)&segment,
					.room = 1 };
	struct buffer *buffer = any_buffer();

	if (!buffer)
		return;
	address.fd = buffer->fd;
	count(WORK_ADDRESS, node_call(me.node, DRAY_IOC_ADDRESS, &address));
}

void work_export(void)
{
	struct dray_export export = { .flags = DRAY_EXPORT_READ_ONLY };
	struct buffer *buffer = any_buffer();
	void *bytes;
	int ret;

	if (!buffer)
		return;
	export.buffer_fd = buffer->fd;
	ret = node_call(me.node, DRAY_IOC_EXPORT, &export);
	count(WORK_EXPORT, ret);
	if (ret)
		return;
	bytes = mmap(NULL, buffer->size, PROT_READ, MAP_SHARED, export.fd, 0);
	send_descriptor(me.load.outbox, export.fd);
	close(export.fd);
	if (bytes != MAP_FAILED && pick(2))
		munmap(bytes, buffer->size);
}

void work_ask(void)
{
	struct dray_buffer_info about;
	struct buffer *buffer = any_buffer();
	struct dray_heap_info heap;
	int ret = node_heap(me.node, (uint32_t)pick(me.info.heap_count), &heap);

	if (!ret)
		ret = node_count(me.node) < 0;
	if (!ret && buffer && buffer->id)
		ret = node_buffer_info(me.node, buffer->id, &about);
	count(WORK_ASK, ret);
}
