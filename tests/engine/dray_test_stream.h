/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * An engine of streams for tests: two pairs of a sender and a receiver, each
 * with a FIFO between them, and a node of dray whose channels are "tx0", "rx0",
 * "tx1" and "rx1".  The CPU moves the bytes.  It can be told to stall, fail and
 * lose, and to behave as drivers of real engines do at their worst.
 *
 * A descriptor of a sender ends a packet.  A packet that is shorter than the
 * receiver's descriptor ends that; a longer one goes on in the next.
 *
 * With the knob "shows" its senders only repeat rows, and the first is "display0".
 */
#ifndef DRAY_TEST_STREAM_H
#define DRAY_TEST_STREAM_H

#include <linux/bits.h>
#include <linux/dmaengine.h>
#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/platform_device.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#define STREAM_PAIRS 2
#define STREAM_CHANNELS 4 /* tx0, rx0, tx1, rx1: those of a pair are 2n, 2n + 1 */
#define STREAM_COOKIES 1024 /* whose errors it remembers */
#define STREAM_PACKETS 256 /* that a FIFO holds at most */

/* Module parameters; dray_test_stream_knobs.c says what each is. */
struct stream_knobs {
	unsigned int mask_bits;
	unsigned int align_shift;
	unsigned int max_segment;
	unsigned int fifo;
	bool batches;
	bool axidma;
	bool merges;
	bool no_residue;
	bool no_terminate;
	bool given;
	bool shows;
	bool refuse_config;

	/* Bits of channels. */
	unsigned int stall;
	unsigned int fail;
	unsigned int lose;
	unsigned int stubborn;

	unsigned int slots;
	unsigned int late_ms;
	unsigned int split;
	unsigned int join;
	bool unfinished;
	bool siblings;
	bool blind;
	bool deaf;
	bool chains;
	bool shared;
	unsigned int hold;
	unsigned int ask;
	unsigned int frame_bytes;
	unsigned int frame_us;

	/* For reading. */
	unsigned int descriptors[STREAM_CHANNELS];
	unsigned int out[STREAM_CHANNELS];
	unsigned long bytes[STREAM_CHANNELS];
	unsigned int packets[STREAM_PAIRS];
	unsigned int terminated[STREAM_CHANNELS];
	unsigned int asked[STREAM_CHANNELS];
	unsigned int unprepared[STREAM_CHANNELS];
	unsigned int shown[STREAM_CHANNELS];
	unsigned long fifo_addresses[STREAM_CHANNELS];
	unsigned int fifo_widths[STREAM_CHANNELS];
	unsigned int fifo_bursts[STREAM_CHANNELS];
	unsigned long frames;
	unsigned long held_back;
	unsigned int restless;
};

extern struct stream_knobs stream_knobs;

struct stream_segment {
	dma_addr_t address;
	size_t length;
};

struct stream_descriptor {
	struct dma_async_tx_descriptor tx;
	struct list_head list;
	struct dmaengine_result result;
	size_t length; /* of all segments */
	size_t moved;
	bool ended; /* done, and reported at the end of its batch */
	bool silent; /* was reported before, and is not again */
	unsigned int segment; /* in which it goes on */
	size_t at; /* bytes of that */
	unsigned int count;
	struct stream_segment segments[];
};

struct stream_channel {
	struct dma_chan chan;
	struct list_head submitted; /* all below: under the pair's lock */
	struct list_head issued;
	struct list_head active; /* a batch, or one */
	struct list_head done; /* not called back yet */
	unsigned int used; /* segments that are not done */
	DECLARE_BITMAP(failed, STREAM_COOKIES); /* ended with an error; by cookie */
	bool halted; /* by the other one's end */
	bool paused;
	bool jammed; /* did not stop, and has not said so */
	unsigned int repetitions; /* that were not called back yet */
	dma_async_tx_callback repeat; /* of these */
	void *repeat_param;
	struct delayed_work report;
	struct tasklet_struct callbacks;
};

/* Bytes that come into a FIFO without a sender. */
struct stream_source {
	size_t length; /* of the packet under way; 0: none */
	size_t at;
	u64 number; /* of the frame, that its bytes tell */
};

struct stream_pair {
	spinlock_t lock; /* all below */
	struct stream_channel tx;
	struct stream_channel rx;
	struct stream_source source;
	struct delayed_work move;

	u8 *fifo;
	size_t size;
	u64 head; /* bytes that came in */
	u64 tail; /* bytes that went out */
	u64 ends[STREAM_PACKETS]; /* where packets end */
	unsigned int ends_head;
	unsigned int ends_tail;
	size_t since; /* bytes since the last end */
	unsigned int joined; /* packets without an end so far */
};

struct stream_engine {
	struct dma_device device;
	struct stream_pair pair[STREAM_PAIRS];
	struct work_struct frames; /* the numbered source */
	bool asleep;
};

static inline struct stream_channel *to_stream(struct dma_chan *chan)
{
	return container_of(chan, struct stream_channel, chan);
}

static inline struct stream_engine *stream_engine_of(struct dma_chan *chan)
{
	return container_of(chan->device, struct stream_engine, device);
}

static inline struct stream_pair *stream_pair_of(struct dma_chan *chan)
{
	return &stream_engine_of(chan)->pair[chan->chan_id / 2];
}

static inline bool stream_sends(const struct stream_channel *channel)
{
	return !(channel->chan.chan_id & 1);
}

/* Returns true if a knob of bits names this channel. */
static inline bool stream_is(const struct stream_channel *channel,
			     const unsigned int *knob)
{
	return READ_ONCE(*knob) & BIT(channel->chan.chan_id);
}

/* dray_test_stream_channel.c: the operations of a channel */
void stream_channel_init(struct stream_channel *channel,
			 struct dma_device *device);
void stream_channel_end(struct stream_channel *channel);
void stream_operations(struct dma_device *device);

/* dray_test_stream_report.c: descriptors that are done; under the pair's lock */
void stream_complete(struct stream_channel *channel,
		     struct stream_descriptor *descriptor,
		     enum dmaengine_tx_result result);
void stream_report_soon(struct stream_channel *channel);
void stream_report_init(struct stream_channel *channel);
void stream_report_end(struct stream_channel *channel);

/* dray_test_stream_flow.c: from the sender to the receiver */
int stream_pair_init(struct stream_pair *pair);
void stream_pair_end(struct stream_pair *pair);
void stream_pair_empty(struct stream_pair *pair);
void stream_wake(struct stream_pair *pair);

/* Has a packet of the pair made; -EBUSY: the last one is under way. */
int stream_inject(struct stream_pair *pair, size_t length, u64 number);

/* dray_test_stream_rows.c: rows that are repeated */
bool stream_rows_fit(const struct dma_interleaved_template *rows,
		     unsigned long flags);
void stream_sync(struct stream_pair *pair);

/* dray_test_stream_device.c; each does nothing without the engine: -ENODEV. */
int stream_device_empty(void);
int stream_device_sync(unsigned int count);
int stream_device_inject(unsigned int pair, size_t length);
int stream_device_frames(void);

/* dray_test_stream_node.c */
extern struct platform_driver stream_node_driver;

#define STREAM_NODE "dray-test-stream-node"

#endif /* DRAY_TEST_STREAM_H */
