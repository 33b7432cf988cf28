/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Platform devices, which are given to dray by their driver_override.
 */
#ifndef SELFTEST_PLATFORM_H
#define SELFTEST_PLATFORM_H

#include "system.h"

#define PLATFORM_DEVICES "/sys/bus/platform/devices"
#define PLATFORM_DRIVER "/sys/bus/platform/drivers/dray"

/* driver_override; "\n" for none.  0, or a negative errno. */
int platform_override(const char *device, const char *driver);

/* The driver of a device, or "". */
void platform_driver(const char *device, char *driver, size_t size);

/* The first device with a driver that is not dray, or without any. */
bool platform_find(bool driven, char *device, size_t size);

/* A device's node, or a negative errno. */
int platform_open(const char *device);

#endif
