/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The place that a request asks for, of ALLOC and HEAP_MAP.
 */
#ifndef DRAY_LIMIT_H
#define DRAY_LIMIT_H

#include <linux/types.h>

struct device;
struct dray_heap;
struct dray_opener;
struct dray_refusal;

/* @alignment is 0 or a power of two, else -EINVAL. */
int dray_alignment_check(u64 alignment, struct dray_refusal *refusal);
/*
 * May @opener name this address limit for memory of @heap?  -EPERM.  The caller
 * is inside the node.
 */
int dray_limit_check(const struct dray_opener *opener,
		     const struct dray_heap *heap, u64 limit,
		     struct dray_refusal *refusal);
/* The highest address at which @dev may find the memory. */
u64 dray_limit_reach(struct device *dev, u64 limit);
/* The highest physical address that the memory may have for that. */
u64 dray_limit_physical(struct device *dev, u64 limit);

#endif /* DRAY_LIMIT_H */
