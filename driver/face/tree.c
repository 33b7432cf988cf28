// SPDX-License-Identifier: GPL-2.0-only
/*
 * Channels as the device tree describes them: their names, and the FIFOs of
 * peripherals that streams go to or come from.  A FIFO is one register: its
 * address, its width, and how many words it takes at a time.
 */
#include <linux/device.h>
#include <linux/log2.h>
#include <linux/of.h>
#include <linux/string.h>

#include "base/device.h"
#include "tree.h"

#define DRAY_TREE_ADDRESSES "dray,fifo-addresses"
#define DRAY_TREE_WIDTHS "dray,fifo-widths"
#define DRAY_TREE_BURSTS "dray,fifo-bursts"

/* The kind of a channel: copies, sends, receives, shows. */
static bool dray_tree_knows(const char *name)
{
	return str_has_prefix(name, "mem") || str_has_prefix(name, "tx") ||
	       str_has_prefix(name, "rx") || str_has_prefix(name, "display");
}

static int dray_tree_read_names(struct device *dev, struct dray_tree *tree)
{
	const char *name;

	while (tree->count < DRAY_MAX_CHANNELS &&
	       !of_property_read_string_index(dev->of_node, "dma-names",
					      tree->count, &name)) {
		if (!dray_tree_knows(name)) {
			dev_err(dev,
				"dma-names: \"%s\" does not begin with mem, tx, rx or display\n",
				name);
			return -EINVAL;
		}
		tree->channels[tree->count++].name = name;
	}
	return 0;
}

/* Checks that a list has an entry of @size bytes for each name. */
static int dray_tree_check_list(struct device *dev, const char *list, int size,
				int count)
{
	int entries = of_property_count_elems_of_size(dev->of_node, list, size);

	if (entries == count)
		return 0;
	dev_err(dev, "%s: %d entries, but dma-names has %d\n", list,
		max(entries, 0), count);
	return -EINVAL;
}

static int dray_tree_check_fifo(struct device *dev, const char *name,
				u64 address, u32 width, u32 burst)
{
	if (!is_power_of_2(width) || width > DMA_SLAVE_BUSWIDTH_64_BYTES)
		dev_err(dev,
			"dray,fifo-widths: %u of %s is not 1, 2, 4, 8, 16, 32 or 64\n",
			width, name);
	else if (!burst)
		dev_err(dev, "dray,fifo-bursts: 0 of %s is below 1\n", name);
	else if (address & (width - 1))
		dev_err(dev,
			"dray,fifo-addresses: %#llx of %s is not a multiple of its width %u\n",
			address, name, width);
	else if (!dray_device_is_register(address, width))
		dev_err(dev,
			"dray,fifo-addresses: %#llx of %s is memory, or above all addresses\n",
			address, name);
	else
		return 0;
	return -EINVAL;
}

/* The other end of the stream is memory, of which the engine is told later. */
static void dray_tree_set_fifo(struct dray_tree *tree, unsigned int i,
			       u64 address, u32 width, u32 burst)
{
	struct dma_slave_config *config = &tree->configs[i];

	if (str_has_prefix(tree->channels[i].name, "rx")) {
		config->src_addr = address;
		config->src_addr_width = width;
		config->src_maxburst = burst;
	} else {
		config->dst_addr = address;
		config->dst_addr_width = width;
		config->dst_maxburst = burst;
	}
	tree->channels[i].config = config;
}

static int dray_tree_read_fifos(struct device *dev, struct dray_tree *tree)
{
	struct device_node *node = dev->of_node;
	u32 widths[DRAY_MAX_CHANNELS], bursts[DRAY_MAX_CHANNELS];
	u64 addresses[DRAY_MAX_CHANNELS];
	unsigned int i;
	int ret;

	if (!of_find_property(node, DRAY_TREE_ADDRESSES, NULL) &&
	    !of_find_property(node, DRAY_TREE_WIDTHS, NULL) &&
	    !of_find_property(node, DRAY_TREE_BURSTS, NULL))
		return 0;
	ret = dray_tree_check_list(dev, DRAY_TREE_ADDRESSES, sizeof(u64),
				   tree->count) ?:
	      dray_tree_check_list(dev, DRAY_TREE_WIDTHS, sizeof(u32),
				   tree->count) ?:
	      dray_tree_check_list(dev, DRAY_TREE_BURSTS, sizeof(u32),
				   tree->count);
	if (ret)
		return ret;
	if (of_property_read_u64_array(node, DRAY_TREE_ADDRESSES, addresses,
				       tree->count) ||
	    of_property_read_u32_array(node, DRAY_TREE_WIDTHS, widths,
				       tree->count) ||
	    of_property_read_u32_array(node, DRAY_TREE_BURSTS, bursts,
				       tree->count))
		return -EINVAL;
	for (i = 0; i < tree->count; i++) {
		if (!addresses[i])
			continue;
		ret = dray_tree_check_fifo(dev, tree->channels[i].name,
					   addresses[i], widths[i], bursts[i]);
		if (ret)
			return ret;
		dray_tree_set_fifo(tree, i, addresses[i], widths[i], bursts[i]);
	}
	return 0;
}

int dray_tree_read(struct device *dev, struct dray_tree *tree)
{
	int ret = dray_tree_read_names(dev, tree);

	return ret ? ret : dray_tree_read_fifos(dev, tree);
}
