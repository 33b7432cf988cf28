/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An area: memory that a call names by a file descriptor, and the use that this
 * file descriptor allows.  Offsets count from 0 to its size.  For each device
 * an area lies at a place: a list of segments of addresses.
 */
#ifndef DRAY_AREA_H
#define DRAY_AREA_H

#include <linux/dma-direction.h>
#include <linux/types.h>

#include "base/refusal.h"
#include "rows.h"

struct device;
struct dma_resv;
struct dray_attachment;
struct dray_buffer;
struct dray_entry;
struct dray_node;

struct dray_area {
	struct dray_buffer *buffer; /* or the next; neither: no area */
	struct dray_attachment *attachment;
	u64 size; /* bytes */
	bool uncached; /* its mode needs no maintenance */
	bool writable; /* through the file descriptor that named it */
};

/* Acquires a reference; -EBADF or -EINVAL if @fd is not an area of @node. */
int dray_area_of_fd(int fd, struct dray_node *node, struct dray_area *area,
		    struct dray_refusal *refusal);
/* Acquires another reference; without an area does nothing. */
void dray_area_get(const struct dray_area *area);
/* Drops the reference; @area is none after that. */
void dray_area_put(struct dray_area *area);

int dray_area_place(const struct dray_area *area, struct dray_node *node,
		    struct device *dev, struct dray_place *place,
		    struct dray_refusal *refusal);

bool dray_area_is_same(const struct dray_area *a, const struct dray_area *b);
struct dma_resv *dray_area_resv(const struct dray_area *area);
struct dray_entry *dray_area_entry(const struct dray_area *area);
void dray_area_count(const struct dray_area *area, int step);
void dray_area_condemn(const struct dray_area *area);
void dray_area_leave_unsynced(const struct dray_area *area);
int dray_area_disclose(const struct dray_area *area, struct dray_node *node);

/* True if the area can only be maintained as a whole. */
bool dray_area_is_whole(const struct dray_area *area);

/*
 * Maintains rows of an area at @place, by the rules of its kind of memory and
 * of the file descriptor.
 */
int dray_area_sync(const struct dray_area *area, struct device *dev,
		   const struct dray_place *place,
		   const struct dray_area_rows *rows,
		   bool for_cpu, enum dma_data_direction direction);

/* Maintains all of an area that is whole; for the CPU this waits for fences. */
int dray_area_sync_whole(const struct dray_area *area, bool for_cpu,
			 enum dma_data_direction direction);

static inline bool dray_area_is_none(const struct dray_area *area)
{
	return !area->buffer && !area->attachment;
}

static inline bool dray_area_fits(const struct dray_area *area, u64 offset,
				  u64 length)
{
	return offset <= area->size && length <= area->size - offset;
}

/* True if a sync for @dev ever does anything. */
bool dray_area_needs_sync(const struct dray_area *area, struct device *dev);

/* As above; a sync for the CPU also needs a device that writes the area. */
bool dray_area_is_maintained(const struct dray_area *area, struct device *dev,
			     bool for_cpu);

#endif /* DRAY_AREA_H */
