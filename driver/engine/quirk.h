/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Quirks: behaviour of stream engines' drivers that the DMA engine framework
 * does not report.
 */
#ifndef DRAY_QUIRK_H
#define DRAY_QUIRK_H

#include <linux/types.h>

struct dma_chan;

struct dray_quirk {
	const char *compatible; /* of the engine's device */
	bool siblings; /* to stop a channel resets all of its engine */
	bool blind; /* each descriptor is reported with the status of the last */
	bool deaf; /* to stop succeeds also if the engine continues */
	bool restarts; /* an interrupt beside a stop starts waiting descriptors */
	bool keeps; /* the engine fills the rest of a transfer behind a short packet */
	bool merges; /* only its last piece ends a transfer, so packets join */
	bool splits; /* long pieces are cut by the driver */
	u32 pieces; /* room of a channel; 0: no limit is known */
	u32 row_unit; /* bytes, of a row and a stride to repeat */
	u32 longest_row; /* bytes, likewise; 0: as the framework says */
};

/* Returns the entry of the engine; all zero: it is without quirks. */
const struct dray_quirk *dray_quirk_of(struct dma_chan *chan);

/* Bytes of a piece that the engine's driver cuts in; 0: it does not. */
u32 dray_quirk_cut(const struct dray_quirk *quirk, struct dma_chan *chan);

#endif /* DRAY_QUIRK_H */
