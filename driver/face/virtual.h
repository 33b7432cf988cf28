/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Virtual nodes.
 */
#ifndef DRAY_VIRTUAL_H
#define DRAY_VIRTUAL_H

struct device;

#define DRAY_VIRTUAL_NAME "dray-virtual"

int dray_virtual_register(void);
void dray_virtual_unregister(void);
/* dray_bind() with as many channels as the module's parameter says. */
int dray_virtual_bind(struct device *dev);

#endif /* DRAY_VIRTUAL_H */
