/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * An IP core in C.  Its author writes ip_receive(); ip.c is the rest, main()
 * included:
 *
 *	void ip_receive(uint8_t *bytes, size_t length, bool last)
 *	{
 *		for (size_t i = 0; i < length; i++)
 *			bytes[i] = (uint8_t)~bytes[i];
 *		ip_send(bytes, length, last);
 *	}
 */
#ifndef DRAY_FPGA_IP_H
#define DRAY_FPGA_IP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Called for each piece of a packet, at most 32 KiB and cut anywhere; @last is TLAST
 * behind its last byte.  It may change the bytes.
 */
void ip_receive(uint8_t *bytes, size_t length, bool last);

/* Called at the start with the command line, if the IP defines it. */
void ip_begin(int argc, char **argv);

/* Called when the core is reset, if the IP defines it. */
void ip_reset(void);

/* Sends bytes of a packet of any length; waits while the stream stands still. */
void ip_send(const uint8_t *bytes, size_t length, bool last);

/*
 * Returns the IP's 1024 registers, which programs on the board map and write at any
 * time: no access is told to the IP.
 */
volatile uint32_t *ip_registers(void);

/* Raises the IP's interrupt, an edge. */
void ip_interrupt(void);

/*
 * For an IP with a main() of its own, as for an IP that sends unasked: ip_open() is
 * called first.  ip_serve() waits at most @timeout milliseconds, or for ever if it
 * is negative, and passes a single message to the functions above; it ends the
 * program when the board is switched off.  ip_ready() returns whether ip_send()
 * would not wait.  ip_held() reports to the model that a frame waited.
 */
void ip_open(void);
void ip_serve(int timeout);
bool ip_ready(void);
void ip_held(void);

/*
 * Keeps about a message of @size bytes on the way, so that a stream that stands
 * still is felt early.
 */
void ip_keep_short(size_t size);

#endif /* DRAY_FPGA_IP_H */
