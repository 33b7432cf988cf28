// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * MSG_ZEROCOPY over TCP on the loopback device.  The pages are pinned for the
 * packets; at the receiver the kernel then copies them, whoever they belong
 * to, because a program that does not read would keep them for ever.
 */
#include <arpa/inet.h>

#include <linux/errqueue.h>

#include "../../selftests/node.h"
#include "cell.h"

/* What fits into a socket's buffers while nobody reads. */
#define PIECE 16384u

#define DEADLINE_MS 20000

static int connect_pair(int *from, int *to)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t length = sizeof(address);
	int on = 1;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*from = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || *from < 0 ||
	    bind(listener, (struct sockaddr *)&address, length) ||
	    listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &length) ||
	    connect(*from, (struct sockaddr *)&address, length))
		return -1;
	*to = accept(listener, NULL, NULL);
	close(listener);
	if (*to < 0)
		return -1;
	return setsockopt(*from, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on));
}

static bool receive_all(int from, uint8_t *bytes, size_t size)
{
	size_t have = 0;
	ssize_t count;

	while (have < size) {
		count = recv(from, bytes + have, size - have, 0);
		if (count <= 0)
			return false;
		have += (size_t)count;
	}
	return true;
}

/* The packets that one message of the error queue tells of, or -1. */
static int completions(int from, bool *copied)
{
	char control[256];
	struct msghdr message = { .msg_control = control,
				  .msg_controllen = sizeof(control) };
	struct pollfd wait = { .fd = from };
	struct sock_extended_err error;
	struct cmsghdr *header;

	if (poll(&wait, 1, DEADLINE_MS) != 1 ||
	    recvmsg(from, &message, MSG_ERRQUEUE) < 0)
		return -1;
	header = CMSG_FIRSTHDR(&message);
	if (!header || header->cmsg_len < CMSG_LEN(sizeof(error)))
		return -1;
	memcpy(&error, CMSG_DATA(header), sizeof(error));
	if (error.ee_origin != SO_EE_ORIGIN_ZEROCOPY || error.ee_errno)
		return -1;
	if (error.ee_code & SO_EE_CODE_ZEROCOPY_COPIED)
		*copied = true;
	return (int)(error.ee_data - error.ee_info) + 1;
}

static enum outcome send_zerocopy(const struct memory *memory,
				  struct cell *cell)
{
	uint8_t *seen = cell_bytes(memory->size, 1);
	int from, to, sent = 0, count;
	enum outcome outcome;
	bool copied = false;
	size_t at;

	cell_step(cell, "a TCP connection with SO_ZEROCOPY");
	if (connect_pair(&from, &to))
		return cell_absent(cell);
	fill_random(memory->bytes, memory->size, 2);
	for (at = 0; at < memory->size; at += PIECE) {
		cell_step(cell, "send");
		outcome = cell_short(cell,
				     send(from, memory->bytes + at, PIECE,
					  MSG_ZEROCOPY),
				     PIECE);
		if (outcome != WORKS)
			return outcome;
		sent++;
		cell_step(cell, "recv");
		if (!receive_all(to, seen + at, PIECE))
			return cell_refused(cell);
	}
	while (sent > 0) {
		cell_step(cell, "completion on the error queue");
		count = completions(from, &copied);
		if (count < 0)
			return cell_refused(cell);
		sent -= count;
	}
	outcome = cell_compare(cell, seen, cell_bytes(memory->size, 2),
			       memory->size);
	return outcome == WORKS && copied ? COPIED : outcome;
}

const struct consumer zerocopy_consumers[] = {
	{ "MSG_ZEROCOPY, TCP on loopback", send_zerocopy },
	{ 0 },
};
