// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The objects: wholes, and BOs that are ranges of them.  The last BO of a whole
 * ends it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/error.h"
#include "base/fork.h"
#include "xrt/xrt.h"
#include "memory/node.h"

struct dray_xrt_whole *dray_xrt_new_whole(enum dray_xrt_kind kind,
					  struct dray_xrt_device *device)
{
	struct dray_xrt_whole *whole = calloc(1, sizeof(*whole));

	if (!whole) {
		dray_fail(-ENOMEM, "no memory for the object of a BO");
		return NULL;
	}
	whole->kind = kind;
	whole->device = dray_xrt_device_ref(device);
	whole->foreign.fd = -1;
	dray_xrt_list_whole(whole);
	return whole;
}

void dray_xrt_close(struct dray_xrt_whole *whole)
{
	dray_xrt_handle handle = atomic_exchange(&whole->handle, NULL);

	if (handle && whole->kind != DRAY_XRT_CALLERS &&
	    whole->process == dray_fork_process())
		dray_xrt.xrtBOFree(handle);
	dray_xrt_unlist_whole(whole);
}

void dray_xrt_discard(struct dray_xrt_whole *whole)
{
	struct dray_xrt_release release;

	if (dray_xrt_take_release(&whole->release, &release) &&
	    whole->process == dray_fork_process())
		release.call(release.owner);
	if (whole->foreign.fd >= 0)
		close(whole->foreign.fd);
	dray_buffer_unref(whole->buffer);
	dray_xrt_device_unref(whole->device);
	free(whole);
}

static uint64_t bo_address_of(const struct dray_xrt_whole *whole,
			      dray_xrt_handle handle, uint64_t offset)
{
	uint64_t address = whole->kind == DRAY_XRT_FOREIGN
				   ? whole->foreign.address
				   : dray_xrt.xrtBOAddress(handle);

	return address == DRAY_XRT_NONE ? address : address + offset;
}

static enum dray_xrt_side side_of(const struct dray_xrt_whole *whole,
				  uint64_t address)
{
	if (whole->kind != DRAY_XRT_IMPORT)
		return DRAY_XRT_SIDE_XRT;
	if (address == DRAY_XRT_NONE)
		return DRAY_XRT_SIDE_DRAY;
	return dray_buffer_mode(whole->buffer) == DRAY_MODE_CACHED
		       ? DRAY_XRT_SIDE_XRT
		       : DRAY_XRT_SIDE_NONE;
}

/* The handle of a range that is not all of its whole. */
static int make_part(struct dray_xrt_bo *bo, dray_xrt_handle whole,
		     dray_xrt_handle part)
{
	bo->is_part = bo->offset || bo->size != bo->whole->size || part;
	if (!bo->is_part)
		return 0;
	if (bo->whole->kind == DRAY_XRT_FOREIGN)
		return dray_fail(
			-EOPNOTSUPP,
			"a BO without a handle of XRT's C functions has no parts");
	bo->callers = part;
	if (!part)
		part = dray_xrt.xrtBOSubAlloc(whole, (size_t)bo->size,
					      (size_t)bo->offset);
	if (!part)
		return dray_fail(-EIO,
				 "xrtBOSubAlloc() refuses %" PRIu64
				 " bytes at offset %" PRIu64
				 " of a BO of %" PRIu64,
				 bo->size, bo->offset, bo->whole->size);
	atomic_store(&bo->part, part);
	dray_xrt_before_exit(DRAY_XRT_PARTED);
	return 0;
}

int dray_xrt_new_bo(struct dray_xrt_whole *whole, uint64_t offset,
		    uint64_t size, dray_xrt_handle part,
		    struct dray_xrt_bo **out)
{
	dray_xrt_handle handle = atomic_load(&whole->handle);
	struct dray_xrt_bo *bo;
	int ret;

	if (!size || offset > whole->size || size > whole->size - offset)
		return dray_fail(-EINVAL,
				 "%" PRIu64 " bytes at offset %" PRIu64
				 " of a BO of %" PRIu64,
				 size, offset, whole->size);
	bo = calloc(1, sizeof(*bo));
	if (!bo)
		return dray_fail(-ENOMEM, "no memory for the object of a BO");
	bo->whole = whole;
	bo->offset = offset;
	bo->size = size;
	ret = make_part(bo, handle, part);
	if (ret) {
		free(bo);
		return ret;
	}
	bo->address = bo_address_of(whole, handle, offset);
	bo->side = side_of(whole, bo->address);
	atomic_init(&bo->references, 1);
	whole->count++;
	dray_xrt_list_bo(bo);
	*out = bo;
	return 0;
}

int dray_xrt_bo_part(struct dray_xrt_bo *bo, uint64_t offset, uint64_t size,
		     struct dray_xrt_bo **out)
{
	DRAY_NO_CANCEL;
	int ret;

	if (!dray_given(bo, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	if (!size || offset > bo->size || size > bo->size - offset)
		return dray_fail(-EINVAL,
				 "%" PRIu64 " bytes at offset %" PRIu64
				 " of a BO of %" PRIu64,
				 size, offset, bo->size);
	ret = dray_xrt_enter(bo->process);
	if (ret)
		return ret;
	ret = dray_xrt_new_bo(bo->whole, bo->offset + offset, size, NULL, out);
	if (!ret)
		(*out)->keep = dray_block_ref(bo->keep);
	dray_xrt_leave();
	return ret;
}

struct dray_xrt_bo *dray_xrt_bo_ref(struct dray_xrt_bo *bo)
{
	if (bo)
		atomic_fetch_add_explicit(&bo->references, 1,
					  memory_order_relaxed);
	return bo;
}

void dray_xrt_bo_unref(struct dray_xrt_bo *bo)
{
	DRAY_NO_CANCEL;
	dray_xrt_handle part;
	bool last;

	if (!bo || atomic_fetch_sub_explicit(&bo->references, 1,
					     memory_order_acq_rel) != 1)
		return;
	dray_xrt_enter_last();
	part = atomic_exchange(&bo->part, NULL);
	if (part && !bo->callers && bo->process == dray_fork_process())
		dray_xrt.xrtBOFree(part);
	dray_xrt_unlist_bo(bo);
	last = !--bo->whole->count;
	if (last)
		dray_xrt_close(bo->whole);
	dray_xrt_leave();
	if (last)
		dray_xrt_discard(bo->whole);
	dray_block_unref(bo->keep);
	free(bo);
}

dray_xrt_handle dray_xrt_bo_handle(const struct dray_xrt_bo *bo)
{
	struct dray_xrt_bo *mutable = (struct dray_xrt_bo *)bo;

	if (!dray_given(bo, __func__))
		return NULL;
	return atomic_load(bo->is_part ? &mutable->part
				       : &mutable->whole->handle);
}

struct dray_xrt_device *dray_xrt_bo_device(const struct dray_xrt_bo *bo)
{
	return dray_given(bo, __func__) ? bo->whole->device : NULL;
}

uint64_t dray_xrt_bo_size(const struct dray_xrt_bo *bo)
{
	return dray_given(bo, __func__) ? bo->size : 0;
}

int dray_xrt_bo_address(const struct dray_xrt_bo *bo, uint64_t *address)
{
	if (!dray_given(bo, __func__) || !dray_given(address, __func__))
		return -EINVAL;
	if (bo->address == DRAY_XRT_NONE)
		return dray_fail(
			-EOPNOTSUPP,
			"XRT has no address for this BO: on a PCIe card an import is only source or target of xrtBOCopy()");
	*address = bo->address;
	return 0;
}
