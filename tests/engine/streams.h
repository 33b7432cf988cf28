/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The fixture of tests with the engine of streams: its knobs, two buffers, and
 * timelines.  Needs dray.ko, then dray_test_stream.ko, whose node is /dev/dray0.
 * The node comes fresh to each test, and all memory is back after it.
 *
 * With STREAM_AXIDMA, the engine is the AXI DMA of tools/fpga with a loop-back as
 * IP (suite streams).  A test that needs a knob which that lacks is skipped.
 */
#ifndef ENGINE_STREAMS_H
#define ENGINE_STREAMS_H

#include <sys/eventfd.h>

#include "../selftests/binding.h"
#include "../selftests/fence.h"
#include "../selftests/ledger.h"
#include "../selftests/process.h"
#include "../selftests/setup.h"
#include "../selftests/timeline.h"

#define STREAM_SIZE (256 * 1024)
#define STREAM_GUARD 0xa5

/* Channels, in the order of the node and of the knobs. */
enum { TX0, RX0, TX1, RX1, STREAM_CHANNELS };

#ifdef STREAM_AXIDMA
#include "../streams/axidma_knobs.h"
#else
#include "stream_knobs.h"
#endif

/* Does the engine count whole pieces only, as the AXI DMA? */
static inline bool stream_is_coarse(void)
{
	return stream_read("axidma", 0) == 1;
}

#define NEED_KNOB(name) \
	SKIP_IF(!stream_has(name), "this engine has no knob \"" name "\"")

FIXTURE(stream)
{
	int node;
	struct dray_info info;
	struct ledger before;
	struct binding binding;
	struct buffer src; /* random bytes */
	struct buffer dst; /* guard bytes */
	struct line tx;
	struct line rx; /* of the first pair, unless the test opens others */
	bool loses; /* memory is out of use for good after the test */
};

/* A fresh node, without timelines. */
static inline const char *stream_begin(FIXTURE_DATA(stream) * self)
{
	if (stream_knobs_reset())
		return "the knobs cannot be set";
	if (!wait_for(node_answers, NULL))
		return "there is no node";
	self->node = node_open();
	if (self->node < 0 || node_info(self->node, &self->info) ||
	    self->info.channel_count < STREAM_CHANNELS)
		return "the node is not that of the engine of streams";
	if (ledger_take(self->node, &self->before) ||
	    binding_find(self->node, &self->binding) ||
	    buffer_open(self->node, DRAY_HEAP_ANY, STREAM_SIZE, &self->src) ||
	    buffer_open(self->node, DRAY_HEAP_ANY, STREAM_SIZE, &self->dst))
		return "there are no buffers";
	fill_random(self->src.bytes, STREAM_SIZE, 11);
	memset(self->dst.bytes, STREAM_GUARD, STREAM_SIZE);
	return NULL;
}

FIXTURE_SETUP(stream)
{
	ASSERT_EQ(NULL, stream_begin(self))
	{
		TH_LOG("%s", stream_begin(self));
	}
}

FIXTURE_TEARDOWN_PARENT(stream)
{
	EXPECT_EQ(0, stream_knobs_reset());
	binding_unbind(&self->binding);
	EXPECT_EQ(0, binding_bind(&self->binding));
	if (!self->loses)
		EXPECT_EQ(0, ledger_reclaimed_differences(&self->before));
}

/* Opens both directions of the first pair. */
static inline int stream_open(FIXTURE_DATA(stream) * self, uint32_t batch)
{
	int ret = line_open(self->node, TX0, batch, &self->tx);

	return ret ? ret : line_open(self->node, RX0, batch, &self->rx);
}

