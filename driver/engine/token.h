/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tokens: a small copy that ends each batch of some engines.
 */
#ifndef DRAY_TOKEN_H
#define DRAY_TOKEN_H

#include <linux/dmaengine.h>
#include <linux/types.h>

struct dray_token {
	void *memory; /* two slots: source, destination; NULL: not needed */
	dma_addr_t address;
	size_t slot; /* bytes */
	u32 number; /* of the latest batch */
	struct dma_async_tx_descriptor *descriptor; /* for the next batch */
};

/* For the channel's work item, and for opening and closing it. */
int dray_token_init(struct dray_token *token, struct dma_chan *chan);
void dray_token_exit(struct dray_token *token, struct dma_chan *chan,
		     bool lost);
bool dray_token_prepare(struct dray_token *token, struct dma_chan *chan);
struct dma_async_tx_descriptor *dray_token_take(struct dray_token *token);
bool dray_token_has_arrived(const struct dray_token *token);

#endif /* DRAY_TOKEN_H */
