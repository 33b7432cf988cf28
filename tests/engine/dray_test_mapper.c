// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A driver for tests whose own file maps the dma-buf of another one, as those
 * of graphics do with what they import.  Its file /dev/dray_test_mapper is open
 * for writing whatever the dma-buf is, so that nothing but the exporter stands
 * between a program and a writable mapping.  A descriptor that is written to
 * the parameter `show` says which; what was shown is let go with the next one,
 * or with -1.
 */
#include <linux/dma-buf.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>

static DEFINE_MUTEX(test_lock);
static struct dma_buf *test_shown; /* under the lock */

static void test_show(struct dma_buf *dmabuf)
{
	struct dma_buf *before;

	mutex_lock(&test_lock);
	before = test_shown;
	test_shown = dmabuf;
	mutex_unlock(&test_lock);
	if (before)
		dma_buf_put(before);
}

static int test_set(const char *text, const struct kernel_param *param)
{
	struct dma_buf *dmabuf = NULL;
	int fd, ret;

	ret = kstrtoint(text, 0, &fd);
	if (ret)
		return ret;
	if (fd >= 0)
		dmabuf = dma_buf_get(fd);
	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	test_show(dmabuf);
	return 0;
}

static const struct kernel_param_ops test_ops = { .set = test_set };

module_param_cb(show, &test_ops, NULL, 0200);
MODULE_PARM_DESC(show, "the descriptor of what the file maps; -1: nothing");

/* The mapping has the dma-buf's file in place of this one. */
static int test_mmap(struct file *file, struct vm_area_struct *vma)
{
	int ret = -ENXIO;

	mutex_lock(&test_lock);
	if (test_shown)
		ret = dma_buf_mmap(test_shown, vma, vma->vm_pgoff);
	mutex_unlock(&test_lock);
	return ret;
}

static const struct file_operations test_file_ops = {
	.owner = THIS_MODULE,
	.mmap = test_mmap,
};

static struct miscdevice test_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "dray_test_mapper",
	.fops = &test_file_ops,
	.mode = 0600,
};

static int __init test_init(void)
{
	return misc_register(&test_device);
}

static void __exit test_exit(void)
{
	misc_deregister(&test_device);
	test_show(NULL);
}

module_init(test_init);
module_exit(test_exit);

MODULE_DESCRIPTION("A file that maps the dma-bufs of others, for tests");
MODULE_LICENSE("Dual MIT/GPL");
MODULE_INFO(import_ns, "DMA_BUF");
