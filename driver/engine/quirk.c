// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of quirks.  Each is read in the source of Linux 6.1.192; the AXI DMA's
 * also in the source of Linux 7.3.
 *
 * xilinx_dma, AXI DMA: terminate_all resets the core, and that both directions; it
 * returns 0 if the core does not halt, and only the next submission fails.  It takes
 * no lock: an interrupt handler beside it sets RUN again and starts descriptors that
 * wait, on a core that was stopped or reset, or sets chan->err behind it.  Then the
 * next submission resets the core, with all transfers of the other direction.
 * tx_status returns the residue of the last running descriptor, whichever was asked
 * for, and the core notes the bytes of a hardware descriptor at its end only.  Up to
 * Linux 6.12, descriptors start only while the core is idle; Linux 7.3 appends them
 * to the running chain, so the last is also the last submitted.  A channel owns 255
 * hardware descriptors, and cuts a piece where the length field of the core ends.  In
 * Linux 6.1, a short packet completes a transfer of several hardware descriptors, and
 * the core writes the next packet to the unused ones.  Since a change of 2023, read in
 * 6.12 and 7.3, only the end of the last descriptor completes it: packets join in it.
 * The same driver serves AXI MCDMA, of which a stop resets up to 32 channels.
 *
 * xilinx_dpdma: copy_align is of the first byte only.  A row is rounded up, and
 * a stride down, to 16 bytes; both have 18 bits.  A template is replaced at the
 * next vertical sync, of any video, also if it is sound.  To stop says nothing
 * if reads are outstanding for longer than 50 ms; it writes no memory.
 */
#include <linux/dmaengine.h>
#include <linux/kernel.h>
#include <linux/property.h>

#include "quirk.h"

#define XILINX_AXI_DMA                                                   \
	.siblings = true, .blind = true, .deaf = true, .restarts = true, \
	.keeps = true, .splits = true, .pieces = 255

static const struct dray_quirk dray_quirks[] = {
	{
		.compatible = "xlnx,axi-dma-1.00.a",
		XILINX_AXI_DMA,
		.merges = DRAY_AXIDMA_MERGES,
	},
	{
		.compatible = "xlnx,axi-mcdma-1.00.a",
		XILINX_AXI_DMA,
	},
	{
		.compatible = "xlnx,zynqmp-dpdma",
		.row_unit = 16,
		.longest_row = GENMASK(17, 4),
	},
	{},
};

const struct dray_quirk *dray_quirk_of(struct dma_chan *chan)
{
	const struct dray_quirk *quirk = dray_quirks;

	while (quirk->compatible &&
	       device_property_match_string(chan->device->dev, "compatible",
					    quirk->compatible) < 0)
		quirk++;
	return quirk;
}

u32 dray_quirk_cut(const struct dray_quirk *quirk, struct dma_chan *chan)
{
	u32 align = 1U << chan->device->copy_align, bits = 23;

	if (!quirk->splits)
		return 0;
	device_property_read_u32(chan->device->dev, "xlnx,sg-length-width",
				 &bits);
	if (bits < 8 || bits > 26)
		bits = 23;
	return GENMASK(bits - 1, 0) & ~(align - 1);
}
