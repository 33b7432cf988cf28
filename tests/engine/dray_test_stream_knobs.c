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

/* As the engine is made. */
module_param_named(mask_bits, stream_knobs.mask_bits, uint, 0444);
MODULE_PARM_DESC(mask_bits, "bits of the addresses that it reaches");
module_param_named(align_shift, stream_knobs.align_shift, uint, 0444);
MODULE_PARM_DESC(align_shift, "addresses and lengths: multiples of 2^N");
module_param_named(max_segment, stream_knobs.max_segment, uint, 0444);
MODULE_PARM_DESC(max_segment, "bytes of one segment");
module_param_named(fifo, stream_knobs.fifo, uint, 0444);
MODULE_PARM_DESC(fifo, "bytes between a sender and its receiver");
module_param_named(batches, stream_knobs.batches, bool, 0444);
MODULE_PARM_DESC(batches, "takes up all when idle, and reports it at its end");
module_param_named(axidma, stream_knobs.axidma, bool, 0444);
MODULE_PARM_DESC(axidma, "AXI DMA: says so, with batches siblings blind deaf");
module_param_named(merges, stream_knobs.merges, bool, 0444);
MODULE_PARM_DESC(merges, "AXI DMA: a short packet ends its last segment only");
module_param_named(no_residue, stream_knobs.no_residue, bool, 0444);
MODULE_PARM_DESC(no_residue, "it cannot tell how many bytes came");
module_param_named(no_terminate, stream_knobs.no_terminate, bool, 0444);
MODULE_PARM_DESC(no_terminate, "it has no function that stops it");
module_param_named(given, stream_knobs.given, bool, 0444);
MODULE_PARM_DESC(given, "the node is given the channels, not names");

module_param_named(shared, stream_knobs.shared, bool, 0444);
MODULE_PARM_DESC(shared, "the node's driver keeps rx1 for itself");
module_param_named(shows, stream_knobs.shows, bool, 0444);
MODULE_PARM_DESC(shows,
		 "senders only repeat rows, and the first one is display0");

/* While it runs. */
module_param_named(stall, stream_knobs.stall, uint, 0644);
MODULE_PARM_DESC(stall, "channels that move nothing");
module_param_named(fail, stream_knobs.fail, uint, 0644);
MODULE_PARM_DESC(fail, "channels whose descriptors end with an error");
module_param_named(lose, stream_knobs.lose, uint, 0644);
MODULE_PARM_DESC(lose, "channels that never call back");
module_param_named(stubborn, stream_knobs.stubborn, uint, 0644);
MODULE_PARM_DESC(stubborn, "channels that refuse to stop, and go on");
module_param_named(slots, stream_knobs.slots, uint, 0644);
MODULE_PARM_DESC(slots, "segments that a channel has; 0: none");
module_param_named(late_ms, stream_knobs.late_ms, uint, 0644);
MODULE_PARM_DESC(late_ms, "milliseconds before a callback");
module_param_named(split, stream_knobs.split, uint, 0644);
MODULE_PARM_DESC(split, "a packet ends after so many bytes, too");
module_param_named(join, stream_knobs.join, uint, 0644);
MODULE_PARM_DESC(join, "so many packets of a sender become one");
module_param_named(unfinished, stream_knobs.unfinished, bool, 0644);
MODULE_PARM_DESC(unfinished, "batches end without their last");
module_param_named(siblings, stream_knobs.siblings, bool, 0644);
MODULE_PARM_DESC(siblings,
		 "stopping a channel halts the other of its pair, silently");
module_param_named(blind, stream_knobs.blind, bool, 0644);
MODULE_PARM_DESC(blind, "the residue of each is that of the last taken up");
module_param_named(refuse_config, stream_knobs.refuse_config, bool, 0644);
MODULE_PARM_DESC(refuse_config, "it takes no FIFO");
module_param_named(deaf, stream_knobs.deaf, bool, 0644);
MODULE_PARM_DESC(deaf, "stopping a stubborn one succeeds, then it takes none");

module_param_named(hold, stream_knobs.hold, uint, 0644);
MODULE_PARM_DESC(hold, "channels whose stop lasts, for at most a minute");
module_param_named(ask, stream_knobs.ask, uint, 0644);
MODULE_PARM_DESC(ask, "channels that tell late, within a minute, their place");
module_param_named(chains, stream_knobs.chains, bool, 0644);
MODULE_PARM_DESC(chains, "what is issued joins what runs, as in Linux 7.3");

/* For reading. */
module_param_array_named(descriptors, stream_knobs.descriptors, uint, NULL,
			 0444);
MODULE_PARM_DESC(descriptors, "descriptors that were done");
module_param_array_named(out, stream_knobs.out, uint, NULL, 0444);
MODULE_PARM_DESC(out, "descriptors that are issued and not done");
module_param_array_named(bytes, stream_knobs.bytes, ulong, NULL, 0444);
MODULE_PARM_DESC(bytes, "bytes that were moved");
module_param_array_named(packets, stream_knobs.packets, uint, NULL, 0444);
MODULE_PARM_DESC(packets, "packets that came into the FIFO of each pair");
module_param_array_named(terminated, stream_knobs.terminated, uint, NULL, 0444);
MODULE_PARM_DESC(terminated, "how often it was stopped");
module_param_array_named(asked, stream_knobs.asked, uint, NULL, 0444);
MODULE_PARM_DESC(asked, "how often it was asked how far it is");
module_param_array_named(unprepared, stream_knobs.unprepared, uint, NULL, 0444);
MODULE_PARM_DESC(unprepared, "descriptors that were refused");
module_param_array_named(shown, stream_knobs.shown, uint, NULL, 0444);
MODULE_PARM_DESC(shown, "sum of the bytes that were shown last");
module_param_array_named(fifo_addresses, stream_knobs.fifo_addresses, ulong,
			 NULL, 0444);
MODULE_PARM_DESC(fifo_addresses,
		 "its FIFO, while a channel is in use; 0: none");
module_param_array_named(fifo_widths, stream_knobs.fifo_widths, uint, NULL,
			 0444);
MODULE_PARM_DESC(fifo_widths, "bytes of a word of it");
module_param_array_named(fifo_bursts, stream_knobs.fifo_bursts, uint, NULL,
			 0444);
MODULE_PARM_DESC(fifo_bursts, "words that it takes at a time");
module_param_named(frames, stream_knobs.frames, ulong, 0444);
MODULE_PARM_DESC(frames, "frames that the source has made");
module_param_named(held_back, stream_knobs.held_back, ulong, 0444);
MODULE_PARM_DESC(held_back, "frames that were due and had to wait");
module_param_named(restless, stream_knobs.restless, uint, 0644);
MODULE_PARM_DESC(restless,
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

static int sync_set(const char *text, const struct kernel_param *param)
{
	unsigned int count;
	int ret = kstrtouint(text, 0, &count);

	return ret ? ret : stream_device_sync(count);
}

static const struct kernel_param_ops sync_ops = { .set = sync_set };
module_param_cb(sync, &sync_ops, NULL, 0200);
MODULE_PARM_DESC(sync, "writing N makes N vertical syncs");

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
