// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * An importer of dma-bufs behind an IOMMU, for tests: QEMU's educational PCI
 * device with a driver that knows nothing of dray.  Programs write "to", "from"
 * or "both" and a descriptor to the device's file import, and read the address
 * that the device has of it from the file address; "none" ends that.  The
 * device's registers are theirs, so that they choose where it reads and writes.
 */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/scatterlist.h>
#include <linux/string.h>
#include <linux/sysfs.h>

/* What QEMU's device puts out, unless it is told otherwise. */
#define IMPORTER_MASK DMA_BIT_MASK(28)

struct importer {
	struct device *dev;
	struct mutex lock; /* what follows */
	struct dma_buf_attachment *attachment; /* NULL: nothing is imported */
	struct sg_table *table;
	enum dma_data_direction direction;
};

static void importer_end(struct importer *importer)
{
	struct dma_buf_attachment *attachment = importer->attachment;
	struct dma_buf *dmabuf;

	if (!attachment)
		return;
	dmabuf = attachment->dmabuf;
	dma_resv_lock(dmabuf->resv, NULL);
	dma_buf_unmap_attachment(attachment, importer->table,
				 importer->direction);
	dma_resv_unlock(dmabuf->resv);
	dma_buf_detach(dmabuf, attachment);
	dma_buf_put(dmabuf);
	importer->attachment = NULL;
}

/* It has the dma-buf from here on, if that succeeds. */
static int importer_begin(struct importer *importer, struct dma_buf *dmabuf,
			  enum dma_data_direction direction)
{
	struct dma_buf_attachment *attachment;
	struct sg_table *table;

	attachment = dma_buf_attach(dmabuf, importer->dev);
	if (IS_ERR(attachment))
		return PTR_ERR(attachment);
	dma_resv_lock(dmabuf->resv, NULL);
	table = dma_buf_map_attachment(attachment, direction);
	dma_resv_unlock(dmabuf->resv);
	if (IS_ERR(table)) {
		dma_buf_detach(dmabuf, attachment);
		return PTR_ERR(table);
	}
	importer->attachment = attachment;
	importer->table = table;
	importer->direction = direction;
	return 0;
}

static int importer_direction(const char *how)
{
	if (!strcmp(how, "to"))
		return DMA_TO_DEVICE;
	if (!strcmp(how, "from"))
		return DMA_FROM_DEVICE;
	return strcmp(how, "both") ? -EINVAL : DMA_BIDIRECTIONAL;
}

static int importer_replace(struct importer *importer, int fd, int direction)
{
	struct dma_buf *dmabuf;
	int ret;

	dmabuf = dma_buf_get(fd);
	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	mutex_lock(&importer->lock);
	importer_end(importer);
	ret = importer_begin(importer, dmabuf, direction);
	mutex_unlock(&importer->lock);
	if (ret)
		dma_buf_put(dmabuf);
	return ret;
}

static ssize_t import_store(struct device *dev, struct device_attribute *attr,
			    const char *text, size_t length)
{
	struct importer *importer = dev_get_drvdata(dev);
	int fd, direction, ret;
	char how[8];

	if (sysfs_streq(text, "none")) {
		mutex_lock(&importer->lock);
		importer_end(importer);
		mutex_unlock(&importer->lock);
		return length;
	}
	if (sscanf(text, "%7s %d", how, &fd) != 2)
		return -EINVAL;
	direction = importer_direction(how);
	if (direction < 0)
		return direction;
	ret = importer_replace(importer, fd, direction);
	return ret ? ret : length;
}
static DEVICE_ATTR_WO(import);

/* Of one piece: behind an IOMMU there is no other. */
static ssize_t address_show(struct device *dev, struct device_attribute *attr,
			    char *text)
{
	struct importer *importer = dev_get_drvdata(dev);
	ssize_t ret = -ENODATA;

	mutex_lock(&importer->lock);
	if (importer->attachment && importer->table->nents != 1)
		ret = -EMSGSIZE;
	else if (importer->attachment)
		ret = sysfs_emit(text, "%#llx\n",
				 (u64)sg_dma_address(importer->table->sgl));
	mutex_unlock(&importer->lock);
	return ret;
}
static DEVICE_ATTR_RO(address);

static struct attribute *importer_attrs[] = {
	&dev_attr_import.attr,
	&dev_attr_address.attr,
	NULL,
};
ATTRIBUTE_GROUPS(importer);

static int importer_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct device *dev = &pdev->dev;
	struct importer *importer;
	int ret;

	importer = devm_kzalloc(dev, sizeof(*importer), GFP_KERNEL);
	if (!importer)
		return -ENOMEM;
	importer->dev = dev;
	mutex_init(&importer->lock);
	ret = pcim_enable_device(pdev);
	if (ret)
		return ret;
	ret = dma_set_mask_and_coherent(dev, IMPORTER_MASK);
	if (ret)
		return ret;
	pci_set_master(pdev);
	pci_set_drvdata(pdev, importer);
	return 0;
}

static void importer_remove(struct pci_dev *pdev)
{
	pci_clear_master(pdev);
	importer_end(pci_get_drvdata(pdev));
}

/* There is no table: a device comes here only by its driver_override. */
static struct pci_driver importer_driver = {
	.name = "dray_edu_importer",
	.probe = importer_probe,
	.remove = importer_remove,
	.dev_groups = importer_groups,
};
module_pci_driver(importer_driver);

MODULE_DESCRIPTION("QEMU's educational device as an importer, for tests");
MODULE_LICENSE("Dual MIT/GPL");
MODULE_INFO(import_ns, "DMA_BUF");
