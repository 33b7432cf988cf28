// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attributes of nodes in sysfs, which docs/abi/sysfs-class-misc-dray describes.
 * While one is written its node is not unregistered.
 */
#include <linux/device.h>
#include <linux/kstrtox.h>
#include <linux/miscdevice.h>
#include <linux/sysfs.h>

#include "base/node.h"
#include "engine/channel.h"
#include "attributes.h"

static struct dray_node *to_node(struct device *dev)
{
	struct miscdevice *misc = dev_get_drvdata(dev);

	return container_of(misc, struct dray_node, misc);
}

static ssize_t hold_show(struct device *dev, struct device_attribute *attribute,
			 char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(to_node(dev)->hold));
}

static ssize_t hold_store(struct device *dev,
			  struct device_attribute *attribute, const char *buf,
			  size_t count)
{
	bool value;
	int ret;

	ret = kstrtobool(buf, &value);
	if (ret)
		return ret;
	WRITE_ONCE(to_node(dev)->hold, value);
	return count;
}
static DEVICE_ATTR_RW(hold);

static ssize_t reopen_store(struct device *dev,
			    struct device_attribute *attribute, const char *buf,
			    size_t count)
{
	u32 index;
	int ret;

	ret = kstrtou32(buf, 0, &index);
	if (ret)
		return ret;
	ret = DRAY_ENGINES ? dray_channel_reopen(to_node(dev), index) : -EINVAL;
	return ret ? ret : count;
}
static DEVICE_ATTR_WO(reopen);

static struct attribute *dray_node_attrs[] = { &dev_attr_hold.attr,
					       &dev_attr_reopen.attr, NULL };

static const struct attribute_group dray_node_group = {
	.attrs = dray_node_attrs,
};

const struct attribute_group *dray_node_groups[] = { &dray_node_group, NULL };
