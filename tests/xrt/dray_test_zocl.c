// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A stand-in for zocl, the driver that XRT uses on boards.  zocl is in no package
 * and not in the kernel, so tests cannot have it; XRT itself is Debian's, and
 * speaks to this module as to zocl.
 *
 * It has the calls that BOs need: to make, map, sync, describe, export and import them, and
 * to take user memory, by zocl's numbers and structures.  There is no FPGA behind
 * it, so it knows no kernels of the logic, and makes its own device.  It refuses
 * as zocl does: an import or user memory in several pieces, user memory that
 * is mapped again, a sync out of range.  Two things differ.  Every mapping is
 * write-combined, those of cacheable BOs too, as an emulator has no caches; and
 * user memory is given back, unless the parameter leak is set: zocl keeps it.
 *
 * For Linux 6.1.
 */
#include <linux/atomic.h>
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_gem_dma_helper.h>
#include <drm/drm_ioctl.h>
#include <drm/drm_prime.h>

#define TEST_NAME "zyxclmm_drm"

/* zocl's calls, by their numbers. */
#define TEST_CREATE 0
#define TEST_USER 1
#define TEST_MAP 3
#define TEST_SYNC 4
#define TEST_INFO 5

struct test_create {
	u64 size;
	u32 handle;
	u32 flags;
};

struct test_user {
	u64 address;
	u64 size;
	u32 handle;
	u32 flags;
};

struct test_map {
	u32 handle;
	u32 reserved;
	u64 offset;
};

struct test_sync {
	u32 handle;
	u32 direction; /* 0: to the device, 1: from it */
	u64 offset;
	u64 size;
};

struct test_info {
	u32 handle;
	u32 flags;
	u64 size;
	u64 address;
};

struct test_bo {
	struct drm_gem_dma_object dma; /* first, as it is freed by its address */
	u32 flags;
	struct page **pages; /* of user memory, else NULL */
	unsigned long count;
	struct sg_table table;
};

static bool leak;
module_param(leak, bool, 0644);
MODULE_PARM_DESC(leak, "keep user memory for ever, as zocl does");

static atomic_t test_bos = ATOMIC_INIT(0);

static int test_get_bos(char *text, const struct kernel_param *parameter)
{
	return sysfs_emit(text, "%d\n", atomic_read(&test_bos));
}

static const struct kernel_param_ops test_bos_ops = { .get = test_get_bos };
module_param_cb(bos, &test_bos_ops, NULL, 0444);
MODULE_PARM_DESC(bos, "that are open, of all processes");

/* The last sync that was done: its kind is that of the BO. */
static DEFINE_SPINLOCK(test_lock);
static struct test_sync test_last;
static const char *test_kind = "none";
static unsigned int test_syncs;

static int test_get_synced(char *text, const struct kernel_param *parameter)
{
	int length;

	spin_lock(&test_lock);
	length = sysfs_emit(text, "%u %s %u %llu %llu\n", test_syncs, test_kind,
			    test_last.direction, test_last.offset,
			    test_last.size);
	spin_unlock(&test_lock);
	return length;
}

static const struct kernel_param_ops test_synced_ops = {
	.get = test_get_synced,
};
module_param_cb(synced, &test_synced_ops, NULL, 0444);
MODULE_PARM_DESC(synced, "count; kind, direction, offset and size of the last");

static struct test_bo *to_test_bo(struct drm_gem_object *object)
{
	return container_of(to_drm_gem_dma_obj(object), struct test_bo, dma);
}

static void test_put_pages(struct test_bo *bo)
{
	unsigned long i;

	for (i = 0; i < bo->count && !leak; i++) {
		set_page_dirty_lock(bo->pages[i]);
		put_page(bo->pages[i]);
	}
	kvfree(bo->pages);
}

static void test_free(struct drm_gem_object *object)
{
	struct test_bo *bo = to_test_bo(object);

	atomic_dec(&test_bos);
	if (!bo->pages) {
		drm_gem_dma_free(&bo->dma);
		return;
	}
	dma_unmap_sgtable(object->dev->dev, &bo->table, DMA_BIDIRECTIONAL, 0);
	sg_free_table(&bo->table);
	test_put_pages(bo);
	drm_gem_object_release(object);
	kfree(bo);
}

static int test_mmap(struct drm_gem_object *object, struct vm_area_struct *vma)
{
	struct test_bo *bo = to_test_bo(object);

	return bo->pages ? -EPERM : drm_gem_dma_mmap(&bo->dma, vma);
}

