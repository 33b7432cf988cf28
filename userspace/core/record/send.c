// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Views between processes: a record of fixed size and a descriptor over a
 * connected Unix socket.  The receiver trusts nothing: it checks every field,
 * and measures the strides against the real size of the received buffer.  It
 * closes any other descriptor.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "record/record.h"
#include "layout/operand.h"
#include "base/cancel.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "ipc/ipc.h"
#include "ipc/node.h"
#include "memory/node.h"
#include "pool/busy.h"

#ifndef SCM_PIDFD
#define SCM_PIDFD 0x04 /* since Linux 6.5 */
#endif

/* The memory of an array on a socket: all of a buffer. */
struct buffer_record {
	uint32_t backend; /* enum dray_ipc_backend */
	uint32_t reserved; /* 0 */
	uint64_t size; /* bytes, as the sender sees it */
	char node[DRAY_NAME_LEN]; /* kernel: "dray0"; else empty */
	char unused[16]; /* 0 */
};

_Static_assert(sizeof(struct buffer_record) == sizeof(struct dray_ipc_record),
	       "either is the memory of an array's record");

/*
 * Leaves room for other control messages that a socket may deliver, such as
 * credentials.
 */
union control {
	struct cmsghdr header;
	char bytes[512];
};

/* Fills all of @record; unused bytes are zero. */
static int send_describe(char *record, const struct dray_view *view,
			 const struct dray_buffer *buffer)
{
	struct buffer_record where = { .size = dray_buffer_size(buffer) };
	struct dray_ipc_record memory;
	size_t size;
	int ret;

	ret = dray_view_record_measure(view, &size);
	if (ret)
		return ret;
	ret = dray_ipc_describe_node(dray_buffer_node(buffer), &where.backend,
				     where.node);
	if (ret)
		return ret;
	memcpy(&memory, &where, sizeof(memory));
	memset(record, 0, DRAY_VIEW_RECORD_SIZE);
	dray_view_record_write(record, &memory, view,
			       (uintptr_t)view->data -
				       (uintptr_t)dray_buffer_data(buffer));
	return 0;
}

/*
 * Waits until the socket is ready, to finish a record that began.  A sender
 * passes all of it at once: if it stops in the middle, it failed or wants to block
 * the receiver.  @since is 0 before the first wait.
 */
static int send_wait_for(int socket, short events, int64_t *since)
{
	struct pollfd poller = { .fd = socket, .events = events };
	int64_t left;
	int ready;

	if (!*since)
		*since = dray_ipc_now();
	do {
		left = *since + DRAY_IPC_PATIENCE_MS - dray_ipc_now();
		ready = poll(&poller, 1, left > 0 ? (int)left : 0);
	} while (ready < 0 && errno == EINTR);
	if (ready < 0)
		return dray_fail(-errno, "waiting for the socket: %s",
				 strerror(errno));
	if (!ready)
		return dray_fail(
			-ETIMEDOUT,
			"the other process stopped in the middle of a record, and did not go on for %d s",
			DRAY_IPC_PATIENCE_MS / 1000);
	return 0;
}

static int send_record(int socket, char *record, int fd)
{
	union control control = { 0 };
	struct iovec part = { record, DRAY_VIEW_RECORD_SIZE };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = CMSG_SPACE(sizeof(int)),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	int64_t since = 0;

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	while (part.iov_len) {
		bool begun = part.iov_len < DRAY_VIEW_RECORD_SIZE;
		ssize_t sent = sendmsg(socket, &message,
				       begun ? MSG_NOSIGNAL | MSG_DONTWAIT
					     : MSG_NOSIGNAL);
		int ret;

		if (sent < 0 && begun && (errno == EAGAIN || errno == EINTR)) {
			ret = send_wait_for(socket, POLLOUT, &since);
			if (ret)
				return ret;
			continue;
		}
		if (sent < 0)
			return dray_fail(-errno, "sending an array: %s",
					 strerror(errno));
		/* The first byte carried the descriptor. */
		message.msg_control = NULL;
		message.msg_controllen = 0;
		part.iov_base = (char *)part.iov_base + sent;
		part.iov_len -= (size_t)sent;
	}
	return 0;
}

int dray_view_send(int socket, const struct dray_view *view)
{
	DRAY_NO_CANCEL;
	char record[DRAY_VIEW_RECORD_SIZE];
	struct dray_operand array;
	int ret;

	ret = dray_operand_init(&array, view, "the array");
	if (ret)
		return ret;
	dray_operand_locate(&array, false);
	ret = dray_operand_check_block(&array);
	if (!ret)
		ret = dray_buffer_may_be_shared(array.location.buffer);
	if (!ret)
		ret = send_describe(record, view, array.location.buffer);
	if (ret)
		return ret;
	/* The receiver may use the record from its first byte on. */
	dray_block_sent(array.location.block);
	return send_record(socket, record,
			   dray_buffer_fd(array.location.buffer));
}

/* Received descriptors: keeps the first, closes any other at once. */
struct arrival {
	int fd; /* -1: none */
	unsigned int count;
};

/*
 * Closes the sender's pidfd, which arrives with each message if the socket's
 * owner set SO_PASSPIDFD.  Below 0: the kernel could not make it.
 */
