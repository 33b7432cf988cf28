/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between the kernels that dray builds on.  All other files use the
 * newer names, which this file defines for older kernels.  The Makefile looks
 * at the headers and sets the names in capitals.
 */
#ifndef DRAY_COMPAT_H
#define DRAY_COMPAT_H

#include <linux/dma-buf.h>
#include <linux/dma-fence-chain.h>
#include <linux/dma-resv.h>
#include <linux/eventfd.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/user.h>
#include <linux/slab.h>

#ifdef DRAY_IOSYS_MAP
#include <linux/iosys-map.h>
#else
#include <linux/dma-buf-map.h>
#define iosys_map dma_buf_map
#define iosys_map_set_vaddr dma_buf_map_set_vaddr
#define iosys_map_clear dma_buf_map_clear
#endif

/*
 * Neither mprotect() nor a debugger makes it writable.  It stays shared: older
 * kernels count shared mappings, and look at the flag before and after ->mmap().
 */
static inline void dray_vma_forbid_write(struct vm_area_struct *vma)
{
#ifdef DRAY_VM_FLAGS
	vm_flags_clear(vma, VM_MAYWRITE);
#else
	vma->vm_flags &= ~VM_MAYWRITE;
#endif
}

/* The mapping is of registers: neither copied by a core dump nor made longer. */
static inline void dray_vma_set_io(struct vm_area_struct *vma)
{
	unsigned long flags = VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP;

#ifdef DRAY_VM_FLAGS
	vm_flags_set(vma, flags);
#else
	vma->vm_flags |= flags;
#endif
}

/* Adds 1; in any context. */
static inline void dray_eventfd_signal(struct eventfd_ctx *event)
{
#ifdef DRAY_EVENTFD_COUNT
	eventfd_signal(event, 1);
#else
	eventfd_signal(event);
#endif
}

/* The caller did not lock the fences of the dma-buf. */
static inline struct sg_table *
dray_dmabuf_map(struct dma_buf_attachment *import,
		enum dma_data_direction direction)
{
#ifdef DRAY_UNLOCKED_IMPORT
	return dma_buf_map_attachment_unlocked(import, direction);
#else
	return dma_buf_map_attachment(import, direction);
#endif
}

static inline void dray_dmabuf_unmap(struct dma_buf_attachment *import,
				     struct sg_table *table,
				     enum dma_data_direction direction)
{
#ifdef DRAY_UNLOCKED_IMPORT
	dma_buf_unmap_attachment_unlocked(import, table, direction);
#else
	dma_buf_unmap_attachment(import, table, direction);
#endif
}

/*
 * If modules have no free_uid(), the last reference stays: the kernel finds the
 * user's entry again, so that there is at most one for each user.
 */
static inline void dray_user_put(struct user_struct *user)
{
#ifdef DRAY_FREE_UID
	free_uid(user);
#else
	if (!refcount_dec_not_one(&user->__count))
		pr_debug("dray: a user's entry stays\n");
#endif
}

/* Waits for all fences, or only for writers' fences. */
static inline long dray_resv_wait(struct dma_resv *resv, bool all)
{
#ifdef DRAY_RESV_USAGE
	return dma_resv_wait_timeout(resv, dma_resv_usage_rw(all), true,
				     MAX_SCHEDULE_TIMEOUT);
#else
	return dma_resv_wait_timeout(resv, all, true, MAX_SCHEDULE_TIMEOUT);
#endif
}

/*
 * The fences for which a reader or a writer must wait, with a reference each; the
 * object is locked.
 */
static inline int dray_resv_fences(struct dma_resv *resv, bool write,
				   unsigned int *count,
				   struct dma_fence ***fences)
{
#if defined(DRAY_RESV_USAGE)
	return dma_resv_get_fences(resv, dma_resv_usage_rw(write), count,
				   fences);
#elif defined(DRAY_RESV_EXCLUSIVE)
	struct dma_fence *writer;

	if (write)
		return dma_resv_get_fences(resv, NULL, count, fences);
	writer = dma_resv_excl_fence(resv);
	*count = 0;
	*fences = NULL;
	if (!writer)
		return 0;
	*fences = kmalloc(sizeof(**fences), GFP_KERNEL);
	if (!*fences)
		return -ENOMEM;
	**fences = dma_fence_get(writer);
	*count = 1;
	return 0;
#else
	return dma_resv_get_fences(resv, write, count, fences);
#endif
}

/* Makes room for another fence; the object is locked. */
static inline int dray_resv_reserve(struct dma_resv *resv)
{
#ifdef DRAY_RESV_USAGE
	return dma_resv_reserve_fences(resv, 1);
#else
	return dma_resv_reserve_shared(resv, 1);
#endif
}

#ifndef DRAY_RESV_USAGE
/* Returns a fence that signals after both, and owns both.  NULL: no memory. */
static inline struct dma_fence *dray_fence_join(struct dma_fence *prev,
						struct dma_fence *fence)
{
	struct dma_fence_chain *chain = dma_fence_chain_alloc();

	if (!chain) {
		dma_fence_put(prev);
		dma_fence_put(fence);
		return NULL;
	}
	dma_fence_chain_init(chain, prev, fence, 1);
	return &chain->base;
}

/*
 * Joins @fence with others of @count: with the first chain among them, or with
 * all that are not chains.  A chain must not follow another.  The job itself
 * waits for the chains that are left over.
 */
static inline struct dma_fence *dray_fence_join_all(struct dma_fence *fence,
						    struct dma_fence **others,
						    unsigned int count,
						    bool chains)
{
	unsigned int i;
	bool chain;

	for (i = 0; i < count && fence; i++) {
		chain = to_dma_fence_chain(others[i]);
		if (chain != chains || dma_fence_is_signaled(others[i]))
			continue;
		dma_fence_get(others[i]);
		if (!chains)
			fence = dray_fence_join(fence, others[i]);
		else
			return dray_fence_join(others[i], fence);
	}
	return fence;
}
#endif

/*
 * Returns a reference to the fence to add for @fence; NULL if there is no
 * memory.  Before Linux 5.19 a writer's fence replaces all others, and so
 * stands for them too.  The object is locked.
 */
static inline struct dma_fence *
dray_resv_prepare(struct dma_resv *resv, struct dma_fence *fence, bool write)
{
#ifdef DRAY_RESV_USAGE
	return dma_fence_get(fence);
#else
	struct dma_fence **others = NULL, *link;
	unsigned int count = 0, i;

	fence = dma_fence_get(fence);
	if (!write)
		return fence;
	if (dray_resv_fences(resv, true, &count, &others)) {
		dma_fence_put(fence);
		return NULL;
	}
	/* Walking along a chain drops its signalled links. */
	for (i = 0; i < count; i++)
		dma_fence_chain_for_each(link, others[i])
			;
	fence = dray_fence_join_all(fence, others, count, true);
	if (fence)
		fence = dray_fence_join_all(fence, others, count, false);
	for (i = 0; i < count; i++)
		dma_fence_put(others[i]);
	kfree(others);
	return fence;
#endif
}

/* Adds a prepared @fence. */
static inline void dray_resv_add(struct dma_resv *resv, struct dma_fence *fence,
				 bool write)
{
#ifdef DRAY_RESV_USAGE
	dma_resv_add_fence(resv, fence,
			   write ? DMA_RESV_USAGE_WRITE : DMA_RESV_USAGE_READ);
#else
	if (write)
		dma_resv_add_excl_fence(resv, fence);
	else
		dma_resv_add_shared_fence(resv, fence);
#endif
}

#endif /* DRAY_COMPAT_H */
