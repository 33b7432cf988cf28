// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * VFIO: the memory is pinned and mapped for a device behind an IOMMU, QEMU's
 * edu, which then reads it at one place and writes it at another.
 */
#include <linux/pci_regs.h>
#include <linux/vfio.h>

#include "../../iommu/edu.h"
#include "../../selftests/node.h"
#include "cell.h"

/* Where the device finds the memory */
#define ADDRESS 0x10000000ull

/* What the device moves at once */
#define PIECE 2048u

/* A descriptor of the group that the device is in, or -1. */
static int group_open(const struct edu *edu)
{
	char path[PATH_MAX], link[PATH_MAX];
	ssize_t length;

	snprintf(path, sizeof(path), PCI_DEVICES "/%s/iommu_group",
		 edu->device);
	length = readlink(path, link, sizeof(link) - 1);
	if (length < 0)
		return -1;
	link[length] = 0;
	snprintf(path, sizeof(path), "/dev/vfio/%d",
		 atoi(strrchr(link, '/') + 1));
	return open(path, O_RDWR | O_CLOEXEC);
}

static int region_find(int device, uint32_t index,
		       struct vfio_region_info *region)
{
	*region = (struct vfio_region_info){ .argsz = sizeof(*region),
					     .index = index };
	return ioctl(device, VFIO_DEVICE_GET_REGION_INFO, region);
}

/* Its registers, and the right to put addresses on the bus. */
static int device_start(int device, struct edu *edu)
{
	struct vfio_region_info registers, configuration;
	uint16_t command;
	off_t at;

	if (region_find(device, VFIO_PCI_BAR0_REGION_INDEX, &registers) ||
	    region_find(device, VFIO_PCI_CONFIG_REGION_INDEX, &configuration))
		return -1;
	edu->registers = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
			      device, (off_t)registers.offset);
	if (edu->registers == MAP_FAILED)
		return -1;
	at = (off_t)configuration.offset + PCI_COMMAND;
	if (pread(device, &command, sizeof(command), at) != sizeof(command))
		return -1;
	command |= PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER;
	return pwrite(device, &command, sizeof(command), at) == sizeof(command)
		       ? 0
		       : -1;
}

/* The container, with the device in it; or -1. */
static int container_open(struct edu *edu)
{
	int container = open("/dev/vfio/vfio", O_RDWR | O_CLOEXEC);
	int group, device;

	if (container < 0)
		return -1;
	errno = -edu_find(0, edu);
	if (errno)
		return -1;
	group = group_open(edu);
	if (group < 0 || ioctl(group, VFIO_GROUP_SET_CONTAINER, &container) ||
	    ioctl(container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU))
		return -1;
	device = ioctl(group, VFIO_GROUP_GET_DEVICE_FD, edu->device);
	return device < 0 || device_start(device, edu) ? -1 : container;
}

/* Whether the device finds at one place what is there, at the other moves. */
static enum outcome move(const struct memory *memory, struct cell *cell,
			 struct edu *edu, size_t from, size_t to)
{
	int ret;

	cell_step(cell, "the device reads");
	ret = edu_read(edu, ADDRESS + from, PIECE);
	errno = -ret;
	if (ret)
		return cell_refused(cell);
	cell_step(cell, "the device writes");
	ret = edu_write(edu, ADDRESS + to, PIECE);
	errno = -ret;
	if (ret)
		return cell_refused(cell);
	return cell_compare(cell, memory->bytes + to, memory->bytes + from,
			    PIECE);
}

static enum outcome mapped(const struct memory *memory, struct cell *cell)
{
	struct vfio_iommu_type1_dma_map map = {
		.argsz = sizeof(map),
		.flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE,
		.vaddr = (uintptr_t)memory->bytes,
		.iova = ADDRESS,
		.size = memory->size,
	};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	enum outcome outcome;
	struct edu edu = { 0 };
	int container;

	cell_step(cell, "a device of vfio-pci");
	container = container_open(&edu);
	if (container < 0)
		return cell_absent(cell);
	fill_random(memory->bytes, memory->size, 2);
	cell_step(cell, "VFIO_IOMMU_MAP_DMA");
	if (ioctl(container, VFIO_IOMMU_MAP_DMA, &map))
		return cell_refused(cell);
	outcome = move(memory, cell, &edu, 0, memory->size - page);
	if (outcome != WORKS)
		return outcome;
	return move(memory, cell, &edu, memory->size / 2 + page, PIECE);
}

const struct consumer vfio_consumers[] = {
	{ "VFIO map", mapped },
	{ 0 },
};
