// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bytes of a transfer's source or destination, in any order of its runs:
 * checks that they lie in their area and are apart, finds them for a device,
 * and syncs caches in the fewest rows.
 */
#include <linux/errno.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/sort.h>

#include "side.h"

static u64 dray_side_magnitude(s64 stride)
{
	return stride < 0 ? -(u64)stride : (u64)stride;
}

static int dray_dim_compare(const void *left, const void *right)
{
	const struct dray_dim *a = left, *b = right;

	return a->stride < b->stride ? -1 : a->stride > b->stride;
}

/*
 * Adds an axis to the side.  The lowest byte may lie before the area,
 * so @below counts how far down strides reach.
 */
static bool dray_side_add(struct dray_side *side, u64 count, s64 stride,
			  u64 *below)
{
	struct dray_dim *dim = &side->dim[side->dims];
	u64 *far = stride < 0 ? below : &side->high;
	u64 reach;

	if (count == 1 || !stride)
		return true;
	dim->count = count;
	dim->stride = dray_side_magnitude(stride);
	side->dims++;
	return !check_mul_overflow(count - 1, dim->stride, &reach) &&
	       !check_add_overflow(*far, reach, far);
}

int dray_side_check(struct dray_side *side, const struct dray_axis *axes,
		    u32 count, bool dst, struct dray_refusal *refusal)
{
	u64 below = 0;
	s64 stride;
	bool fits;
	u32 i;

	fits = !check_add_overflow(side->first, side->run, &side->high);
	for (i = 0; i < count && fits; i++) {
		stride = dst ? axes[i].dst_stride : axes[i].src_stride;
		fits = dray_side_add(side, axes[i].count, stride, &below);
	}
	if (!fits || below > side->first || side->high > side->area.size)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_RANGE,
				   side->area.size);
	side->low = side->first - below;
	sort(side->dim, side->dims, sizeof(*side->dim), dray_dim_compare, NULL);
	return 0;
}

/*
 * Are the runs apart?  They are if each dimension steps over all bytes that the
 * dimensions below it cover.  Some layouts without an overlap are refused, too;
 * NumPy's strides do not make them.
 */
bool dray_side_is_apart(const struct dray_side *side,
			const struct dray_axis *axes, u32 count)
{
	u64 cover = side->run;
	u32 i;

	for (i = 0; i < count; i++)
		if (axes[i].count > 1 && !axes[i].dst_stride)
			return false;
	for (i = 0; i < side->dims; i++) {
		if (side->dim[i].stride < cover)
			return false;
		cover += (side->dim[i].count - 1) * side->dim[i].stride;
	}
	return true;
}

/* Joins two dimensions that form a single progression. */
static bool dray_dim_join(struct dray_dim *low, const struct dray_dim *high)
{
	u64 remainder, times;

	times = div64_u64_rem(high->stride, low->stride, &remainder);
	if (remainder || times > low->count)
		return false;
	low->count += (high->count - 1) * times;
	return true;
}

/*
 * Joins the bytes into the fewest rows: the caller's axes may cut them up
 * finely, and maintenance costs time for each row.
 */
void dray_side_join(struct dray_side *side)
{
	struct dray_dim *dim = side->dim;
	u32 i, dims = 0;

	for (i = 0; i < side->dims; i++) {
		if (!dims && dim[i].stride <= side->run)
			side->run += (dim[i].count - 1) * dim[i].stride;
		else if (!dims || !dray_dim_join(&dim[dims - 1], &dim[i]))
			dim[dims++] = dim[i];
	}
	side->dims = dims;
}

bool dray_sides_meet(const struct dray_side *a, const struct dray_side *b)
{
	return dray_area_is_same(&a->area, &b->area) && a->low < b->high &&
	       b->low < a->high;
}

bool dray_sides_may_meet(const struct dray_side *a, const struct dray_side *b)
{
	if (!dray_area_entry(&a->area) || !dray_area_entry(&b->area))
		return false;
	if (a->area.buffer && b->area.buffer &&
	    a->area.buffer != b->area.buffer)
		return false;
	return !dray_area_is_same(&a->area, &b->area) || dray_sides_meet(a, b);
}

/*
 * Returns the low bits of all addresses at which a descriptor of this side may
 * begin, except for strides: of the first byte, and of each segment.
 */
u64 dray_side_bits(const struct dray_side *side)
{
	const struct dray_place_segment *segment = side->place.segment;
	u64 bits = segment[0].address + side->first, base;
	u32 i;

	for (i = 1; i < side->place.count; i++) {
		base = segment[i].address - segment[i].offset;
		bits |= segment[i].address;
		bits |= base ^ segment[0].address;
	}
	return bits;
}

/*
 * Returns the address of the byte at @offset, and shortens *@length to its
 * segment.
 */
dma_addr_t dray_side_find(const struct dray_side *side, u64 offset,
			  size_t *length)
{
	const struct dray_place_segment *segment =
		dray_place_find(&side->place, offset);
	u64 into = offset - segment->offset;

	*length = min_t(u64, *length, segment->length - into);
	return segment->address + into;
}

/*
 * Syncs exactly the bytes of the runs.  The lowest dimension makes rows, the
 * others say where rows begin.  A dma-buf of another driver is synced as a
 * whole, and only for the device: for the CPU that would wait for fences, this
 * job's among them, so readers ask for it themselves.
 */
int dray_side_sync(struct dray_side *side, struct device *dev, bool for_cpu,
		   enum dma_data_direction direction)
{
	struct dray_area_rows rows = {
		.offset = side->low,
		.width = side->run,
		.rows = 1,
	};
	struct dray_dim *dim;
	int ret;
	u32 i;

	if (dray_area_is_whole(&side->area))
		return for_cpu ? 0
			       : dray_area_sync(&side->area, dev, &side->place,
						&rows, for_cpu, direction);
	if (side->dims) {
		rows.pitch = side->dim[0].stride;
		rows.rows = side->dim[0].count;
	}
	do {
		ret = dray_area_sync(&side->area, dev, &side->place, &rows,
				     for_cpu, direction);
		for (i = 1; i < side->dims && !ret; i++) {
			dim = &side->dim[i];
			rows.offset += dim->stride;
			if (++dim->index < dim->count)
				break;
			dim->index = 0;
			rows.offset -= dim->count * dim->stride;
		}
	} while (!ret && i < side->dims);
	return ret;
}
