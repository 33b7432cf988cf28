/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the two parts of the model: axidma.c, registers, and serve.c, data. */
#ifndef DRAY_FPGA_SERVE_H
#define DRAY_FPGA_SERVE_H

#include "axidma.h"

static inline uint32_t axidma_load(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void axidma_store(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* Replaces @before by @after; false if the word had another value. */
bool axidma_swap(uint32_t *word, uint32_t before, uint32_t after);

/* Sets interrupt bits of the status. */
void axidma_raise(struct axidma_channel *channel, uint32_t irqs);

/* Counts a descriptor that ended a packet, for threshold and delay timer. */
void axidma_packet_done(struct axidma_channel *channel, uint64_t now);

/* Halts the channel with error bits; @descriptor becomes CURDESC. */
void axidma_fail(struct axidma_channel *channel, uint32_t errors,
		 uint64_t descriptor);

/* Fetches descriptors and moves one piece; returns false if nothing changed. */
bool axidma_serve(struct axidma *core, struct axidma_channel *channel,
		  uint64_t now);

#endif /* DRAY_FPGA_SERVE_H */
