/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The right to know where memory lies.
 */
#ifndef DRAY_ADDRESS_H
#define DRAY_ADDRESS_H

#include <linux/types.h>

struct device;
struct dray_heap;
struct dray_opener;

/*
 * May @opener know the place of memory of @heap, or with NULL of other memory?
 * The caller is inside the node.
 */
bool dray_address_allowed(const struct dray_opener *opener,
			  const struct dray_heap *heap);
/*
 * May it know how many segments attached memory has for @dev?  That tells which
 * pages are neighbours, if an address is a place in memory.
 */
bool dray_segments_allowed(const struct dray_opener *opener,
			   struct device *dev);

#endif /* DRAY_ADDRESS_H */
