// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Arrays between processes: one record of fixed size and one descriptor over
 * a connected Unix socket.  The receiver believes nothing: every field is
 * checked, and what the strides reach is measured against the real size of
 * the buffer that came along.  Whatever else came along is closed.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "array/array.h"
#include "array/dtype.h"
#include "array/view.h"
#include "base/cancel.h"
#include "base/error.h"
#include "ipc/ipc.h"
#include "ipc/node.h"
#include "memory/node.h"
#include "pool/busy.h"

#define RECORD_MAGIC 0x72797264u /* "dryr" in memory */
#define RECORD_VERSION 1u

#ifndef SCM_PIDFD
#define SCM_PIDFD 0x04 /* since Linux 6.5 */
#endif

/* All in the byte order of the machine: both ends are on it. */
struct record {
	uint32_t magic;
	uint32_t version;
	uint32_t backend; /* enum dray_ipc_backend */
	uint32_t flags; /* DRAY_VIEW_* */
	struct dray_dtype dtype;
	uint32_t ndim;
	uint32_t reserved; /* 0 */
	uint64_t offset; /* bytes, of the element [0, 0, ...] */
	uint64_t buffer_size; /* bytes, as the sender sees it */
	char node[DRAY_NAME_LEN]; /* kernel: "dray0"; else empty */
	int64_t shape[DRAY_MAX_NDIM]; /* 0 behind ndim */
	int64_t strides[DRAY_MAX_NDIM];
};

_Static_assert(sizeof(struct record) == 1104, "a record is part of the ABI");

/* Room for what else a socket may be set to tell, credentials for one. */
union control {
	struct cmsghdr header;
	char bytes[512];
};

static int describe(struct record *record, const struct dray_view *view,
		    const struct dray_location *location)
{
	memset(record, 0, sizeof(*record));
	record->magic = RECORD_MAGIC;
	record->version = RECORD_VERSION;
	record->flags = view->flags;
	record->dtype = view->dtype;
	record->ndim = (uint32_t)view->ndim;
	record->offset =
		(uint64_t)((uintptr_t)view->data -
			   (uintptr_t)dray_buffer_data(location->buffer));
	record->buffer_size = dray_buffer_size(location->buffer);
	memcpy(record->shape, view->shape,
	       (size_t)view->ndim * sizeof(record->shape[0]));
	memcpy(record->strides, view->strides,
	       (size_t)view->ndim * sizeof(record->strides[0]));
	return dray_ipc_describe_node(dray_buffer_node(location->buffer),
				      &record->backend, record->node);
}

/*
 * Until the socket can go on: a record is not left half done.  Its sender
 * gives all of it at once, so whoever stops in the middle has stopped for
 * good, or wants to hold us up.  @since is 0 before the first wait.
 */
static int wait_for(int socket, short events, int64_t *since)
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

static int send_record(int socket, struct record *record, int fd)
{
	union control control = { 0 };
	struct iovec part = { record, sizeof(*record) };
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
		bool begun = part.iov_len < sizeof(*record);
		ssize_t sent = sendmsg(socket, &message,
				       begun ? MSG_NOSIGNAL | MSG_DONTWAIT
					     : MSG_NOSIGNAL);
		int error;

		if (sent < 0 && begun && (errno == EAGAIN || errno == EINTR)) {
			error = wait_for(socket, POLLOUT, &since);
			if (error)
				return error;
			continue;
		}
		if (sent < 0)
			return dray_fail(-errno, "sending an array: %s",
					 strerror(errno));
		/* the descriptor went with the first byte */
		message.msg_control = NULL;
		message.msg_controllen = 0;
		part.iov_base = (char *)part.iov_base + sent;
		part.iov_len -= (size_t)sent;
	}
	return 0;
}

int dray_array_send(int socket, const struct dray_view *view)
{
	DRAY_NO_CANCEL;
	struct dray_location location;
	struct dray_extent extent;
	struct record record;
	int error;

	error = dray_view_check(view, "the view", &extent);
	if (error)
		return error;
	if (dray_locate(dray_address_add(view->data, extent.low), &location))
		return dray_fail(
			-EINVAL,
			"the array at %p lies outside of dray's memory",
			view->data);
	if ((uintptr_t)view->data + (uintptr_t)extent.high -
		    (uintptr_t)location.block >
	    location.block_size)
		return dray_fail(-EINVAL,
				 "the array at %p leaves its block of %" PRIu64
				 " bytes",
				 view->data, location.block_size);
	error = dray_buffer_may_be_shared(location.buffer);
	if (!error)
		error = describe(&record, view, &location);
	if (error)
		return error;
	/* From its first byte on the record may have been received. */
	dray_block_sent(location.block);
	return send_record(socket, &record, dray_buffer_fd(location.buffer));
}

/* What came along: the first descriptor is kept, others are closed at once. */
struct arrival {
	int fd; /* -1: none */
	unsigned int count;
};

