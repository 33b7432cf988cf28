/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The fixture of an AXI DMA with the kernel's own driver, whose stream goes
 * through an IP that inverts each byte.
 */
#ifndef STREAMS_AXIDMA_H
#define STREAMS_AXIDMA_H

#include "../selftests/fence.h"
#include "../selftests/ledger.h"
#include "../selftests/setup.h"
#include "../selftests/timeline.h"
#include "model.h"

#define SIZE (256 * 1024)
#define GUARD 0xa5
#define GUARDS 64 /* bytes on each side */

FIXTURE(axidma)
{
	int node;
	uint32_t tx, rx; /* channels */
	struct ledger before;
	struct buffer src; /* random bytes */
	struct buffer dst; /* guard bytes */
	struct line sent, received;
	volatile struct fpga_control *model;
};

/* The index of a channel, or -1. */
static inline int channel_named(int node, const char *name)
{
	struct dray_channel_info channel;

	for (uint32_t i = 0; !node_channel(node, i, &channel); i++)
		if (!strcmp(channel.name, name))
			return (int)i;
	return -1;
}

FIXTURE_SETUP(axidma)
{
	int tx, rx;

	self->node = node_open();
	ASSERT_LE(0, self->node);
	self->model = model_map();
	ASSERT_NE(NULL, self->model);
	ASSERT_EQ(FPGA_MAGIC, self->model->magic);
	tx = channel_named(self->node, "tx0");
	rx = channel_named(self->node, "rx0");
	ASSERT_LE(0, tx);
	ASSERT_LE(0, rx);
	self->tx = (uint32_t)tx;
	self->rx = (uint32_t)rx;
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
	ASSERT_EQ(0, buffer_open(self->node, DRAY_HEAP_ANY, SIZE, &self->src));
	ASSERT_EQ(0, buffer_open(self->node, DRAY_HEAP_ANY, SIZE, &self->dst));
	fill_random(self->src.bytes, SIZE, 11);
	memset(self->dst.bytes, GUARD, SIZE);
	ASSERT_EQ(0, line_open(self->node, self->tx, 1, &self->sent));
	ASSERT_EQ(0, line_open(self->node, self->rx, 1, &self->received));
}

FIXTURE_TEARDOWN(axidma)
{
	line_close(&self->received);
	line_close(&self->sent);
	buffer_close(&self->src);
	buffer_close(&self->dst);
	EXPECT_EQ(0, ledger_differences(&self->before));
	close(self->node);
}

/* The point's number, or a negative errno. */
static inline int64_t submit(FIXTURE_DATA(axidma) * self,
		      const struct dray_transfer *transfer,
		      uint64_t deadline_ns)
{
	struct dray_submit args =
		SUBMIT_OF(transfer->op == DRAY_OP_SEND ? self->tx : self->rx,
			  transfer, 1, .deadline_ns = deadline_ns,
			  .flags = DRAY_SUBMIT_NO_FENCE, .fence_fd = -1);
	int ret = node_call(self->node, DRAY_IOC_SUBMIT, &args);

	return ret ? ret : (int64_t)args.point;
}

static inline int64_t send_bytes(FIXTURE_DATA(axidma) * self, uint64_t at,
			  uint64_t bytes)
{
	struct dray_transfer transfer = SEND_OF(self->src.fd, at, bytes);

	return submit(self, &transfer, 0);
}

static inline int64_t receive_bytes(FIXTURE_DATA(axidma) * self, uint64_t at,
			     uint64_t bytes, uint64_t deadline_ns)
{
	struct dray_transfer transfer = RECV_OF(self->dst.fd, at, bytes);

	return submit(self, &transfer, deadline_ns);
}

/* Has @dst from @at on the inverted bytes of @src, between guards? */
static inline bool inverted(FIXTURE_DATA(axidma) * self, uint64_t from, uint64_t at,
		     uint64_t bytes)
{
	uint64_t start = at < GUARDS ? 0 : at - GUARDS, end = at + bytes;

	for (uint64_t i = 0; i < bytes; i++)
		if (self->dst.bytes[at + i] !=
		    (uint8_t)~self->src.bytes[from + i])
			return false;
	return first_other_byte(self->dst.bytes + start, at - start, GUARD) ==
		       -1 &&
	       first_other_byte(self->dst.bytes + end, GUARDS, GUARD) == -1;
}

/* A packet passes, as a sign that both directions live. */
static inline bool passes(FIXTURE_DATA(axidma) * self)
{
	int64_t in, out;

	memset(self->dst.bytes, GUARD, 8192);
	in = receive_bytes(self, 0, 4096, 0);
	out = send_bytes(self, 0, 4096);
	return in > 0 && out > 0 &&
	       line_bytes(&self->sent, (uint64_t)out) == 4096 &&
	       line_bytes(&self->received, (uint64_t)in) == 4096 &&
	       inverted(self, 0, 0, 4096);
}

#endif /* STREAMS_AXIDMA_H */
