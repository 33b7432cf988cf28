// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The engine of streams as a device: its channels by their names, its source of
 * frames, its sleep, its beginning and its end.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/platform_device.h>
#include <linux/pm.h>
#include <linux/property.h>
#include <linux/slab.h>

#include "dray_test_stream.h"

#define STREAM_ENGINE "dray-test-stream"

static struct platform_device *stream_devices[2]; /* the engine, the node */

static DEFINE_MUTEX(stream_bound_lock);
static struct stream_engine *stream_bound; /* NULL: it is not */

static bool stream_has_number(struct dma_chan *chan, void *number)
{
	return chan->chan_id == (unsigned long)number;
}

/* The node finds its channels so, as by a device tree. */
static const struct dma_slave_map stream_map[] = {
	{ STREAM_NODE, "tx0", (void *)0 },
	{ STREAM_NODE, "rx0", (void *)1 },
	{ STREAM_NODE, "tx1", (void *)2 },
	{ STREAM_NODE, "rx1", (void *)3 },
	{ STREAM_NODE, "display0", (void *)0 },
};

static void stream_describe(struct stream_engine *engine, struct device *dev)
{
	struct dma_device *device = &engine->device;
	int i;

	device->dev = dev;
	dma_cap_set(DMA_SLAVE, device->cap_mask);
	dma_cap_set(DMA_PRIVATE, device->cap_mask);
	if (stream_knobs.shows) {
		dma_cap_set(DMA_INTERLEAVE, device->cap_mask);
		dma_cap_set(DMA_REPEAT, device->cap_mask);
		dma_cap_set(DMA_LOAD_EOT, device->cap_mask);
	}
	device->directions = BIT(DMA_MEM_TO_DEV) | BIT(DMA_DEV_TO_MEM);
	device->src_addr_widths = BIT(DMA_SLAVE_BUSWIDTH_4_BYTES);
	device->dst_addr_widths = BIT(DMA_SLAVE_BUSWIDTH_4_BYTES);
	device->residue_granularity =
		stream_knobs.no_residue ? DMA_RESIDUE_GRANULARITY_DESCRIPTOR
		: stream_knobs.axidma	? DMA_RESIDUE_GRANULARITY_SEGMENT
					: DMA_RESIDUE_GRANULARITY_BURST;
	device->copy_align = stream_knobs.align_shift;
	device->filter.map = stream_map;
	device->filter.mapcnt = ARRAY_SIZE(stream_map);
	device->filter.fn = stream_has_number;
	stream_operations(device);
	INIT_LIST_HEAD(&device->channels);
	for (i = 0; i < STREAM_PAIRS; i++) {
		stream_channel_init(&engine->pair[i].tx, device);
		stream_channel_init(&engine->pair[i].rx, device);
	}
}

/* A frame that is due while the last one is under way is held back. */
static void stream_frames(struct work_struct *work)
{
	struct stream_engine *engine =
		container_of(work, struct stream_engine, frames);
	unsigned int us;

	while ((us = READ_ONCE(stream_knobs.frame_us)) &&
	       READ_ONCE(stream_bound) == engine) {
		if (stream_inject(&engine->pair[1], stream_knobs.frame_bytes,
				  stream_knobs.frames))
			stream_knobs.held_back++;
		else
			stream_knobs.frames++;
		usleep_range(us, us + us / 16);
	}
}

static void stream_engine_end(void *data)
{
	struct stream_engine *engine = data;
	int i;

	mutex_lock(&stream_bound_lock);
	WRITE_ONCE(stream_bound, NULL);
	mutex_unlock(&stream_bound_lock);
	cancel_work_sync(&engine->frames);
	for (i = 0; i < STREAM_PAIRS; i++) {
		stream_pair_end(&engine->pair[i]);
		stream_channel_end(&engine->pair[i].tx);
		stream_channel_end(&engine->pair[i].rx);
	}
}

static int stream_probe(struct platform_device *pdev)
{
	struct device *dev = &pdev->dev;
	struct stream_engine *engine;
	int ret, i;

	ret = dma_set_mask_and_coherent(dev,
					DMA_BIT_MASK(stream_knobs.mask_bits));
	if (ret)
		return ret;
	dma_set_max_seg_size(dev, stream_knobs.max_segment);
	engine = devm_kzalloc(dev, sizeof(*engine), GFP_KERNEL);
	if (!engine)
		return -ENOMEM;
	INIT_WORK(&engine->frames, stream_frames);
	stream_describe(engine, dev);
	platform_set_drvdata(pdev, engine);
	for (i = 0; i < STREAM_PAIRS; i++)
		ret = ret ?: stream_pair_init(&engine->pair[i]);
	if (ret) {
		for (i = 0; i < STREAM_PAIRS; i++)
			kvfree(engine->pair[i].fifo);
		return ret;
	}
	/* It ends behind the engine's users. */
	ret = devm_add_action_or_reset(dev, stream_engine_end, engine);
	if (!ret)
		ret = dmaenginem_async_device_register(&engine->device);
	if (ret)
		return ret;
	mutex_lock(&stream_bound_lock);
	WRITE_ONCE(stream_bound, engine);
	mutex_unlock(&stream_bound_lock);
	stream_device_frames();
	return 0;
}