/* Without a fence if @deadline_ns is 0. */
static inline int stream_submit(FIXTURE_DATA(stream) * self, uint32_t channel,
				const struct dray_transfer *transfers,
				uint32_t count, uint64_t deadline_ns,
				struct dray_submit *submit)
{
	*submit = (struct dray_submit)SUBMIT_OF(
		channel, transfers, count, .deadline_ns = deadline_ns,
		.flags = deadline_ns ? 0 : DRAY_SUBMIT_NO_FENCE,
		.fence_fd = -1);
	return node_call(self->node, DRAY_IOC_SUBMIT, submit);
}

/* One piece; the point's number or a negative errno. */
static inline int64_t stream_send(FIXTURE_DATA(stream) * self, uint64_t at,
				  uint64_t bytes)
{
	struct dray_transfer transfer = SEND_OF(self->src.fd, at, bytes);
	struct dray_submit submit;
	int ret = stream_submit(self, TX0, &transfer, 1, 0, &submit);

	return ret ? ret : (int64_t)submit.point;
}

static inline int64_t stream_receive(FIXTURE_DATA(stream) * self, uint64_t at,
				     uint64_t bytes)
{
	struct dray_transfer transfer = RECV_OF(self->dst.fd, at, bytes);
	struct dray_submit submit;
	int ret = stream_submit(self, RX0, &transfer, 1, 0, &submit);

	return ret ? ret : (int64_t)submit.point;
}

/* Sends bytes and has them received, as a sign that both directions live. */
static inline int stream_passes(FIXTURE_DATA(stream) * self)
{
	int64_t in, out;

	memset(self->dst.bytes, STREAM_GUARD, 4096);
	in = stream_receive(self, 0, 4096);
	out = stream_send(self, 0, 4096);
	if (in < 0 || out < 0)
		return (int)(in < 0 ? in : out);
	out = line_bytes(&self->tx, (uint64_t)out);
	in = line_bytes(&self->rx, (uint64_t)in);
	if (in != 4096 || out != 4096)
		return in < 0 ? (int)in : out < 0 ? (int)out : -EMSGSIZE;
	return first_difference(self->src.bytes, self->dst.bytes, 4096) == -1
		       ? 0
		       : -EBADMSG;
}

/* For wait_for(): has the engine so many descriptors of the channel? */
struct engine_share {
	unsigned int channel;
	long count;
};

static inline bool engine_has(void *context)
{
	const struct engine_share *share = context;

	return stream_read("out", share->channel) == share->count;
}

static inline bool engine_gets(unsigned int channel, long count)
{
	struct engine_share share = { channel, count };

	return wait_for(engine_has, &share);
}

/* For wait_for(): was the engine asked since? */
static inline bool engine_was_asked(void *context)
{
	const struct engine_share *before = context;

	return stream_read("asked", before->channel) > before->count;
}

/* For wait_for(): has the channel moved so many bytes since it was loaded? */
static inline bool engine_has_moved(void *context)
{
	const struct engine_share *share = context;

	return stream_read("bytes", share->channel) >= share->count;
}

static inline int stream_cancel(FIXTURE_DATA(stream) * self, uint32_t channel,
				uint64_t point)
{
	struct dray_cancel cancel = { .fence_fd = -1,
				      .channel = channel,
				      .point = point };
	int ret = node_call(self->node, DRAY_IOC_CANCEL, &cancel);

	return ret ? ret : (int)cancel.count;
}

/* Drops packets on the way.  An AXI DMA does so if it is stopped. */
static inline int stream_empty(FIXTURE_DATA(stream) * self)
{
	int64_t point;
	int status = 0;

	if (stream_has("empty"))
		return stream_knob("empty", 1);
	/* A packet on the way ends the receive instead. */
	while (!status) {
		point = stream_receive(self, 0, 4096);
		if (point < 0)
			return (int)point;
		while (line_completed(&self->rx) < (uint64_t)point &&
		       stream_read("out", RX0) < 1)
			;
		stream_cancel(self, RX0, (uint64_t)point);
		status = line_status(&self->rx, (uint64_t)point);
	}
	return status == -ECANCELED ? 0 : status;
}

#endif
