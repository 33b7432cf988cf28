/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * QEMU's educational PCI devices, and what the IOMMU says of them.  A device
 * that dray's own PCI driver has is driven from here, through its registers,
 * so that a test chooses the addresses that go over the bus.
 */
#ifndef IOMMU_EDU_H
#define IOMMU_EDU_H

#include "../selftests/system.h"

#define PCI_DEVICES "/sys/bus/pci/devices"
#define PCI_DRIVERS "/sys/bus/pci/drivers"

struct edu {
	char device[32]; /* its name in sysfs */
	volatile uint8_t *registers; /* NULL: left to a driver */
};

/* The index-th device of the machine; 0, or a negative errno. */
int edu_find(unsigned int index, struct edu *edu);

/* Its registers, once a driver has switched it on. */
int edu_map(struct edu *edu);

/* driver_override; "\n" for none */
int edu_override(const struct edu *edu, const char *driver);

/* One of its node's files, or a negative errno. */
int edu_open(const struct edu *edu);

/*
 * Memory to the device, and back: up to 2 KiB at any address that the device
 * can put out.  Whether the bus did what was asked, the device does not know.
 */
int edu_read(struct edu *edu, uint64_t address, size_t length);
int edu_write(struct edu *edu, uint64_t address, size_t length);

/* The physical address of a mapped byte, or 0. */
uint64_t physical_address(const void *byte);

/* The address of a buffer for a node, or 0. */
uint64_t bus_address(int node, int fd);

/*
 * From the first of these calls to the second, faults of the IOMMU in the
 * kernel's log are what a test wants, and no complaint.
 */
void faults_expect(void);
void faults_expect_no_more(void);

/* Has the IOMMU stopped an access since then? */
bool fault_seen(void);

#endif
