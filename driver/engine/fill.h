/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fills: their patterns.
 */
#ifndef DRAY_FILL_H
#define DRAY_FILL_H

#include <linux/dray.h>
#include <linux/types.h>

struct device;
struct dray_move;
struct dray_refusal;
struct user_struct;

/*
 * The patterns of a job's fills, as an engine that only copies finds them: all
 * in one piece of memory, a slice for each fill.
 */
struct dray_patterns {
	u32 count; /* of fills */
	u64 longest; /* bytes, of their runs */
	void *memory; /* NULL: no fill needs it */
	dma_addr_t address;
	size_t size; /* bytes, whole pages */
	size_t slice; /* bytes, a power of two */
	u32 taken; /* slices */
	struct user_struct *user; /* payer of the locked memory */
};

/* Is the pattern's size valid, and does it divide the run? */
bool dray_pattern_valid(const struct dray_transfer *transfer);
/* Is one byte repeated? */
bool dray_pattern_is_byte(const struct dray_move *move);
/* Counts it, if it is a fill; all are counted before the first is mapped. */
void dray_move_count_pattern(struct dray_move *move,
			     struct dray_patterns *patterns);
int dray_move_map_pattern(struct dray_move *move, struct device *dev,
			  struct dray_refusal *refusal);
/* Undoes the mappings, if there are any. */
void dray_patterns_free(struct dray_patterns *patterns, struct device *dev);
void dray_patterns_abandon(struct dray_patterns *patterns);

#endif /* DRAY_FILL_H */
