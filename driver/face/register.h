/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Nodes made for drivers: include/linux/dray_node.h is for others, this for
 * the drivers in this directory.
 */
#ifndef DRAY_REGISTER_H
#define DRAY_REGISTER_H

#include <linux/types.h>

struct device;
struct dray_io;
struct dray_node;
struct dray_node_channel;

/*
 * As dray_node_register(); @flags are DRAY_NODE_VIRTUAL or none.  @io becomes the
 * node's, also on failure; NULL: programs get no registers and interrupts.
 */
struct dray_node *dray_node_create(struct device *dev, u32 flags,
				   const struct dray_node_channel *channels,
				   unsigned int count, struct dray_io *io);

#endif /* DRAY_REGISTER_H */