static const struct drm_gem_object_funcs test_funcs = {
	.free = test_free,
	.get_sg_table = drm_gem_dma_object_get_sg_table,
	.vmap = drm_gem_dma_object_vmap,
	.mmap = test_mmap,
	.vm_ops = &drm_gem_dma_vm_ops,
};

static struct drm_gem_object *test_new(struct drm_device *device, size_t size)
{
	struct test_bo *bo = kzalloc(sizeof(*bo), GFP_KERNEL);

	if (!bo)
		return ERR_PTR(-ENOMEM);
	bo->dma.base.funcs = &test_funcs;
	atomic_inc(&test_bos);
	return &bo->dma.base;
}

static int test_create(struct drm_device *device, void *data,
		       struct drm_file *file)
{
	struct test_create *args = data;
	struct drm_gem_dma_object *object;
	int ret;

	if (!args->size)
		return -EINVAL;
	object = drm_gem_dma_create(device, PAGE_ALIGN(args->size));
	if (IS_ERR(object))
		return PTR_ERR(object);
	to_test_bo(&object->base)->flags = args->flags;
	ret = drm_gem_handle_create(file, &object->base, &args->handle);
	drm_gem_object_put(&object->base);
	return ret;
}

/* One segment is all that zocl can describe. */
static int test_map_user(struct drm_device *device, struct test_bo *bo)
{
	size_t size = bo->count << PAGE_SHIFT;
	int ret;

	ret = sg_alloc_table_from_pages(&bo->table, bo->pages, bo->count, 0,
					size, GFP_KERNEL);
	if (ret)
		return ret;
	ret = dma_map_sgtable(device->dev, &bo->table, DMA_BIDIRECTIONAL, 0);
	if (ret)
		goto free_table;
	if (drm_prime_get_contiguous_size(&bo->table) < size) {
		ret = -EINVAL;
		goto unmap;
	}
	bo->dma.dma_addr = sg_dma_address(bo->table.sgl);
	return 0;

unmap:
	dma_unmap_sgtable(device->dev, &bo->table, DMA_BIDIRECTIONAL, 0);
free_table:
	sg_free_table(&bo->table);
	return ret;
}

static int test_pin(struct test_bo *bo, u64 address, unsigned long count)
{
	int got;

	bo->pages = kvcalloc(count, sizeof(*bo->pages), GFP_KERNEL);
	if (!bo->pages)
		return -ENOMEM;
	got = get_user_pages_fast(address, count, FOLL_WRITE, bo->pages);
	bo->count = max(got, 0);
	if (bo->count == count)
		return 0;
	test_put_pages(bo);
	return -ENOMEM;
}

static int test_user(struct drm_device *device, void *data,
		     struct drm_file *file)
{
	struct test_user *args = data;
	struct drm_gem_object *object;
	struct test_bo *bo;
	int ret;

	if (!args->size || offset_in_page(args->address))
		return -EINVAL;
	object = test_new(device, 0);
	if (IS_ERR(object))
		return PTR_ERR(object);
	bo = to_test_bo(object);
	bo->flags = args->flags;
	drm_gem_private_object_init(device, object, PAGE_ALIGN(args->size));
	ret = test_pin(bo, args->address, object->size >> PAGE_SHIFT);
	if (ret)
		goto free_bo;
	ret = test_map_user(device, bo);
	if (ret)
		goto put_pages;
	ret = drm_gem_handle_create(file, object, &args->handle);
	drm_gem_object_put(object);
	return ret;

put_pages:
	test_put_pages(bo);
free_bo:
	drm_gem_object_release(object);
	atomic_dec(&test_bos);
	kfree(bo);
	return ret;
}

static int test_offset(struct drm_device *device, void *data,
		       struct drm_file *file)
{
	struct test_map *args = data;
	struct drm_gem_object *object;
	int ret;

	object = drm_gem_object_lookup(file, args->handle);
	if (!object)
		return -ENOENT;
	ret = to_test_bo(object)->pages ? -EPERM
					: drm_gem_create_mmap_offset(object);
	if (!ret)
		args->offset = drm_vma_node_offset_addr(&object->vma_node);
	drm_gem_object_put(object);
	return ret;
}

static void test_do_sync(struct device *device, struct test_bo *bo,
			 const struct test_sync *args)
{
	dma_addr_t address = bo->dma.dma_addr + args->offset;

	if (args->direction)
		dma_sync_single_for_cpu(device, address, args->size,
					DMA_FROM_DEVICE);
	else
		dma_sync_single_for_device(device, address, args->size,
					   DMA_TO_DEVICE);
}

