// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A DMA engine for tests: the CPU copies in its place, and it can be told to
 * take its time, to fail, to hang, and to have no descriptors, which no engine
 * of an emulated machine does when asked; and to let the whole machine stand
 * still, as a busy host does with an emulated one.  Its knobs are in
 * /sys/module/dray_test_engine/parameters.  A virtual node asks for its
 * channels when dray.ko is inserted with nodes=1 channels=N.
 */
#include <linux/delay.h>
#include <linux/dma-direct.h>
#include <linux/dma-mapping.h>
#include <linux/dmaengine.h>
#include <linux/err.h>
#include <linux/io.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/platform_device.h>
#include <linux/pm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/stop_machine.h>
#include <linux/workqueue.h>

#define CHANNELS 2

/* As the engine is made. */
static unsigned int mask_bits = 64;
module_param(mask_bits, uint, 0444);
MODULE_PARM_DESC(mask_bits, "bits of the addresses that it reaches");

static unsigned int align_shift;
module_param(align_shift, uint, 0444);
MODULE_PARM_DESC(align_shift, "addresses and lengths are multiples of 2^N");

static bool fill;
module_param(fill, bool, 0444);
MODULE_PARM_DESC(fill, "it fills by itself");

static bool no_terminate;
module_param(no_terminate, bool, 0444);
MODULE_PARM_DESC(no_terminate, "it has no function that stops it");

static unsigned int max_segment = 65536;
module_param(max_segment, uint, 0444);
MODULE_PARM_DESC(max_segment, "bytes of one descriptor");

/* While it runs. */
static unsigned int slots = 4;
module_param(slots, uint, 0644);
MODULE_PARM_DESC(slots, "descriptors that a channel has; 0: none");

static unsigned int delay_ms;
module_param(delay_ms, uint, 0644);
MODULE_PARM_DESC(delay_ms, "milliseconds before a descriptor is done");

static bool hang;
module_param(hang, bool, 0644);
MODULE_PARM_DESC(hang, "nothing is done until this is cleared");

static bool fail;
module_param(fail, bool, 0644);
MODULE_PARM_DESC(fail, "descriptors end with an error");

static bool lose;
module_param(lose, bool, 0644);
MODULE_PARM_DESC(lose,
		 "one descriptor is done, what was issued with it is lost");

static bool stale;
module_param(stale, bool, 0644);
MODULE_PARM_DESC(stale, "every callback comes once more, as of an earlier use");

static bool stubborn;
module_param(stubborn, bool, 0644);
MODULE_PARM_DESC(stubborn, "what stops it fails, and what is out goes on");

static unsigned int descriptors;
module_param(descriptors, uint, 0444);
MODULE_PARM_DESC(descriptors, "how many were done, for reading");

static unsigned int restless;
module_param(restless, uint, 0644);
MODULE_PARM_DESC(restless,
		 "descriptors that it had or got while the system slept");

/*
 * No processor takes an interrupt until the time is over.  Emulated ones take
 * turns, and each delay may last as long as another's turn.
 */
static int test_stand_still(void *milliseconds)
{
	unsigned int most = *(unsigned int *)milliseconds, i;
	u64 end = ktime_get_ns() + (u64)most * NSEC_PER_MSEC;

	for (i = 0; i < most && ktime_get_ns() < end; i++)
		mdelay(1);
	return 0;
}

static int still_set(const char *text, const struct kernel_param *param)
{
	unsigned int milliseconds;
	int ret;

	ret = kstrtouint(text, 0, &milliseconds);
	return ret ? ret : stop_machine(test_stand_still, &milliseconds, NULL);
}

static const struct kernel_param_ops still_ops = { .set = still_set };
module_param_cb(still, &still_ops, NULL, 0200);
MODULE_PARM_DESC(still, "writing lets the machine stand still: milliseconds");

static bool asleep;

struct test_descriptor {
	struct dma_async_tx_descriptor tx;
	struct list_head list;
	dma_addr_t dst;
	dma_addr_t src;
	size_t length;
	int value; /* to fill with; -1: copy */
};

struct test_channel {
	struct dma_chan chan;
	spinlock_t lock; /* all below */
	struct list_head submitted;
	struct list_head issued;
	unsigned int used; /* descriptors that are not done */
	dma_cookie_t failed; /* the last that ended with an error */
	struct delayed_work work;
};

struct test_engine {
	struct dma_device device;
	struct test_channel channel[CHANNELS];
};

static struct platform_device *test_device;

static struct test_channel *to_channel(struct dma_chan *chan)
{
	return container_of(chan, struct test_channel, chan);
}

static void *test_address(struct test_channel *channel, dma_addr_t address)
{
	return phys_to_virt(dma_to_phys(channel->chan.device->dev, address));
}

