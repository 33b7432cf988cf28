/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The driver of platform devices.
 */
#ifndef DRAY_PLATFORM_H
#define DRAY_PLATFORM_H

int dray_platform_register(void);
/* Binds the devices that were shown to the driver too early. */
void dray_platform_attach(void);
/* The nodes of its devices go. */
void dray_platform_unregister(void);

#endif /* DRAY_PLATFORM_H */
