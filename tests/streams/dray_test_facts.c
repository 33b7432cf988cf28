// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The driver and the core without a fault: residue, batches and packets that do not
 * match their descriptors.
 */
#include <linux/kernel.h>
#include <linux/random.h>

#include "dray_test_axidma.h"

static const struct stream_segment two_segments[] = {
	{ 0, 1024 },
	{ 1024, 1024 },
};

static void three_segments_out_two_in(struct stream *stream)
{
	static const struct stream_segment out[] = {
		{ 0, 1024 },
		{ 1024, 1024 },
		{ 2048, 1024 },
	};
	static const struct stream_segment in[] = {
		{ 0, 2048 },
		{ 4096, 2048 },
	};
	static struct stream_transfer sent, received;

	CHECK(stream, stream_submit(stream, RX, in, 2, &received), 0);
	stream_start(stream, RX);
	CHECK(stream, stream_submit(stream, TX, out, 3, &sent), 0);
	stream_start(stream, TX);
	CHECK(stream, stream_wait(&sent, STREAM_PATIENCE), true);
	CHECK(stream, sent.residue, 0);
	CHECK(stream, stream_wait(&received, STREAM_PATIENCE), true);
	CHECK(stream, received.result, DMA_TRANS_NOERROR);
	CHECK(stream, received.residue, 1024);
	CHECK(stream, stream_wrong(stream, 0, 0, 2048), 2048);
	CHECK(stream, stream_wrong(stream, 2048, 4096, 1024), 1024);
	CHECK(stream, stream_area(stream, RX)[4096 + 1024], 0x55);
}

static void the_residue_is_exact_to_the_byte(struct stream *stream)
{
	static const u32 lengths[] = { 1, 2, 3, 5, 100, 4095, 4096 };
	static struct stream_transfer received;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		CHECK(stream, stream_submit_one(stream, RX, 0, 4096, &received),
		      0);
		stream_start(stream, RX);
		if (!stream_send(stream, 0, lengths[i]))
			return;
		CHECK(stream, stream_wait(&received, STREAM_PATIENCE), true);
		CHECK(stream, received.residue, 4096 - lengths[i]);
		CHECK(stream, stream_wrong(stream, 0, 0, lengths[i]),
		      lengths[i]);
	}
}

/* Each transfer's count of packets is the threshold of its batch's interrupt. */
static void
a_batch_has_one_interrupt_after_its_last_packet(struct stream *stream)
{
	static struct stream_transfer first, second;
	u32 interrupts = COUNTER(stream, s2mm.interrupts);

	CHECK(stream, stream_submit_one(stream, RX, 0, 4096, &first), 0);
	CHECK(stream, stream_submit_one(stream, RX, 4096, 4096, &second), 0);
	stream_start(stream, RX);
	if (!stream_send(stream, 0, 1000))
		return;
	CHECK(stream, stream_wait(&first, STREAM_SILENCE), false);
	if (!stream_send(stream, 0, 2000))
		return;
	CHECK(stream, stream_wait(&first, STREAM_PATIENCE), true);
	CHECK(stream, stream_wait(&second, STREAM_PATIENCE), true);
	CHECK(stream, first.residue, 3096);
	CHECK(stream, second.residue, 2096);
	CHECK(stream, COUNTER(stream, s2mm.interrupts), interrupts + 1);
}

static void a_busy_channel_starts_transfers_later(struct stream *stream)
{
	static struct stream_transfer first, second;
	u32 descriptors = COUNTER(stream, s2mm.descriptors);

	CHECK(stream, stream_submit_one(stream, RX, 0, 4096, &first), 0);
	stream_start(stream, RX);
	CHECK(stream, stream_submit_one(stream, RX, 4096, 4096, &second), 0);
	stream_start(stream, RX);
	if (!stream_send(stream, 0, 1000))
		return;
	CHECK(stream, stream_wait(&first, STREAM_PATIENCE), true);
	CHECK(stream, stream_wait(&second, STREAM_SILENCE), false);
	CHECK(stream, COUNTER(stream, s2mm.descriptors), descriptors + 1);
	if (!stream_send(stream, 0, 2000))
		return;
	CHECK(stream, stream_wait(&second, STREAM_PATIENCE), true);
	CHECK(stream, second.residue, 2096);
}

