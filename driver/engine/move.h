/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A transfer as the kernel has checked it: where its runs lie, in the order
 * of the caller, and the same places once more as sorted layouts, by which
 * overlap is told and caches are maintained.
 */
#ifndef DRAY_MOVE_H
#define DRAY_MOVE_H

#include <linux/dma-direction.h>
#include <linux/dray.h>
#include <linux/types.h>

#include "base/refusal.h"
#include "memory/area.h"

struct device;
struct user_struct;

/* An axis of both sides, outermost first; @index is the cursor's. */
struct dray_step {
	u64 count; /* > 1 */
	u64 index;
	s64 dst_stride; /* bytes */
	s64 src_stride; /* bytes */
};

/* An axis of one side. */
struct dray_level {
	u64 count; /* > 1 */
	u64 index;
	u64 stride; /* bytes, > 0 */
};

/* The bytes of one side: runs from @first on, levels by rising stride. */
struct dray_layout {
	struct dray_area area;
	struct dray_place place; /* of the area, for the engine */
	u64 run; /* bytes */
	u64 first; /* bytes, of the element [0, 0, ...] */
	u64 low; /* bytes, the lowest */
	u64 high; /* bytes, one beyond the highest */
	u32 levels;
	struct dray_level *level;
};

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
	struct user_struct *user; /* whose locked memory it is */
};

struct dray_plan {
	u32 op; /* enum dray_op */
	u64 run; /* bytes, with what could be taken into it */
	u64 piece; /* bytes, the longest descriptor */
	u32 steps;
	struct dray_step *step;
	struct dray_layout dst;
	struct dray_layout src; /* no area for a fill */

	u8 pattern[DRAY_MAX_PATTERN];
	u32 pattern_size;
	struct dray_patterns *patterns; /* of its job */
	bool waits; /* for those before it: begins a round */
	bool memset; /* the engine fills by itself */
	size_t fill_size; /* bytes of its slice, else; 0: there is none */
	dma_addr_t fill_address;

	/* the cursor */
	u64 done; /* bytes of this run */
	u64 dst_at; /* bytes, start of this run in its area */
	u64 src_at;
	bool ended;
};

/* What an engine can do, as far as a plan depends on it. */
struct dray_engine_limits {
	u64 max_segment; /* bytes of one descriptor */
	u32 alignment; /* bytes, of copies */
	u32 fill_alignment; /* bytes; 0: no fill in hardware */
};

/* One descriptor. */
struct dray_piece {
	dma_addr_t dst;
	dma_addr_t src;
	size_t length; /* bytes */
};

/*
 * A plan belongs to one task at a time.  It is checked once, fitted to one
 * engine, then its pieces are asked for: dray_plan_piece() for the next one,
 * dray_plan_advance() when the engine has taken so many bytes of it, until
 * @ended.  Functions return 0 or an errno, of which @refusal may tell more.
 */
int dray_plan_check(struct dray_plan *plan,
		    const struct dray_transfer *transfer,
		    const struct dray_axis *axes, struct dray_refusal *refusal);
int dray_plan_fit(struct dray_plan *plan, struct device *dev,
		  const struct dray_engine_limits *limits, u64 most, u64 *runs,
		  struct dray_refusal *refusal);
/* Bytes that it moves. */
u64 dray_plan_bytes(const struct dray_plan *plan);
/* Back to the first piece. */
void dray_plan_rewind(struct dray_plan *plan);
void dray_plan_piece(const struct dray_plan *plan, struct dray_piece *piece);
void dray_plan_advance(struct dray_plan *plan, size_t length);

/*
 * layout.c.  This one fills in low, high and levels; -EINVAL where a run leaves
 * the area.
 */
int dray_layout_check(struct dray_layout *layout, const struct dray_axis *axes,
		      u32 count, bool dst, struct dray_refusal *refusal);
bool dray_layout_is_apart(const struct dray_layout *layout,
			  const struct dray_axis *axes, u32 count);
void dray_layout_join(struct dray_layout *layout);
u64 dray_layout_bits(const struct dray_layout *layout);
dma_addr_t dray_layout_find(const struct dray_layout *layout, u64 offset,
			    size_t *length);
int dray_layout_sync(struct dray_layout *layout, struct device *dev,
		     bool for_cpu, enum dma_data_direction direction);

/* overlap.c: must it come after?  Yes where only a walk could tell. */
bool dray_plan_needs(const struct dray_plan *later,
		     const struct dray_plan *earlier);
/* 1, 0 or an errno. */
int dray_layouts_meet(const struct dray_layout *a, const struct dray_layout *b);

/* overlap_dmabuf.c */
int dray_layouts_meet_placed(const struct dray_layout *a,
			     const struct dray_layout *b, struct device *dev);

/* fill.c: the pattern is one, of a size that divides the run */
bool dray_pattern_valid(const struct dray_transfer *transfer);
/* Is one byte repeated? */
bool dray_pattern_is_byte(const struct dray_plan *plan);
/* Counts it, if it is a fill; all are counted before the first is mapped. */
void dray_plan_count_pattern(struct dray_plan *plan,
			     struct dray_patterns *patterns);
int dray_plan_map_pattern(struct dray_plan *plan, struct device *dev,
			  struct dray_refusal *refusal);
/* Undoes the mappings, if there are any. */
void dray_patterns_free(struct dray_patterns *patterns, struct device *dev);
void dray_patterns_abandon(struct dray_patterns *patterns);

#endif /* DRAY_MOVE_H */
