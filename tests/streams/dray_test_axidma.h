/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared by the parts of dray_test_axidma.ko, which tests the kernel's xilinx_dma.c
 * on the board of tools/fpga with the IP "invert": dray relies on these facts.
 */
#ifndef DRAY_TEST_AXIDMA_H
#define DRAY_TEST_AXIDMA_H

#include <linux/completion.h>
#include <linux/dmaengine.h>
#include <linux/io.h>
#include <linux/types.h>

#include <control.h>

#define STREAM_AREA 0x200000 /* bytes to send from, and as many to receive in */
#define STREAM_PATIENCE 20000 /* ms, for things that must happen */
#define STREAM_SILENCE 200 /* ms, for things that must not */
#define STREAM_SEGMENTS 32

enum stream_direction {
	TX,
	RX
};

/* The driver differs; Kbuild has the kernel's version, as 6001. */
#define XILINX_MERGES (XILINX_KERNEL >= 6006) /* as driver/Makefile assumes */
#define XILINX_APPENDS (XILINX_KERNEL >= 7000) /* read in 7.3 */
#define XILINX_SEGMENTS (XILINX_MERGES ? 512 : 255) /* of a channel */

/* What one transfer has become; valid until the next stream_cleanup(). */
struct stream_transfer {
	struct completion done;
	dma_cookie_t cookie;
	enum dmaengine_tx_result result;
	u32 residue;
};

struct stream_segment {
	u32 offset; /* in the direction's area */
	u32 length;
};

struct stream {
	struct dma_chan *channel[2]; /* by enum stream_direction */
	struct device *device; /* maps the memory */
	u8 *memory; /* the area of TX, then that of RX */
	dma_addr_t address;
	struct fpga_control __iomem *control;
	const char *failed; /* the check that failed first, or NULL */
	int line;
	u64 is, should; /* its values */
};

struct stream_fact {
	const char *name;
	void (*run)(struct stream *stream);
};

extern const struct stream_fact stream_facts[];
extern const unsigned int stream_fact_count;
extern const struct stream_fact stream_faults[];
extern const unsigned int stream_fault_count;

/* Notes the first check of a fact that fails, and leaves the function. */
#define CHECK(stream, is, should)                                         \
	do {                                                              \
		u64 value = (u64)(is), other = (u64)(should);             \
                                                                          \
		if (value != other) {                                     \
			stream_fail(stream, #is " is " #should, __LINE__, \
				    value, other);                        \
			return;                                           \
		}                                                         \
	} while (0)

void stream_fail(struct stream *stream, const char *check, int line, u64 is,
		 u64 should);

/* Words of the control block, as mm2s.stall. */
#define FAULT(stream, word, value) writel(value, &(stream)->control->word)
#define COUNTER(stream, word) readl(&(stream)->control->word)

static inline u8 *stream_area(struct stream *stream,
			      enum stream_direction direction)
{
	return stream->memory + (direction == RX ? STREAM_AREA : 0);
}

/* Submits a transfer of segments without starting it; -ENOMEM or -EIO. */
int stream_submit(struct stream *stream, enum stream_direction direction,
		  const struct stream_segment *segments, unsigned int count,
		  struct stream_transfer *transfer);

/* The same with one segment. */
int stream_submit_one(struct stream *stream, enum stream_direction direction,
		      u32 offset, u32 length, struct stream_transfer *transfer);

/* Starts all that is submitted. */
void stream_start(struct stream *stream, enum stream_direction direction);

/* Waits for the callback; false if it does not come in @milliseconds. */
bool stream_wait(struct stream_transfer *transfer, unsigned int milliseconds);

/* Sends one packet and waits until it is out; false after a failed check. */
bool stream_send(struct stream *stream, u32 offset, u32 length);

/* One packet each way through one descriptor each; false after a failed check. */
bool stream_round(struct stream *stream, u32 length);

/* The index of the first byte that is not the inverted one, or @length. */
u32 stream_wrong(struct stream *stream, u32 sent, u32 received, u32 length);

/* Fills the area of TX with bytes that depend on @seed, that of RX with 0x55. */
void stream_fill(struct stream *stream, u32 seed);

/* Ends all transfers and clears all faults. */
void stream_cleanup(struct stream *stream);

#endif
