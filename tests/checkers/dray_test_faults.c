// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Faults that the kernel's checkers are there for, each committed when its name
 * is written to /sys/module/dray_test_faults/parameters/commit.  They do no
 * harm beyond the report, so that one guest commits all.
 */
#include <linux/dma-fence.h>
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/platform_device.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

#define TEST_SIZE 192
#define TEST_LEAKS 8 /* a stale copy of a pointer would hide one */

static struct platform_device *test_device;
static unsigned int too_many = 40; /* what no compiler knows */
static unsigned int result;

static void test_sleep_in_atomic(void)
{
	static DEFINE_SPINLOCK(lock);

	spin_lock(&lock);
	kfree(kmalloc(TEST_SIZE, GFP_KERNEL));
	spin_unlock(&lock);
}

static void test_rcu_without_lock(void)
{
	static unsigned int __rcu *pointer;

	result = !rcu_dereference(pointer);
}

static void test_shift(void)
{
	result = 1u << READ_ONCE(too_many);
}

static void test_index(void)
{
	static unsigned int table[8];

	result = table[READ_ONCE(too_many) / 5];
}

static void test_never(struct timer_list *timer)
{
}

static void test_free_active_timer(void)
{
	struct timer_list *timer = kmalloc(sizeof(*timer), GFP_KERNEL);

	if (!timer)
		return;
	timer_setup(timer, test_never, 0);
	mod_timer(timer, jiffies + 3600 * HZ);
	kfree(timer);
}

static void test_list_delete_twice(void)
{
	static LIST_HEAD(list);
	static LIST_HEAD(entry);

	list_add(&entry, &list);
	list_del(&entry);
	list_del(&entry);
}

static void test_reference_from_none(void)
{
	refcount_t count = REFCOUNT_INIT(0);

	refcount_inc(&count);
}

static void test_sync_of_unmapped(void)
{
	struct device *dev = &test_device->dev;
	void *bytes = kmalloc(PAGE_SIZE, GFP_KERNEL);
	dma_addr_t address;

	if (!bytes)
		return;
	address = dma_map_single(dev, bytes, PAGE_SIZE, DMA_TO_DEVICE);
	if (!dma_mapping_error(dev, address)) {
		dma_unmap_single(dev, address, PAGE_SIZE, DMA_TO_DEVICE);
		dma_sync_single_for_device(dev, address, PAGE_SIZE,
					   DMA_TO_DEVICE);
	}
	kfree(bytes);
}

static void test_leak(void)
{
	int i;

	for (i = 0; i < TEST_LEAKS; i++)
		result += !kmalloc(TEST_SIZE, GFP_KERNEL);
}

static void test_lock_order(void)
{
	static DEFINE_MUTEX(one);
	static DEFINE_MUTEX(other);

	mutex_lock(&one);
	mutex_lock(&other);
	mutex_unlock(&other);
	mutex_unlock(&one);
	mutex_lock(&other);
	mutex_lock(&one);
	mutex_unlock(&one);
	mutex_unlock(&other);
}

/* Whoever reclaims memory for it may wait for the very fence. */
static void test_memory_before_signalling(void)
{
	bool signalling = dma_fence_begin_signalling();
	void *bytes = kmalloc(TEST_SIZE, GFP_KERNEL);

	OPTIMIZER_HIDE_VAR(bytes);
	kfree(bytes);
	dma_fence_end_signalling(signalling);
}

static void test_use_after_free(void)
{
	u8 *bytes = kmalloc(TEST_SIZE, GFP_KERNEL);

	OPTIMIZER_HIDE_VAR(bytes);
	kfree(bytes);
	OPTIMIZER_HIDE_VAR(bytes);
	if (bytes)
		result = READ_ONCE(bytes[TEST_SIZE / 2]);
}

static void test_race_run(struct work_struct *work)
{
	static unsigned int unmarked;
	unsigned long end = jiffies + HZ / 2;

	while (time_before(jiffies, end)) {
		unmarked++;
		barrier();
	}
}

/* On another processor and on this one, where there are two. */
static void test_race(void)
{
	static DECLARE_WORK(work, test_race_run);
	unsigned int other =
		cpumask_any_but(cpu_online_mask, raw_smp_processor_id());

	if (other >= nr_cpu_ids)
		return;
	schedule_work_on(other, &work);
	test_race_run(NULL);
	flush_work(&work);
}

static const struct {
	const char *name;
	void (*commit)(void);
} faults[] = {
	{ "sleep-in-atomic", test_sleep_in_atomic },
	{ "rcu-without-lock", test_rcu_without_lock },
	{ "shift", test_shift },
	{ "index", test_index },
	{ "free-active-timer", test_free_active_timer },
	{ "list-delete-twice", test_list_delete_twice },
	{ "reference-from-none", test_reference_from_none },
	{ "sync-of-unmapped", test_sync_of_unmapped },
	{ "leak", test_leak },
	{ "lock-order", test_lock_order },
	{ "memory-before-signalling", test_memory_before_signalling },
	{ "use-after-free", test_use_after_free },
	{ "race", test_race },
};

static int test_commit(const char *value, const struct kernel_param *param)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		if (!sysfs_streq(value, faults[i].name))
			continue;
		faults[i].commit();
		return 0;
	}
	return -EINVAL;
}

static const struct kernel_param_ops commit_ops = {
	.set = test_commit,
};
module_param_cb(commit, &commit_ops, NULL, 0200);
MODULE_PARM_DESC(commit, "the name of a fault");

static int __init test_init(void)
{
	int ret;

	test_device = platform_device_register_simple("dray-test-faults", -1,
						      NULL, 0);
	if (IS_ERR(test_device))
		return PTR_ERR(test_device);
	ret = dma_set_mask_and_coherent(&test_device->dev, DMA_BIT_MASK(64));
	if (ret)
		platform_device_unregister(test_device);
	return ret;
}

static void __exit test_exit(void)
{
	platform_device_unregister(test_device);
}

module_init(test_init);
module_exit(test_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("Faults that checkers report");
