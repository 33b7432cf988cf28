// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The table of contenders, and what is done with every dma-buf alike.
 */
#include "contender.h"

struct contender contenders[] = {
	{ "dray reserved", &dray_ops, .open = dray_reserved_open },
	{ "dray cma", &dray_ops, .open = dray_cma_open },
	{ "dray pages", &dray_ops, .open = dray_pages_open },
	{ "dma-heap cma", &heap_ops, .open = heap_cma_open },
	{ "dma-heap system", &heap_ops, .open = heap_system_open },
	{ "udmabuf", &udmabuf_ops, .open = udmabuf_open },
};

const size_t contender_count = sizeof(contenders) / sizeof(contenders[0]);

int piece_map(struct piece *piece)
{
	void *bytes = mmap(NULL, piece->size, PROT_READ | PROT_WRITE,
			   MAP_SHARED, piece->fd, 0);

	if (bytes == MAP_FAILED)
		return -errno;
	piece->bytes = bytes;
	return 0;
}

void piece_touch(const struct piece *piece)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), at;

	for (at = 0; at < piece->size; at += page)
		piece->bytes[at] = 1;
}

int piece_sync(const struct piece *piece)
{
	struct dma_buf_sync begin = {
		.flags = DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW,
	};
	struct dma_buf_sync end = {
		.flags = DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW,
	};

	if (ioctl(piece->fd, DMA_BUF_IOCTL_SYNC, &begin) ||
	    ioctl(piece->fd, DMA_BUF_IOCTL_SYNC, &end))
		return -errno;
	return 0;
}

int piece_unmap(struct piece *piece)
{
	if (munmap((void *)piece->bytes, piece->size))
		return -errno;
	piece->bytes = NULL;
	return 0;
}

void piece_close(const struct piece *piece)
{
	close(piece->fd);
}
