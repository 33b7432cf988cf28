/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The register of a peripheral that a stream goes to or comes from.
 */
#ifndef DRAY_FIFO_H
#define DRAY_FIFO_H

struct dma_chan;
struct dma_slave_config;
struct dray_channel;

/* Copies @config, which may be NULL.  -EINVAL: the channel serves no stream. */
int dray_fifo_init(struct dray_channel *channel,
		   const struct dma_slave_config *config);

/*
 * Tells the engine, if there is a configuration.  May sleep; @opening is held.
 * An errno, and a sentence in the log, if the engine does not take it.
 */
int dray_fifo_configure(struct dray_channel *channel, struct dma_chan *chan);

#endif /* DRAY_FIFO_H */
