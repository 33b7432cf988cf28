// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The model of the AXI DMA against its product guide, without QEMU. */
#include "unit.h"

#include "board.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int setup(void **state)
{
	*state = board_new();
	return 0;
}

static int teardown(void **state)
{
	board_free(*state);
	return 0;
}

#define BOARD_FACT(name) FACT_WITH(name, setup, teardown)

/* The status without threshold and SG. */
static uint32_t status(struct board *board, enum axidma_direction direction)
{
	return board_read(board, direction, AXIDMA_SR) & 0xfff7;
}

/* Starts a direction with one descriptor of 1024 bytes. */
static void start_one(struct board *board, enum axidma_direction direction)
{
	static const uint32_t lengths[] = { 1024 };

	board_chain(board, direction, lengths, 1);
	board_start(board, direction, 1);
	board_tail(board, direction, 0);
}

BOARD_FACT(a_new_core_is_halted_and_has_scatter_gather)
{
	struct board *board = *state;
	int i;

	for (i = 0; i < AXIDMA_DIRECTIONS; i++) {
		assert_int_equal(board_read(board, i, AXIDMA_SR), 0x10009);
		assert_int_equal(board_read(board, i, AXIDMA_CR), 0x10002);
	}
	assert_int_equal(board->core.control->magic, FPGA_MAGIC);
}

BOARD_FACT(run_clears_halted_and_stop_sets_it)
{
	struct board *board = *state;

	board_start(board, S2MM, 1);
	assert_int_equal(status(board, S2MM), 0);
	assert_int_equal(status(board, MM2S), SR_HALTED);
	board_write(board, S2MM, AXIDMA_CR, SR_IRQS);
	board_run(board);
	assert_int_equal(status(board, S2MM), SR_HALTED);
}

BOARD_FACT(a_reset_of_either_direction_resets_both)
{
	struct board *board = *state;
	int i, other;

	for (i = 0; i < AXIDMA_DIRECTIONS; i++) {
		board_start(board, MM2S, 3);
		board_start(board, S2MM, 3);
		board_write(board, i, AXIDMA_CR, CR_RUN | CR_RESET);
		board_run(board);
		for (other = 0; other < AXIDMA_DIRECTIONS; other++) {
			assert_int_equal(board_read(board, other, AXIDMA_CR),
					 CR_DEFAULT);
			assert_int_equal(board_read(board, other, AXIDMA_SR),
					 0x10009);
		}
	}
	assert_int_equal(board->resets, 2);
	assert_int_equal(board->core.control->resets, 2);
}

BOARD_FACT(curdesc_is_read_only_while_the_channel_runs)
{
	struct board *board = *state;

	start_one(board, S2MM);
	board_write(board, S2MM, AXIDMA_CURDESC, 0x4000);
	board_run(board);
	assert_int_equal(board_read(board, S2MM, AXIDMA_CURDESC),
			 board_address(S2MM, 0));
}

BOARD_FACT(a_tail_of_a_halted_channel_starts_nothing)
{
	static const uint32_t lengths[] = { 1024 };
	struct board *board = *state;

	board_chain(board, MM2S, lengths, 1);
	board_tail(board, MM2S, 0);
	board_start(board, MM2S, 1);
	assert_int_equal(board->sent_count, 0);
}

BOARD_FACT(a_descriptor_goes_out_and_gets_its_status)
{
	static const uint32_t lengths[] = { 1024, 512 };
	struct board *board = *state;

	board->core.memory[BOARD_BUFFER] = 0x12;
	board->core.memory[BOARD_BUFFER + 1024] = 0x34;
	board_chain(board, MM2S, lengths, 2);
	board_start(board, MM2S, 1);
	board_tail(board, MM2S, 1);
	assert_int_equal(board->sent_size, 1536);
	assert_int_equal(board->sent_bytes[0], 0x12);
	assert_int_equal(board->sent_bytes[1024], 0x34);
	assert_false(board->sent[0].last);
	assert_true(board->sent[1].last);
	assert_int_equal(board_descriptor(board, MM2S, 0)[BD_STATUS],
			 BD_COMPLETED | 1024);
	assert_int_equal(board_descriptor(board, MM2S, 1)[BD_STATUS],
			 BD_COMPLETED | 512);
	assert_int_equal(status(board, MM2S), SR_IDLE | SR_COMPLETE_IRQ);
	assert_int_equal(board->interrupts[MM2S], 1);
	assert_int_equal(board->core.control->mm2s.packets, 1);
	assert_int_equal(board->core.control->mm2s.bytes, 1536);
}

