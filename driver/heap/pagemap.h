/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The taken pages of a dedicated region, and runs of free ones.  The caller
 * locks.
 */
#ifndef DRAY_PAGEMAP_H
#define DRAY_PAGEMAP_H

#include <linux/types.h>

#include "heap.h"

struct dray_pagemap {
	unsigned long first; /* page frame number */
	unsigned long pages;
	unsigned long free; /* pages that are not taken */
	unsigned long *taken; /* a bit for each page */
};

/* The whole pages in @size bytes from @base on, all free; -EINVAL: none. */
int dray_pagemap_init(struct dray_pagemap *map, phys_addr_t base,
		      phys_addr_t size);
void dray_pagemap_exit(struct dray_pagemap *map);
/* Makes it the range of @heap. */
void dray_pagemap_range(const struct dray_pagemap *map, struct dray_heap *heap);

/* Bytes that a request is charged for. */
size_t dray_pagemap_takes(struct dray_heap *heap,
			  const struct dray_heap_request *request);
/* Refuses a request that an empty region could not serve either. */
int dray_pagemap_check(const struct dray_pagemap *map,
		       const struct dray_heap_request *request,
		       struct dray_refusal *refusal);
/* Takes a run and stores its first page; false if there is none. */
bool dray_pagemap_find(struct dray_pagemap *map,
		       const struct dray_heap_request *request,
		       unsigned long *index);
/* Says why there is none. */
int dray_pagemap_refuse(const struct dray_pagemap *map,
			const struct dray_heap_request *request,
			struct dray_refusal *refusal);
/* @count pages from the @index'th of the region on. */
void dray_pagemap_take(struct dray_pagemap *map, unsigned long index,
		       unsigned long count);
void dray_pagemap_give(struct dray_pagemap *map, unsigned long index,
		       unsigned long count);
/* Fills total, free, largest_free and largest_request. */
void dray_pagemap_state(const struct dray_pagemap *map,
			struct dray_heap_info *info);

#endif /* DRAY_PAGEMAP_H */
