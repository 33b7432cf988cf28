// SPDX-License-Identifier: GPL-2.0-only
/*
 * Heaps as devices of the class `dray-heap`.  Regions are assigned to the
 * device, it gives coherent memory, and its attributes show how full the heap
 * is: docs/abi/sysfs-class-dray-heap.
 */
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/kstrtox.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "account.h"
#include "heap.h"
#include "heap_device.h"

static struct dray_heap *to_heap(struct device *dev)
{
	return container_of(dev, struct dray_heap, device);
}

static ssize_t type_show(struct device *dev, struct device_attribute *attribute,
			 char *buf)
{
	return sysfs_emit(buf, "%s\n", to_heap(dev)->kind->name);
}
static DEVICE_ATTR_RO(type);

static ssize_t buffers_show(struct device *dev,
			    struct device_attribute *attribute, char *buf)
{
	return sysfs_emit(buf, "%d\n", atomic_read(&to_heap(dev)->buffers));
}
static DEVICE_ATTR_RO(buffers);

static struct dray_heap_info
dray_heap_ask(struct device *dev,
	      void (*ask)(struct dray_heap *heap, struct dray_heap_info *info))
{
	struct dray_heap_info info = {};

	ask(to_heap(dev), &info);
	return info;
}

/* A field of HEAP_INFO in bytes, from dray_heap_state() or _counts(). */
#define DRAY_HEAP_BYTES(field, from)                                           \
	static ssize_t field##_show(struct device *dev,                        \
				    struct device_attribute *attribute,        \
				    char *buf)                                 \
	{                                                                      \
		return sysfs_emit(buf, "%llu\n",                               \
				  dray_heap_ask(dev, dray_heap_##from).field); \
	}

/* A search under the lock that ALLOC and free need is not for everybody. */
DRAY_HEAP_BYTES(total, state)
static DEVICE_ATTR_ADMIN_RO(total);
DRAY_HEAP_BYTES(free, state)
static DEVICE_ATTR_ADMIN_RO(free);
DRAY_HEAP_BYTES(quarantined, state)
static DEVICE_ATTR_ADMIN_RO(quarantined);
DRAY_HEAP_BYTES(largest_free, state)
static DEVICE_ATTR_ADMIN_RO(largest_free);
DRAY_HEAP_BYTES(largest_request, state)
static DEVICE_ATTR_ADMIN_RO(largest_request);

DRAY_HEAP_BYTES(used, counts)
static DEVICE_ATTR_RO(used);
DRAY_HEAP_BYTES(held, counts)
static DEVICE_ATTR_RO(held);

/* Its limits, which root may change. */
static ssize_t dray_heap_limit_store(u64 *limit, const char *buf, size_t count)
{
	u64 bytes;
	int ret;

	ret = kstrtou64(buf, 0, &bytes);
	if (ret)
		return ret;
	dray_account_set(limit, bytes);
	return count;
}

DRAY_HEAP_BYTES(limit, counts)
static ssize_t limit_store(struct device *dev,
			   struct device_attribute *attribute, const char *buf,
			   size_t count)
{
	return dray_heap_limit_store(&to_heap(dev)->limit, buf, count);
}
static DEVICE_ATTR_RW(limit);

DRAY_HEAP_BYTES(user_limit, counts)
static ssize_t user_limit_store(struct device *dev,
				struct device_attribute *attribute,
				const char *buf, size_t count)
{
	return dray_heap_limit_store(&to_heap(dev)->user_limit, buf, count);
}
static DEVICE_ATTR_RW(user_limit);

static struct attribute *dray_heap_attrs[] = {
	&dev_attr_type.attr,	     &dev_attr_total.attr,
	&dev_attr_free.attr,	     &dev_attr_used.attr,
	&dev_attr_quarantined.attr,  &dev_attr_held.attr,
	&dev_attr_largest_free.attr, &dev_attr_largest_request.attr,
	&dev_attr_buffers.attr,	     &dev_attr_limit.attr,
	&dev_attr_user_limit.attr,   NULL,
};
ATTRIBUTE_GROUPS(dray_heap);

static void dray_heap_device_release(struct device *dev)
{
	struct dray_heap *heap = to_heap(dev);

	heap->ops->destroy(heap);
}

static struct class dray_heap_class = {
	.name = "dray-heap",
	.dev_groups = dray_heap_groups,
	.dev_release = dray_heap_device_release,
};

int dray_heap_device_init(struct dray_heap *heap, const char *name)
{
	struct device *dev = &heap->device;
	int ret;

	device_initialize(dev);
	dev->class = &dray_heap_class;
	strscpy(heap->name, name, sizeof(heap->name));
	ret = dev_set_name(dev, "%s", name);
	if (ret)
		return ret;
	return dma_coerce_mask_and_coherent(dev, DMA_BIT_MASK(64));
}

int dray_heap_device_add(struct dray_heap *heap)
{
	return device_add(&heap->device);
}

int dray_heap_class_init(void)
{
	return class_register(&dray_heap_class);
}

void dray_heap_class_exit(void)
{
	class_unregister(&dray_heap_class);
}
