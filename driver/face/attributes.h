/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A node's attributes in sysfs.
 */
#ifndef DRAY_ATTRIBUTES_H
#define DRAY_ATTRIBUTES_H

struct attribute_group;

extern const struct attribute_group *dray_node_groups[];

#endif /* DRAY_ATTRIBUTES_H */
