/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A node's channels while the system sleeps.
 */
#ifndef DRAY_SLEEP_H
#define DRAY_SLEEP_H

#include <linux/types.h>

struct dray_node;

/* No batch is out when the first returns. */
void dray_channels_suspend(struct dray_node *node);
void dray_channels_resume(struct dray_node *node);

/*
 * As dray_node_enter(), for SUBMIT: waits for an awake node if @wait is set, or
 * is -EAGAIN; -ERESTARTSYS.
 */
int dray_node_enter_awake(struct dray_node *node, bool wait);

#endif /* DRAY_SLEEP_H */
