// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The driver on a core and an IP with faults, and what remains afterwards. */
#include <linux/delay.h>
#include <linux/kernel.h>

#include "dray_test_axidma.h"

static void an_early_tlast_makes_two_packets(struct stream *stream)
{
	static struct stream_transfer first, second;

	FAULT(stream, s2mm.end_early, 1000);
	CHECK(stream, stream_submit_one(stream, RX, 0, 4096, &first), 0);
	CHECK(stream, stream_submit_one(stream, RX, 4096, 4096, &second), 0);
	stream_start(stream, RX);
	if (!stream_send(stream, 0, 3072))
		return;
	CHECK(stream, stream_wait(&first, STREAM_PATIENCE), true);
	CHECK(stream, stream_wait(&second, STREAM_PATIENCE), true);
	CHECK(stream, first.residue, 4096 - 1000);
	CHECK(stream, second.residue, 4096 - 2072);
	CHECK(stream, stream_wrong(stream, 1000, 4096, 2072), 2072);
}

static void a_lost_tlast_joins_two_packets(struct stream *stream)
{
	static struct stream_transfer received;

	FAULT(stream, s2mm.end_late, 1);
	CHECK(stream, stream_submit_one(stream, RX, 0, 4096, &received), 0);
	stream_start(stream, RX);
	if (!stream_send(stream, 0, 1000))
		return;
	CHECK(stream, stream_wait(&received, STREAM_SILENCE), false);
	if (!stream_send(stream, 1000, 500))
		return;
	CHECK(stream, stream_wait(&received, STREAM_PATIENCE), true);
	CHECK(stream, received.residue, 4096 - 1500);
	CHECK(stream, stream_wrong(stream, 0, 0, 1500), 1500);
}

static void a_stalled_transfer_is_cancelled(struct stream *stream)
{
	static struct stream_transfer sent, received;

	FAULT(stream, mm2s.stall, 1);
	CHECK(stream, stream_submit_one(stream, RX, 0, 4096, &received), 0);
	stream_start(stream, RX);
	CHECK(stream, stream_submit_one(stream, TX, 0, 4096, &sent), 0);
	stream_start(stream, TX);
	CHECK(stream, stream_wait(&sent, STREAM_SILENCE), false);
	CHECK(stream, dmaengine_terminate_sync(stream->channel[TX]), 0);
	CHECK(stream, dmaengine_terminate_sync(stream->channel[RX]), 0);
	FAULT(stream, mm2s.stall, 0);
	if (!stream_round(stream, 4096))
		return;
	/* A cancelled transfer's callback never runs. */
	CHECK(stream, try_wait_for_completion(&sent.done), false);
	CHECK(stream, try_wait_for_completion(&received.done), false);
}

static void terminate_of_one_direction_resets_the_other(struct stream *stream)
{
	static struct stream_transfer received;
	u32 resets = COUNTER(stream, resets);

	CHECK(stream, stream_submit_one(stream, RX, 0, 4096, &received), 0);
	stream_start(stream, RX);
	CHECK(stream, dmaengine_terminate_sync(stream->channel[TX]), 0);
	CHECK(stream, COUNTER(stream, resets), resets + 1);
	if (!stream_send(stream, 0, 1000))
		return;
	CHECK(stream, stream_wait(&received, STREAM_SILENCE), false);
	/* The driver believes the channel busy until it is terminated. */
	CHECK(stream, dmaengine_terminate_sync(stream->channel[RX]), 0);
	stream_round(stream, 4096);
}

static void after_a_lost_interrupt_only_the_residue_tells(struct stream *stream)
{
	static struct stream_transfer received, next;
	struct dma_tx_state state;

	FAULT(stream, s2mm.lose_interrupts, 1);
	CHECK(stream, stream_submit_one(stream, RX, 0, 4096, &received), 0);
	stream_start(stream, RX);
	if (!stream_send(stream, 0, 1000))
		return;
	CHECK(stream, stream_wait(&received, STREAM_SILENCE), false);
	CHECK(stream, COUNTER(stream, s2mm.lose_interrupts), 0);
	CHECK(stream, stream_wrong(stream, 0, 0, 1000), 1000);
	CHECK(stream,
	      dmaengine_tx_status(stream->channel[RX], received.cookie, &state),
	      DMA_IN_PROGRESS);
	CHECK(stream, state.residue, 3096);
	CHECK(stream, stream_submit_one(stream, RX, 4096, 4096, &next), 0);
	stream_start(stream, RX);
	if (!stream_send(stream, 0, 1000))
		return;
	if (XILINX_APPENDS) {
		/* The next interrupt reports both. */
		CHECK(stream, stream_wait(&next, STREAM_PATIENCE), true);
		CHECK(stream, stream_wait(&received, STREAM_PATIENCE), true);
	} else {
		/* It keeps the next transfer from starting. */
		CHECK(stream, stream_wait(&next, STREAM_SILENCE), false);
	}
	stream_cleanup(stream);
	stream_round(stream, 4096);
}