BOARD_FACT(a_full_stream_delays_the_rest)
{
	struct board *board = *state;

	board->room = 1000;
	start_one(board, MM2S);
	assert_int_equal(board->sent_size, 1000);
	assert_int_equal(status(board, MM2S), 0);
	assert_true(axidma_waits(&board->core, MM2S));
	board->room = SIZE_MAX;
	board_run(board);
	assert_int_equal(board->sent_size, 1024);
	assert_true(board->sent[1].last);
	assert_int_equal(board->interrupts[MM2S], 1);
}

/* Packets into a chain, and the status of each descriptor; ends with 0. */
static const struct received {
	const char *name;
	uint32_t lengths[5], packets[5], statuses[5];
	bool idle;
} received[] = {
#define DONE BD_COMPLETED
	{ "fits", { 100 }, { 100 }, { DONE | BD_SOF | BD_EOF | 100 }, true },
	{ "is short", { 100 }, { 40 }, { DONE | BD_SOF | BD_EOF | 40 }, true },
	{ "spans two",
	  { 100, 100 },
	  { 150 },
	  { DONE | BD_SOF | 100, DONE | BD_EOF | 50 },
	  true },
	{ "spans three",
	  { 100, 100, 100 },
	  { 201 },
	  { DONE | BD_SOF | 100, DONE | 100, DONE | BD_EOF | 1 },
	  true },
	{ "leaves room",
	  { 100, 100 },
	  { 60 },
	  { DONE | BD_SOF | BD_EOF | 60, 0 },
	  false },
	{ "are two",
	  { 100, 100 },
	  { 60, 70 },
	  { DONE | BD_SOF | BD_EOF | 60, DONE | BD_SOF | BD_EOF | 70 },
	  true },
	{ "is too long",
	  { 100, 100 },
	  { 250 },
	  { DONE | BD_SOF | 100, DONE | 100 },
	  true },
#undef DONE
};

static void receive(struct board *board, const struct received *row)
{
	unsigned int count = 0, i;

	while (row->lengths[count])
		count++;
	board_chain(board, S2MM, row->lengths, count);
	board_start(board, S2MM, 1);
	for (i = 0; row->packets[i]; i++)
		board_packet(board, row->packets[i]);
	board_tail(board, S2MM, count - 1);
	for (i = 0; i < count; i++)
		if (board_descriptor(board, S2MM, i)[BD_STATUS] !=
		    row->statuses[i])
			fail_msg("a packet that %s: status %u is %x, not %x",
				 row->name, i,
				 board_descriptor(board, S2MM, i)[BD_STATUS],
				 row->statuses[i]);
	if (!!(status(board, S2MM) & SR_IDLE) != row->idle)
		fail_msg("a packet that %s: idle is %d", row->name, !row->idle);
	for (i = 0; !row->packets[1] && i < row->packets[0] && i < 200; i++)
		assert_int_equal(board->core.memory[2 * BOARD_BUFFER + i],
				 i < row->lengths[0] || row->lengths[1] ? i
									: 0);
}

FACT(packets_fill_descriptors_and_end_them)
{
	size_t i;

	for (i = 0; i < COUNT(received); i++) {
		struct board *board = board_new();

		receive(board, &received[i]);
		board_free(board);
	}
}

BOARD_FACT(the_next_packet_goes_on_in_the_descriptor_that_is_left)
{
	static const uint32_t lengths[] = { 100, 100 };
	struct board *board = *state;

	board_chain(board, S2MM, lengths, 2);
	board_start(board, S2MM, 1);
	board_packet(board, 60);
	board_tail(board, S2MM, 1);
	/* Software may reuse it, but the core has fetched it already. */
	board_descriptor(board, S2MM, 1)[BD_BUFFER] = 0;
	board_descriptor(board, S2MM, 1)[BD_CONTROL] = 0;
	board_packet(board, 50);
	board_run(board);
	assert_int_equal(board->core.memory[2 * BOARD_BUFFER + 100], 60);
	assert_int_equal(status(board, S2MM), SR_IDLE | SR_COMPLETE_IRQ);
}

BOARD_FACT(an_idle_channel_goes_on_behind_its_last_descriptor)
{
	static const uint32_t lengths[] = { 100, 100, 100 };
	struct board *board = *state;

	board_chain(board, MM2S, lengths, 3);
	board_start(board, MM2S, 1);
	board_tail(board, MM2S, 0);
	assert_int_equal(board->sent_size, 100);
	/* Without an effect, as the channel runs. */
	board_write(board, MM2S, AXIDMA_CURDESC, board_address(MM2S, 2));
	board_tail(board, MM2S, 1);
	assert_int_equal(board->sent_size, 200);
	assert_int_equal(board_descriptor(board, MM2S, 2)[BD_STATUS], 0);
}

