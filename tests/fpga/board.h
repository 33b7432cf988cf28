/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The world around a model of the AXI DMA: memory, a stream and counted interrupts. */
#ifndef DRAY_TESTS_FPGA_BOARD_H
#define DRAY_TESTS_FPGA_BOARD_H

#include "axidma.h"

#define BOARD_CHAIN 0x10000 /* address of a direction's first descriptor */
#define BOARD_BUFFER 0x100000 /* address of a direction's buffers */
#define BOARD_MOST 16

/* A packet on the stream, or a part of it. */
struct board_piece {
	size_t length;
	bool last;
};

struct board {
	struct axidma core;
	uint64_t time; /* ns */

	/* out of the core */
	struct board_piece sent[64];
	unsigned int sent_count;
	size_t room; /* bytes that the stream takes; SIZE_MAX: any */
	uint8_t sent_bytes[65536];
	size_t sent_size;

	/* into the core: byte i of the stream is i */
	struct board_piece waiting[BOARD_MOST];
	unsigned int waiting_count;
	size_t taken; /* bytes of the first one */
	size_t position; /* bytes since the start */

	unsigned int interrupts[AXIDMA_DIRECTIONS];
	unsigned int resets;
};

/* A board that is switched on; free it by board_free(). */
struct board *board_new(void);
void board_free(struct board *board);

uint32_t board_read(struct board *board, enum axidma_direction direction,
		    unsigned int word);
void board_write(struct board *board, enum axidma_direction direction,
		 unsigned int word, uint32_t value);

/* Lets the core work until nothing changes. */
void board_run(struct board *board);

/* Words of a descriptor by its index. */
uint32_t *board_descriptor(struct board *board, enum axidma_direction direction,
			   unsigned int index);
uint32_t board_address(enum axidma_direction direction, unsigned int index);

/*
 * Chains descriptors with buffers of these lengths, one after the other, in a ring.
 * MM2S: all are one packet.
 */
void board_chain(struct board *board, enum axidma_direction direction,
		 const uint32_t *lengths, unsigned int count);

/* Starts at the first descriptor with all interrupts, as the driver does. */
void board_start(struct board *board, enum axidma_direction direction,
		 unsigned int threshold);

/* Sets the tail to this descriptor and lets the core work. */
void board_tail(struct board *board, enum axidma_direction direction,
		unsigned int index);

/* Puts a packet on the stream into the core. */
void board_packet(struct board *board, size_t length);

#endif /* DRAY_TESTS_FPGA_BOARD_H */
