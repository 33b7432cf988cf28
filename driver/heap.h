/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Heaps: where memory comes from.  A heap belongs to the module, not to a
 * node: it is made when the first node names its region and lives until the
 * module goes, so that unbinding and rebinding a node never hands out memory
 * that is still in use.
 */
#ifndef DRAY_HEAP_H
#define DRAY_HEAP_H

#include <linux/atomic.h>
#include <linux/dray.h>
#include <linux/list.h>
#include <linux/types.h>

#include "refusal.h"

struct device;
struct device_node;
struct dray_heap;
struct page;

struct dray_request {
	size_t size; /* bytes, whole pages */
	size_t alignment; /* bytes, a power of two of at least a page */
	u64 limit; /* highest physical address of the last byte */
	bool top; /* from the upper end */
};

/* Contiguous memory as a heap gave it. */
struct dray_extent {
	struct page *page; /* the first one */
	size_t size; /* bytes taken, at least what was asked for */
};

struct dray_heap_ops {
	/* Fills @extent; the memory's contents are undefined. */
	int (*alloc)(struct dray_heap *heap, const struct dray_request *request,
		     struct dray_extent *extent, struct dray_refusal *refusal);
	void (*free)(struct dray_heap *heap, const struct dray_extent *extent);
	/* Takes memory out of use for good: a device may still write it. */
	void (*condemn)(struct dray_heap *heap,
			const struct dray_extent *extent);
	/* Fills total, free, quarantined, largest_free, largest_request. */
	void (*state)(struct dray_heap *heap, struct dray_heap_info *info);
	void (*destroy)(struct dray_heap *heap);
};

struct dray_heap {
	struct list_head list; /* of all heaps */
	const struct dray_heap_ops *ops;
	phys_addr_t base; /* of its region; 0 where there is none */
	u32 type; /* enum dray_heap_type */
	u32 flags; /* DRAY_HEAP_SHARED, DRAY_HEAP_PINNABLE */
	bool zeroed; /* what it gives is clear already */
	atomic_t buffers;
	atomic64_t used; /* bytes */
	char name[DRAY_NAME_LEN];
};

int dray_heap_of_region(struct device *dev, int index, const char *name,
			struct dray_heap **heap);
struct dray_heap *dray_heap_of_type(u32 type);
int dray_heap_alloc(struct dray_heap *heap, const struct dray_request *request,
		    struct dray_extent *extent, struct dray_refusal *refusal);
void dray_heap_free(struct dray_heap *heap, const struct dray_extent *extent,
		    bool condemned);
void dray_heap_state(struct dray_heap *heap, struct dray_heap_info *info);
void dray_heaps_destroy(void);

/* One constructor for each kind; ERR_PTR where it cannot be had. */
struct dray_heap *dray_heap_reserved(struct device *dev,
				     struct device_node *region);
struct dray_heap *dray_heap_cma(struct device *dev, struct device_node *region,
				int index);
struct dray_heap *dray_heap_pages(void);

#endif /* DRAY_HEAP_H */
