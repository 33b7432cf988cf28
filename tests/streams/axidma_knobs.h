/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The AXI DMA of tools/fpga in place of dray_test_stream.ko, for programs of
 * tests/engine: its model has some of the knobs.
 */
#ifndef STREAMS_AXIDMA_KNOBS_H
#define STREAMS_AXIDMA_KNOBS_H

#include "model.h"

#define STREAM_DRIVER "/sys/bus/platform/drivers/xilinx-vdma/"
#define STREAM_ENGINE "3fff0000.dma-controller"
#define STREAM_ASLEEP "" /* its node sleeps with the system only */

/* For a source as IP, which has neither knob. */
#define SOURCE RX0
#define SOURCE_BYTES 4096

static inline bool stream_has(const char *knob)
{
	static const char *const knobs[] = { "stall", "stubborn", "out" };

	for (size_t i = 0; i < sizeof(knobs) / sizeof(knobs[0]); i++)
		if (!strcmp(knob, knobs[i]))
			return true;
	return false;
}

/* No test that is not skipped needs one with text. */
static inline int stream_text(const char *knob, const char *text)
{
	(void)knob;
	(void)text;
	return -ENOENT;
}

static inline int stream_knob(const char *knob, unsigned int value)
{
	volatile struct fpga_control *model = model_map();

	if (!model || model->magic != FPGA_MAGIC)
		return -ENODEV;
	if (!strcmp(knob, "stall")) {
		model->mm2s.stall = value & 1u << TX0;
		model->s2mm.stall = value & 1u << RX0;
	} else if (!strcmp(knob, "stubborn")) {
		model->deaf = value;
	}
	munmap((void *)model, 4096);
	return stream_has(knob) || !strncmp(knob, "frame", 5) ? 0 : -ENOENT;
}

static inline int stream_knobs_reset(void)
{
	int ret = stream_knob("stall", 0);

	return ret ? ret : stream_knob("stubborn", 0);
}

static inline long stream_read(const char *knob, unsigned int channel)
{
	if (!strcmp(knob, "out"))
		return engine_out(channel);
	if (!strcmp(knob, "merges"))
		return engine_merges();
	return !strcmp(knob, "axidma") || !strcmp(knob, "blind");
}

#endif
