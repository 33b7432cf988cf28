// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A driver between a program and a stream, as Xilinx's dma-proxy is: coherent
 * buffers that the program maps, and one call for each transfer, which gives
 * the engine a descriptor and sleeps until it is done.  It receives from "rx1" of
 * the engine for tests, while its file is open.
 */
#include <linux/completion.h>
#include <linux/dma-mapping.h>
#include <linux/dmaengine.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "dray_test_proxy.h"

#define PROXY_ENGINE "dray-test-stream"
#define PROXY_CHANNEL 3 /* rx1 */
#define PROXY_BYTES (PROXY_BUFFERS * PROXY_SIZE)
#define PROXY_LIMIT_MS 3000

static struct {
	struct mutex lock; /* one call at a time, and one opener */
	bool taken;
	struct dma_chan *chan;
	void *data;
	dma_addr_t address;
	struct completion done;
	u32 residue;
	u64 time_ns;
} proxy;

static void proxy_done(void *data, const struct dmaengine_result *result)
{
	proxy.residue = result->residue;
	proxy.time_ns = ktime_get_ns();
	complete(&proxy.done);
}

static int proxy_receive(struct proxy_transfer *args)
{
	struct dma_async_tx_descriptor *tx;
	struct scatterlist list;
	dma_cookie_t cookie;

	sg_init_table(&list, 1);
	sg_dma_address(&list) = proxy.address + args->buffer * PROXY_SIZE;
	sg_dma_len(&list) = args->length;
	tx = dmaengine_prep_slave_sg(proxy.chan, &list, 1, DMA_DEV_TO_MEM,
				     DMA_CTRL_ACK | DMA_PREP_INTERRUPT);
	if (!tx)
		return -EBUSY;
	tx->callback_result = proxy_done;
	reinit_completion(&proxy.done);
	cookie = dmaengine_submit(tx);
	if (dma_submit_error(cookie))
		return -EIO;
	dma_async_issue_pending(proxy.chan);
	if (!wait_for_completion_timeout(&proxy.done,
					 msecs_to_jiffies(PROXY_LIMIT_MS)))
		return -ETIMEDOUT;
	if (dma_async_is_tx_complete(proxy.chan, cookie, NULL, NULL) !=
	    DMA_COMPLETE)
		return -EIO;
	args->bytes = args->length - proxy.residue;
	args->time_ns = proxy.time_ns;
	return 0;
}

static long proxy_ioctl(struct file *file, unsigned int command,
			unsigned long arg)
{
	void __user *user = (void __user *)arg;
	struct proxy_transfer args;
	int ret;

	if (command != PROXY_RECEIVE)
		return -ENOTTY;
	if (copy_from_user(&args, user, sizeof(args)))
		return -EFAULT;
	if (args.buffer >= PROXY_BUFFERS || !args.length ||
	    args.length > PROXY_SIZE)
		return -EINVAL;
	mutex_lock(&proxy.lock);
	ret = proxy_receive(&args);
	mutex_unlock(&proxy.lock);
	if (!ret && copy_to_user(user, &args, sizeof(args)))
		ret = -EFAULT;
	return ret;
}

static int proxy_mmap(struct file *file, struct vm_area_struct *vma)
{
	return dma_mmap_coherent(proxy.chan->device->dev, vma, proxy.data,
				 proxy.address, PROXY_BYTES);
}

static bool proxy_wants(struct dma_chan *chan, void *unused)
{
	return chan->chan_id == PROXY_CHANNEL &&
	       !strcmp(dev_name(chan->device->dev), PROXY_ENGINE);
}

static int proxy_begin(void)
{
	dma_cap_mask_t mask;

	dma_cap_zero(mask);
	dma_cap_set(DMA_SLAVE, mask);
	proxy.chan = dma_request_channel(mask, proxy_wants, NULL);
	if (!proxy.chan)
		return -EBUSY;
	proxy.data = dma_alloc_coherent(proxy.chan->device->dev, PROXY_BYTES,
					&proxy.address, GFP_KERNEL);
	if (proxy.data)
		return 0;
	dma_release_channel(proxy.chan);
	return -ENOMEM;
}

static int proxy_open(struct inode *inode, struct file *file)
{
	int ret = -EBUSY;

	mutex_lock(&proxy.lock);
	if (!proxy.taken)
		ret = proxy_begin();
	if (!ret)
		proxy.taken = true;
	mutex_unlock(&proxy.lock);
	return ret;
}

static int proxy_release(struct inode *inode, struct file *file)
{
	mutex_lock(&proxy.lock);
	dmaengine_terminate_sync(proxy.chan);
	dma_free_coherent(proxy.chan->device->dev, PROXY_BYTES, proxy.data,
			  proxy.address);
	dma_release_channel(proxy.chan);
	proxy.taken = false;
	mutex_unlock(&proxy.lock);
	return 0;
}

static const struct file_operations proxy_fops = {
	.owner = THIS_MODULE,
	.open = proxy_open,
	.release = proxy_release,
	.mmap = proxy_mmap,
	.unlocked_ioctl = proxy_ioctl,
};

static struct miscdevice proxy_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "dray-test-proxy",
	.fops = &proxy_fops,
};

static int __init proxy_init(void)
{
	mutex_init(&proxy.lock);
	init_completion(&proxy.done);
	return misc_register(&proxy_device);
}

static void __exit proxy_exit(void)
{
	misc_deregister(&proxy_device);
}

module_init(proxy_init);
module_exit(proxy_exit);

MODULE_DESCRIPTION("One call for each transfer of a stream, for comparison");
MODULE_LICENSE("Dual MIT/GPL");
