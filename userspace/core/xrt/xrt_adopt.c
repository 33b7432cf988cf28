// SPDX-License-Identifier: Apache-2.0 OR MIT
/* BOs that the caller has made: by XRT's C functions, or in another language. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/options.h"
#include "xrt/xrt.h"

/* XRT answers all ones, or 0, for a handle that it does not know. */
static int adopt_size_of(dray_xrt_handle handle, uint64_t *size)
{
	size_t answer = dray_xrt.xrtBOSize(handle);

	if (!answer || answer == SIZE_MAX)
		return dray_fail(-EINVAL, "XRT knows no BO with handle %p",
				 handle);
	*size = answer;
	return 0;
}

static bool is_mapped(const char *map)
{
	/* Shims of boards pass on a failed mmap(). */
	return map && map != MAP_FAILED;
}

/*
 * Mappings tell the offset of any part.  Without them addresses do, which XRT
 * counts from the whole only for parts that are made of it.
 */
static int offset_of(dray_xrt_handle part, dray_xrt_handle root,
		     uint64_t *offset)
{
	const char *map = dray_xrt.xrtBOMap(root);
	const char *part_map = is_mapped(map) ? dray_xrt.xrtBOMap(part) : NULL;
	uint64_t address = dray_xrt.xrtBOAddress(root);
	uint64_t part_address = dray_xrt.xrtBOAddress(part);

	if (is_mapped(map))
		dray_xrt_before_exit(DRAY_XRT_MAPPED);
	if (is_mapped(part_map))
		*offset = (uint64_t)((uintptr_t)part_map - (uintptr_t)map);
	else if (address != DRAY_XRT_NONE && part_address != DRAY_XRT_NONE)
		*offset = part_address - address;
	else
		return dray_fail(
			-EINVAL,
			"XRT has neither mappings nor addresses of the BOs %p and %p to compare",
			part, root);
	return 0;
}

static int xrt_whole_adopt(struct dray_xrt_whole *whole, dray_xrt_handle handle,
			   dray_xrt_handle root, struct dray_xrt_bo **out)
{
	uint64_t offset = 0;
	uint64_t size = 0;
	int ret;

	ret = adopt_size_of(handle, &size);
	if (ret)
		return ret;
	whole->size = size;
	if (root) {
		ret = adopt_size_of(root, &whole->size);
		if (!ret)
			ret = offset_of(handle, root, &offset);
		if (ret)
			return ret;
		if (offset > whole->size || size > whole->size - offset)
			return dray_fail(-EINVAL,
					 "BO %p of %" PRIu64
					 " bytes is not in BO %p of %" PRIu64
					 ": it would begin at offset %" PRIu64,
					 handle, size, root, whole->size,
					 offset);
	}
	whole->part_unknown = !root;
	atomic_store(&whole->handle, root ? root : handle);
	dray_xrt_before_exit(DRAY_XRT_MADE);
	return dray_xrt_new_bo(whole, offset, size, root ? handle : NULL, out);
}

int dray_xrt_adopt(struct dray_xrt_device *device, dray_xrt_handle handle,
		   dray_xrt_handle root, void (*release)(void *owner),
		   void *owner, struct dray_xrt_bo **out)
{
	DRAY_NO_CANCEL;
	struct dray_xrt_whole *whole;
	int ret;

	if (!dray_given(device, __func__) || !dray_given(handle, __func__) ||
	    !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_xrt_load();
	if (!ret)
		ret = dray_xrt_enter(device->process);
	if (ret)
		return ret;
	whole = dray_xrt_new_whole(DRAY_XRT_CALLERS, device);
	ret = whole ? xrt_whole_adopt(whole, handle, root, out) : -ENOMEM;
	if (!ret) {
		whole->release.call = release;
		whole->release.owner = owner;
	} else if (whole) {
		dray_xrt_close(whole);
	}
	dray_xrt_leave();
	if (ret && whole)
		dray_xrt_discard(whole);
	return ret;
}

static int copy_foreign(struct dray_xrt_foreign *to,
			const struct dray_xrt_foreign *from)
{
	int ret =
		dray_options_read(to, sizeof(*to), from,
				  DRAY_XRT_FOREIGN_SIZE_FIRST, "dray_xrt_wrap");

	if (ret)
		return ret;
	if (!to->sync)
		return dray_fail(-EINVAL, "a foreign BO without sync()");
	if (!to->bytes)
		return dray_fail(-EINVAL, "a foreign BO of 0 bytes");
	return 0;
}

/* Sets @inode, and replaces the fd by a duplicate. */
static int check_fd(struct dray_xrt_foreign *foreign,
		    struct dray_xrt_inode *inode)
{
	uint64_t size;
	int ret;

	if (foreign->fd < 0) {
		foreign->fd = -1;
		return 0;
	}
	ret = dray_xrt_measure(foreign->fd, &size, inode);
	if (ret)
		return ret == -EOPNOTSUPP ? -EINVAL : ret;
	if (foreign->offset > size || foreign->bytes > size - foreign->offset)
		return dray_fail(-EINVAL,
				 "%" PRIu64 " bytes at offset %" PRIu64
				 " leave a dma-buf of %" PRIu64,
				 foreign->bytes, foreign->offset, size);
	foreign->fd = dray_descriptor_copy(foreign->fd);
	return foreign->fd < 0 ? dray_fail(-errno, "duplicating a dma-buf: %s",
					   strerror(errno))
			       : 0;
}

int dray_xrt_wrap(struct dray_xrt_device *device,
		  const struct dray_xrt_foreign *foreign,
		  struct dray_xrt_bo **out)
{
	DRAY_NO_CANCEL;
	struct dray_xrt_inode inode = { .number = 0 };
	struct dray_xrt_foreign copy;
	struct dray_xrt_whole *whole;
	int ret;

	if (!dray_given(foreign, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = copy_foreign(&copy, foreign);
	if (!ret)
		ret = check_fd(&copy, &inode);
	if (ret)
		return ret;
	ret = device ? dray_xrt_enter(device->process) : dray_xrt_enter_first();
	if (ret) {
		if (copy.fd >= 0)
			close(copy.fd);
		return ret;
	}
	whole = dray_xrt_new_whole(DRAY_XRT_FOREIGN, device);
	if (whole) {
		whole->foreign = copy;
		whole->inode = inode;
		whole->size = copy.bytes;
		ret = dray_xrt_new_bo(whole, 0, copy.bytes, NULL, out);
		if (ret)
			dray_xrt_close(whole);
		else
			dray_xrt_before_exit(DRAY_XRT_WRAPPED);
	} else if (copy.fd >= 0) {
		close(copy.fd);
	}
	if (!ret && whole) {
		whole->release.call = copy.release;
		whole->release.owner = copy.owner;
	}
	dray_xrt_leave();
	if (ret && whole)
		dray_xrt_discard(whole);
	return whole ? ret : -ENOMEM;
}