static void test_move(struct test_channel *channel,
		      struct test_descriptor *descriptor)
{
	void *dst = test_address(channel, descriptor->dst);

	if (descriptor->value >= 0)
		memset(dst, descriptor->value, descriptor->length);
	else
		memcpy(dst, test_address(channel, descriptor->src),
		       descriptor->length);
}

/* As ZDMA does after an error of the bus: no callback, no status. */
static void test_lose(struct test_channel *channel)
{
	struct test_descriptor *descriptor, *next;

	lockdep_assert_held(&channel->lock);
	list_for_each_entry_safe(descriptor, next, &channel->issued, list) {
		list_del(&descriptor->list);
		channel->used--;
		kfree(descriptor);
	}
}

static void test_call_back(struct test_descriptor *descriptor,
			   const struct dmaengine_result *result)
{
	if (descriptor->tx.callback_result)
		descriptor->tx.callback_result(descriptor->tx.callback_param,
					       result);
	else if (descriptor->tx.callback)
		descriptor->tx.callback(descriptor->tx.callback_param);
}

/* Does one descriptor; false when there is none. */
static bool test_do_one(struct test_channel *channel)
{
	struct dmaengine_result result = { .result = DMA_TRANS_NOERROR };
	struct test_descriptor *descriptor;

	spin_lock_bh(&channel->lock);
	descriptor = list_first_entry_or_null(&channel->issued,
					      struct test_descriptor, list);
	if (descriptor)
		list_del(&descriptor->list);
	spin_unlock_bh(&channel->lock);
	if (!descriptor)
		return false;

	if (fail)
		result.result = DMA_TRANS_WRITE_FAILED;
	else
		test_move(channel, descriptor);
	spin_lock_bh(&channel->lock);
	channel->used--;
	channel->chan.completed_cookie = descriptor->tx.cookie;
	if (fail)
		channel->failed = descriptor->tx.cookie;
	descriptors++;
	if (lose)
		test_lose(channel);
	spin_unlock_bh(&channel->lock);

	test_call_back(descriptor, &result);
	if (stale)
		test_call_back(descriptor, &result);
	kfree(descriptor);
	return true;
}

static void test_work(struct work_struct *work)
{
	struct test_channel *channel =
		container_of(work, struct test_channel, work.work);

	if (hang) {
		schedule_delayed_work(&channel->work, msecs_to_jiffies(10));
		return;
	}
	if (test_do_one(channel))
		schedule_delayed_work(&channel->work,
				      msecs_to_jiffies(delay_ms));
}

static dma_cookie_t test_submit(struct dma_async_tx_descriptor *tx)
{
	struct test_descriptor *descriptor =
		container_of(tx, struct test_descriptor, tx);
	struct test_channel *channel = to_channel(tx->chan);
	dma_cookie_t cookie;

	spin_lock_bh(&channel->lock);
	cookie = channel->chan.cookie + 1;
	if (cookie < DMA_MIN_COOKIE)
		cookie = DMA_MIN_COOKIE;
	channel->chan.cookie = cookie;
	tx->cookie = cookie;
	list_add_tail(&descriptor->list, &channel->submitted);
	restless += asleep;
	spin_unlock_bh(&channel->lock);
	return cookie;
}

static struct dma_async_tx_descriptor *
test_prepare(struct dma_chan *chan, dma_addr_t dst, dma_addr_t src,
	     size_t length, int value, unsigned long flags)
{
	struct test_channel *channel = to_channel(chan);
	struct test_descriptor *descriptor;
	bool room;

	descriptor = kzalloc(sizeof(*descriptor), GFP_NOWAIT);
	if (!descriptor)
		return NULL;
	spin_lock_bh(&channel->lock);
	room = channel->used < slots;
	channel->used += room;
	spin_unlock_bh(&channel->lock);
	if (!room) {
		kfree(descriptor);
		return NULL;
	}
	dma_async_tx_descriptor_init(&descriptor->tx, chan);
	descriptor->tx.tx_submit = test_submit;
	descriptor->tx.flags = flags;
	descriptor->dst = dst;
	descriptor->src = src;
	descriptor->length = length;
	descriptor->value = value;
	return &descriptor->tx;
}

static struct dma_async_tx_descriptor *
test_prepare_copy(struct dma_chan *chan, dma_addr_t dst, dma_addr_t src,
		  size_t length, unsigned long flags)
{
	return test_prepare(chan, dst, src, length, -1, flags);
}

static struct dma_async_tx_descriptor *
test_prepare_fill(struct dma_chan *chan, dma_addr_t dst, int value,
		  size_t length, unsigned long flags)
{
	return test_prepare(chan, dst, 0, length, value & 0xff, flags);
}

