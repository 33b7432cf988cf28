/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Heaps supply memory.  A heap belongs to the module, not to a node: it is a
 * device of its own, made when the first node names its region.  It lives until
 * the module is unloaded, so that rebinding a node never hands out memory in use.
 */
#ifndef DRAY_HEAP_H
#define DRAY_HEAP_H

#include <linux/atomic.h>
#include <linux/device.h>
#include <linux/dray.h>
#include <linux/list.h>
#include <linux/math.h>
#include <linux/mm.h>
#include <linux/types.h>

#include "base/refusal.h"

struct device_node;
struct dray_charge;
struct dray_heap;
struct page;

struct dray_heap_request {
	size_t size; /* bytes, whole pages */
	u64 alignment; /* bytes, a power of two of at least a page */
	u64 limit; /* highest physical address of the last byte */
	bool top; /* from the upper end */
	u32 mode; /* enum dray_mode, which the heap offers */
};

/*
 * Returns the page @index after @first.  Without a virtual memory map, page
 * structures are consecutive only within a section of memory.
 */
static inline struct page *dray_page_at(struct page *first, size_t index)
{
	if (IS_ENABLED(CONFIG_SPARSEMEM) &&
	    !IS_ENABLED(CONFIG_SPARSEMEM_VMEMMAP))
		return pfn_to_page(page_to_pfn(first) + index);
	return first + index;
}

/* Contiguous memory as a heap gave it. */
struct dray_heap_memory {
	phys_addr_t start;
	struct page *page; /* the first page; NULL: there are none */
	void *vaddr; /* the kernel's uncached mapping, or NULL */
	size_t size; /* bytes taken, at least those requested */
	struct dray_charge *charge; /* pays for them; the caller's */
	u32 mode; /* enum dray_mode, as requested */
};

/* Does the kernel reach it through a cached mapping? */
static inline bool
dray_heap_memory_is_cached(const struct dray_heap_memory *memory)
{
	return memory->page && !memory->vaddr;
}

/* How the pages of a heap's range are used: bitmaps, all clear at first. */
struct dray_heap_use {
	unsigned long pages;
	unsigned long *taken; /* by buffers, or freed and not back */
	unsigned long *quarantined; /* of these: others hold them */
	unsigned long *condemned; /* of these: nobody waits for them */
};

struct dray_heap_ops {
	/* Bytes that a request is charged for; NULL: its size. */
	size_t (*takes)(struct dray_heap *heap,
			const struct dray_heap_request *request);
	/* Refuses a request that an empty heap could not serve either. */
	int (*check)(struct dray_heap *heap,
		     const struct dray_heap_request *request,
		     struct dray_refusal *refusal);
	/* Fills @memory; the memory's contents are undefined. */
	int (*alloc)(struct dray_heap *heap,
		     const struct dray_heap_request *request,
		     struct dray_heap_memory *memory,
		     struct dray_refusal *refusal);
	/* For memory without pages: zeros, not only in the cache. */
	int (*clear)(struct dray_heap *heap,
		     const struct dray_heap_memory *memory);
	void (*free)(struct dray_heap *heap,
		     const struct dray_heap_memory *memory);
	/*
	 * Takes memory out of use for good: a device may still write it.  NULL:
	 * it is not returned, and counted.
	 */
	void (*condemn)(struct dray_heap *heap,
			const struct dray_heap_memory *memory);
	/*
	 * Fills total, free, largest_free, largest_request; quarantined already
	 * counts condemned memory.
	 */
	void (*state)(struct dray_heap *heap, struct dray_heap_info *info);
	/* Fills @use.  NULL: the system uses all that no buffer has. */
	void (*use)(struct dray_heap *heap, struct dray_heap_use *use);
	/* The last reference to the device is gone: frees all, @heap too. */
	void (*destroy)(struct dray_heap *heap);
};

/* Bytes, in whole pages, of @size from @start on that lie below @limit. */
static inline u64 dray_heap_below(phys_addr_t start, u64 size, u64 limit)
{
	if (limit < start)
		return 0;
	if (limit - start >= size - 1)
		return size;
	return round_down(limit - start + 1, PAGE_SIZE);
}

/* A kind of heap: heap_kinds.c has the table. */
struct dray_heap_kind {
	const char *name; /* in sysfs */
	u32 type; /* enum dray_heap_type */
	bool pooled; /* regions may be the kernel's pools for devices too */
	bool unmapped; /* no CPU maps it: DRAY_HEAP_ANY tries it last */
	/* Is @region of this kind?  NULL: none is. */
	bool (*serves)(struct device_node *region);
	/* Does a node of @dev have the system's heap?  NULL: none does. */
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
	phys_addr_t base; /* of its region; 0: none */
	phys_addr_t start; /* of its range, the whole pages of the region */
	u64 size; /* bytes of its range; 0: none */
	const struct dray_heap_kind *kind;
	u32 flags; /* DRAY_HEAP_SHARED, DRAY_HEAP_PINNABLE */
	u32 modes; /* bits of enum dray_mode, if devices do not snoop */
	bool zeroed; /* its memory is already clear */
	atomic_t buffers;
	atomic64_t used; /* bytes */
	atomic64_t held; /* bytes of held memory */
	atomic64_t condemned; /* bytes that are never returned */
	char name[DRAY_NAME_LEN];

	/* For account.c, under its lock; bytes. */
	u64 limit; /* 0: none */
	u64 user_limit; /* 0: none */
	u64 charged; /* including quarantine */
};

/*
 * These functions may sleep, and several tasks may call them at once.
 *
 * Refuses a request that the heap can never serve; then charges the caller, by
 * the charge in @memory; then takes memory, for dray_heap_free().  The memory
 * is clear if @heap->zeroed.  On failure @refusal may tell more.
 */
int dray_heap_alloc(struct dray_heap *heap,
		    const struct dray_heap_request *request,
		    struct dray_heap_memory *memory,
		    struct dray_refusal *refusal);

/*
 * Frees memory, or with @condemned keeps it out of use, since a device may
 * still write it.  Returns true if the caller must free the charge's object.
 * If not, the last holder of a page does, and the object may be gone already.
 */
bool dray_heap_free(struct dray_heap *heap,
		    const struct dray_heap_memory *memory, bool condemned);

/* Everything in HEAP_INFO, except its index and modes; searches the heap. */
void dray_heap_state(struct dray_heap *heap, struct dray_heap_info *info);
/* Fills only counters, without delaying ALLOC: used, held, limits, buffers. */
void dray_heap_counts(struct dray_heap *heap, struct dray_heap_info *info);

u32 dray_heap_modes(const struct dray_heap *heap, struct device *dev);
bool dray_heap_offers(const struct dray_heap *heap, struct device *dev,
		      u32 *mode);

#endif /* DRAY_HEAP_H */
