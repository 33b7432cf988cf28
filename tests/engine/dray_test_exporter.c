// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * An exporter of dma-bufs for tests whose device can be unbound, which those of
 * the kernel that run on every machine cannot.  Reading the parameter `export`
 * gives a descriptor of a new dma-buf of four pages.  When the device's driver
 * is unbound everything that such a dma-buf is asked for is -ENXIO.
 */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#define TEST_NAME "dray-test-exporter"
#define TEST_ORDER 2
#define TEST_SIZE (PAGE_SIZE << TEST_ORDER)

static struct platform_device *test_device;
static bool test_bound;

static int test_answer(void)
{
	return READ_ONCE(test_bound) ? 0 : -ENXIO;
}

static int test_attach(struct dma_buf *dmabuf,
		       struct dma_buf_attachment *attachment)
{
	return test_answer();
}

static struct sg_table *test_map(struct dma_buf_attachment *attachment,
				 enum dma_data_direction direction)
{
	struct page *pages = attachment->dmabuf->priv;
	struct sg_table *table;
	int ret = test_answer();

	if (ret)
		return ERR_PTR(ret);
	table = kzalloc(sizeof(*table), GFP_KERNEL);
	if (!table)
		return ERR_PTR(-ENOMEM);
	ret = sg_alloc_table(table, 1, GFP_KERNEL);
	if (ret)
		goto free_table;
	sg_set_page(table->sgl, pages, TEST_SIZE, 0);
	ret = dma_map_sgtable(attachment->dev, table, direction, 0);
	if (ret)
		goto free_entries;
	return table;

free_entries:
	sg_free_table(table);
free_table:
	kfree(table);
	return ERR_PTR(ret);
}

static void test_unmap(struct dma_buf_attachment *attachment,
		       struct sg_table *table,
		       enum dma_data_direction direction)
{
	dma_unmap_sgtable(attachment->dev, table, direction, 0);
	sg_free_table(table);
	kfree(table);
}

static int refusal;
module_param(refusal, int, 0644);
MODULE_PARM_DESC(refusal, "what CPU accesses are refused with; 0: nothing");

static int test_access(struct dma_buf *dmabuf,
		       enum dma_data_direction direction)
{
	return refusal ? refusal : test_answer();
}

static void test_release(struct dma_buf *dmabuf)
{
	__free_pages(dmabuf->priv, TEST_ORDER);
}

static const struct dma_buf_ops test_ops = {
	.attach = test_attach,
	.map_dma_buf = test_map,
	.unmap_dma_buf = test_unmap,
	.begin_cpu_access = test_access,
	.end_cpu_access = test_access,
	.release = test_release,
};

static int test_export(char *text, const struct kernel_param *param)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct dma_buf *dmabuf;
	struct page *pages;
	int fd;

	pages = alloc_pages(GFP_KERNEL | __GFP_ZERO | __GFP_COMP, TEST_ORDER);
	if (!pages)
		return -ENOMEM;
	info.ops = &test_ops;
	info.size = TEST_SIZE;
	info.flags = O_RDWR | O_CLOEXEC;
	info.priv = pages;
	dmabuf = dma_buf_export(&info);
	if (IS_ERR(dmabuf)) {
		__free_pages(pages, TEST_ORDER);
		return PTR_ERR(dmabuf);
	}
	fd = dma_buf_fd(dmabuf, O_CLOEXEC);
	if (fd < 0) {
		dma_buf_put(dmabuf);
		return fd;
	}
	return scnprintf(text, PAGE_SIZE, "%d\n", fd);
}

static const struct kernel_param_ops test_export_ops = { .get = test_export };

module_param_cb(export, &test_export_ops, NULL, 0400);
MODULE_PARM_DESC(export, "a new dma-buf: its descriptor, of who reads this");

static void test_unbound(void *unused)
{
	WRITE_ONCE(test_bound, false);
}

static int test_probe(struct platform_device *pdev)
{
	WRITE_ONCE(test_bound, true);
	return devm_add_action_or_reset(&pdev->dev, test_unbound, NULL);
}

static struct platform_driver test_driver = {
	.probe = test_probe,
	.driver = { .name = TEST_NAME },
};

static int __init test_init(void)
{
	int ret = platform_driver_register(&test_driver);
	int id = PLATFORM_DEVID_NONE;

	if (ret)
		return ret;
	test_device = platform_device_register_simple(TEST_NAME, id, NULL, 0);
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

MODULE_DESCRIPTION("An exporter of dma-bufs that can be unbound, for tests");
MODULE_LICENSE("Dual MIT/GPL");
MODULE_INFO(import_ns, "DMA_BUF");
