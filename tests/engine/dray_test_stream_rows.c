// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Rows that are repeated until others replace them, as the DMA of a display does
 * it.  Nothing moves by itself: each vertical sync, which a knob makes, is the end of
 * a repetition or a replacement.  The sum of the bytes that it reads then is told.
 */
#include <linux/dma-direct.h>
#include <linux/io.h>

#include "dray_test_stream.h"

bool stream_rows_fit(const struct dma_interleaved_template *rows,
		     unsigned long flags)
{
	const unsigned long wanted = DMA_PREP_REPEAT | DMA_PREP_LOAD_EOT;

	return rows->numf && rows->frame_size == 1 && rows->src_inc &&
	       rows->src_sgl && rows->sgl[0].size && (flags & wanted) == wanted;
}

static struct stream_descriptor *stream_active(struct stream_channel *channel)
{
	return list_first_entry_or_null(&channel->active,
					struct stream_descriptor, list);
}

/* A sum that changes with the order of the bytes. */
static void stream_read_rows(struct stream_channel *channel)
{
	unsigned int *sum = &stream_knobs.shown[channel->chan.chan_id], i;
	struct stream_descriptor *descriptor = stream_active(channel);
	struct device *dev = channel->chan.device->dev;
	phys_addr_t address;
	const u8 *row;
	size_t at;

	*sum = 0;
	for (i = 0; descriptor && i < descriptor->count; i++) {
		address = dma_to_phys(dev, descriptor->segments[i].address);
		row = phys_to_virt(address);
		for (at = 0; at < descriptor->segments[i].length; at++)
			*sum = *sum * 31 + row[at];
	}
}

/* As in drivers with virt-dma, the callback of a repetition knows no descriptor. */
static void stream_end_repetition(struct stream_channel *channel)
{
	const struct stream_descriptor *descriptor = stream_active(channel);

	channel->repeat = descriptor->tx.callback;
	channel->repeat_param = descriptor->tx.callback_param;
	channel->repetitions++;
	stream_report_soon(channel);
}

void stream_sync(struct stream_pair *pair)
{
	struct stream_channel *channel = &pair->tx;
	struct stream_descriptor *active;

	spin_lock_bh(&pair->lock);
	if (stream_is(channel, &stream_knobs.stall))
		goto unlock;
	active = stream_active(channel);
	if (!list_empty(&channel->issued)) {
		if (active) {
			active->moved = active->length;
			stream_complete(channel, active, DMA_TRANS_NOERROR);
		}
		list_move_tail(channel->issued.next, &channel->active);
	} else if (active) {
		stream_end_repetition(channel);
	}
	stream_read_rows(channel);
unlock:
	spin_unlock_bh(&pair->lock);
}