/*
 * The sender's process, told on each message where the owner of the socket
 * has set SO_PASSPIDFD.  Below 0: the kernel could not make one.
 */
static void close_pidfd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void take_fds(struct msghdr *message, struct arrival *arrival)
{
	struct cmsghdr *header;

	for (header = CMSG_FIRSTHDR(message); header;
	     header = CMSG_NXTHDR(message, header)) {
		size_t bytes = header->cmsg_len - CMSG_LEN(0);
		int fd;

		if (header->cmsg_level != SOL_SOCKET ||
		    (header->cmsg_type != SCM_RIGHTS &&
		     header->cmsg_type != SCM_PIDFD))
			continue;
		for (size_t at = 0; at + sizeof(fd) <= bytes;
		     at += sizeof(fd)) {
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

/* One recvmsg(); bytes, 0 at the end, or a negative errno. */
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
			"descriptors were lost: more came than one, or this process can open no more");
	return got;
}

static int receive_bytes(int socket, struct record *record,
			 struct arrival *arrival)
{
	struct iovec part = { record, sizeof(*record) };
	int64_t since = 0;

	while (part.iov_len) {
		size_t done = sizeof(*record) - part.iov_len;
		ssize_t got = receive_part(socket, done ? MSG_DONTWAIT : 0,
					   &part, arrival);
		int error;

		if (got == -EBADMSG)
			return -EBADMSG;
		if (done && (got == -EAGAIN || got == -EINTR)) {
			error = wait_for(socket, POLLIN, &since);
			if (error)
				return error;
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
				"the record ends after %zu of %zu bytes", done,
				sizeof(*record));
		part.iov_base = (char *)part.iov_base + got;
		part.iov_len -= (size_t)got;
	}
	return 0;
}

/* A whole record and its one descriptor. */
static int receive_record(int socket, struct record *record, int *fd)
{
	struct arrival arrival = { .fd = -1 };
	int error = receive_bytes(socket, record, &arrival);

	if (!error && arrival.count != 1)
		error = dray_fail(
			-EBADMSG,
			"%u descriptors came with the record, one belongs there",
			arrival.count);
	if (error && arrival.count)
		close(arrival.fd);
	*fd = arrival.fd;
	return error;
}

static int forged(const char *field, uint64_t value)
{
	return dray_fail(-EBADMSG, "the record's %s is %" PRIu64, field, value);
}

/* What can be told from the record alone. */
static int check_record(const struct record *record)
{
	if (record->magic != RECORD_MAGIC)
		return dray_fail(-EBADMSG,
				 "no record of an array: it starts with 0x%08x",
				 record->magic);
	if (record->version != RECORD_VERSION)
		return dray_fail(
			-EPROTO,
			"the record is of version %u, this is version %u",
			record->version, RECORD_VERSION);
	if (record->flags & ~DRAY_VIEW_READONLY)
		return forged("flags field", record->flags);
	if (record->ndim > DRAY_MAX_NDIM)
		return forged("number of axes", record->ndim);
	if (record->reserved)
		return forged("reserved field", record->reserved);
	return dray_ipc_check_node(record->backend, record->node);
}

/* Makes the view in the buffer that really came. */
static int place(const struct record *record, const struct dray_buffer *buffer,
		 struct dray_view *view)
{
	int error;

	view->ndim = (int32_t)record->ndim;
	view->flags = record->flags;
	memcpy(view->shape, record->shape, sizeof(view->shape));
	memcpy(view->strides, record->strides, sizeof(view->strides));
	error = dray_view_place(view, &record->dtype, dray_buffer_data(buffer),
				dray_buffer_size(buffer), record->offset);
	if (error)
		return error;
	if (!dray_buffer_writable(buffer))
		view->flags |= DRAY_VIEW_READONLY;
	return 0;
}

int dray_array_receive(int socket, struct dray_node *node,
		       struct dray_array **out)
{
	DRAY_NO_CANCEL;
	struct dray_buffer *buffer = NULL;
	struct dray_node *opened = NULL;
	struct record record;
	struct dray_view view;
	int fd, error;

	if (!dray_given(out, __func__))
		return -EINVAL;
	error = receive_record(socket, &record, &fd);
	if (error)
		return error;
	error = check_record(&record);
	if (!error)
		error = node ? 0
			     : dray_ipc_open_node(record.backend, record.node,
						  &opened);
	if (error)
		goto close_fd;
	error = dray_buffer_import_bytes(node ? node : opened, fd,
					 record.buffer_size, &buffer);
	if (!error)
		error = place(&record, buffer, &view);
	if (!error)
		error = dray_array_adopt(buffer, &view, out);
	if (error)
		dray_buffer_unref(buffer);
	dray_node_unref(opened);
close_fd:
	close(fd);
	return error;
}