BOARD_FACT(the_same_tail_twice_is_two_rounds_of_the_ring)
{
	static const uint32_t lengths[] = { 100, 100 };
	struct board *board = *state;
	int i;

	board_chain(board, MM2S, lengths, 2);
	board_start(board, MM2S, 1);
	board_tail(board, MM2S, 1);
	for (i = 0; i < 2; i++)
		board_descriptor(board, MM2S, i)[BD_STATUS] = 0;
	board_tail(board, MM2S, 1);
	assert_int_equal(board->sent_size, 400);
}

BOARD_FACT(a_busy_channel_takes_a_later_tail_without_a_pause)
{
	static const uint32_t lengths[] = { 100, 100, 100 };
	struct board *board = *state;

	board_chain(board, S2MM, lengths, 3);
	board_start(board, S2MM, 1);
	board_tail(board, S2MM, 0);
	board_tail(board, S2MM, 2);
	board_packet(board, 300);
	board_run(board);
	assert_int_equal(board_descriptor(board, S2MM, 2)[BD_STATUS],
			 BD_COMPLETED | BD_EOF | 100);
}

BOARD_FACT(a_cyclic_chain_has_no_tail_and_ignores_completed_bits)
{
	static const uint32_t lengths[] = { 100, 100 };
	struct board *board = *state;
	int i;

	board_chain(board, S2MM, lengths, 2);
	board_start(board, S2MM, 1);
	board_write(board, S2MM, AXIDMA_CR,
		    CR_RUN | CR_CYCLIC | SR_IRQS | 1 << 16);
	board_tail(board, S2MM, 9);
	for (i = 0; i < 5; i++)
		board_packet(board, 100);
	board_run(board);
	assert_int_equal(board->core.control->s2mm.packets, 5);
}

/* What a write of DMASR leaves of its interrupt bits. */
static const struct {
	uint32_t shown, written, left;
} acknowledged[] = {
	{ 0x1000, 0x1000, 0 },	    { 0x3000, 0x1000, 0x2000 },
	{ 0x7000, 0x5000, 0x2000 }, { 0x1000, 0x4000, 0x1000 },
	{ 0x5000, 0x0010, 0 },	    { 0x5000, 0, 0 },
};

BOARD_FACT(a_write_of_dmasr_clears_the_bits_that_are_one)
{
	struct board *board = *state;
	size_t i;

	board_start(board, S2MM, 1);
	for (i = 0; i < COUNT(acknowledged); i++) {
		board->core.channel[S2MM].status = acknowledged[i].shown;
		board_run(board);
		assert_int_equal(status(board, S2MM), acknowledged[i].shown);
		board_write(board, S2MM, AXIDMA_SR, acknowledged[i].written);
		board_run(board);
		assert_int_equal(status(board, S2MM), acknowledged[i].left);
	}
}

BOARD_FACT(bits_that_stay_raise_the_interrupt_again)
{
	struct board *board = *state;

	board_start(board, S2MM, 1);
	board->core.channel[S2MM].status = 0x3000;
	board_run(board);
	assert_int_equal(board->interrupts[S2MM], 1);
	board_write(board, S2MM, AXIDMA_SR, 0x1000);
	board_run(board);
	assert_int_equal(board->interrupts[S2MM], 2);
}

BOARD_FACT(an_event_after_an_acknowledgement_is_not_lost)
{
	static const uint32_t lengths[] = { 8, 8 };
	struct board *board = *state;

	board_chain(board, S2MM, lengths, 2);
	board_start(board, S2MM, 1);
	board_tail(board, S2MM, 1);
	board_packet(board, 8);
	board_run(board);
	/* The core sees both in the same step. */
	board_write(board, S2MM, AXIDMA_SR, SR_COMPLETE_IRQ);
	board_packet(board, 8);
	board_run(board);
	assert_int_equal(board->interrupts[S2MM], 2);
	assert_int_equal(status(board, S2MM), SR_IDLE | SR_COMPLETE_IRQ);
}