static void an_error_with_a_completion_fails_the_transfer(struct stream *stream)
{
	static const u32 errors[] = { 0x10, 0x20, 0x40 };
	static struct stream_transfer sent, received;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		FAULT(stream, mm2s.error, errors[i] | 0x1000);
		CHECK(stream, stream_submit_one(stream, TX, 0, 4096, &sent), 0);
		stream_start(stream, TX);
		CHECK(stream, stream_wait(&sent, STREAM_PATIENCE), true);
		CHECK(stream, sent.result, DMA_TRANS_WRITE_FAILED);
		CHECK(stream, sent.residue, 4096);

		FAULT(stream, s2mm.error, errors[i] | 0x1000);
		CHECK(stream, stream_submit_one(stream, RX, 0, 4096, &received),
		      0);
		stream_start(stream, RX);
		CHECK(stream, stream_wait(&received, STREAM_PATIENCE), true);
		CHECK(stream, received.result, DMA_TRANS_READ_FAILED);
	}
	stream_cleanup(stream);
	stream_round(stream, 4096);
}

/* To submit is enough; the driver still counts on the transfer that it killed. */
static void
a_submission_after_an_error_resets_the_other_direction(struct stream *stream)
{
	static struct stream_transfer failed, received, sent;
	u32 resets;

	FAULT(stream, mm2s.error, 0x1020);
	CHECK(stream, stream_submit_one(stream, TX, 0, 4096, &failed), 0);
	stream_start(stream, TX);
	CHECK(stream, stream_wait(&failed, STREAM_PATIENCE), true);
	CHECK(stream, stream_submit_one(stream, RX, 0, 4096, &received), 0);
	stream_start(stream, RX);
	resets = COUNTER(stream, resets);
	CHECK(stream, stream_submit_one(stream, TX, 0, 4096, &sent), 0);
	CHECK(stream, COUNTER(stream, resets), resets + 1);
	stream_start(stream, TX);
	CHECK(stream, stream_wait(&sent, STREAM_PATIENCE), true);
	CHECK(stream, sent.result, DMA_TRANS_NOERROR);
	CHECK(stream, stream_wait(&received, STREAM_SILENCE), false);
}

/*
 * The error interrupt alone completes nothing.  The next submission resets both
 * directions; then that of Linux 7.3 begins nothing before it is terminated.
 */
static void an_error_alone_calls_nobody(struct stream *stream)
{
	static struct stream_transfer failed, next;
	struct dma_tx_state state;

	FAULT(stream, s2mm.error, 0x20);
	CHECK(stream, stream_submit_one(stream, RX, 0, 4096, &failed), 0);
	stream_start(stream, RX);
	CHECK(stream, stream_wait(&failed, STREAM_SILENCE), false);
	CHECK(stream, COUNTER(stream, s2mm.error), 0);
	CHECK(stream,
	      dmaengine_tx_status(stream->channel[RX], failed.cookie, &state),
	      DMA_IN_PROGRESS);
	if (XILINX_APPENDS) {
		CHECK(stream, stream_submit_one(stream, RX, 4096, 64, &next),
		      0);
		stream_start(stream, RX);
		CHECK(stream, stream_wait(&next, STREAM_SILENCE), false);
		stream_cleanup(stream);
		stream_round(stream, 1024);
		return;
	}
	if (!stream_round(stream, 1024))
		return;
	/* It succeeds together with the next one, without a byte. */
	CHECK(stream, stream_wait(&failed, STREAM_PATIENCE), true);
	CHECK(stream, failed.result, DMA_TRANS_NOERROR);
	CHECK(stream, failed.residue, 4096);
}

static void a_deaf_core_delays_terminate_by_seconds(struct stream *stream)
{
	ktime_t start;

	FAULT(stream, deaf, 1);
	start = ktime_get();
	CHECK(stream, dmaengine_terminate_sync(stream->channel[TX]), 0);
	CHECK(stream, ktime_ms_delta(ktime_get(), start) >= 1000, true);
	stream_cleanup(stream);
	stream_round(stream, 4096);
}

#define FACT(name)          \
	{                   \
#name, name \
	}

const struct stream_fact stream_faults[] = {
	FACT(an_early_tlast_makes_two_packets),
	FACT(a_lost_tlast_joins_two_packets),
	FACT(a_stalled_transfer_is_cancelled),
	FACT(terminate_of_one_direction_resets_the_other),
	FACT(after_a_lost_interrupt_only_the_residue_tells),
	FACT(an_error_with_a_completion_fails_the_transfer),
	FACT(a_submission_after_an_error_resets_the_other_direction),
	FACT(an_error_alone_calls_nobody),
	FACT(a_deaf_core_delays_terminate_by_seconds),
};

const unsigned int stream_fault_count = ARRAY_SIZE(stream_faults);
