/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A node's directory in debugfs; nothing if the kernel has no debugfs.
 */
#ifndef DRAY_DEBUG_H
#define DRAY_DEBUG_H

struct dray_node;

void dray_debug_init(void);
void dray_debug_exit(void);
void dray_debug_add(struct dray_node *node);
void dray_debug_remove(struct dray_node *node);

#endif /* DRAY_DEBUG_H */