BOARD_FACT(a_disabled_interrupt_shows_in_the_status_only)
{
	struct board *board = *state;

	start_one(board, S2MM);
	board_write(board, S2MM, AXIDMA_CR, CR_RUN | 1 << 16);
	board_packet(board, 10);
	board_run(board);
	assert_true(status(board, S2MM) & SR_COMPLETE_IRQ);
	assert_int_equal(board->interrupts[S2MM], 0);
	board_write(board, S2MM, AXIDMA_CR, CR_RUN | SR_IRQS | 1 << 16);
	board_run(board);
	assert_int_equal(board->interrupts[S2MM], 1);
}

/* Packets, the threshold, and how often it was reached. */
static const struct {
	unsigned int packets, threshold, interrupts, left;
} thresholds[] = {
	{ 1, 1, 1, 1 }, { 3, 1, 3, 1 }, { 1, 2, 0, 1 },
	{ 2, 2, 1, 2 }, { 5, 2, 2, 1 }, { 3, 0, 3, 1 },
};

FACT(the_threshold_counts_packets)
{
	static const uint32_t lengths[] = { 8, 8, 8, 8, 8, 8 };
	size_t i;
	unsigned int packet;

	for (i = 0; i < COUNT(thresholds); i++) {
		struct board *board = board_new();

		board_chain(board, S2MM, lengths, 6);
		board_start(board, S2MM, thresholds[i].threshold);
		board_tail(board, S2MM, 5);
		for (packet = 0; packet < thresholds[i].packets; packet++) {
			board_packet(board, 4);
			board_run(board);
			board_write(board, S2MM, AXIDMA_SR, SR_IRQS);
			board_run(board);
		}
		assert_int_equal(board->interrupts[S2MM],
				 thresholds[i].interrupts);
		assert_int_equal(
			CR_THRESHOLD(board_read(board, S2MM, AXIDMA_SR)),
			thresholds[i].left);
		board_free(board);
	}
}

BOARD_FACT(silence_after_a_packet_raises_the_delay_interrupt)
{
	static const uint32_t lengths[] = { 8, 8, 8 };
	struct board *board = *state;

	board_chain(board, S2MM, lengths, 3);
	board_start(board, S2MM, 3);
	/* 4 * 125 clocks of 10 ns */
	board_write(board, S2MM, AXIDMA_CR,
		    CR_RUN | SR_IRQS | 3 << 16 | 4u << 24);
	board_tail(board, S2MM, 2);
	board->time += 1000000;
	board_run(board);
	assert_int_equal(board->interrupts[S2MM], 0);
	board_packet(board, 4);
	board_run(board);
	board->time += 4999;
	board_run(board);
	assert_int_equal(board->interrupts[S2MM], 0);
	board->time += 1;
	board_run(board);
	assert_int_equal(board->interrupts[S2MM], 1);
	assert_int_equal(status(board, S2MM), SR_DELAY_IRQ);
	board->time += 1000000;
	board_run(board);
	assert_int_equal(board->interrupts[S2MM], 1);
}

/* Changes of one descriptor, and the error that they cause. */
static const struct {
	unsigned int word;
	uint32_t value, error;
} mistakes[] = {
	{ BD_CONTROL, 0, SR_INTERNAL_ERROR },
	{ BD_BUFFER, 0x3fffff00, SR_DECODE_ERROR },
	{ BD_BUFFER_HIGH, 1, SR_DECODE_ERROR },
	{ BD_STATUS, BD_COMPLETED, SR_SG_INTERNAL_ERROR },
	{ BD_NEXT, 0x20010, SR_SG_DECODE_ERROR },
	{ BD_NEXT, 0x40000000, SR_SG_DECODE_ERROR },
};

FACT(a_bad_descriptor_halts_the_channel_until_a_reset)
{
	static const uint32_t lengths[] = { 1024, 1024 };
	size_t i;

	for (i = 0; i < COUNT(mistakes); i++) {
		struct board *board = board_new();

		board_chain(board, S2MM, lengths, 2);
		board_descriptor(board, S2MM, 0)[mistakes[i].word] =
			mistakes[i].value;
		board_start(board, S2MM, 1);
		board_tail(board, S2MM, 1);
		assert_int_equal(status(board, S2MM),
				 SR_HALTED | SR_ERROR_IRQ | mistakes[i].error);
		assert_int_equal(board_read(board, S2MM, AXIDMA_CR) & CR_RUN,
				 0);
		assert_int_equal(board->interrupts[S2MM], 1);
		board_start(board, S2MM, 1);
		assert_true(status(board, S2MM) & SR_HALTED);
		board_write(board, S2MM, AXIDMA_CR, CR_RESET);
		board_run(board);
		board_start(board, S2MM, 1);
		assert_int_equal(status(board, S2MM), 0);
		board_free(board);
	}
}