/* zocl maps its own BOs without caching, and syncs only the others. */
static int test_sync(struct drm_device *device, void *data,
		     struct drm_file *file)
{
	struct test_sync *args = data;
	struct drm_gem_object *object;
	struct test_bo *bo;
	int ret = 0;

	object = drm_gem_object_lookup(file, args->handle);
	if (!object)
		return -ENOENT;
	bo = to_test_bo(object);
	if (args->size > object->size ||
	    args->offset > object->size - args->size || args->direction > 1)
		ret = -EINVAL;
	else if (bo->pages || object->import_attach)
		test_do_sync(device->dev, bo, args);
	if (!ret) {
		spin_lock(&test_lock);
		test_last = *args;
		test_kind = bo->pages		    ? "user"
			    : object->import_attach ? "import"
						    : "own";
		test_syncs++;
		spin_unlock(&test_lock);
	}
	drm_gem_object_put(object);
	return ret;
}

static int test_info(struct drm_device *device, void *data,
		     struct drm_file *file)
{
	struct test_info *args = data;
	struct drm_gem_object *object;

	object = drm_gem_object_lookup(file, args->handle);
	if (!object)
		return -ENOENT;
	args->flags = to_test_bo(object)->flags;
	args->size = object->size;
	args->address = to_drm_gem_dma_obj(object)->dma_addr;
	drm_gem_object_put(object);
	return 0;
}

#define TEST_CALL(number, type, function)                           \
	{                                                           \
		.cmd = DRM_IOWR(DRM_COMMAND_BASE + (number), type), \
		.func = function, .flags = DRM_RENDER_ALLOW,        \
		.name = #function,                                  \
	}

static const struct drm_ioctl_desc test_calls[] = {
	[TEST_CREATE] = TEST_CALL(TEST_CREATE, struct test_create, test_create),
	[TEST_USER] = TEST_CALL(TEST_USER, struct test_user, test_user),
	[TEST_MAP] = TEST_CALL(TEST_MAP, struct test_map, test_offset),
	[TEST_SYNC] = TEST_CALL(TEST_SYNC, struct test_sync, test_sync),
	[TEST_INFO] = TEST_CALL(TEST_INFO, struct test_info, test_info),
};

DEFINE_DRM_GEM_DMA_FOPS(test_fops);

/* XRT asks for the driver by its name. */
static const struct drm_driver test_driver = {
	.driver_features = DRIVER_GEM | DRIVER_RENDER,
	.gem_create_object = test_new,
	.prime_handle_to_fd = drm_gem_prime_handle_to_fd,
	.prime_fd_to_handle = drm_gem_prime_fd_to_handle,
	.gem_prime_import_sg_table = drm_gem_dma_prime_import_sg_table,
	.gem_prime_mmap = drm_gem_prime_mmap,
	.ioctls = test_calls,
	.num_ioctls = ARRAY_SIZE(test_calls),
	.fops = &test_fops,
	.name = "zocl",
	.desc = "stand-in for zocl, for tests of dray",
	.date = "20220101",
	.major = 2,
	.minor = 13,
};

static struct platform_device *test_platform;
static struct drm_device *test_drm;

static int __init test_init(void)
{
	struct device *device;
	int ret;

	/* The name that XRT looks for. */
	test_platform = platform_device_register_simple(TEST_NAME, -1, NULL, 0);
	if (IS_ERR(test_platform))
		return PTR_ERR(test_platform);
	device = &test_platform->dev;
	ret = dma_coerce_mask_and_coherent(device, DMA_BIT_MASK(64));
	if (ret)
		goto unregister;
	test_drm = drm_dev_alloc(&test_driver, device);
	if (IS_ERR(test_drm)) {
		ret = PTR_ERR(test_drm);
		goto unregister;
	}
	ret = drm_dev_register(test_drm, 0);
	if (!ret)
		return 0;
	drm_dev_put(test_drm);
unregister:
	platform_device_unregister(test_platform);
	return ret;
}

static void __exit test_exit(void)
{
	drm_dev_unregister(test_drm);
	drm_dev_put(test_drm);
	platform_device_unregister(test_platform);
}

module_init(test_init);
module_exit(test_exit);
MODULE_DESCRIPTION("Stand-in for zocl, for tests of dray");
MODULE_IMPORT_NS(DMA_BUF);
MODULE_LICENSE("Dual MIT/GPL");