static void close_pidfd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void take_fds(struct msghdr *message, struct arrival *arrival)
{
	struct cmsghdr *header;
	size_t at;

	for (header = CMSG_FIRSTHDR(message); header;
	     header = CMSG_NXTHDR(message, header)) {
		size_t bytes = header->cmsg_len - CMSG_LEN(0);
		int fd;

		if (header->cmsg_level != SOL_SOCKET ||
		    (header->cmsg_type != SCM_RIGHTS &&
		     header->cmsg_type != SCM_PIDFD))
			continue;
		for (at = 0; at + sizeof(fd) <= bytes; at += sizeof(fd)) {
			memcpy(&fd, CMSG_DATA(header) + at, sizeof(fd));
			if (header->cmsg_type == SCM_PIDFD)
				close_pidfd(fd);
			else if (arrival->count++)
				close(fd);
			else
				arrival->fd = fd;
		}
	}
}

/* Calls recvmsg() once.  Returns bytes, 0 at the end, or a negative errno. */
static ssize_t receive_part(int socket, int flags, struct iovec *part,
			    struct arrival *arrival)
{
	union control control;
	struct msghdr message = {
		.msg_iov = part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	ssize_t got = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);

	if (got < 0)
		return -errno;
	take_fds(&message, arrival);
	if (message.msg_flags & MSG_TRUNC)
		return dray_fail(
			-EBADMSG,
			"a message of more than the %zu bytes of a record",
			part->iov_len);
	if (message.msg_flags & MSG_CTRUNC)
		return dray_fail(
			-EBADMSG,
			"file descriptors were lost: more than one came, or this process can open no more (ulimit -n)");
	return got;
}

static int receive_bytes(int socket, char *record, struct arrival *arrival)
{
	struct iovec part = { record, DRAY_VIEW_RECORD_SIZE };
	int64_t since = 0;

	while (part.iov_len) {
		size_t done = DRAY_VIEW_RECORD_SIZE - part.iov_len;
		ssize_t got = receive_part(socket, done ? MSG_DONTWAIT : 0,
					   &part, arrival);
		int ret;

		if (got == -EBADMSG)
			return -EBADMSG;
		if (done && (got == -EAGAIN || got == -EINTR)) {
			ret = send_wait_for(socket, POLLIN, &since);
			if (ret)
				return ret;
			continue;
		}
		if (got < 0)
			return dray_fail((int)got, "receiving an array: %s",
					 strerror((int)-got));
		if (!got && !done)
			return dray_fail(-ECONNRESET,
					 "the sender has closed the socket");
		if (!got)
			return dray_fail(
				-EBADMSG,
				"the record ends after %zu of %d bytes", done,
				DRAY_VIEW_RECORD_SIZE);
		part.iov_base = (char *)part.iov_base + got;
		part.iov_len -= (size_t)got;
	}
	return 0;
}

/* Receives a whole record and its descriptor. */
static int receive_record(int socket, char *record, int *fd)
{
	struct arrival arrival = { .fd = -1 };
	int ret = receive_bytes(socket, record, &arrival);

	if (!ret && arrival.count != 1)
		ret = dray_fail(
			-EBADMSG,
			"%u file descriptors came with the record, which needs one",
			arrival.count);
	if (ret && arrival.count)
		close(arrival.fd);
	if (ret)
		return ret;
	*fd = dray_descriptor(arrival.fd);
	return *fd < 0 ? dray_fail(-errno, "the array's descriptor: %s",
				   strerror(errno))
		       : 0;
}

/* Checks the fields that need no buffer. */
static int check_buffer(const struct buffer_record *where)
{
	if (where->reserved)
		return dray_fail(-EBADMSG, "the record's reserved field is %u",
				 where->reserved);
	return dray_ipc_check_node(where->backend, where->node);
}

int dray_view_receive(int socket, struct dray_node *node,
		      struct dray_view *view, struct dray_block **block)
{
	DRAY_NO_CANCEL;
	char record[DRAY_VIEW_RECORD_SIZE];
	struct dray_buffer *buffer = NULL;
	struct dray_node *opened = NULL;
	struct dray_view_record fixed;
	struct buffer_record where;
	dray_dtype dtype;
	size_t used;
	int fd, ret;

	if (!dray_given(view, __func__) || !dray_given(block, __func__))
		return -EINVAL;
	ret = receive_record(socket, record, &fd);
	if (ret)
		return ret;
	view->dtype = 0;
	ret = dray_view_record_read(record, sizeof(record), &fixed, view,
				    &used);
	dtype = view->dtype;
	memcpy(&where, record, sizeof(where));
	if (!ret)
		ret = check_buffer(&where);
	if (!ret && !node)
		ret = dray_ipc_open_node(where.backend, where.node, &opened);
	if (ret)
		goto close_fd;
	ret = dray_buffer_import_bytes(node ? node : opened, fd, where.size,
				       &buffer);
	if (!ret)
		ret = dray_view_place(view, dray_buffer_data(buffer),
				      dray_buffer_size(buffer), fixed.offset);
	if (!ret)
		ret = dray_block_create_buffer(buffer, block);
	dray_node_unref(opened);
	if (!ret && !dray_buffer_writable(buffer))
		view->flags &= ~DRAY_WRITE;
	dray_buffer_unref(buffer);
close_fd:
	if (ret)
		dray_dtype_unref(dtype);
	close(fd);
	return ret;
}
