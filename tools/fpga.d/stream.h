/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The AXI4-Stream between the model and the IP, which is any program that speaks
 * this.  It inherits a connected Unix socket of type SOCK_SEQPACKET, and finds its
 * number in the environment as DRAY_FPGA_STREAM.  Each message is a header and bytes.
 * Messages may divide a packet anywhere; FPGA_LAST ends it.  A full socket is a
 * TREADY that is low: the sender waits.
 *
 * DRAY_FPGA_MEMORY is the number of a file, the board's memory from address 0 on: the
 * IP maps its registers from it, and the control block with the counter of interrupts,
 * which it increments to raise its own (control.h).
 *
 * When the model sends FPGA_RESET, the IP drops the packet it works on and
 * answers with FPGA_RESET; everything it sent before is dropped.
 */
#ifndef DRAY_FPGA_STREAM_H
#define DRAY_FPGA_STREAM_H

#include <stdint.h>

#define FPGA_STREAM_VARIABLE "DRAY_FPGA_STREAM"
#define FPGA_MEMORY_VARIABLE "DRAY_FPGA_MEMORY"
#define FPGA_PIECE 32768 /* most bytes of a message, without its header */

enum fpga_flag {
	FPGA_LAST = 1,	/* TLAST: the packet ends with these bytes */
	FPGA_RESET = 2, /* no bytes */
	FPGA_HELD = 4,	/* to the model, no bytes: a further frame waited */
};

struct fpga_header {
	uint32_t length; /* bytes that follow */
	uint32_t flags;	 /* enum fpga_flag */
};

#endif /* DRAY_FPGA_STREAM_H */
