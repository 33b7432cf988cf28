/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Quirks: behaviour of stream engines' drivers that the DMA engine framework
 * cannot tell.
 */
#ifndef DRAY_QUIRK_H
#define DRAY_QUIRK_H

#include <linux/types.h>

struct dma_chan;

struct dray_quirk {
	const char *compatible; /* of the engine's device */
	bool siblings; /* to stop one channel resets all of its engine */
	bool blind; /* the status of any descriptor is that of the last one */
	bool deaf; /* to stop says 0 also if the engine goes on */
	bool restarts; /* an interrupt beside a stop starts waiting ones */
	bool keeps; /* after a short packet, the engine goes on in its transfer */
	bool merges; /* and only its last piece ends a transfer, so packets join */
	bool splits; /* long pieces are cut by the driver */
	u32 pieces; /* that a channel has room for; 0: no limit is known */
	u32 row_unit; /* bytes, of a row and a stride to repeat */
	u32 longest_row; /* bytes, likewise; 0: as the framework tells */
};

/* An engine without quirks has the entry that is all zero. */
const struct dray_quirk *dray_quirk_of(struct dma_chan *chan);

/* Bytes of a piece that the engine's driver cuts in; 0: it does not. */
u32 dray_quirk_cut(const struct dray_quirk *quirk, struct dma_chan *chan);

#endif /* DRAY_QUIRK_H */
