/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The channels of a node in the device tree.
 */
#ifndef DRAY_TREE_H
#define DRAY_TREE_H

#include <linux/dmaengine.h>
#include <linux/dray_node.h>

#include "base/node.h"

struct device;

struct dray_tree {
	unsigned int count;
	struct dray_node_channel channels[DRAY_MAX_CHANNELS];
	struct dma_slave_config configs[DRAY_MAX_CHANNELS];
};

/*
 * Reads the channels of @dev into @tree, which is zero before: none without a
 * device tree.  The names are those of the device tree.  -EINVAL and a sentence
 * in the log if something in it is wrong.
 */
int dray_tree_read(struct device *dev, struct dray_tree *tree);

#endif /* DRAY_TREE_H */
