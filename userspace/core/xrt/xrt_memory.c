// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * BOs as buffers and blocks.  A BO of XRT is exported as a dma-buf; the file
 * descriptor belongs to the BO.  Emulation has no exports, and its blocks lie in
 * XRT's own mapping.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "block/block.h"
#include "xrt/xrt.h"

/* A block's hold on its memory. */
struct xrt_holder {
	struct dray_xrt_bo *bo;
	struct dray_buffer *buffer;
	void *map; /* of the dma-buf; NULL: none */
	size_t map_size;
};

static void memory_let_go(void *owner)
{
	struct xrt_holder *holder = owner;

	if (holder->map)
		munmap(holder->map, holder->map_size);
	dray_buffer_unref(holder->buffer);
	dray_xrt_bo_unref(holder->bo);
	free(holder);
}

/*
 * With the lock: a duplicate of the file descriptor of XRT's own BO.  An adopted
 * handle may be a part; its dma-buf is its whole's and longer.
 */
static int export_handle(struct dray_xrt_whole *whole, int *fd)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct dray_xrt_inode inode;
	uint64_t size;
	int given;
	int ret;

	given = dray_xrt.xrtBOExport(atomic_load(&whole->handle));
	if (given < 0)
		return dray_fail(
			-EOPNOTSUPP,
			"xrtBOExport() gives no dma-buf of a BO of %" PRIu64
			" bytes, as in emulation",
			whole->size);
	dray_xrt_before_exit(DRAY_XRT_EXPORTED);
	ret = dray_xrt_measure(given, &size, &inode);
	if (ret)
		return ret;
	if (whole->part_unknown && size - whole->size >= page)
		return dray_fail(-EINVAL,
				 "the BO of %" PRIu64
				 " bytes is a part of one of %" PRIu64
				 ": dray_xrt_adopt() needs that one as root",
				 whole->size, size);
	*fd = dray_descriptor_copy(given);
	if (*fd < 0)
		return dray_fail(-errno, "duplicating a dma-buf: %s",
				 strerror(errno));
	whole->inode = inode;
	return 0;
}

/* A file descriptor to be closed, and the BO's place behind it. */
static int export_bo(struct dray_xrt_bo *bo, int *fd, uint64_t *offset)
{
	struct dray_xrt_whole *whole = bo->whole;
	int ret;

	*offset = bo->offset;
	if (whole->kind == DRAY_XRT_USER)
		return dray_fail(-EOPNOTSUPP,
				 "user memory has no dma-buf to export");
	ret = dray_xrt_enter(bo->process);
	if (ret)
		return ret;
	if (whole->kind != DRAY_XRT_FOREIGN) {
		ret = export_handle(whole, fd);
	} else if (whole->foreign.fd < 0) {
		ret = dray_fail(-EOPNOTSUPP,
				"the foreign BO came without a dma-buf");
	} else {
		*offset += whole->foreign.offset;
		*fd = dray_descriptor_copy(whole->foreign.fd);
		if (*fd < 0)
			ret = dray_fail(-errno, "duplicating a dma-buf: %s",
					strerror(errno));
	}
	dray_xrt_leave();
	return ret;
}

int dray_xrt_bo_buffer(struct dray_xrt_bo *bo, struct dray_node *node,
		       struct dray_buffer **buffer, uint64_t *offset)
{
	DRAY_NO_CANCEL;
	uint64_t place;
	int fd;
	int ret;

	if (!dray_given(bo, __func__) || !dray_given(buffer, __func__) ||
	    !dray_given(offset, __func__))
		return -EINVAL;
	if (bo->whole->kind == DRAY_XRT_IMPORT) {
		*buffer = dray_buffer_ref(bo->whole->buffer);
		*offset = bo->offset;
		return 0;
	}
	if (!dray_given(node, __func__))
		return -EINVAL;
	ret = export_bo(bo, &fd, &place);
	if (ret)
		return ret;
	ret = dray_buffer_import(node, fd, buffer);
	close(fd);
	if (!ret)
		*offset = place;
	return ret;
}

static int map_alone(struct xrt_holder *holder, int fd, bool *writable)
{
	struct dray_xrt_inode inode;
	uint64_t size;
	void *map;
	int flags;
	int ret;

	ret = dray_xrt_measure(fd, &size, &inode);
	if (ret)
		return ret;
	flags = fcntl(fd, F_GETFL);
	*writable = flags >= 0 && (flags & O_ACCMODE) == O_RDWR;
	map = mmap(NULL, (size_t)size, PROT_READ | (*writable ? PROT_WRITE : 0),
		   MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return dray_fail(-errno,
				 "mapping a dma-buf of %" PRIu64 " bytes: %s",
				 size, strerror(errno));
	holder->map = map;
	holder->map_size = (size_t)size;
	return 0;
}

/* XRT's own mapping, for a BO that has no dma-buf. */
static int map_by_xrt(struct dray_xrt_bo *bo, char **data)
{
	char *map = NULL;
	int ret;

	ret = dray_xrt_enter(bo->process);
	if (ret)
		return ret;
	if (dray_xrt_bo_handle(bo))
		map = dray_xrt.xrtBOMap(dray_xrt_bo_handle(bo));
	if (map && map != MAP_FAILED) {
		*data = map;
		dray_xrt_before_exit(DRAY_XRT_MAPPED);
	} else {
		ret = dray_fail(
			-EOPNOTSUPP,
			"XRT neither exports nor maps the BO of %" PRIu64
			" bytes",
			bo->size);
	}
	dray_xrt_leave();
	return ret;
}

/* Finds the BO's first byte, and fills the holder. */
static int find_memory(struct dray_xrt_bo *bo, struct dray_node *node,
		       struct xrt_holder *holder, char **data, bool *writable)
{
	struct dray_xrt_whole *whole = bo->whole;
	uint64_t offset;
	char *start;
	int fd;
	int ret;

	*writable = true;
	if (whole->kind == DRAY_XRT_IMPORT) {
		start = dray_buffer_data(whole->buffer);
		*data = start + bo->offset;
		*writable = dray_buffer_writable(whole->buffer);
		return 0;
	}
	if (whole->kind == DRAY_XRT_USER) {
		*data = (char *)whole->data + bo->offset;
		return 0;
	}
	ret = export_bo(bo, &fd, &offset);
	if (ret == -EOPNOTSUPP)
		return map_by_xrt(bo, data);
	if (ret)
		return ret;
	if (node) {
		ret = dray_buffer_import(node, fd, &holder->buffer);
		if (!ret)
			*writable = dray_buffer_writable(holder->buffer);
	} else {
		ret = map_alone(holder, fd, writable);
	}
	close(fd);
	if (!ret) {
		start = holder->buffer ? dray_buffer_data(holder->buffer)
				       : holder->map;
		*data = start + offset;
	}
	return ret;
}

int dray_xrt_bo_block(struct dray_xrt_bo *bo, struct dray_node *node,
		      struct dray_block **out)
{
	DRAY_NO_CANCEL;
	struct xrt_holder *holder;
	char *data = NULL;
	bool writable;
	int ret;

	if (!dray_given(bo, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	holder = calloc(1, sizeof(*holder));
	if (!holder)
		return dray_fail(-ENOMEM, "no memory for a block's hold");
	holder->bo = dray_xrt_bo_ref(bo);
	ret = find_memory(bo, node, holder, &data, &writable);
	if (!ret)
		ret = dray_block_create_external(
			data, (size_t)bo->size,
			DRAY_READ | (writable ? DRAY_WRITE : 0), memory_let_go,
			holder, out);
	if (ret)
		memory_let_go(holder);
	return ret;
}