int stream_device_empty(void)
{
	int i;

	mutex_lock(&stream_bound_lock);
	for (i = 0; stream_bound && i < STREAM_PAIRS; i++)
		stream_pair_empty(&stream_bound->pair[i]);
	mutex_unlock(&stream_bound_lock);
	return i ? 0 : -ENODEV;
}

int stream_device_sync(unsigned int count)
{
	int ret, i;

	mutex_lock(&stream_bound_lock);
	ret = stream_bound ? 0 : -ENODEV;
	for (i = 0; !ret && i < STREAM_PAIRS * count; i++)
		stream_sync(&stream_bound->pair[i % STREAM_PAIRS]);
	mutex_unlock(&stream_bound_lock);
	return ret;
}

int stream_device_inject(unsigned int pair, size_t length)
{
	int ret = -ENODEV;

	mutex_lock(&stream_bound_lock);
	if (stream_bound)
		ret = stream_inject(&stream_bound->pair[pair], length, 0);
	mutex_unlock(&stream_bound_lock);
	return ret;
}

int stream_device_frames(void)
{
	int ret = -ENODEV;

	mutex_lock(&stream_bound_lock);
	if (stream_bound) {
		ret = 0;
		if (stream_knobs.frame_us)
			queue_work(system_unbound_wq, &stream_bound->frames);
	}
	mutex_unlock(&stream_bound_lock);
	return ret;
}

/* Counts descriptors that the node has not taken back by now. */
static int __maybe_unused stream_suspend(struct device *dev)
{
	struct stream_engine *engine = dev_get_drvdata(dev);
	int i;

	engine->asleep = true;
	for (i = 0; i < STREAM_CHANNELS; i++)
		stream_knobs.restless += READ_ONCE(stream_knobs.out[i]);
	return 0;
}

static int __maybe_unused stream_resume(struct device *dev)
{
	struct stream_engine *engine = dev_get_drvdata(dev);

	engine->asleep = false;
	return 0;
}

static SIMPLE_DEV_PM_OPS(stream_sleep, stream_suspend, stream_resume);

static struct platform_driver stream_driver = {
	.probe = stream_probe,
	.driver = { .name = STREAM_ENGINE, .pm = &stream_sleep },
};

/* dray knows the quirks of an engine by this. */
static const struct property_entry stream_axidma[] = {
	PROPERTY_ENTRY_STRING("compatible", "xlnx,axi-dma-1.00.a"), {}
};

static struct platform_device *
stream_add_device(const char *name, const struct property_entry *properties)
{
	struct platform_device_info info = {
		.name = name,
		.id = PLATFORM_DEVID_NONE,
		.dma_mask = DMA_BIT_MASK(64),
		.properties = properties,
	};

	return platform_device_register_full(&info);
}

static int __init stream_init(void)
{
	const struct property_entry *properties = NULL;
	int ret;

	if (stream_knobs.axidma) {
		properties = stream_axidma;
		stream_knobs.batches = true;
		stream_knobs.siblings = true;
		stream_knobs.blind = true;
		stream_knobs.deaf = true;
		stream_knobs.slots = 255;
		stream_knobs.merges = TEST_AXIDMA_MERGES;
	}
	ret = platform_driver_register(&stream_driver);
	if (ret)
		return ret;
	ret = platform_driver_register(&stream_node_driver);
	if (ret)
		goto unregister_engine_driver;
	stream_devices[0] = stream_add_device(STREAM_ENGINE, properties);
	ret = PTR_ERR_OR_ZERO(stream_devices[0]);
	if (ret)
		goto unregister_node_driver;
	stream_devices[1] = stream_add_device(STREAM_NODE, NULL);
	ret = PTR_ERR_OR_ZERO(stream_devices[1]);
	if (ret)
		goto unregister_engine;
	return 0;

unregister_engine:
	platform_device_unregister(stream_devices[0]);
unregister_node_driver:
	platform_driver_unregister(&stream_node_driver);
unregister_engine_driver:
	platform_driver_unregister(&stream_driver);
	return ret;
}

static void __exit stream_exit(void)
{
	platform_device_unregister(stream_devices[1]);
	platform_device_unregister(stream_devices[0]);
	platform_driver_unregister(&stream_node_driver);
	platform_driver_unregister(&stream_driver);
}

module_init(stream_init);
module_exit(stream_exit);

MODULE_DESCRIPTION("An engine of streams with a node of dray, for tests");
MODULE_LICENSE("Dual MIT/GPL");
