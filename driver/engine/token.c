// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tokens: proof that an engine did a batch.  Some drivers report copies as done
 * after an error of the bus stopped them.  For their engines the last descriptor
 * of each batch copies the batch's number between two words of coherent memory.
 * The batch is done if it arrives.
 *
 * xilinx-zynqmp-dma, up to Linux 6.12 at least: its reset after an error calls
 * back for a descriptor as after a success, and drops all others.
 */
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "token.h"

static const char *const dray_token_drivers[] = { "xilinx-zynqmp-dma" };

static bool dray_token_is_needed(struct dma_chan *chan)
{
	const struct device_driver *driver = chan->device->dev->driver;

	return driver &&
	       match_string(dray_token_drivers, ARRAY_SIZE(dray_token_drivers),
			    driver->name) >= 0;
}

int dray_token_init(struct dray_token *token, struct dma_chan *chan)
{
	if (!dray_token_is_needed(chan))
		return 0;
	token->slot = max_t(size_t, sizeof(u32), 1 << chan->device->copy_align);
	token->memory = dma_alloc_coherent(dmaengine_get_dma_device(chan),
					   2 * token->slot, &token->address,
					   GFP_KERNEL);
	return token->memory ? 0 : -ENOMEM;
}

/* @lost: the engine may still write there, so the memory stays. */
void dray_token_exit(struct dray_token *token, struct dma_chan *chan, bool lost)
{
	if (token->memory && !lost)
		dma_free_coherent(dmaengine_get_dma_device(chan),
				  2 * token->slot, token->memory,
				  token->address);
	*token = (struct dray_token){};
}

/*
 * Reserves the token's descriptor before the batch uses up all of them; if no
 * batch used it yet, it serves the next.  False: try again later.
 */
bool dray_token_prepare(struct dray_token *token, struct dma_chan *chan)
{
	if (!token->memory || token->descriptor)
		return true;
	token->descriptor =
		dmaengine_prep_dma_memcpy(chan, token->address + token->slot,
					  token->address, token->slot,
					  DMA_PREP_INTERRUPT | DMA_CTRL_ACK);
	return token->descriptor;
}

/* The batch's last descriptor, for the caller to submit; NULL: none needed. */
struct dma_async_tx_descriptor *dray_token_take(struct dray_token *token)
{
	struct dma_async_tx_descriptor *descriptor = token->descriptor;

	if (!descriptor)
		return NULL;
	token->descriptor = NULL;
	WRITE_ONCE(*(u32 *)token->memory, ++token->number);
	return descriptor;
}

bool dray_token_has_arrived(const struct dray_token *token)
{
	if (!token->memory)
		return true;
	dma_rmb();
	return READ_ONCE(*(u32 *)(token->memory + token->slot)) ==
	       token->number;
}
