// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Knobs and counters of the engine of streams, in
 * /sys/module/dray_test_stream/parameters.  Some knobs are bits of channels:
 * 1 tx0, 2 rx0, 4 tx1, 8 rx1; counters of channels are lists in this order.
 */
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sizes.h>

#include "dray_test_stream.h"

struct stream_knobs stream_knobs = {
	.mask_bits = 64,
	.max_segment = SZ_64K,
	.fifo = SZ_16K,
	.slots = 64,
	.frame_bytes = SZ_4K,
};

#define STREAM_KNOB(name, type, mode, text)                      \
	module_param_named(name, stream_knobs.name, type, mode); \
	MODULE_PARM_DESC(name, text)
#define STREAM_COUNTER(name, type, text)                                     \
	module_param_array_named(name, stream_knobs.name, type, NULL, 0444); \
	MODULE_PARM_DESC(name, text)

/* As the engine is made. */
STREAM_KNOB(mask_bits, uint, 0444, "bits of the addresses that it reaches");
STREAM_KNOB(align_shift, uint, 0444, "addresses and lengths: multiples of 2^N");
STREAM_KNOB(max_segment, uint, 0444, "bytes of one segment");
STREAM_KNOB(max_pieces, uint, 0444, "segments of a descriptor; 0: no limit");
STREAM_KNOB(fifo, uint, 0444, "bytes between a sender and its receiver");
STREAM_KNOB(batches, bool, 0444,
	    "takes up all that is issued, when idle, and reports it at its end");
STREAM_KNOB(no_residue, bool, 0444, "it cannot tell how many bytes came");
STREAM_KNOB(no_terminate, bool, 0444, "it has no function that stops it");
STREAM_KNOB(vectors, bool, 0444,
	    "it takes vectors of addresses too, if the kernel has them");
STREAM_KNOB(given, bool, 0444, "the node is given the channels, not names");

/* While it runs. */
STREAM_KNOB(stall, uint, 0644, "channels that move nothing");
STREAM_KNOB(fail, uint, 0644, "channels whose descriptors end with an error");
STREAM_KNOB(lose, uint, 0644, "channels that never call back");
STREAM_KNOB(stubborn, uint, 0644, "channels that refuse to stop, and go on");
STREAM_KNOB(slots, uint, 0644, "segments that a channel has; 0: none");
STREAM_KNOB(late_ms, uint, 0644, "milliseconds before a callback");
STREAM_KNOB(split, uint, 0644, "a packet ends after so many bytes, too");
STREAM_KNOB(join, uint, 0644, "so many packets of a sender become one");
STREAM_KNOB(
	unfinished, uint, 0644,
	"1: a batch is reported before its last descriptor, which is lost; 2: which is done later");
STREAM_KNOB(by_segment, bool, 0644,
	    "a packet ends the receiver's segment, not its descriptor");
STREAM_KNOB(siblings, bool, 0644,
	    "stopping a channel halts its pair's other one, without a report");

/* For reading. */
STREAM_COUNTER(descriptors, uint, "descriptors that were done");
STREAM_COUNTER(out, uint, "descriptors that are issued and not done");
STREAM_COUNTER(bytes, ulong, "bytes that were moved");
STREAM_COUNTER(packets, uint, "packets that came into the FIFO of each pair");
STREAM_COUNTER(terminated, uint, "how often it was stopped");
STREAM_COUNTER(unprepared, uint, "descriptors that were refused");
STREAM_KNOB(most, uint, 0644,
	    "descriptors that were taken up at once, at most");
STREAM_KNOB(frames, ulong, 0444, "frames that the source has made");
STREAM_KNOB(held_back, ulong, 0444, "frames that were due and had to wait");
STREAM_KNOB(restless, uint, 0644,
	    "descriptors that it had or got while the system slept");

/* "PAIR BYTES" */
static int inject_set(const char *text, const struct kernel_param *param)
{
	unsigned int pair, length;

	if (sscanf(text, "%u %u", &pair, &length) != 2 ||
	    pair >= STREAM_PAIRS || !length)
		return -EINVAL;
	return stream_device_inject(pair, length);
}

static const struct kernel_param_ops inject_ops = { .set = inject_set };
module_param_cb(inject, &inject_ops, NULL, 0200);
MODULE_PARM_DESC(inject,
		 "writing \"PAIR BYTES\" makes a packet for a receiver");

static int empty_set(const char *text, const struct kernel_param *param)
{
	return stream_device_empty();
}

static const struct kernel_param_ops empty_ops = { .set = empty_set };
module_param_cb(empty, &empty_ops, NULL, 0200);
MODULE_PARM_DESC(empty,
		 "writing drops the bytes between senders and receivers");

static int frame_bytes_set(const char *text, const struct kernel_param *param)
{
	unsigned int value;
	int ret = kstrtouint(text, 0, &value);

	if (ret || value < sizeof(u64))
		return ret ? ret : -EINVAL;
	WRITE_ONCE(stream_knobs.frame_bytes, value);
	return 0;
}

static const struct kernel_param_ops frame_bytes_ops = {
	.set = frame_bytes_set,
	.get = param_get_uint,
};

module_param_cb(frame_bytes, &frame_bytes_ops, &stream_knobs.frame_bytes, 0644);
MODULE_PARM_DESC(frame_bytes,
		 "bytes of a frame that rx1 gets without a sender");

static int frame_us_set(const char *text, const struct kernel_param *param)
{
	int ret = param_set_uint(text, param);

	/* One that is not bound yet begins when it is. */
	if (!ret && stream_knobs.frame_us)
		stream_device_frames();
	return ret;
}

static const struct kernel_param_ops frame_us_ops = {
	.set = frame_us_set,
	.get = param_get_uint,
};

module_param_cb(frame_us, &frame_us_ops, &stream_knobs.frame_us, 0644);
MODULE_PARM_DESC(frame_us, "microseconds from one frame to the next; 0: none");
