// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A driver for QEMU's educational PCI device, for tests: its DMA engine as a
 * dmaengine channel, and a node of dray that copies with it.  The device moves
 * bytes between memory and 4 KiB of its own, so that a copy takes two steps,
 * each a tenth of a second.  It is an example of dray_node_register() too.
 */
#include <linux/dma-mapping.h>
#include <linux/dmaengine.h>
#include <linux/dray_node.h>
#include <linux/err.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/iopoll.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/pm.h>
#include <linux/slab.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#define EDU_SOURCE 0x80
#define EDU_DESTINATION 0x88
#define EDU_COUNT 0x90
#define EDU_COMMAND 0x98
#define EDU_RUN BIT(0)
#define EDU_TO_MEMORY BIT(1)

#define EDU_MEMORY 0x40000 /* the device's own, as its engine sees it */
#define EDU_PIECE SZ_2K /* some versions refuse all 4 KiB at once */
#define EDU_MASK DMA_BIT_MASK(28)
#define EDU_PATIENCE (300 * USEC_PER_SEC)

struct edu_descriptor {
	struct dma_async_tx_descriptor tx;
	struct list_head list;
	dma_addr_t dst;
	dma_addr_t src;
	size_t length;
};

struct edu {
	void __iomem *registers;
	struct dma_device engine;
	struct dma_chan chan;
	spinlock_t lock; /* the lists and the cookies */
	struct list_head submitted;
	struct list_head issued;
	struct work_struct work;
	struct dray_node *node;
};

static struct edu *to_edu(struct dma_chan *chan)
{
	return container_of(chan, struct edu, chan);
}

static int edu_step(struct edu *edu, u64 src, u64 dst, size_t length,
		    u32 command)
{
	u32 now;

	lo_hi_writeq(src, edu->registers + EDU_SOURCE);
	lo_hi_writeq(dst, edu->registers + EDU_DESTINATION);
	writel(length, edu->registers + EDU_COUNT);
	writel(command | EDU_RUN, edu->registers + EDU_COMMAND);
	return readl_poll_timeout(edu->registers + EDU_COMMAND, now,
				  !(now & EDU_RUN), 1000, EDU_PATIENCE);
}

static int edu_copy(struct edu *edu, struct edu_descriptor *descriptor)
{
	int ret;

	ret = edu_step(edu, descriptor->src, EDU_MEMORY, descriptor->length, 0);
	if (ret)
		return ret;
	return edu_step(edu, EDU_MEMORY, descriptor->dst, descriptor->length,
			EDU_TO_MEMORY);
}

static void edu_call_back(const struct dma_async_tx_descriptor *tx,
			  const struct dmaengine_result *result)
{
	if (tx->callback_result)
		tx->callback_result(tx->callback_param, result);
	else if (tx->callback)
		tx->callback(tx->callback_param);
}

static struct edu_descriptor *edu_take(struct edu *edu)
{
	struct edu_descriptor *descriptor;

	spin_lock_bh(&edu->lock);
	descriptor = list_first_entry_or_null(&edu->issued,
					      struct edu_descriptor, list);
	if (descriptor)
		list_del(&descriptor->list);
	spin_unlock_bh(&edu->lock);
	return descriptor;
}

static void edu_work(struct work_struct *work)
{
	struct edu *edu = container_of(work, struct edu, work);
	struct edu_descriptor *descriptor;
	struct dmaengine_result result;

	while ((descriptor = edu_take(edu))) {
		memset(&result, 0, sizeof(result));
		if (edu_copy(edu, descriptor))
			result.result = DMA_TRANS_ABORTED;
		spin_lock_bh(&edu->lock);
		edu->chan.completed_cookie = descriptor->tx.cookie;
		spin_unlock_bh(&edu->lock);
		edu_call_back(&descriptor->tx, &result);
		kfree(descriptor);
	}
}

static dma_cookie_t edu_submit(struct dma_async_tx_descriptor *tx)
{
	struct edu_descriptor *descriptor =
		container_of(tx, struct edu_descriptor, tx);
	struct edu *edu = to_edu(tx->chan);
	dma_cookie_t cookie;

	spin_lock_bh(&edu->lock);
	cookie = edu->chan.cookie + 1;
	if (cookie < DMA_MIN_COOKIE)
		cookie = DMA_MIN_COOKIE;
	edu->chan.cookie = cookie;
	tx->cookie = cookie;
	list_add_tail(&descriptor->list, &edu->submitted);
	spin_unlock_bh(&edu->lock);
	return cookie;
}

static struct dma_async_tx_descriptor *
edu_prepare(struct dma_chan *chan, dma_addr_t dst, dma_addr_t src,
	    size_t length, unsigned long flags)
{
	struct edu_descriptor *descriptor;

	if (length > EDU_PIECE)
		return NULL;
	descriptor = kzalloc(sizeof(*descriptor), GFP_NOWAIT);
	if (!descriptor)
		return NULL;
	dma_async_tx_descriptor_init(&descriptor->tx, chan);
	descriptor->tx.tx_submit = edu_submit;
	descriptor->tx.flags = flags;
	descriptor->dst = dst;
	descriptor->src = src;
	descriptor->length = length;
	return &descriptor->tx;
}

static void edu_issue(struct dma_chan *chan)
{
	struct edu *edu = to_edu(chan);

	spin_lock_bh(&edu->lock);
	list_splice_tail_init(&edu->submitted, &edu->issued);
	spin_unlock_bh(&edu->lock);
	schedule_work(&edu->work);
}

static enum dma_status edu_status(struct dma_chan *chan, dma_cookie_t cookie,
				  struct dma_tx_state *state)
{
	struct edu *edu = to_edu(chan);
	enum dma_status status;

