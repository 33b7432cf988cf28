// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The frame of an IP core in C: messages of stream.h become calls of ip.h. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "control.h"
#include "ip.h"
#include "stream.h"

static int stream = -1;

#ifdef IP_WORDS
/* For verilog.cpp: the registers of the module's port. */
extern const unsigned int ip_words;
const unsigned int ip_words = IP_WORDS;
#endif

__attribute__((weak)) void ip_begin(int argc, char **argv)
{
	(void)argc;
	(void)argv;
}

__attribute__((weak)) void ip_reset(void)
{
}

/* Returns the number of a file of the model's. */
static int ip_file(const char *variable)
{
	const char *number = getenv(variable);

	if (!number) {
		fprintf(stderr,
			"start it by tools/fpga, which connects its stream\n");
		exit(2);
	}
	return (int)strtol(number, NULL, 10);
}

void ip_open(void)
{
	stream = ip_file(FPGA_STREAM_VARIABLE);
}

/* Maps bytes of the board's memory, for good. */
static void *ip_map(off_t address, size_t size)
{
	void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
			   ip_file(FPGA_MEMORY_VARIABLE), address);

	if (bytes == MAP_FAILED) {
		perror("the board's memory");
		exit(2);
	}
	return bytes;
}

volatile uint32_t *ip_registers(void)
{
	static volatile uint32_t *registers;

	if (!registers)
		registers = ip_map(FPGA_REGISTERS, FPGA_REGISTERS_SIZE);
	return registers;
}

void ip_interrupt(void)
{
	static struct fpga_control *control;

	if (!control)
		control = ip_map(FPGA_CONTROL, sizeof(*control));
	__atomic_fetch_add(&control->interrupts, 1, __ATOMIC_RELEASE);
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