static void test_issue(struct dma_chan *chan)
{
	struct test_channel *channel = to_channel(chan);

	spin_lock_bh(&channel->lock);
	list_splice_tail_init(&channel->submitted, &channel->issued);
	spin_unlock_bh(&channel->lock);
	schedule_delayed_work(&channel->work, msecs_to_jiffies(delay_ms));
}

static enum dma_status test_status(struct dma_chan *chan, dma_cookie_t cookie,
				   struct dma_tx_state *state)
{
	struct test_channel *channel = to_channel(chan);
	enum dma_status status;

	spin_lock_bh(&channel->lock);
	dma_set_tx_state(state, chan->completed_cookie, chan->cookie, 0);
	status = dma_async_is_complete(cookie, chan->completed_cookie,
				       chan->cookie);
	if (status == DMA_COMPLETE && cookie == channel->failed)
		status = DMA_ERROR;
	spin_unlock_bh(&channel->lock);
	return status;
}

/* As real engines do: what was out is forgotten, without a callback. */
static int test_terminate(struct dma_chan *chan)
{
	struct test_channel *channel = to_channel(chan);
	struct test_descriptor *descriptor, *next;
	LIST_HEAD(forgotten);

	if (stubborn)
		return -EBUSY;
	spin_lock_bh(&channel->lock);
	list_splice_tail_init(&channel->submitted, &forgotten);
	list_splice_tail_init(&channel->issued, &forgotten);
	list_for_each_entry_safe(descriptor, next, &forgotten, list) {
		channel->used--;
		kfree(descriptor);
	}
	spin_unlock_bh(&channel->lock);
	return 0;
}

static void test_synchronize(struct dma_chan *chan)
{
	if (!stubborn)
		cancel_delayed_work_sync(&to_channel(chan)->work);
}

static void test_free(struct dma_chan *chan)
{
	test_terminate(chan);
	test_synchronize(chan);
}

static void test_engine_describe(struct test_engine *engine, struct device *dev)
{
	struct dma_device *device = &engine->device;
	struct test_channel *channel;
	int i;

	device->dev = dev;
	dma_cap_set(DMA_MEMCPY, device->cap_mask);
	dma_cap_set(DMA_PRIVATE, device->cap_mask);
	device->device_prep_dma_memcpy = test_prepare_copy;
	if (fill) {
		dma_cap_set(DMA_MEMSET, device->cap_mask);
		device->device_prep_dma_memset = test_prepare_fill;
		device->fill_align = align_shift;
	}
	device->copy_align = align_shift;
	device->device_issue_pending = test_issue;
	device->device_tx_status = test_status;
	device->device_terminate_all = no_terminate ? NULL : test_terminate;
	device->device_synchronize = test_synchronize;
	device->device_free_chan_resources = test_free;
	INIT_LIST_HEAD(&device->channels);
	for (i = 0; i < CHANNELS; i++) {
		channel = &engine->channel[i];
		channel->chan.device = device;
		channel->chan.cookie = DMA_MIN_COOKIE;
		channel->chan.completed_cookie = DMA_MIN_COOKIE;
		spin_lock_init(&channel->lock);
		INIT_LIST_HEAD(&channel->submitted);
		INIT_LIST_HEAD(&channel->issued);
		INIT_DELAYED_WORK(&channel->work, test_work);
		list_add_tail(&channel->chan.device_node, &device->channels);
	}
}

static int test_probe(struct platform_device *pdev)
{
	struct device *dev = &pdev->dev;
	struct test_engine *engine;
	int ret;

	ret = dma_set_mask_and_coherent(dev, DMA_BIT_MASK(mask_bits));
	if (ret)
		return ret;
	dma_set_max_seg_size(dev, max_segment);
	engine = devm_kzalloc(dev, sizeof(*engine), GFP_KERNEL);
	if (!engine)
		return -ENOMEM;
	test_engine_describe(engine, dev);
	platform_set_drvdata(pdev, engine);
	return dmaenginem_async_device_register(&engine->device);
}

/* Who uses the engine has taken its work back by now. */
static int __maybe_unused test_suspend(struct device *dev)
{
	struct test_engine *engine = dev_get_drvdata(dev);
	int i;

	asleep = true;
	for (i = 0; i < CHANNELS; i++) {
		spin_lock_bh(&engine->channel[i].lock);
		restless += engine->channel[i].used;
		spin_unlock_bh(&engine->channel[i].lock);
	}
	return 0;
}

static int __maybe_unused test_resume(struct device *dev)
{
	asleep = false;
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
		.name = "dray-test-engine",
		.id = PLATFORM_DEVID_NONE,
		.dma_mask = DMA_BIT_MASK(64),
	};
	int ret;

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
	platform_device_unregister(test_device);
	platform_driver_unregister(&test_driver);
}

module_init(test_init);
module_exit(test_exit);

MODULE_DESCRIPTION("A DMA engine that fails when told to, for tests");
MODULE_LICENSE("Dual MIT/GPL");
