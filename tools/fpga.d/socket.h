/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The model's two sockets.  socket.c speaks stream.h with the IP and asks QEMU for
 * interrupts by its qtest protocol.  No call blocks.
 */
#ifndef DRAY_FPGA_SOCKET_H
#define DRAY_FPGA_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream.h"

struct fpga_socket {
	int ip, emulator;
	bool ip_ended;
	bool reset_due; /* the IP's queue was full */
	unsigned int resets; /* answers due from the IP */
	uint32_t *held; /* counts its FPGA_HELD */

	struct {
		struct fpga_header header;
		uint8_t bytes[FPGA_PIECE];
	} message; /* received, but not yet whole in the core */
	bool pending; /* there is a message */
	size_t taken; /* bytes of it */
};

/* The ports of struct axidma_ports; the context is a struct fpga_socket. */
size_t fpga_socket_send(void *context, const uint8_t *bytes, size_t length,
			bool last);
size_t fpga_socket_receive(void *context, uint8_t *bytes, size_t room,
			   bool *last);
void fpga_socket_reset(void *context);

/* Sends a delayed reset, and drops the IP's messages until its answer. */
void fpga_socket_step(struct fpga_socket *sockets);

/* Whether a reset is on its way to the IP or its answer to here. */
bool fpga_socket_resets(const struct fpga_socket *sockets);

/* Raises the edge of a shared interrupt of the board's GIC. */
void fpga_socket_interrupt(struct fpga_socket *sockets, unsigned int number);

/* Drops QEMU's answers; false if QEMU closed the socket. */
bool fpga_socket_drain(struct fpga_socket *sockets);

#endif /* DRAY_FPGA_SOCKET_H */
