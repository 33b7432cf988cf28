/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * kind: memory by the kinds of SYCL's unified shared memory.
 *
 * Four of enum dray_memory_kind are answered here:
 *
 *	DRAY_MEMORY_DEVICE	dray's memory of DRAY_MODE_DEVICE: the engines of its
 *				node reach it, and an access by the CPU is a SIGSEGV
 *	DRAY_MEMORY_SHARED	dray's memory that both reach: all other memory of
 *				the kernel module, also another driver's dma-buf
 *	DRAY_MEMORY_HOST	dray's memory on the host back end, without a device
 *	DRAY_MEMORY_UNKNOWN	not dray's, freed, or of another node
 *
 * The others are of objects of a manager: dray_manager_kind_of().  Questions read
 * no memory, and may be asked from any thread.  An answer holds as long as the
 * memory is not freed.
 *
 *	enum dray_memory_kind kind = dray_address_kind(block, NULL);
 *
 *	if (kind == DRAY_MEMORY_DEVICE)
 *		return -EFAULT;		// the CPU does not reach it
 *	puts(dray_memory_kind_name(kind));
 */
#ifndef DRAY_KIND_H
#define DRAY_KIND_H

#include <dray/memory.h>
#include <dray/view.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Returns the kind of the memory at @address.
 *
 * @node: memory of other nodes is unknown; NULL: memory of every node counts
 *
 * Any address may be asked for, also NULL, which is unknown.
 */
DRAY_API enum dray_memory_kind dray_address_kind(const void *address,
						 struct dray_node *node);

/**
 * Writes to @kind the kind of the memory of @view, from its lowest to its highest
 * byte.  Unknown without elements, and if it does not lie in a single block.
 *
 * @node: as for dray_address_kind()
 *
 * Errors: as dray_view_init() for a bad view, -EINVAL (no @kind).
 */
DRAY_API int dray_view_kind(const struct dray_view *view,
			    struct dray_node *node,
			    enum dray_memory_kind *kind);

/**
 * Returns a word for a kind: "unknown", "host", "pinned", "mapped", "shared" or
 * "device"; NULL for another number.  A constant.
 */
DRAY_API const char *dray_memory_kind_name(enum dray_memory_kind kind);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_KIND_H */
