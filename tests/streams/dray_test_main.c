// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dray_test_axidma.ko: runs all facts when it is inserted, and writes TAP to the
 * kernel's log.  It takes the channels tx0 and rx0 of dray's node, which dray opens
 * only on first use.
 */
#define pr_fmt(format) KBUILD_MODNAME ": " format

#include <linux/dma-mapping.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/of_platform.h>
#include <linux/platform_device.h>

#include "dray_test_axidma.h"

static struct platform_device *node;
static unsigned int number;

static void run(struct stream *stream, const struct stream_fact *fact)
{
	stream->failed = NULL;
	stream_fill(stream, number);
	fact->run(stream);
	stream_cleanup(stream);
	number++;
	pr_info("%sok %u - %s\n", stream->failed ? "not " : "", number,
		fact->name);
	if (stream->failed)
		pr_info("# line %d: %s: %lld, not %lld\n", stream->line,
			stream->failed, stream->is, stream->should);
}

/* Sends and receives @length bytes without a look at them; returns us, or 0. */
static s64 time_round(struct stream *stream, u32 length)
{
	static struct stream_transfer received;
	ktime_t start = ktime_get();

	if (stream_submit_one(stream, RX, 0, length, &received))
		return 0;
	stream_start(stream, RX);
	if (!stream_send(stream, 0, length) ||
	    !stream_wait(&received, STREAM_PATIENCE))
		return 0;
	return max_t(s64, ktime_us_delta(ktime_get(), start), 1);
}

/* Prints the best time of a small and of a large packet. */
static void measure(struct stream *stream)
{
	static const u32 lengths[] = { 64, STREAM_AREA };
	unsigned int i, round;
	s64 time, best;

	stream->failed = NULL;
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		best = S64_MAX;
		for (round = 0; round < 100; round++) {
			time = time_round(stream, lengths[i]);
			if (!time) {
				pr_info("# a round of %u bytes failed\n",
					lengths[i]);
				return;
			}
			best = min(best, time);
		}
		pr_info("# %u bytes there and back: %lld us at best\n",
			lengths[i], best);
	}
	stream_cleanup(stream);
}

static int run_all(struct stream *stream)
{
	unsigned int i;

	if (COUNTER(stream, magic) != FPGA_MAGIC)
		return -ENODEV;
	pr_info("1..%u\n", stream_fact_count + stream_fault_count);
	for (i = 0; i < stream_fact_count; i++)
		run(stream, &stream_facts[i]);
	for (i = 0; i < stream_fault_count; i++)
		run(stream, &stream_faults[i]);
	measure(stream);
	return 0;
}

static int take_memory(struct stream *stream)
{
	int error = -ENOMEM;

	stream->control = ioremap(FPGA_CONTROL, sizeof(*stream->control));
	if (!stream->control)
		return error;
	stream->device = dmaengine_get_dma_device(stream->channel[TX]);
	stream->memory = dma_alloc_coherent(stream->device, 2 * STREAM_AREA,
					    &stream->address, GFP_KERNEL);
	if (stream->memory) {
		error = run_all(stream);
		dma_free_coherent(stream->device, 2 * STREAM_AREA,
				  stream->memory, stream->address);
	}
	iounmap(stream->control);
	return error;
}

static int take_channels(struct stream *stream)
{
	int error;

	stream->channel[TX] = dma_request_chan(&node->dev, "tx0");
	if (IS_ERR(stream->channel[TX]))
		return PTR_ERR(stream->channel[TX]);
	stream->channel[RX] = dma_request_chan(&node->dev, "rx0");
	if (IS_ERR(stream->channel[RX])) {
		dma_release_channel(stream->channel[TX]);
		return PTR_ERR(stream->channel[RX]);
	}
	error = take_memory(stream);
	dma_release_channel(stream->channel[RX]);
	dma_release_channel(stream->channel[TX]);
	return error;
}

static int __init dray_test_axidma_init(void)
{
	static struct stream stream;
	struct device_node *tree;
	int error;

	tree = of_find_compatible_node(NULL, NULL, "dray,node");
	node = tree ? of_find_device_by_node(tree) : NULL;
	of_node_put(tree);
	if (!node)
		return -ENODEV;
	error = take_channels(&stream);
	put_device(&node->dev);
	return error;
}

static void __exit dray_test_axidma_exit(void)
{
}

module_init(dray_test_axidma_init);
module_exit(dray_test_axidma_exit);

MODULE_DESCRIPTION("Tests of the AXI DMA's driver on the board of tools/fpga");
MODULE_LICENSE("Dual MIT/GPL");
