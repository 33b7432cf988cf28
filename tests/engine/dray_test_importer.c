// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * An importer of dma-bufs for tests: a device that only reads, one that writes,
 * a driver that wants the kernel's own address, and one that waits for fences
 * under the lock of a dma-buf or of a page, as those do that move memory; each
 * of which the kernel's importers do not do on machines that everyone has.  It
 * is asked by writing descriptors to /sys/module/dray_test_importer/parameters;
 * the answer is that of write(), or what it has then read.
 */
#include <linux/completion.h>
#include <linux/dma-buf.h>
#include <linux/dma-direct.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/err.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/of_reserved_mem.h>
#include <linux/pagemap.h>
#include <linux/platform_device.h>
#include <linux/scatterlist.h>
#include <linux/string.h>
#include <linux/workqueue.h>

/* What kernels before 5.19 call them; Kbuild looks at the headers. */
#ifdef TEST_IOSYS_MAP
#include <linux/iosys-map.h>
#else
#include <linux/dma-buf-map.h>
#define iosys_map dma_buf_map
#endif
#ifdef TEST_RESV_USAGE
#define TEST_ALL_FENCES DMA_RESV_USAGE_BOOKKEEP
#else
#define TEST_ALL_FENCES true
#endif

#define WAIT_MS 300000

/* One more than may be let in. */
#define TEST_DEVICES 9

static struct platform_device *test_devices[TEST_DEVICES];
static struct dma_buf_attachment *test_crowd[TEST_DEVICES];

static unsigned long sum;
module_param(sum, ulong, 0444);
MODULE_PARM_DESC(sum, "of all bytes that the device read last; or of a crowd");

/* Of the table that the device was given last. */
static unsigned int entries;
module_param(entries, uint, 0444);
MODULE_PARM_DESC(entries, "how many pieces it was told");
static unsigned int longest;
module_param(longest, uint, 0444);
MODULE_PARM_DESC(longest, "bytes of the longest");
static unsigned int gaps;
module_param(gaps, uint, 0444);
MODULE_PARM_DESC(gaps, "pieces that do not follow the one before");

static void test_look(struct sg_table *table)
{
	struct scatterlist *entry;
	dma_addr_t end = 0;
	int i;

	entries = 0;
	longest = 0;
	gaps = 0;
	for_each_sgtable_dma_sg(table, entry, i) {
		gaps += i && sg_dma_address(entry) != end;
		end = sg_dma_address(entry) + sg_dma_len(entry);
		longest = max(longest, sg_dma_len(entry));
		entries++;
	}
}

/* What the device finds at an address that it was given, or at its copy. */
static u8 *test_open(struct device *dev, struct scatterlist *entry)
{
	phys_addr_t start = dma_to_phys(dev, sg_dma_address(entry));
	size_t length = sg_dma_len(entry);
	int memory = region_intersects(start, length, IORESOURCE_SYSTEM_RAM,
				       IORES_DESC_NONE);

	/* A carveout has no mapping, and may have no cached one. */
	return memremap(start, length,
			memory == REGION_DISJOINT ? MEMREMAP_WC : MEMREMAP_WB);
}

static int test_read(struct device *dev, struct sg_table *table)
{
	struct scatterlist *entry;
	unsigned int at;
	u8 *bytes;
	int i;

	sum = 0;
	for_each_sgtable_dma_sg(table, entry, i) {
		bytes = test_open(dev, entry);
		if (!bytes)
			return -ENOMEM;
		for (at = 0; at < sg_dma_len(entry); at++)
			sum += bytes[at];
		memunmap(bytes);
	}
	return 0;
}

static int test_write(struct device *dev, struct sg_table *table, u8 value)
{
	struct scatterlist *entry;
	u8 *bytes;
	int i;

	for_each_sgtable_dma_sg(table, entry, i) {
		bytes = test_open(dev, entry);
		if (!bytes)
			return -ENOMEM;
		memset(bytes, value, sg_dma_len(entry));
		memunmap(bytes);
	}
	return 0;
}

static int test_map(struct dma_buf *dmabuf, enum dma_data_direction direction)
{
	struct device *dev = &test_devices[0]->dev;
	struct dma_buf_attachment *attachment;
	struct sg_table *table;
	int ret;

	attachment = dma_buf_attach(dmabuf, dev);
	if (IS_ERR(attachment))
		return PTR_ERR(attachment);
	dma_resv_lock(dmabuf->resv, NULL);
	table = dma_buf_map_attachment(attachment, direction);
	ret = PTR_ERR_OR_ZERO(table);
	if (!ret) {
		test_look(table);
		if (direction == DMA_TO_DEVICE)
			ret = test_read(dev, table);
		else
			ret = test_write(dev, table,
					 direction == DMA_FROM_DEVICE ? 0x55
								      : 0x66);
		dma_buf_unmap_attachment(attachment, table, direction);
	}
	dma_resv_unlock(dmabuf->resv);
	dma_buf_detach(dmabuf, attachment);
	return ret;
}