/* The second half of the packet waits in the stream, and no interrupt comes. */
static void
a_packet_longer_than_its_batch_never_completes_it(struct stream *stream)
{
	static struct stream_transfer received;

	CHECK(stream, stream_submit_one(stream, RX, 0, 1024, &received), 0);
	stream_start(stream, RX);
	if (!stream_send(stream, 0, 1536))
		return;
	CHECK(stream, stream_wait(&received, STREAM_SILENCE), false);
	CHECK(stream, stream_wrong(stream, 0, 0, 1024), 1024);
}

/* Two transfers want two packets; a single packet arrives. */
static void a_packet_over_two_transfers_completes_neither(struct stream *stream)
{
	static struct stream_transfer first, second;
	u32 descriptors = COUNTER(stream, s2mm.descriptors);

	CHECK(stream, stream_submit_one(stream, RX, 0, 1024, &first), 0);
	CHECK(stream, stream_submit_one(stream, RX, 1024, 1024, &second), 0);
	stream_start(stream, RX);
	if (!stream_send(stream, 0, 1536))
		return;
	CHECK(stream, stream_wait(&second, STREAM_SILENCE), false);
	CHECK(stream, try_wait_for_completion(&first.done), false);
	CHECK(stream, stream_wrong(stream, 0, 0, 1536), 1536);
	CHECK(stream, COUNTER(stream, s2mm.descriptors), descriptors + 2);
}

/* Receives a packet into two segments that ends in the first of them. */
static void send_short(struct stream *stream, struct stream_transfer *transfer)
{
	unsigned int patience =
		XILINX_MERGES ? STREAM_SILENCE : STREAM_PATIENCE;

	CHECK(stream, stream_submit(stream, RX, two_segments, 2, transfer), 0);
	stream_start(stream, RX);
	if (!stream_send(stream, 0, 512))
		return;
	CHECK(stream, stream_wait(transfer, patience), !XILINX_MERGES);
}

/*
 * The core keeps the descriptor that the short packet left unused, although the
 * driver completed its transfer: memory that its owner perhaps freed.
 */
static void a_completed_transfer_gets_the_next_packet(struct stream *stream)
{
	static struct stream_transfer first, second;

	send_short(stream, &first);
	if (stream->failed)
		return;
	CHECK(stream, first.residue, 1536);
	CHECK(stream, stream_submit_one(stream, RX, 8192, 1024, &second), 0);
	stream_start(stream, RX);
	if (!stream_send(stream, 512, 256))
		return;
	CHECK(stream, stream_wait(&second, STREAM_PATIENCE), true);
	CHECK(stream, second.result, DMA_TRANS_NOERROR);
	CHECK(stream, second.residue, 1024);
	CHECK(stream, stream_wrong(stream, 512, 1024, 256), 256);
	CHECK(stream, stream_area(stream, RX)[8192], 0x55);
}

/* The residue counts both: nothing shows where the first packet ended. */
static void the_next_packet_joins_in_the_transfer(struct stream *stream)
{
	static struct stream_transfer transfer;

	send_short(stream, &transfer);
	if (stream->failed || !stream_send(stream, 512, 256))
		return;
	CHECK(stream, stream_wait(&transfer, STREAM_PATIENCE), true);
	CHECK(stream, transfer.result, DMA_TRANS_NOERROR);
	CHECK(stream, transfer.residue, 2048 - 512 - 256);
	CHECK(stream, stream_wrong(stream, 0, 0, 512), 512);
	CHECK(stream, stream_wrong(stream, 512, 1024, 256), 256);
}

static void the_next_packet_fills_a_short_transfer(struct stream *stream)
{
	if (XILINX_MERGES)
		the_next_packet_joins_in_the_transfer(stream);
	else
		a_completed_transfer_gets_the_next_packet(stream);
}

