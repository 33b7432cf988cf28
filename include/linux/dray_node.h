/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Nodes of other drivers: a driver whose device does DMA makes a node for it,
 * so that programs find buffers, addresses and transfers for that device at
 * /dev/drayN.  The driver goes on driving its device.
 */
#ifndef _LINUX_DRAY_NODE_H
#define _LINUX_DRAY_NODE_H

struct device;
struct dma_chan;
struct dray_node;

/**
 * struct dray_node_channel - a copy channel of a node
 * @name: what CHANNEL_INFO calls it.  Without @chan, also the name by which
 *	dma_request_chan() is asked for it, on first use.
 * @chan: a channel that the caller has requested, or NULL.  It is this node's
 *	alone until dray_node_unregister() has returned, and stays the caller's
 *	to release.  One whose engine has no device_terminate_all is not used.
 */
struct dray_node_channel {
	const char *name;
	struct dma_chan *chan;
};

struct dray_node *
dray_node_register(struct device *dev, const struct dray_node_channel *channels,
		   unsigned int count);
void dray_node_unregister(struct dray_node *node);
int dray_node_suspend(struct dray_node *node);
int dray_node_resume(struct dray_node *node);

#endif /* _LINUX_DRAY_NODE_H */
