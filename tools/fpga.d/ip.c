// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The frame of an IP core in C: messages of stream.h become calls of ip.h. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "ip.h"
#include "stream.h"

static int stream = -1;

__attribute__((weak)) void ip_begin(int argc, char **argv)
{
	(void)argc;
	(void)argv;
}

__attribute__((weak)) void ip_reset(void)
{
}

void ip_open(void)
{
	const char *number = getenv(FPGA_STREAM_VARIABLE);

	if (!number) {
		fprintf(stderr,
			"start it by tools/fpga, which connects its stream\n");
		exit(2);
	}
	stream = (int)strtol(number, NULL, 10);
}

static void ip_send_message(const uint8_t *bytes, size_t length, uint32_t flags)
{
	struct fpga_header header = { (uint32_t)length, flags };
	struct iovec parts[] = {
		{ &header, sizeof(header) },
		{ (void *)(uintptr_t)bytes, length },
	};
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };

	if (sendmsg(stream, &message, MSG_NOSIGNAL) < 0)
		exit(0);
}

void ip_send(const uint8_t *bytes, size_t length, bool last)
{
	size_t piece;

	do {
		piece = length < FPGA_PIECE ? length : FPGA_PIECE;
		length -= piece;
		ip_send_message(bytes, piece, last && !length ? FPGA_LAST : 0);
		bytes += piece;
	} while (length);
}

void ip_held(void)
{
	ip_send_message(NULL, 0, FPGA_HELD);
}

bool ip_ready(void)
{
	struct pollfd file = { stream, POLLOUT, 0 };

	return poll(&file, 1, 0) > 0;
}

void ip_keep_short(size_t size)
{
	/* The kernel doubles it, and takes a message of at most the result. */
	int room = (int)(size < FPGA_PIECE ? size : FPGA_PIECE) + 64;

	setsockopt(stream, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
}

void ip_serve(int timeout)
{
	static struct {
		struct fpga_header header;
		uint8_t bytes[FPGA_PIECE];
	} message;
	struct pollfd file = { stream, POLLIN, 0 };

	if (poll(&file, 1, timeout) <= 0)
		return;
	if (recv(stream, &message, sizeof(message), 0) <= 0)
		exit(0);
	if (message.header.flags & FPGA_RESET) {
		ip_reset();
		ip_send_message(NULL, 0, FPGA_RESET);
		return;
	}
	ip_receive(message.bytes, message.header.length,
		   message.header.flags & FPGA_LAST);
}

__attribute__((weak)) int main(int argc, char **argv)
{
	ip_begin(argc, argv);
	ip_open();
	for (;;)
		ip_serve(-1);
}
