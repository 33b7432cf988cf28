// SPDX-License-Identifier: GPL-2.0-only
/*
 * The node as a structure with references, and its gate: calls enter, and an
 * unbinding or suspending node waits until all have left.
 */
#include <linux/device.h>
#include <linux/slab.h>

#include "node.h"

static void dray_node_release(struct kref *kref)
{
	struct dray_node *node = container_of(kref, struct dray_node, kref);

	kfree(node->channels);
	kfree(node->io);
	put_device(node->dev);
	kfree(node);
}

void dray_node_get(struct dray_node *node)
{
	kref_get(&node->kref);
}

void dray_node_put(struct dray_node *node)
{
	kref_put(&node->kref, dray_node_release);
}

/* Enters the node before touching its device; -ENODEV if it is gone. */
int dray_node_enter(struct dray_node *node)
{
	if (READ_ONCE(node->gone))
		return -ENODEV;
	down_read(&node->inside);
	if (!READ_ONCE(node->gone))
		return 0;
	up_read(&node->inside);
	return -ENODEV;
}

/*
 * For callers that hold locks: fails instead of waiting for unbind or suspend.
 */
bool dray_node_try_enter(struct dray_node *node)
{
	if (!down_read_trylock(&node->inside))
		return false;
	if (!READ_ONCE(node->gone))
		return true;
	up_read(&node->inside);
	return false;
}

void dray_node_leave(struct dray_node *node)
{
	up_read(&node->inside);
}

int dray_node_check(struct dray_node *node)
{
	return READ_ONCE(node->gone) ? -ENODEV : 0;
}
