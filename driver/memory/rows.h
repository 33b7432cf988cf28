/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows: exactly the bytes of a place that are maintained.
 */
#ifndef DRAY_ROWS_H
#define DRAY_ROWS_H

#include <linux/dma-direction.h>
#include <linux/ktime.h>
#include <linux/sizes.h>
#include <linux/types.h>

struct device;
struct dray_entry;
struct page;

/* Contiguous memory for a device. */
struct dray_place_segment {
	u64 offset; /* bytes from the start of the area */
	u64 length; /* bytes */
	dma_addr_t address;
};

/*
 * An area as a device finds it: segments by rising offset, without gaps.  They
 * belong to a mapping, which stays while the caller is inside the node or a job
 * of the caller is on a channel of the node.
 */
struct dray_place {
	const struct dray_place_segment *segment;
	u32 count;
	/*
	 * Pages of scattered memory, which an IOMMU may join to a single
	 * segment; NULL: each segment is contiguous for the CPU, too.
	 */
	struct page *const *pages;
	u32 skip; /* bytes of the first page before the area */
	bool uncached; /* no CPU caches it: there is nothing to maintain */
	bool copied; /* maintenance copies to or from the device's copy */
};

/* Parts of an area. */
struct dray_area_rows {
	u64 offset; /* bytes from the start of the area */
	u64 width; /* bytes of a row */
	u64 pitch; /* bytes from row to row, at least @width */
	u64 rows;
	/* Set when the rows are no longer needed; NULL: never. */
	const bool *gone;
	bool unkillable; /* even when the task is being killed */
};

const struct dray_place_segment *dray_place_find(const struct dray_place *place,
						 u64 offset);

/* Bytes that are maintained before others may run. */
#define DRAY_SYNC_STEP ((size_t)SZ_1M)

/* Maintains rows at @place, which lie within it, and may overlap */
int dray_rows_sync(struct device *dev, const struct dray_place *place,
		   const struct dray_area_rows *rows, bool for_cpu,
		   enum dma_data_direction direction);

/* Like dray_rows_sync(), for readers: drops no write of the CPU. */
int dray_rows_sync_kept(struct device *dev, const struct dray_place *place,
			const struct dray_area_rows *rows, bool for_cpu);

/* Counts the time, for BUFFER_INFO and tracing. */
void dray_rows_count(struct dray_entry *entry, struct device *dev, u64 bytes,
		     bool for_cpu, enum dma_data_direction direction,
		     ktime_t start);

#endif /* DRAY_ROWS_H */