	spin_lock_bh(&edu->lock);
	dma_set_tx_state(state, chan->completed_cookie, chan->cookie, 0);
	status = dma_async_is_complete(cookie, chan->completed_cookie,
				       chan->cookie);
	spin_unlock_bh(&edu->lock);
	return status;
}

static int edu_terminate(struct dma_chan *chan)
{
	struct edu *edu = to_edu(chan);
	struct edu_descriptor *descriptor, *next;
	LIST_HEAD(forgotten);

	spin_lock_bh(&edu->lock);
	list_splice_tail_init(&edu->submitted, &forgotten);
	list_splice_tail_init(&edu->issued, &forgotten);
	spin_unlock_bh(&edu->lock);
	list_for_each_entry_safe(descriptor, next, &forgotten, list)
		kfree(descriptor);
	return 0;
}

static void edu_synchronize(struct dma_chan *chan)
{
	cancel_work_sync(&to_edu(chan)->work);
}

static void edu_free_channel(struct dma_chan *chan)
{
	edu_terminate(chan);
	edu_synchronize(chan);
}

static int edu_engine_register(struct edu *edu, struct device *dev)
{
	struct dma_device *engine = &edu->engine;

	engine->dev = dev;
	dma_cap_set(DMA_MEMCPY, engine->cap_mask);
	dma_cap_set(DMA_PRIVATE, engine->cap_mask);
	engine->device_prep_dma_memcpy = edu_prepare;
	engine->device_issue_pending = edu_issue;
	engine->device_tx_status = edu_status;
	engine->device_terminate_all = edu_terminate;
	engine->device_synchronize = edu_synchronize;
	engine->device_free_chan_resources = edu_free_channel;
	INIT_LIST_HEAD(&engine->channels);
	edu->chan.device = engine;
	edu->chan.cookie = DMA_MIN_COOKIE;
	edu->chan.completed_cookie = DMA_MIN_COOKIE;
	list_add_tail(&edu->chan.device_node, &engine->channels);
	return dma_async_device_register(engine);
}

static bool edu_is(struct dma_chan *chan, void *wanted)
{
	return chan == wanted;
}

/* For the node: a channel belongs to one user at a time. */
static struct dma_chan *edu_request(struct edu *edu)
{
	dma_cap_mask_t mask;

	dma_cap_zero(mask);
	dma_cap_set(DMA_MEMCPY, mask);
	return dma_request_channel(mask, edu_is, &edu->chan);
}

static int edu_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct dray_node_channel channel = { .name = "edu" };
	struct device *dev = &pdev->dev;
	struct edu *edu;
	int ret;

	edu = devm_kzalloc(dev, sizeof(*edu), GFP_KERNEL);
	if (!edu)
		return -ENOMEM;
	spin_lock_init(&edu->lock);
	INIT_LIST_HEAD(&edu->submitted);
	INIT_LIST_HEAD(&edu->issued);
	INIT_WORK(&edu->work, edu_work);
	ret = pcim_enable_device(pdev);
	if (ret)
		return ret;
	edu->registers = pcim_iomap(pdev, 0, 0);
	if (!edu->registers)
		return -ENOMEM;
	ret = dma_set_mask_and_coherent(dev, EDU_MASK);
	if (ret)
		return ret;
	dma_set_max_seg_size(dev, EDU_PIECE);
	pci_set_master(pdev);
	pci_set_drvdata(pdev, edu);

	ret = edu_engine_register(edu, dev);
	if (ret)
		return ret;
	channel.chan = edu_request(edu);
	if (!channel.chan) {
		ret = -EBUSY;
		goto unregister_engine;
	}
	edu->node = dray_node_register(dev, &channel, 1);
	if (IS_ERR(edu->node)) {
		ret = PTR_ERR(edu->node);
		goto release_channel;
	}
	return 0;

release_channel:
	dma_release_channel(&edu->chan);
unregister_engine:
	dma_async_device_unregister(&edu->engine);
	return ret;
}

static void edu_remove(struct pci_dev *pdev)
{
	struct edu *edu = pci_get_drvdata(pdev);

	dray_node_unregister(edu->node);
	dma_release_channel(&edu->chan);
	dma_async_device_unregister(&edu->engine);
}

static int __maybe_unused edu_suspend(struct device *dev)
{
	struct edu *edu = dev_get_drvdata(dev);

	return dray_node_suspend(edu->node);
}

static int __maybe_unused edu_resume(struct device *dev)
{
	struct edu *edu = dev_get_drvdata(dev);

	return dray_node_resume(edu->node);
}

static SIMPLE_DEV_PM_OPS(edu_sleep, edu_suspend, edu_resume);

/* The node sleeps without the system, so that programs can look on. */
static ssize_t asleep_store(struct device *dev, struct device_attribute *attr,
			    const char *text, size_t length)
{
	bool asleep;
	int ret;

	ret = kstrtobool(text, &asleep);
	if (!ret)
		ret = asleep ? edu_suspend(dev) : edu_resume(dev);
	return ret ? ret : length;
}
static DEVICE_ATTR_WO(asleep);

static struct attribute *edu_attrs[] = { &dev_attr_asleep.attr, NULL };
ATTRIBUTE_GROUPS(edu);

static const struct pci_device_id edu_ids[] = { { PCI_DEVICE(0x1234, 0x11e8) },
						{} };
MODULE_DEVICE_TABLE(pci, edu_ids);

static struct pci_driver edu_driver = {
	.name = "dray_edu",
	.id_table = edu_ids,
	.probe = edu_probe,
	.remove = edu_remove,
	.dev_groups = edu_groups,
	.driver.pm = &edu_sleep,
};
module_pci_driver(edu_driver);

MODULE_DESCRIPTION("QEMU's educational device as a DMA engine, for tests");
MODULE_LICENSE("Dual MIT/GPL");
