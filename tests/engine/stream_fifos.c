// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * FIFOs: the node of dray_test_stream.ko has one for each direction of its first
 * pair, of which the engine is told when a channel is first used.
 */
#include "../selftests/kernel_log.h"
#include "streams.h"

/* As dray_test_stream_node.c sets them. */
static const struct {
	unsigned int channel;
	long address;
	long width;
	long burst;
} fifos[] = {
	{ TX0, 0xff000030, 4, 16 },
	{ RX0, 0xff000038, 8, 1 },
	{ TX1, 0, 0, 0 },
	{ RX1, 0, 0, 0 },
};

TEST_F(stream, the_engine_is_told_its_fifo_on_first_use)
{
	struct line line;

	for (unsigned int i = 0; i < STREAM_CHANNELS; i++) {
		unsigned int channel = fifos[i].channel;

		EXPECT_EQ(0, stream_read("fifo_addresses", channel));
		ASSERT_EQ(0, line_open(self->node, channel, 1, &line));
		EXPECT_EQ(fifos[i].address,
			  stream_read("fifo_addresses", channel));
		EXPECT_EQ(fifos[i].width, stream_read("fifo_widths", channel));
		EXPECT_EQ(fifos[i].burst, stream_read("fifo_bursts", channel));
		line_close(&line);
	}
}

TEST_F(stream, an_engine_that_refuses_a_fifo_is_not_used)
{
	struct line line;

	ASSERT_EQ(0, log_begin());
	ASSERT_EQ(0, stream_knob("refuse_config", 1));
	EXPECT_EQ(-EBUSY, line_open(self->node, TX0, 1, &line));
	EXPECT_EQ(DRAY_REASON_CHANNEL, line.reason);
	EXPECT_NE(NULL, strstr(log_read(), "refuses the FIFO"));
	ASSERT_EQ(0, line_open(self->node, TX1, 1, &line));
	line_close(&line);
	ASSERT_EQ(0, stream_knob("refuse_config", 0));
	ASSERT_EQ(0, stream_open(self, 1));
	EXPECT_EQ(0, stream_passes(self));
}
