/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A heap's fill as a bar of characters. */
#ifndef DMACTL_BAR_H
#define DMACTL_BAR_H

#include <linux/dray.h>

#include "table.h"

#define BAR_WIDTH 20
#define BAR_ROOM (BAR_WIDTH + 1)

/*
 * Draws '#' for buffers, 'h' for those of them that are held, '!' for quarantine,
 * 'o' for other users and '.' for free memory.
 */
void heap_bar(const struct dray_heap_info *heap, char bar[BAR_ROOM]);

/* Returns a warning's colour if little is free. */
enum table_colour heap_colour(const struct dray_heap_info *heap);

#endif /* DMACTL_BAR_H */
