/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The window between the guest and the model of the AXI DMA: 64 KiB at the end of
 * the board's memory, which the device tree keeps out of the kernel's map.  Page 0
 * holds the core's registers.  Page 1 holds this control block: a test sets faults
 * in it and reads counters.  The model presets all of it before the guest boots.
 * Page 2 holds the registers of the IP, which the IP and the guest read and write.
 *
 * Guest programs map it from /dev/mem; a shell uses "devmem 0x3fff1040 32 1".  All
 * words are little-endian and are read and written as a whole.
 */
#ifndef DRAY_FPGA_CONTROL_H
#define DRAY_FPGA_CONTROL_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
#endif

#define FPGA_WINDOW 0x3fff0000 /* physical address of the registers */
#define FPGA_CONTROL 0x3fff1000 /* of struct fpga_control */
#define FPGA_REGISTERS 0x3fff2000 /* of the IP */
#define FPGA_REGISTERS_SIZE 0x1000
#define FPGA_WINDOW_SIZE 0x10000

#define FPGA_MAGIC 0x41475046 /* "FPGA" */
#define FPGA_VERSION 1

/* A direction of the core, of 64 bytes. */
struct fpga_channel {
	/*
	 * Faults, written by the test.  The model resets a fault that concerns a
	 * single event to 0 after the event.
	 */
	uint32_t stall;	     /* nonzero: the stream stands still */
	uint32_t end_early;  /* TLAST after this many bytes of the packet; the
				rest is a packet of its own */
	uint32_t end_late;   /* this many packets lose their TLAST */
	uint32_t error;	     /* error bits of DMASR for the next descriptor,
				0x10 to 0x40; with 0x1000, IOC at the same time */
	uint32_t lose_interrupts; /* this many do not arrive */
	uint32_t spare[3];

	/* Counters, written by the model; they wrap. */
	uint32_t descriptors; /* completed */
	uint32_t packets;     /* ended by TLAST */
	uint32_t interrupts;  /* raised, without lost interrupts */
	uint32_t lost;	      /* interrupts lost by the fault */
	uint32_t held;	      /* frames that the IP held back (S2MM) */
	uint32_t unaligned;   /* buffers that do not start at a word of the
				 stream: undefined if the core lacks a
				 realignment engine */
	uint64_t bytes;	      /* moved between memory and stream */
};

struct fpga_control {
	uint32_t magic;	  /* FPGA_MAGIC */
	uint32_t version; /* FPGA_VERSION */
	uint32_t deaf;	  /* fault: nonzero: the core never answers.  It neither
			     serves, stops nor resets */
	uint32_t resets;  /* counter: each of both directions */
	uint32_t replace; /* nonzero: ends the IP and starts the next IP of the
			     command line; then 0 again.  The stream must be
			     silent */
	uint32_t interrupts; /* counter: interrupts that the IP asked for */
	uint32_t raised; /* counter: of these, those that were raised */
	uint32_t spare[9];
	struct fpga_channel mm2s; /* memory to stream, at +0x40 */
	struct fpga_channel s2mm; /* stream to memory, at +0x80 */
};

#endif /* DRAY_FPGA_CONTROL_H */
