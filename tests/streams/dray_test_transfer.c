// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Transfers of the DMA engine's interface, one call each. */
#include <linux/dma-mapping.h>
#include <linux/scatterlist.h>
#include <linux/string.h>

#include "dray_test_axidma.h"

void stream_fail(struct stream *stream, const char *check, int line, u64 is,
		 u64 should)
{
	if (stream->failed)
		return;
	stream->failed = check;
	stream->line = line;
	stream->is = is;
	stream->should = should;
}

static void stream_callback(void *param, const struct dmaengine_result *result)
{
	struct stream_transfer *transfer = param;

	transfer->result = result->result;
	transfer->residue = result->residue;
	complete(&transfer->done);
}

int stream_submit(struct stream *stream, enum stream_direction direction,
		  const struct stream_segment *segments, unsigned int count,
		  struct stream_transfer *transfer)
{
	enum dma_transfer_direction way =
		direction == TX ? DMA_MEM_TO_DEV : DMA_DEV_TO_MEM;
	struct dma_chan *channel = stream->channel[direction];
	struct scatterlist list[STREAM_SEGMENTS];
	struct dma_async_tx_descriptor *descriptor;
	unsigned int i;

	sg_init_table(list, count);
	for (i = 0; i < count; i++) {
		sg_dma_address(&list[i]) = stream->address +
					   direction * STREAM_AREA +
					   segments[i].offset;
		sg_dma_len(&list[i]) = segments[i].length;
	}
	init_completion(&transfer->done);
	descriptor = dmaengine_prep_slave_sg(channel, list, count, way,
					     DMA_PREP_INTERRUPT | DMA_CTRL_ACK);
	if (!descriptor)
		return -ENOMEM;
	descriptor->callback_result = stream_callback;
	descriptor->callback_param = transfer;
	transfer->cookie = dmaengine_submit(descriptor);
	return dma_submit_error(transfer->cookie) ? -EIO : 0;
}

int stream_submit_one(struct stream *stream, enum stream_direction direction,
		      u32 offset, u32 length, struct stream_transfer *transfer)
{
	struct stream_segment segment = { offset, length };

	return stream_submit(stream, direction, &segment, 1, transfer);
}

void stream_start(struct stream *stream, enum stream_direction direction)
{
	dma_async_issue_pending(stream->channel[direction]);
}

bool stream_wait(struct stream_transfer *transfer, unsigned int milliseconds)
{
	return wait_for_completion_timeout(&transfer->done,
					   msecs_to_jiffies(milliseconds));
}

static void stream_try_send(struct stream *stream, u32 offset, u32 length)
{
	static struct stream_transfer sent;

	CHECK(stream, stream_submit_one(stream, TX, offset, length, &sent), 0);
	stream_start(stream, TX);
	CHECK(stream, stream_wait(&sent, STREAM_PATIENCE), true);
	CHECK(stream, sent.result, DMA_TRANS_NOERROR);
	CHECK(stream, sent.residue, 0);
}

bool stream_send(struct stream *stream, u32 offset, u32 length)
{
	stream_try_send(stream, offset, length);
	return !stream->failed;
}

static void stream_try_round(struct stream *stream, u32 length)
{
	static struct stream_transfer received;

	CHECK(stream, stream_submit_one(stream, RX, 0, length, &received), 0);
	stream_start(stream, RX);
	if (!stream_send(stream, 0, length))
		return;
	CHECK(stream, stream_wait(&received, STREAM_PATIENCE), true);
	CHECK(stream, received.result, DMA_TRANS_NOERROR);
	CHECK(stream, received.residue, 0);
	CHECK(stream, stream_wrong(stream, 0, 0, length), length);
}

bool stream_round(struct stream *stream, u32 length)
{
	stream_try_round(stream, length);
	return !stream->failed;
}

u32 stream_wrong(struct stream *stream, u32 sent, u32 received, u32 length)
{
	const u8 *in = stream_area(stream, TX) + sent;
	const u8 *out = stream_area(stream, RX) + received;
	u32 i;

	for (i = 0; i < length; i++)
		if (out[i] != (u8)~in[i])
			return i;
	return length;
}

void stream_fill(struct stream *stream, u32 seed)
{
	u8 *bytes = stream_area(stream, TX);
	u32 i;

	for (i = 0; i < 65536; i++)
		bytes[i] = i * 7 + (i >> 8) + seed;
	memset(stream_area(stream, RX), 0x55, 65536);
}

void stream_cleanup(struct stream *stream)
{
	writel(0, &stream->control->deaf);
	memset_io(&stream->control->mm2s, 0,
		  offsetof(struct fpga_channel, descriptors));
	memset_io(&stream->control->s2mm, 0,
		  offsetof(struct fpga_channel, descriptors));
	dmaengine_terminate_sync(stream->channel[TX]);
	dmaengine_terminate_sync(stream->channel[RX]);
}
