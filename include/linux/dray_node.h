/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Nodes of other drivers: the driver of a device that does DMA makes a node for
 * it, so that programs find buffers, addresses and transfers for that device at
 * /dev/drayN.  The driver continues to drive its device.
 */
#ifndef _LINUX_DRAY_NODE_H
#define _LINUX_DRAY_NODE_H

struct device;
struct dma_chan;
struct dma_slave_config;
struct dray_node;

/**
 * struct dray_node_channel - a channel of a node
 * @name: its name in CHANNEL_INFO.  Without @chan, also the name by which
 *	dma_request_chan() is asked for it, on first use.
 * @chan: a channel that the caller requested, or NULL.  It is this node's alone
 *	until dray_node_unregister() returns, and stays the caller's to release.
 *	It is not used if its engine lacks device_terminate_all.
 * @config: address, width and burst of the peripheral's register, and anything
 *	else that the engine's driver expects; dray sets the direction and
 *	configures the engine on first use.  Copied, except for the target of
 *	peripheral_config, which must last as long as the node.  NULL: the
 *	engine needs none.  Only for names that begin with tx or rx.
 */
struct dray_node_channel {
	const char *name;
	struct dma_chan *chan;
	const struct dma_slave_config *config;
};

struct dray_node *
dray_node_register(struct device *dev, const struct dray_node_channel *channels,
		   unsigned int count);
void dray_node_unregister(struct dray_node *node);
int dray_node_suspend(struct dray_node *node);
int dray_node_resume(struct dray_node *node);

#endif /* _LINUX_DRAY_NODE_H */
