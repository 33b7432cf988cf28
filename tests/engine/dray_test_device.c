// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The engine for tests as a device: what it can do, its sleep, its beginning and
 * its end.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/pm.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "dray_test_engine.h"

#define CHANNELS 2

struct test_engine {
	struct dma_device device;
	struct test_channel channel[CHANNELS];
};

static struct platform_device *test_device;

bool test_asleep;

static void test_engine_describe(struct test_engine *engine, struct device *dev)
{
	struct dma_device *device = &engine->device;
	int i;

	device->dev = dev;
	dma_cap_set(DMA_MEMCPY, device->cap_mask);
	dma_cap_set(DMA_PRIVATE, device->cap_mask);
	if (test_knobs.unordered)
		dma_cap_set(DMA_COMPLETION_NO_ORDER, device->cap_mask);
	device->device_prep_dma_memcpy = test_prepare_copy;
	if (test_knobs.fill) {
		dma_cap_set(DMA_MEMSET, device->cap_mask);
		device->device_prep_dma_memset = test_prepare_fill;
		device->fill_align = test_knobs.align_shift;
	}
	device->copy_align = test_knobs.align_shift;
	device->device_issue_pending = test_issue;
	device->device_tx_status = test_status;
	device->device_terminate_all =
		test_knobs.no_terminate ? NULL : test_terminate;
	device->device_synchronize = test_synchronize;
	device->device_free_chan_resources = test_free;
	INIT_LIST_HEAD(&device->channels);
	for (i = 0; i < CHANNELS; i++)
		test_channel_init(&engine->channel[i], device);
}

/* Being unbound, with the engine still registered. */
static void test_linger(void *unused)
{
	test_knobs.lingers = true;
	while (READ_ONCE(test_knobs.linger))
		msleep(20);
	test_knobs.lingers = false;
}

/* Holds the device's lock while the knob is set, as a slow driver may. */
static void test_hold_lock(struct work_struct *work)
{
	device_lock(&test_device->dev);
	test_knobs.locked = true;
	while (READ_ONCE(test_knobs.linger))
		msleep(20);
	device_unlock(&test_device->dev);
	test_knobs.locked = false;
}

static DECLARE_WORK(test_lock, test_hold_lock);

static int lock_set(const char *text, const struct kernel_param *param)
{
	test_knobs.linger = true;
	queue_work(system_long_wq, &test_lock);
	return 0;
}

static const struct kernel_param_ops lock_ops = { .set = lock_set };
module_param_cb(lock, &lock_ops, NULL, 0200);
MODULE_PARM_DESC(lock, "writing has its device locked until linger is cleared");

static int test_probe(struct platform_device *pdev)
{
	struct device *dev = &pdev->dev;
	struct test_engine *engine;
	int ret;

	ret = dma_set_mask_and_coherent(dev,
					DMA_BIT_MASK(test_knobs.mask_bits));
	if (ret)
		return ret;
	dma_set_max_seg_size(dev, test_knobs.max_segment);
	engine = devm_kzalloc(dev, sizeof(*engine), GFP_KERNEL);
	if (!engine)
		return -ENOMEM;
	test_engine_describe(engine, dev);
	platform_set_drvdata(pdev, engine);
	ret = dmaenginem_async_device_register(&engine->device);
	if (ret)
		return ret;
	return devm_add_action(dev, test_linger, NULL);
}

/* Who uses the engine has taken its work back by now. */
static int __maybe_unused test_suspend(struct device *dev)
{
	struct test_engine *engine = dev_get_drvdata(dev);
	int i;

	test_asleep = true;
	for (i = 0; i < CHANNELS; i++) {
		spin_lock_bh(&engine->channel[i].lock);
		test_knobs.restless += engine->channel[i].used;
		spin_unlock_bh(&engine->channel[i].lock);
	}
	return 0;
}

static int __maybe_unused test_resume(struct device *dev)
{
	test_asleep = false;
	return 0;
}

static SIMPLE_DEV_PM_OPS(test_sleep, test_suspend, test_resume);

static struct platform_driver test_driver = {
	.probe = test_probe,
	.driver = { .name = "dray-test-engine", .pm = &test_sleep },
};

static int __init test_init(void)
{
	struct platform_device_info info = {
		.id = PLATFORM_DEVID_NONE,
		.dma_mask = DMA_BIT_MASK(64),
	};
	int ret;

	if (test_knobs.zynqmp)
		test_driver.driver.name = "xilinx-zynqmp-dma";
	info.name = test_driver.driver.name;
	ret = platform_driver_register(&test_driver);
	if (ret)
		return ret;
	test_device = platform_device_register_full(&info);
	if (IS_ERR(test_device)) {
		platform_driver_unregister(&test_driver);
		return PTR_ERR(test_device);
	}
	return 0;
}

static void __exit test_exit(void)
{
	cancel_work_sync(&test_lock);
	platform_device_unregister(test_device);
	platform_driver_unregister(&test_driver);
}

module_init(test_init);
module_exit(test_exit);

MODULE_DESCRIPTION("A DMA engine that fails when told to, for tests");
MODULE_LICENSE("Dual MIT/GPL");
