// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The node of the engine of streams: a device of its own, so that either can be
 * unbound.  Its driver makes the node as a board's driver does, and dray asks
 * for the channels by their names, or is given them.
 */
#include <linux/dma-mapping.h>
#include <linux/dray_node.h>
#include <linux/err.h>
#include <linux/kstrtox.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/pm.h>
#include <linux/slab.h>

#include "dray_test_stream.h"

struct stream_node {
	struct dray_node *node;
	struct dma_chan *given[STREAM_CHANNELS];
};

static const char *const stream_names[STREAM_CHANNELS] = { "tx0", "rx0", "tx1",
							   "rx1" };

/* Of the first pair; nothing reads or writes there. */
static const struct dma_slave_config stream_fifos[] = {
	{
		.dst_addr = 0xff000030,
		.dst_addr_width = DMA_SLAVE_BUSWIDTH_4_BYTES,
		.dst_maxburst = 16,
	},
	{
		.src_addr = 0xff000038,
		.src_addr_width = DMA_SLAVE_BUSWIDTH_8_BYTES,
		.src_maxburst = 1,
	},
};

static const struct dma_slave_config *stream_fifo(int i)
{
	return i < ARRAY_SIZE(stream_fifos) && !stream_knobs.shows
		       ? &stream_fifos[i]
		       : NULL;
}

static const char *stream_name(int i)
{
	/* The driver keeps that channel. */
	if (stream_knobs.shared && i == STREAM_CHANNELS - 1)
		return "rx9";
	return stream_knobs.shows && !i ? "display0" : stream_names[i];
}

static void stream_node_release(struct stream_node *node)
{
	int i;

	for (i = 0; i < STREAM_CHANNELS; i++)
		if (node->given[i])
			dma_release_channel(node->given[i]);
}

static int stream_node_request(struct device *dev, struct stream_node *node)
{
	struct dma_chan *chan;
	int i;

	for (i = 0; i < STREAM_CHANNELS; i++) {
		chan = dma_request_chan(dev, stream_name(i));
		if (IS_ERR(chan)) {
			stream_node_release(node);
			return PTR_ERR(chan);
		}
		node->given[i] = chan;
	}
	return 0;
}

/* The last channel, which dray does not get. */
static int stream_node_keep(struct device *dev, struct stream_node *node)
{
	const int last = STREAM_CHANNELS - 1;
	struct dma_chan *chan = dma_request_chan(dev, stream_names[last]);

	if (IS_ERR(chan))
		return PTR_ERR(chan);
	node->given[last] = chan;
	return 0;
}

static int stream_node_probe(struct platform_device *pdev)
{
	struct dray_node_channel channels[STREAM_CHANNELS];
	struct device *dev = &pdev->dev;
	struct stream_node *node;
	int ret, i;

	ret = dma_set_mask_and_coherent(dev,
					DMA_BIT_MASK(stream_knobs.mask_bits));
	if (ret)
		return ret;
	dma_set_max_seg_size(dev, UINT_MAX);
	node = devm_kzalloc(dev, sizeof(*node), GFP_KERNEL);
	if (!node)
		return -ENOMEM;
	if (stream_knobs.given) {
		ret = stream_node_request(dev, node);
		if (ret)
			return ret;
	}
	if (stream_knobs.shared) {
		ret = stream_node_keep(dev, node);
		if (ret)
			return ret;
	}
	for (i = 0; i < STREAM_CHANNELS; i++)
		channels[i] = (struct dray_node_channel){
			.name = stream_name(i),
			.chan = stream_knobs.given ? node->given[i] : NULL,
			.config = stream_fifo(i),
		};
	node->node = dray_node_register(dev, channels, STREAM_CHANNELS);
	if (IS_ERR(node->node)) {
		stream_node_release(node);
		return PTR_ERR(node->node);
	}
	platform_set_drvdata(pdev, node);
	return 0;
}

static void stream_node_end(struct platform_device *pdev)
{
	struct stream_node *node = platform_get_drvdata(pdev);

	dray_node_unregister(node->node);
	stream_node_release(node);
}

#ifdef TEST_REMOVE_INT
static int stream_node_remove(struct platform_device *pdev)
{
	stream_node_end(pdev);
	return 0;
}
#else
static void stream_node_remove(struct platform_device *pdev)
{
	stream_node_end(pdev);
}
#endif

static int stream_node_suspend(struct device *dev)
{
	struct stream_node *node = dev_get_drvdata(dev);

	return dray_node_suspend(node->node);
}

static int stream_node_resume(struct device *dev)
{
	struct stream_node *node = dev_get_drvdata(dev);

	return dray_node_resume(node->node);
}

static SIMPLE_DEV_PM_OPS(stream_node_sleep, stream_node_suspend,
			 stream_node_resume);

/* The node sleeps without the system, so that programs can look on. */
static ssize_t asleep_store(struct device *dev, struct device_attribute *attr,
			    const char *text, size_t length)
{
	bool asleep;
	int ret;

	ret = kstrtobool(text, &asleep);
	if (!ret)
		ret = asleep ? stream_node_suspend(dev)
			     : stream_node_resume(dev);
	return ret ? ret : length;
}
static DEVICE_ATTR_WO(asleep);

static struct attribute *stream_node_attrs[] = { &dev_attr_asleep.attr, NULL };
ATTRIBUTE_GROUPS(stream_node);

struct platform_driver stream_node_driver = {
	.probe = stream_node_probe,
	.remove = stream_node_remove,
	.driver = {
		.name = STREAM_NODE,
		.pm = &stream_node_sleep,
		.dev_groups = stream_node_groups,
	},
};
