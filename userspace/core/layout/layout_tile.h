/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Copies by tiles: source and destination run along different axes, as in a
 * transpose.  Both sides then move whole cache lines.
 */
#ifndef DRAY_LAYOUT_LAYOUT_TILE_H
#define DRAY_LAYOUT_LAYOUT_TILE_H

#include "layout/layout.h"

/* Whether tiles may be worth their preparation. */
static inline bool dray_tile_may_pay(const struct dray_layout *layout)
{
	return layout->axes_count > 1 && layout->bytes >= 512;
}

/*
 * Copies a layout of which dray_tile_may_pay() by tiles if that is the best way, else
 * does nothing and returns false.
 * @loop: instead of a copy; NULL: copies.  @context is for it
 * @ret: its first failure, or 0; not set if @loop is NULL
 */
bool dray_tile_copy(const struct dray_layout *layout, dray_loop *loop,
		    void *context, int *ret);

#endif /* DRAY_LAYOUT_LAYOUT_TILE_H */
