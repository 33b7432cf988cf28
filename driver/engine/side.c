// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bytes of one side of a transfer, whatever the order of its runs: whether
 * they lie in their area, whether they are apart, where a device finds them,
 * and the fewest rows for cache maintenance.
 */
#include <linux/errno.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/sort.h>

#include "move.h"

static u64 dray_magnitude(s64 stride)
{
	return stride < 0 ? -(u64)stride : (u64)stride;
}

static int dray_level_compare(const void *left, const void *right)
{
	const struct dray_level *a = left, *b = right;

	return a->stride < b->stride ? -1 : a->stride > b->stride;
}

/*
 * Takes one axis into the layout.  The lowest byte may come to lie before the
 * area, so @below counts how far down strides reach.
 */
static bool dray_layout_add(struct dray_layout *layout, u64 count, s64 stride,
			    u64 *below)
{
	struct dray_level *level = &layout->level[layout->levels];
	u64 *far = stride < 0 ? below : &layout->high;
	u64 reach;

	if (count == 1 || !stride)
		return true;
	level->count = count;
	level->stride = dray_magnitude(stride);
	layout->levels++;
	return !check_mul_overflow(count - 1, level->stride, &reach) &&
	       !check_add_overflow(*far, reach, far);
}

int dray_layout_check(struct dray_layout *layout, const struct dray_axis *axes,
		      u32 count, bool dst, struct dray_refusal *refusal)
{
	u64 below = 0;
	s64 stride;
	bool fits;
	u32 i;

	fits = !check_add_overflow(layout->first, layout->run, &layout->high);
	for (i = 0; i < count && fits; i++) {
		stride = dst ? axes[i].dst_stride : axes[i].src_stride;
		fits = dray_layout_add(layout, axes[i].count, stride, &below);
	}
	if (!fits || below > layout->first || layout->high > layout->area.size)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_RANGE,
				   layout->area.size);
	layout->low = layout->first - below;
	sort(layout->level, layout->levels, sizeof(*layout->level),
	     dray_level_compare, NULL);
	return 0;
}

/*
 * Are the runs apart?  They are when each level steps over all that the ones
 * below it cover.  Layouts exist that this calls overlapping and are not;
 * NumPy's strides do not make them.
 */
bool dray_layout_is_apart(const struct dray_layout *layout,
			  const struct dray_axis *axes, u32 count)
{
	u64 cover = layout->run;
	u32 i;

	for (i = 0; i < count; i++)
		if (axes[i].count > 1 && !axes[i].dst_stride)
			return false;
	for (i = 0; i < layout->levels; i++) {
		if (layout->level[i].stride < cover)
			return false;
		cover += (layout->level[i].count - 1) * layout->level[i].stride;
	}
	return true;
}

/* One level for two that together are one progression. */
static bool dray_level_join(struct dray_level *low,
			    const struct dray_level *high)
{
	u64 remainder, times;

	times = div64_u64_rem(high->stride, low->stride, &remainder);
	if (remainder || times > low->count)
		return false;
	low->count += (high->count - 1) * times;
	return true;
}

/*
 * The same bytes in the fewest rows: the caller's axes may cut them up
 * finely, and maintenance takes its time for each row.
 */
void dray_layout_join(struct dray_layout *layout)
{
	struct dray_level *level = layout->level;
	u32 i, levels = 0;

	for (i = 0; i < layout->levels; i++) {
		if (!levels && level[i].stride <= layout->run)
			layout->run += (level[i].count - 1) * level[i].stride;
		else if (!levels ||
			 !dray_level_join(&level[levels - 1], &level[i]))
			level[levels++] = level[i];
	}
	layout->levels = levels;
}

bool dray_layouts_meet(const struct dray_layout *a, const struct dray_layout *b)
{
	return dray_area_is_same(&a->area, &b->area) && a->low < b->high &&
	       b->low < a->high;
}

bool dray_layouts_may_meet(const struct dray_layout *a,
			   const struct dray_layout *b)
{
	if (!dray_area_entry(&a->area) || !dray_area_entry(&b->area))
		return false;
	if (a->area.buffer && b->area.buffer &&
	    a->area.buffer != b->area.buffer)
		return false;
	return !dray_area_is_same(&a->area, &b->area) ||
	       dray_layouts_meet(a, b);
}

/*
 * The low bits of all addresses where a piece of this side may begin, but for
 * what strides add: the first one, and where a stretch does.
 */
u64 dray_layout_bits(const struct dray_layout *layout)
{
	const struct dray_stretch *stretch = layout->place.stretch;
	u64 bits = stretch[0].address + layout->first, base;
	u32 i;

	for (i = 1; i < layout->place.count; i++) {
		base = stretch[i].address - stretch[i].offset;
		bits |= stretch[i].address;
		bits |= base ^ stretch[0].address;
	}
	return bits;
}

/* The address of the byte at @offset; *@length goes down to what follows it. */
dma_addr_t dray_layout_find(const struct dray_layout *layout, u64 offset,
			    size_t *length)
{
	const struct dray_stretch *stretch =
		dray_place_find(&layout->place, offset);
	u64 into = offset - stretch->offset;

	*length = min_t(u64, *length, stretch->length - into);
	return stretch->address + into;
}

/*
 * Maintains exactly the bytes of the runs.  The lowest level makes rows, the
 * others say where rows begin.  Where only the whole can be maintained it is
 * for the device; for the CPU that waits for fences, and ours is one of them:
 * there whoever looks asks for it.
 */
int dray_layout_sync(struct dray_layout *layout, struct device *dev,
		     bool for_cpu, enum dma_data_direction direction)
{
	struct dray_rows rows = {
		.offset = layout->low,
		.width = layout->run,
		.rows = 1,
	};
	struct dray_level *level;
	int ret;
	u32 i;

	if (dray_area_is_whole(&layout->area))
		return for_cpu ? 0
			       : dray_area_sync(&layout->area, dev,
						&layout->place, &rows, for_cpu,
						direction);
	if (layout->levels) {
		rows.pitch = layout->level[0].stride;
		rows.rows = layout->level[0].count;
	}
	do {
		ret = dray_area_sync(&layout->area, dev, &layout->place, &rows,
				     for_cpu, direction);
		for (i = 1; i < layout->levels && !ret; i++) {
			level = &layout->level[i];
			rows.offset += level->stride;
			if (++level->index < level->count)
				break;
			level->index = 0;
			rows.offset -= level->count * level->stride;
		}
	} while (!ret && i < layout->levels);
	return ret;
}
