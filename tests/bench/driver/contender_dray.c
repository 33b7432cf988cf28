// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dray.ko: a heap of the node under test.
 */
#include "../../selftests/node.h"
#include "contender.h"

static int open_heap(struct contender *contender, const char *path,
		     uint32_t type)
{
	struct dray_heap_info heap;
	int node = open(path, O_RDWR | O_CLOEXEC);
	int ret;

	if (node < 0)
		return -errno;
	ret = node_find_heap(node, type, &heap);
	if (ret) {
		close(node);
		return ret;
	}
	contender->file = node;
	contender->heap = heap.index;
	return 0;
}

int dray_reserved_open(struct contender *contender)
{
	return open_heap(contender, "/dev/dray0", DRAY_HEAP_RESERVED);
}

/*
 * Of the virtual node, whose heap is the default CMA area as dma-heap's is:
 * what an allocation costs depends on what else lies in an area.
 */
int dray_cma_open(struct contender *contender)
{
	return open_heap(contender, "/dev/dray1", DRAY_HEAP_CMA);
}

int dray_pages_open(struct contender *contender)
{
	return open_heap(contender, "/dev/dray0", DRAY_HEAP_PAGES);
}

static int dray_allocate(const struct contender *contender, size_t size,
			 struct piece *piece)
{
	struct dray_alloc alloc = {
		.size = size,
		.heap = contender->heap,
		.mode = DRAY_MODE_CACHED,
	};
	int ret = node_call(contender->file, DRAY_IOC_ALLOC, &alloc);

	piece->fd = alloc.fd;
	return ret;
}

static int dray_sync(const struct contender *contender,
		     const struct piece *piece, size_t offset, size_t width)
{
	int ret = buffer_sync(contender->file, piece->fd, DRAY_SYNC_FOR_CPU,
			      DRAY_BIDIRECTIONAL, offset, width);

	if (ret)
		return ret;
	return buffer_sync(contender->file, piece->fd, DRAY_SYNC_FOR_DEVICE,
			   DRAY_BIDIRECTIONAL, offset, width);
}

/* Maps nothing new, but writes the zeros back. */
static int dray_attach(const struct contender *contender, struct piece *piece)
{
	return buffer_sync(contender->file, piece->fd, DRAY_SYNC_FOR_DEVICE,
			   DRAY_TO_DEVICE, 0, 1);
}

const struct contender_ops dray_ops = {
	.allocate = dray_allocate,
	.attach = dray_attach,
	.sync = dray_sync,
	.free = piece_close,
};
