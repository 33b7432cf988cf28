/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A block device over ordinary memory, for direct I/O into buffers: it works
 * on every root file system and no disk is written.
 */
#ifndef SELFTEST_LOOP_DEVICE_H
#define SELFTEST_LOOP_DEVICE_H

#include "system.h"

struct loop_device {
	int memory; /* a memfd, what the device stands on */
	int direct; /* the device, open with O_DIRECT */
};

/* 0, or -ENODEV where the kernel has no loop device, or another errno. */
int loop_device_open(struct loop_device *device, size_t size);
void loop_device_close(struct loop_device *device);

#endif
