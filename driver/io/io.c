// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads from the device tree which registers and interrupts of a device programs may
 * have: those of a device with the property "dray,registers".  Without it the device's
 * registers are not claimed, nor its interrupts set up.
 */
#include <linux/device.h>
#include <linux/err.h>
#include <linux/ioport.h>
#include <linux/mm.h>
#include <linux/platform_device.h>
#include <linux/property.h>
#include <linux/slab.h>

#include "base/device.h"
#include "io.h"

/*
 * Writes the name of entry @index: the tree's of @property, or @common and the index.
 * A list of names has @count entries.
 */
static int dray_io_name(struct device *dev, const char *property,
			const char *common, u32 index, u32 count, char *name)
{
	const char *names[DRAY_IO_MAX];
	int ret;

	if (!device_property_present(dev, property)) {
		snprintf(name, DRAY_NAME_LEN, "%s%u", common, index);
		return 0;
	}
	ret = device_property_read_string_array(dev, property, names, count);
	if (ret < 0 || ret != count ||
	    device_property_string_array_count(dev, property) != count) {
		dev_err(dev, "%s: its entries are not the %u of the list\n",
			property, count);
		return -EINVAL;
	}
	if (strscpy(name, names[index], DRAY_NAME_LEN) <= 0) {
		dev_err(dev, "%s: \"%s\" has not 1 to %d characters\n",
			property, names[index], DRAY_NAME_LEN - 1);
		return -EINVAL;
	}
	return 0;
}

/* Programs map whole pages, all of which must be the device's. */
static u64 dray_io_mappable(const struct resource *registers)
{
	if (!PAGE_ALIGNED(registers->start))
		return 0;
	return round_down((u64)resource_size(registers), PAGE_SIZE);
}

static int dray_io_read_area(struct platform_device *device,
			     struct dray_io_area *area, u32 index, u32 count)
{
	struct resource *registers =
		platform_get_resource(device, IORESOURCE_MEM, index);
	struct device *dev = &device->dev;
	int ret;

	ret = dray_io_name(dev, "reg-names", "registers", index, count,
			   area->name);
	if (ret)
		return ret;
	if (!dray_device_is_register(registers->start,
				     resource_size(registers))) {
		dev_err(dev, "reg: %pR of %s is memory\n", registers,
			area->name);
		return -EINVAL;
	}
	if (!devm_request_mem_region(dev, registers->start,
				     resource_size(registers), dev_name(dev))) {
		dev_err(dev, "reg: %pR of %s is another driver's\n", registers,
			area->name);
		return -EBUSY;
	}
	area->start = registers->start;
	area->size = resource_size(registers);
	area->mappable = dray_io_mappable(registers);
	return 0;
}

static int dray_io_read_areas(struct platform_device *device,
			      struct dray_io *io)
{
	u32 count = 0, i;
	int ret;

	while (platform_get_resource(device, IORESOURCE_MEM, count))
		count++;
	if (count > DRAY_IO_MAX) {
		dev_err(&device->dev, "reg: %u entries are more than %d\n",
			count, DRAY_IO_MAX);
		return -EINVAL;
	}
	for (i = 0; i < count; i++) {
		ret = dray_io_read_area(device, &io->areas[i], i, count);
		if (ret)
			return ret;
	}
	io->area_count = count;
	return 0;
}

static int dray_io_read_line(struct platform_device *device,
			     struct dray_io_line *line, u32 index, u32 count)
{
	int irq = platform_get_irq(device, index);

	if (irq < 0)
		return irq;
	line->irq = irq;
	mutex_init(&line->order);
	spin_lock_init(&line->lock);
	init_waitqueue_head(&line->arrived);
	return dray_io_name(&device->dev, "interrupt-names", "interrupt", index,
			    count, line->name);
}

static int dray_io_read_lines(struct platform_device *device,
			      struct dray_io *io)
{
	int count = platform_irq_count(device), i, ret;

	if (count < 0)
		return count;
	if (count > DRAY_IO_MAX) {
		dev_err(&device->dev,
			"interrupts: %d entries are more than %d\n", count,
			DRAY_IO_MAX);
		return -EINVAL;
	}
	for (i = 0; i < count; i++) {
		ret = dray_io_read_line(device, &io->lines[i], i, count);
		if (ret)
			return ret;
	}
	io->line_count = count;
	return 0;
}

struct dray_io *dray_io_read(struct platform_device *device)
{
	struct dray_io *io;
	int ret;

	if (!device_property_read_bool(&device->dev, "dray,registers"))
		return NULL;
	io = kzalloc(sizeof(*io), GFP_KERNEL);
	if (!io)
		return ERR_PTR(-ENOMEM);
	mutex_init(&io->mapped);
	address_space_init_once(&io->mapping);
	io->mapping.a_ops = &empty_aops;
	ret = dray_io_read_areas(device, io);
	if (!ret)
		ret = dray_io_read_lines(device, io);
	if (!ret)
		return io;
	kfree(io);
	return ERR_PTR(ret);
}
