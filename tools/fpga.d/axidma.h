/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The AXI DMA as a state machine over shared memory.  It knows neither QEMU nor
 * sockets: main.c connects it to both, and its unit tests to neither.
 */
#ifndef DRAY_FPGA_AXIDMA_H
#define DRAY_FPGA_AXIDMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control.h"
#include "registers.h"

#define AXIDMA_PREFETCH 4 /* descriptors that the core reads ahead */

enum axidma_direction { MM2S, S2MM, AXIDMA_DIRECTIONS };

struct axidma_descriptor {
	uint64_t address; /* its own */
	uint64_t buffer;
	uint32_t length;
	bool ends_packet; /* EOF in its control word; MM2S only */
};

/* The world around the core. */
struct axidma_ports {
	/*
	 * Passes up to @length bytes to the stream and returns the count it
	 * accepted.  @last belongs to the last byte and counts only if all are
	 * accepted.
	 */
	size_t (*send)(void *context, const uint8_t *bytes, size_t length,
		       bool last);

	/*
	 * Receives up to @room bytes of the stream.  Sets @last if the packet ends
	 * with them, which may be without a byte.
	 */
	size_t (*receive)(void *context, uint8_t *bytes, size_t room,
			  bool *last);

	/* Resets the stream: bytes on their way are lost. */
	void (*reset)(void *context);

	/* Raises the interrupt of a direction, an edge. */
	void (*interrupt)(void *context, enum axidma_direction direction);
};

struct axidma_channel {
	enum axidma_direction direction;
	uint32_t *registers;
	struct fpga_channel *control;

	uint32_t status; /* DMASR without SG and threshold */
	uint32_t events; /* interrupt bits that join it */
	uint32_t shown;	 /* DMASR as the model wrote it last */
	uint32_t signalled; /* interrupt bits with an edge so far */
	uint32_t lost;	 /* bits of signalled without an edge: it was lost */
	uint32_t threshold; /* as software set it */
	uint32_t countdown; /* packets until IOC */
	uint64_t silent_since; /* time of a packet's end, in ns; 0: no timer */

	bool running;
	bool paused;	/* the tail was fetched, or none was set */
	bool fetched;	/* @newest is valid */
	uint64_t tail;
	uint64_t next;	/* descriptor to fetch */
	uint64_t newest; /* descriptor fetched last */
	uint64_t current; /* CURDESC while running */

	struct axidma_descriptor queue[AXIDMA_PREFETCH];
	unsigned int queued;
	size_t done;	/* bytes of queue[0] */
	size_t packet;	/* bytes of the packet so far */
	bool in_packet;
};

struct axidma {
	/* set by the caller */
	uint8_t *memory; /* the guest's, from physical address 0 */
	uint64_t size;
	uint64_t clock; /* Hz, for the delay timer */
	unsigned int width; /* bytes of a stream word */
	unsigned int prefetch; /* 1 to AXIDMA_PREFETCH */
	const struct axidma_ports *ports;
	void *context;

	struct fpga_control *control;
	struct axidma_channel channel[AXIDMA_DIRECTIONS];
};

/* Presets registers and control block; the memory must hold the window. */
void axidma_init(struct axidma *core);

/*
 * Looks at the registers and advances each direction by a piece.  @now is a clock
 * in ns.  Returns false if nothing changed.
 */
bool axidma_step(struct axidma *core, uint64_t now);

/* Whether only the stream stops this direction. */
bool axidma_waits(const struct axidma *core, enum axidma_direction direction);

/* Returns the running directions' count: 0 lets the caller look less often. */
unsigned int axidma_running(const struct axidma *core);

#endif /* DRAY_FPGA_AXIDMA_H */
