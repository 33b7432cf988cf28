// SPDX-License-Identifier: GPL-2.0-only
/*
 * FIFOs: a peripheral without a stream of its own has a register instead.  The
 * node's maker knows it, and the engine is told before its first descriptor.
 */
#include <linux/device.h>

#include "channel.h"
#include "fifo.h"

int dray_fifo_init(struct dray_channel *channel,
		   const struct dma_slave_config *config)
{
	if (!config)
		return 0;
	if (channel->kind != DRAY_CHANNEL_SEND &&
	    channel->kind != DRAY_CHANNEL_RECV) {
		dev_err(channel->node->dev,
			"channel %s has a FIFO, which only tx and rx may have\n",
			channel->name);
		return -EINVAL;
	}
	channel->stream.config = *config;
	channel->stream.config.direction = channel->stream.direction;
	channel->stream.configured = true;
	return 0;
}

int dray_fifo_configure(struct dray_channel *channel, struct dma_chan *chan)
{
	struct dma_slave_config *config = &channel->stream.config;
	bool sends = config->direction == DMA_MEM_TO_DEV;
	int ret;

	if (!channel->stream.configured)
		return 0;
	ret = dmaengine_slave_config(chan, config);
	if (ret && !channel->refused) {
		dev_err(channel->node->dev,
			"channel %s: its engine %s refuses the FIFO %pap, width %u, burst %u: %pe: not used\n",
			channel->name, dma_chan_name(chan),
			sends ? &config->dst_addr : &config->src_addr,
			sends ? config->dst_addr_width : config->src_addr_width,
			sends ? config->dst_maxburst : config->src_maxburst,
			ERR_PTR(ret));
		channel->refused = true;
	}
	return ret;
}