static void terminate_drops_the_rest_of_a_short_transfer(struct stream *stream)
{
	static struct stream_transfer first;

	send_short(stream, &first);
	if (stream->failed)
		return;
	dmaengine_terminate_sync(stream->channel[RX]);
	stream_round(stream, 1024);
}

static void a_channel_has_few_segments(struct stream *stream)
{
	static struct stream_transfer transfers[XILINX_SEGMENTS + 1];
	unsigned int i;

	for (i = 0; i < XILINX_SEGMENTS; i++)
		CHECK(stream,
		      stream_submit_one(stream, RX, i * 4, 4, &transfers[i]),
		      0);
	CHECK(stream, stream_submit_one(stream, RX, 0, 4, &transfers[i]),
	      -ENOMEM);
}

/* Cuts @total bytes into segments of random length; returns their count. */
static unsigned int cut(struct stream_segment *segments, u32 total)
{
	u32 offset = 0;
	unsigned int count = 0;
	u32 length;

	while (total) {
		length = 4 * (1 + get_random_u32() % 512);
		if (length > total || count == STREAM_SEGMENTS - 1)
			length = total;
		segments[count].offset = offset;
		segments[count].length = length;
		/* The next segment starts at a word. */
		offset += ALIGN(length, 4) + 4 * (get_random_u32() % 4);
		total -= length;
		count++;
	}
	return count;
}

/* Copies the segments of an area to @into, in their order. */
static void gather(const u8 *area, const struct stream_segment *segments,
		   unsigned int count, u8 *into)
{
	for (; count; count--, segments++) {
		memcpy(into, area + segments->offset, segments->length);
		into += segments->length;
	}
}

static void random_round(struct stream *stream)
{
	static struct stream_segment out[STREAM_SEGMENTS], in[STREAM_SEGMENTS];
	static struct stream_transfer sent, received;
	static u8 before[8192], after[8192];
	u32 total = 1 + get_random_u32() % sizeof(before);
	unsigned int outs = cut(out, total), ins = cut(in, total), i;
	u32 spare = get_random_u32() % 64;

	/* Room to spare in the last segment only, so that none stays behind. */
	in[ins - 1].length += spare;
	CHECK(stream, stream_submit(stream, RX, in, ins, &received), 0);
	stream_start(stream, RX);
	CHECK(stream, stream_submit(stream, TX, out, outs, &sent), 0);
	stream_start(stream, TX);
	CHECK(stream, stream_wait(&received, STREAM_PATIENCE), true);
	CHECK(stream, stream_wait(&sent, STREAM_PATIENCE), true);
	CHECK(stream, received.residue, spare);
	in[ins - 1].length -= spare;
	gather(stream_area(stream, TX), out, outs, before);
	gather(stream_area(stream, RX), in, ins, after);
	for (i = 0; i < total && after[i] == (u8)~before[i]; i++)
		;
	CHECK(stream, i, total);
}

static void random_segments_arrive_whole(struct stream *stream)
{
	int round;

	for (round = 0; round < 200 && !stream->failed; round++)
		random_round(stream);
	CHECK(stream, COUNTER(stream, mm2s.unaligned), 0);
	CHECK(stream, COUNTER(stream, s2mm.unaligned), 0);
}

#define FACT(name)          \
	{                   \
#name, name \
	}

const struct stream_fact stream_facts[] = {
	FACT(three_segments_out_two_in),
	FACT(the_residue_is_exact_to_the_byte),
	FACT(a_batch_has_one_interrupt_after_its_last_packet),
	FACT(a_busy_channel_starts_transfers_later),
	FACT(a_packet_longer_than_its_batch_never_completes_it),
	FACT(a_packet_over_two_transfers_completes_neither),
	FACT(the_next_packet_fills_a_short_transfer),
	FACT(terminate_drops_the_rest_of_a_short_transfer),
	FACT(a_channel_has_few_segments),
	FACT(random_segments_arrive_whole),
};

const unsigned int stream_fact_count = ARRAY_SIZE(stream_facts);
