// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Each message of the stream is one packet of the socket: the kernel passes it whole
 * or not at all, so that nothing half-sent is left if the core is reset.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "../cli.h"
#include "socket.h"

static bool socket_send_message(struct fpga_socket *sockets,
				const uint8_t *bytes, size_t length,
				uint32_t flags)
{
	struct fpga_header header = { (uint32_t)length, flags };
	struct iovec parts[] = {
		{ &header, sizeof(header) },
		{ (void *)(uintptr_t)bytes, length },
	};
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };

	return sendmsg(sockets->ip, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

size_t fpga_socket_send(void *context, const uint8_t *bytes, size_t length,
			bool last)
{
	struct fpga_socket *sockets = context;
	size_t piece = length < FPGA_PIECE ? length : FPGA_PIECE;
	uint32_t flags = last && piece == length ? FPGA_LAST : 0;

	/* Nothing overtakes a reset. */
	if (sockets->reset_due ||
	    !socket_send_message(sockets, bytes, piece, flags))
		return 0;
	return piece;
}

/* Reads the next message; false if there is none. */
static bool read_message(struct fpga_socket *sockets)
{
	ssize_t size = recv(sockets->ip, &sockets->message,
			    sizeof(sockets->message), MSG_DONTWAIT);
	size_t length = sockets->message.header.length;

	if (size < 0)
		return false;
	if (!size) {
		sockets->ip_ended = true;
		return false;
	}
	if ((size_t)size != sizeof(sockets->message.header) + length) {
		complain(
			"the IP sent a message of %zd bytes, and its header says %zu",
			size, length);
		sockets->ip_ended = true;
		return false;
	}
	return true;
}

bool fpga_socket_resets(const struct fpga_socket *sockets)
{
	return sockets->reset_due || sockets->resets;
}

/* Reads messages until one belongs to the stream. */
static bool next_message(struct fpga_socket *sockets)
{
	while (!sockets->ip_ended && read_message(sockets)) {
		uint32_t flags = sockets->message.header.flags;

		if (flags & FPGA_HELD)
			++*sockets->held;
		else if (flags & FPGA_RESET)
			sockets->resets -= sockets->resets > 0;
		else if (!fpga_socket_resets(sockets))
			return true;
	}
	return false;
}

size_t fpga_socket_receive(void *context, uint8_t *bytes, size_t room,
			   bool *last)
{
	struct fpga_socket *sockets = context;
	size_t left;

	if (!sockets->pending) {
		sockets->pending = next_message(sockets);
		sockets->taken = 0;
	}
	if (!sockets->pending)
		return 0;
	left = sockets->message.header.length - sockets->taken;
	if (room > left)
		room = left;
	memcpy(bytes, sockets->message.bytes + sockets->taken, room);
	sockets->taken += room;
	if (room == left) {
		sockets->pending = false;
		*last = sockets->message.header.flags & FPGA_LAST;
	}
	return room;
}

void fpga_socket_reset(void *context)
{
	struct fpga_socket *sockets = context;

	sockets->pending = false;
	sockets->reset_due = true;
	fpga_socket_step(sockets);
}

void fpga_socket_step(struct fpga_socket *sockets)
{
	if (sockets->reset_due &&
	    socket_send_message(sockets, NULL, 0, FPGA_RESET)) {
		sockets->reset_due = false;
		sockets->resets++;
	}
	/* An IP that waits for room sees the reset only if it gets some. */
	if (!fpga_socket_resets(sockets) || sockets->pending)
		return;
	sockets->pending = next_message(sockets);
	sockets->taken = 0;
}

void fpga_socket_interrupt(struct fpga_socket *sockets, unsigned int number)
{
	static const char line[] =
		"set_irq_in /machine/soc/gic unnamed-gpio-in";
	char text[160];
	int length = snprintf(text, sizeof(text), "%s %u 1\n%s %u 0\n", line,
			      number, line, number);

	/* QEMU reads it soon: the queue never fills. */
	if (send(sockets->emulator, text, (size_t)length, MSG_NOSIGNAL) !=
	    length)
		complain("QEMU did not take an interrupt");
}

bool fpga_socket_drain(struct fpga_socket *sockets)
{
	char answers[4096];
	ssize_t size;

	do
		size = recv(sockets->emulator, answers, sizeof(answers),
			    MSG_DONTWAIT);
	while (size > 0);
	return size < 0 && errno == EAGAIN;
}
