/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Heaps: where memory comes from.  A heap belongs to the module, not to a
 * node: it is a device of its own, made when the first node names its region,
 * that lives until the module goes, so that unbinding and rebinding a node
 * never hands out memory that is still in use.
 */
#ifndef DRAY_HEAP_H
#define DRAY_HEAP_H

#include <linux/atomic.h>
#include <linux/device.h>
#include <linux/dray.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/types.h>

#include "base/refusal.h"

struct device_node;
struct dray_charge;
struct dray_heap;
struct page;

struct dray_request {
	size_t size; /* bytes, whole pages */
	u64 alignment; /* bytes, a power of two of at least a page */
	u64 limit; /* highest physical address of the last byte */
	bool top; /* from the upper end */
	u32 mode; /* enum dray_mode, one that the heap offers */
};

/*
 * So many pages on.  Where the kernel keeps no virtual map of its pages, their
 * structures follow one another only within a section of memory.
 */
static inline struct page *dray_page_at(struct page *first, size_t index)
{
	if (IS_ENABLED(CONFIG_SPARSEMEM) &&
	    !IS_ENABLED(CONFIG_SPARSEMEM_VMEMMAP))
		return pfn_to_page(page_to_pfn(first) + index);
	return first + index;
}

/* Contiguous memory as a heap gave it. */
struct dray_extent {
	phys_addr_t start;
	struct page *page; /* the first one; NULL: there are none */
	void *vaddr; /* where the kernel sees it uncached, or NULL */
	size_t size; /* bytes taken, at least what was asked for */
	struct dray_charge *charge; /* who pays for them; the caller's */
	u32 mode; /* enum dray_mode, as requested */
};

/* Does the kernel reach it through a cached mapping? */
static inline bool dray_extent_is_cached(const struct dray_extent *extent)
{
	return extent->page && !extent->vaddr;
}

struct dray_heap_ops {
	/* Bytes that a request is charged for; NULL: its size. */
	size_t (*takes)(struct dray_heap *heap,
			const struct dray_request *request);
	/* Refuses what could not be had of an empty heap either. */
	int (*check)(struct dray_heap *heap, const struct dray_request *request,
		     struct dray_refusal *refusal);
	/* Fills @extent; the memory's contents are undefined. */
	int (*alloc)(struct dray_heap *heap, const struct dray_request *request,
		     struct dray_extent *extent, struct dray_refusal *refusal);
	/* Where memory has no pages: zeros, not only in the cache. */
	int (*clear)(struct dray_heap *heap, const struct dray_extent *extent);
	void (*free)(struct dray_heap *heap, const struct dray_extent *extent);
	/*
	 * Takes memory out of use for good: a device may still write it.  NULL:
	 * it is not given back, and counted.
	 */
	void (*condemn)(struct dray_heap *heap,
			const struct dray_extent *extent);
	/*
	 * Fills total, free, largest_free, largest_request; quarantined has what
	 * is condemned.
	 */
	void (*state)(struct dray_heap *heap, struct dray_heap_info *info);
	/* The last reference to the device is gone: frees all, @heap too. */
	void (*destroy)(struct dray_heap *heap);
};

/* A kind of heap: heaps.c has the table. */
struct dray_heap_kind {
	const char *name; /* in sysfs */
	u32 type; /* enum dray_heap_type */
	bool pooled; /* regions may be the kernel's pools for devices too */
	bool unmapped; /* no CPU maps it: DRAY_HEAP_ANY takes it last */
	/* Is @region of this kind?  NULL: none is. */
	bool (*serves)(struct device_node *region);
	/* Has a node of @dev the system's heap of this kind?  NULL: none has. */
	bool (*is_systems)(struct device *dev);
	/*
	 * Makes the heap over @region, which is entry @index of the
	 * memory-region of @dev; with NULL the system's.  @name is that of no
	 * other heap.  An ERR_PTR if it cannot be had.
	 */
	struct dray_heap *(*create)(const char *name, struct device *dev,
				    struct device_node *region, int index);
};

struct dray_heap {
	struct device device; /* /sys/class/dray-heap/NAME */
	struct list_head list; /* of all heaps */
	const struct dray_heap_ops *ops;
	phys_addr_t base; /* of its region; 0 where there is none */
	const struct dray_heap_kind *kind;
	u32 flags; /* DRAY_HEAP_SHARED, DRAY_HEAP_PINNABLE */
	u32 modes; /* bits of enum dray_mode, where devices do not snoop */
	bool zeroed; /* what it gives is clear already */
	atomic_t buffers;
	atomic64_t used; /* bytes */
	atomic64_t held; /* bytes of those whose buffer was freed */
	atomic64_t condemned; /* bytes that are never given back */
	char name[DRAY_NAME_LEN];

	/* Of account.c, under its lock; bytes. */
	u64 limit; /* 0: none */
	u64 user_limit; /* 0: none */
	u64 charged; /* what is in quarantine too */
};

/*
 * All of these may sleep and may be called by several tasks at once.
 *
 * Where the heap can ever have that, charges the caller in the charge that
 * @extent has already, then takes memory: @extent is to be given back by
 * dray_heap_free().  What it has in it is clear where @heap->zeroed says so.
 * An errno for what is refused, of which @refusal may tell more.
 */
int dray_heap_alloc(struct dray_heap *heap, const struct dray_request *request,
		    struct dray_extent *extent, struct dray_refusal *refusal);

/*
 * @condemned: a device may still write it, so nobody gets it any more.  Returns
 * whether the caller is to free what the charge is part of; if not, whoever
 * lets go of the last page does, and it may be gone already.
 */
bool dray_heap_free(struct dray_heap *heap, const struct dray_extent *extent,
		    bool condemned);

/* Everything HEAP_INFO tells, except its index and modes; searches the heap. */
void dray_heap_state(struct dray_heap *heap, struct dray_heap_info *info);
/* Only what is counted, which delays nobody: used, held, limits, buffers. */
void dray_heap_counts(struct dray_heap *heap, struct dray_heap_info *info);

u32 dray_heap_modes(const struct dray_heap *heap, struct device *dev);
bool dray_heap_offers(const struct dray_heap *heap, struct device *dev,
		      u32 *mode);

#endif /* DRAY_HEAP_H */
