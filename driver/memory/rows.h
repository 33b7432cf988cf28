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

/* What lies in one piece for a device. */
struct dray_place_segment {
	u64 offset; /* bytes from the start of the area */
	u64 length; /* bytes */
	dma_addr_t address;
};

/*
 * Where an area lies for one device: segments by rising offset, without gaps.
 * They are of a mapping, which stays for as long as the caller is inside the
 * node, or has a job on one of its channels.
 */
struct dray_place {
	const struct dray_place_segment *segment;
	u32 count;
	/*
	 * Of scattered memory, which an IOMMU may join to one segment; NULL: a
	 * segment is in one piece for the CPU too.
	 */
	struct page *const *pages;
	u32 skip; /* bytes of the first page before the area */
	bool uncached; /* no CPU caches it: there is nothing to maintain */
	bool copied; /* the device has a copy, which maintenance carries */
};

/* Pieces of an area. */
struct dray_rows {
	u64 offset; /* bytes from the start of the area */
	u64 width; /* bytes of a row */
	u64 pitch; /* bytes from row to row, at least @width */
	u64 rows;
	/* Becomes true when nobody needs it any more; NULL: that is never. */
	const bool *gone;
	bool unkillable; /* even when the task is being killed */
};

const struct dray_place_segment *dray_place_find(const struct dray_place *place,
						 u64 offset);

/* Bytes that are maintained before others may run. */
#define DRAY_SYNC_STEP ((size_t)SZ_1M)

/* Maintains rows at @place, which lie within it, and may overlap */
int dray_sync_rows(struct device *dev, const struct dray_place *place,
		   const struct dray_rows *rows, bool for_cpu,
		   enum dma_data_direction direction);

/* The same for who may not write: what the CPU wrote is never dropped. */
int dray_sync_rows_kept(struct device *dev, const struct dray_place *place,
			const struct dray_rows *rows, bool for_cpu);

/* For whoever asks where the time went. */
void dray_sync_count(struct dray_entry *entry, struct device *dev, u64 bytes,
		     bool for_cpu, enum dma_data_direction direction,
		     ktime_t start);

#endif /* DRAY_ROWS_H */