/* One mapping at a time that stays, of a device that writes. */
static struct dma_buf_attachment *test_kept;
static struct sg_table *test_kept_table;

static int test_drop(void)
{
	struct dma_buf *dmabuf;

	if (!test_kept)
		return 0;
	dmabuf = test_kept->dmabuf;
	dma_resv_lock(dmabuf->resv, NULL);
	dma_buf_unmap_attachment(test_kept, test_kept_table, DMA_FROM_DEVICE);
	dma_resv_unlock(dmabuf->resv);
	dma_buf_detach(dmabuf, test_kept);
	dma_buf_put(dmabuf);
	test_kept = NULL;
	return 0;
}

static int test_keep(struct dma_buf *dmabuf)
{
	struct dma_buf_attachment *attachment;

	test_drop();
	attachment = dma_buf_attach(dmabuf, &test_devices[0]->dev);
	if (IS_ERR(attachment))
		return PTR_ERR(attachment);
	dma_resv_lock(dmabuf->resv, NULL);
	test_kept_table = dma_buf_map_attachment(attachment, DMA_FROM_DEVICE);
	dma_resv_unlock(dmabuf->resv);
	if (IS_ERR(test_kept_table)) {
		dma_buf_detach(dmabuf, attachment);
		return PTR_ERR(test_kept_table);
	}
	get_dma_buf(dmabuf);
	test_kept = attachment;
	return 0;
}

static int test_vmap(struct dma_buf *dmabuf)
{
	struct iosys_map map;
	int ret;

	dma_resv_lock(dmabuf->resv, NULL);
	ret = dma_buf_vmap(dmabuf, &map);
	if (!ret)
		dma_buf_vunmap(dmabuf, &map);
	dma_resv_unlock(dmabuf->resv);
	return ret;
}

static int waited;
module_param(waited, int, 0444);
MODULE_PARM_DESC(waited,
		 "1: the fences signalled under the lock, -62: they did not");

static unsigned long page_at;
module_param(page_at, ulong, 0644);
MODULE_PARM_DESC(page_at, "an address of the program: \"page\" locks its page");

static struct dma_buf *test_waits_for;
static struct page *test_page; /* that is locked, or NULL: the dma-buf is */
static DECLARE_COMPLETION(test_locked);

static void test_wait_work(struct work_struct *work)
{
	struct dma_buf *dmabuf = test_waits_for;
	long left;

	if (test_page)
		lock_page(test_page);
	else
		dma_resv_lock(dmabuf->resv, NULL);
	complete(&test_locked);
	left = dma_resv_wait_timeout(dmabuf->resv, TEST_ALL_FENCES, false,
				     msecs_to_jiffies(WAIT_MS));
	if (test_page) {
		unlock_page(test_page);
		put_page(test_page);
	} else {
		dma_resv_unlock(dmabuf->resv);
	}
	dma_buf_put(dmabuf);
	WRITE_ONCE(waited, left > 0 ? 1 : -ETIME);
}

static DECLARE_WORK(test_wait, test_wait_work);

/* Returns when the lock is taken; one such wait at a time. */
static int test_wait_locked(struct dma_buf *dmabuf, bool page)
{
	flush_work(&test_wait);
	WRITE_ONCE(waited, 0);
	test_page = NULL;
	if (page && get_user_pages_fast(page_at, 1, 0, &test_page) != 1)
		return -EFAULT;
	reinit_completion(&test_locked);
	get_dma_buf(dmabuf);
	test_waits_for = dmabuf;
	queue_work(system_unbound_wq, &test_wait);
	wait_for_completion(&test_locked);
	return 0;
}

static int test_leave(void)
{
	struct dma_buf *dmabuf;
	int i;

	for (i = 0; i < TEST_DEVICES; i++) {
		if (!test_crowd[i])
			continue;
		dmabuf = test_crowd[i]->dmabuf;
		dma_buf_detach(dmabuf, test_crowd[i]);
		dma_buf_put(dmabuf);
		test_crowd[i] = NULL;
	}
	return 0;
}