BOARD_FACT(an_error_that_is_asked_for_happens_once)
{
	struct board *board = *state;

	board->core.control->mm2s.error = SR_SLAVE_ERROR | SR_COMPLETE_IRQ;
	start_one(board, MM2S);
	assert_int_equal(status(board, MM2S), SR_HALTED | SR_SLAVE_ERROR |
						      SR_ERROR_IRQ |
						      SR_COMPLETE_IRQ);
	assert_int_equal(board_descriptor(board, MM2S, 0)[BD_STATUS],
			 BD_COMPLETED | 1u << 29);
	assert_int_equal(board->core.control->mm2s.error, 0);
	assert_int_equal(board->sent_size, 0);
}

BOARD_FACT(a_stalled_stream_moves_nothing_until_it_goes_on)
{
	struct board *board = *state;

	board->core.control->mm2s.stall = 1;
	start_one(board, MM2S);
	assert_int_equal(board->sent_size, 0);
	assert_false(axidma_waits(&board->core, MM2S));
	board->core.control->mm2s.stall = 0;
	board_run(board);
	assert_int_equal(board->sent_size, 1024);
}

BOARD_FACT(an_early_end_cuts_a_packet_in_two)
{
	struct board *board = *state;

	board->core.control->mm2s.end_early = 100;
	start_one(board, MM2S);
	assert_int_equal(board->sent_count, 2);
	assert_int_equal(board->sent[0].length, 100);
	assert_true(board->sent[0].last);
	assert_int_equal(board->sent[1].length, 924);
	assert_true(board->sent[1].last);
	assert_int_equal(board->core.control->mm2s.end_early, 0);
	assert_int_equal(board->core.control->mm2s.packets, 2);
}

BOARD_FACT(a_late_end_joins_packets)
{
	static const uint32_t lengths[] = { 100, 100 };
	struct board *board = *state;

	board->core.control->s2mm.end_late = 1;
	board_chain(board, S2MM, lengths, 2);
	board_start(board, S2MM, 1);
	board_packet(board, 60);
	board_packet(board, 60);
	board_tail(board, S2MM, 1);
	assert_int_equal(board_descriptor(board, S2MM, 0)[BD_STATUS],
			 BD_COMPLETED | BD_SOF | 100);
	assert_int_equal(board_descriptor(board, S2MM, 1)[BD_STATUS],
			 BD_COMPLETED | BD_EOF | 20);
	assert_int_equal(board->core.control->s2mm.end_late, 0);
}

BOARD_FACT(a_late_end_of_one_descriptor_is_lost_once)
{
	struct board *board = *state;

	board->core.control->mm2s.end_late = 1;
	start_one(board, MM2S);
	assert_false(board->sent[0].last);
	assert_int_equal(board->core.control->mm2s.end_late, 0);
	/* The driver's view does not change. */
	assert_int_equal(board->interrupts[MM2S], 1);
}

BOARD_FACT(a_lost_interrupt_is_followed_by_the_next)
{
	static const uint32_t lengths[] = { 8, 8 };
	struct board *board = *state;

	board->core.control->s2mm.lose_interrupts = 1;
	board_chain(board, S2MM, lengths, 2);
	board_start(board, S2MM, 1);
	board_tail(board, S2MM, 1);
	board_packet(board, 8);
	board_run(board);
	assert_int_equal(board->interrupts[S2MM], 0);
	assert_int_equal(board->core.control->s2mm.lost, 1);
	assert_true(status(board, S2MM) & SR_COMPLETE_IRQ);
	board_packet(board, 8);
	board_run(board);
	assert_int_equal(board->interrupts[S2MM], 1);
}

BOARD_FACT(a_deaf_core_does_not_reset)
{
	struct board *board = *state;

	board->core.control->deaf = 1;
	board_write(board, MM2S, AXIDMA_CR, CR_RESET);
	board_run(board);
	assert_int_equal(board_read(board, MM2S, AXIDMA_CR), CR_RESET);
	board->core.control->deaf = 0;
	board_run(board);
	assert_int_equal(board_read(board, MM2S, AXIDMA_CR), CR_DEFAULT);
}

BOARD_FACT(unaligned_buffers_are_counted)
{
	static const uint32_t lengths[] = { 3, 5 };
	struct board *board = *state;

	board_chain(board, MM2S, lengths, 2);
	board_start(board, MM2S, 1);
	board_tail(board, MM2S, 1);
	assert_int_equal(board->core.control->mm2s.unaligned, 1);
}
