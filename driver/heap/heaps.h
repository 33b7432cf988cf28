/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The heaps of the module.  One that was given out stays until
 * dray_heaps_exit().
 */
#ifndef DRAY_HEAPS_H
#define DRAY_HEAPS_H

struct device;
struct dray_heap;
struct dray_heap_kind;

extern const struct dray_heap_kind dray_carveout_kind;
extern const struct dray_heap_kind dray_cma_kind;
extern const struct dray_heap_kind dray_pages_kind;
extern const struct dray_heap_kind dray_reserved_kind;

/* The heap of memory-region entry @index of @dev; -ENOENT past the last. */
int dray_heaps_region(struct device *dev, int index, const char *name,
		      struct dray_heap **heap);
/* The system's heap of kind @index; -ENODEV if @dev has none; -ENOENT. */
int dray_heaps_system(struct device *dev, unsigned int index,
		      struct dray_heap **heap);

/* The module's beginning and end. */
int dray_heaps_init(void);
void dray_heaps_exit(void);

#endif /* DRAY_HEAPS_H */