/* Devices that stay attached, as many as are let in. */
static int test_gather(struct dma_buf *dmabuf)
{
	struct dma_buf_attachment *attachment;

	test_leave();
	for (sum = 0; sum < TEST_DEVICES; sum++) {
		attachment = dma_buf_attach(dmabuf, &test_devices[sum]->dev);
		if (IS_ERR(attachment))
			return PTR_ERR(attachment);
		get_dma_buf(dmabuf);
		test_crowd[sum] = attachment;
	}
	return 0;
}

static int test_ask(const char *how, struct dma_buf *dmabuf)
{
	if (!strcmp(how, "wait"))
		return test_wait_locked(dmabuf, false);
	if (!strcmp(how, "page"))
		return test_wait_locked(dmabuf, true);
	if (!strcmp(how, "to"))
		return test_map(dmabuf, DMA_TO_DEVICE);
	if (!strcmp(how, "from"))
		return test_map(dmabuf, DMA_FROM_DEVICE);
	if (!strcmp(how, "both"))
		return test_map(dmabuf, DMA_BIDIRECTIONAL);
	if (!strcmp(how, "keep"))
		return test_keep(dmabuf);
	if (!strcmp(how, "drop"))
		return test_drop();
	if (!strcmp(how, "crowd"))
		return test_gather(dmabuf);
	if (!strcmp(how, "leave"))
		return test_leave();
	return strcmp(how, "vmap") ? -EINVAL : test_vmap(dmabuf);
}

static int test_set(const char *text, const struct kernel_param *param)
{
	struct dma_buf *dmabuf;
	char how[8];
	int fd, ret;

	if (sscanf(text, "%7s %d", how, &fd) != 2)
		return -EINVAL;
	dmabuf = dma_buf_get(fd);
	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	ret = test_ask(how, dmabuf);
	dma_buf_put(dmabuf);
	return ret;
}

static const struct kernel_param_ops test_ops = { .set = test_set };

module_param_cb(import, &test_ops, NULL, 0200);
MODULE_PARM_DESC(import, "what test_ask() knows by name, and the fd");

/* What the first device is made to be like. */
static int test_set_segment(const char *text, const struct kernel_param *param)
{
	unsigned int bytes;
	int ret = kstrtouint(text, 0, &bytes);

	if (!ret)
		dma_set_max_seg_size(&test_devices[0]->dev, bytes);
	return ret;
}

static const struct kernel_param_ops test_segment_ops = {
	.set = test_set_segment,
};

module_param_cb(max_segment, &test_segment_ops, NULL, 0200);
MODULE_PARM_DESC(max_segment, "bytes of the longest piece that it takes");

static int test_set_limit(const char *text, const struct kernel_param *param)
{
	return kstrtou64(text, 0, &test_devices[0]->dev.bus_dma_limit);
}

static const struct kernel_param_ops test_limit_ops = { .set = test_set_limit };

module_param_cb(limit, &test_limit_ops, NULL, 0200);
MODULE_PARM_DESC(limit, "the highest address that it reaches; 0: all");

/* The first region of this node of the device tree becomes a device's pool. */
static int test_set_pool(const char *text, const struct kernel_param *param)
{
	struct device *dev = &test_devices[0]->dev;
	struct device_node *np = of_find_node_by_path(text);
	int ret;

	of_reserved_mem_device_release(dev);
	ret = of_reserved_mem_device_init_by_idx(dev, np, 0);
	of_node_put(np);
	return ret;
}

static const struct kernel_param_ops test_pool_ops = { .set = test_set_pool };

module_param_cb(pool, &test_pool_ops, NULL, 0200);
MODULE_PARM_DESC(pool, "path of a node with memory-region");

static void test_remove(void)
{
	int i;

	if (!IS_ERR_OR_NULL(test_devices[0]))
		of_reserved_mem_device_release(&test_devices[0]->dev);
	for (i = 0; i < TEST_DEVICES; i++)
		if (!IS_ERR_OR_NULL(test_devices[i]))
			platform_device_unregister(test_devices[i]);
}

static int __init test_init(void)
{
	struct platform_device_info info = {
		.name = "dray-test-importer",
		.dma_mask = DMA_BIT_MASK(64),
	};
	int i;

	for (i = 0; i < TEST_DEVICES; i++) {
		info.id = i;
		test_devices[i] = platform_device_register_full(&info);
		if (IS_ERR(test_devices[i])) {
			test_remove();
			return PTR_ERR(test_devices[i]);
		}
	}
	return 0;
}

static void __exit test_exit(void)
{
	flush_work(&test_wait);
	test_leave();
	test_remove();
}

module_init(test_init);
module_exit(test_exit);

MODULE_DESCRIPTION("An importer of dma-bufs that does as it is told, for tests");
MODULE_LICENSE("Dual MIT/GPL");
MODULE_INFO(import_ns, "DMA_BUF");
