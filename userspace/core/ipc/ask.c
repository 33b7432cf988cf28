// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ipc: the importer's question to an exporter, and the answer.  The secret goes
 * only to a process of the importer's own user, unless the record has
 * DRAY_IPC_ANY_USER: then to any process that owns the socket's name.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/user.h"
#include "ipc/ask.h"
#include "ipc/others.h"

static int hung_up(void)
{
	return dray_fail(
		-ECONNREFUSED,
		"the process that exported the memory is gone, or exports nothing any more, or "
		"it is in another network namespace, as in a container of its own");
}

static int socket_failed(int error)
{
	if (error == ECONNREFUSED || error == ECONNRESET || error == EPIPE)
		return hung_up();
	if (error == EAGAIN || error == EINPROGRESS)
		return dray_fail(
			-ETIMEDOUT,
			"the exporting process did not answer for %d s",
			DRAY_IPC_PATIENCE_MS / 1000);
	return dray_fail(-error, "asking the exporting process: %s",
			 strerror(error));
}

static int ask_check_user(int fd)
{
	socklen_t length = sizeof(struct ucred);
	struct ucred peer;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length))
		return socket_failed(errno);
	if (peer.uid == geteuid() && !dray_user_is_known(peer.uid))
		return dray_fail(
			-EACCES,
			"the memory is exported by a user without a number in "
			"this namespace of users, and so is this process's "
			"user (both are %u): they may be different; export "
			"with any_user",
			peer.uid);
	if (peer.uid != geteuid())
		return dray_fail(
			-EACCES,
			"the memory is exported by user %u, this is user %u",
			peer.uid, geteuid());
	return 0;
}

/* A socket, or a negative errno. */
static int ask_connect_to(const struct dray_ipc_fields *fields)
{
	const struct timeval patience = {
		.tv_sec = DRAY_IPC_PATIENCE_MS / 1000,
	};
	int64_t until = dray_ipc_now() + DRAY_IPC_PATIENCE_MS;
	struct sockaddr_un address;
	unsigned int length = dray_ipc_address(fields->broker, &address);
	int fd = dray_descriptor(
		socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
	int ret;

	if (fd < 0)
		return socket_failed(errno);
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
		       sizeof(patience)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience,
		       sizeof(patience))) {
		ret = socket_failed(errno);
		goto close_fd;
	}
	do {
		ret = connect(fd, (struct sockaddr *)&address, length);
	} while (ret && errno == EINTR && dray_ipc_now() < until);
	if (ret) {
		ret = socket_failed(errno);
		goto close_fd;
	}
	if (!(fields->flags & DRAY_IPC_ANY_USER))
		ret = ask_check_user(fd);
	if (ret)
		goto close_fd;
	return fd;
close_fd:
	close(fd);
	return ret;
}

static int count_fds(struct msghdr *message, int *fds)
{
	struct cmsghdr *header = CMSG_FIRSTHDR(message);
	size_t bytes;

	if (!header || header->cmsg_level != SOL_SOCKET ||
	    header->cmsg_type != SCM_RIGHTS)
		return 0;
	bytes = header->cmsg_len - CMSG_LEN(0);
	memcpy(fds, CMSG_DATA(header), bytes);
	return (int)(bytes / sizeof(int));
}

/* Names the share that is used up. */
static int share_is_used_up(const struct dray_ipc_answer *answer)
{
	static const char *const leases[DRAY_IPC_SHARES] = {
		[DRAY_IPC_SHARE_RECORD] = "another user for a single record",
		[DRAY_IPC_SHARE_USER] = "another user",
		[DRAY_IPC_SHARE_ALL] = "all other users",
	};

	if (answer->share >= DRAY_IPC_SHARES)
		return dray_fail(-EBADMSG,
				 "the exporting process refuses share %u",
				 answer->share);
	return dray_fail(
		-EDQUOT,
		"the exporting process grants %s at most %u of its file descriptors, and all are in use; raise its RLIMIT_NOFILE (ulimit -n)",
		leases[answer->share], answer->limit);
}

static int ask_refused(const struct dray_ipc_answer *answer)
{
	int error = answer->error;

	switch (error) {
	case -EDQUOT:
		return share_is_used_up(answer);
	case -ESTALE:
		return dray_fail(error, "the memory of the record was freed");
	case -EACCES:
		return dray_fail(
			error,
			"the exporting process refuses: the record's secret is wrong, or it is of another user");
	case -EBADMSG:
	case -EPROTO:
		return dray_fail(
			error,
			"the exporting process knows no such record: it was changed on its way");
	case -EMFILE:
	case -ENFILE:
	case -ENOMEM:
		return dray_fail(
			error,
			"the exporting process accepts no more importers: %s",
			strerror(-error));
	}
	return dray_fail(-EBADMSG,
			 "the exporting process answers with error %d", error);
}

/* There is room for one descriptor too many; the kernel closes any others. */
static int ask_receive(int fd, struct dray_ipc_answer *answer, int *buffer)
{
	int fds[2], count, ret = 0;
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(fds))];
	} control;
	struct iovec part = { answer, sizeof(*answer) };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	int64_t until = dray_ipc_now() + DRAY_IPC_PATIENCE_MS;
	ssize_t got;

	do {
		got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR && dray_ipc_now() < until);
	if (got < 0)
		return socket_failed(errno == EINTR ? EAGAIN : errno);
	/* Descriptors may come with no bytes at all: they are ours to close. */
	count = count_fds(&message, fds);
	if (message.msg_flags & MSG_CTRUNC)
		ret = dray_fail(
			-EMFILE,
			"file descriptors were lost: this process can open no more; raise its limit (ulimit -n)");
	else if (!got && !count)
		ret = hung_up();
	else if ((size_t)got != sizeof(*answer) ||
		 message.msg_flags & MSG_TRUNC ||
		 answer->magic != DRAY_IPC_MAGIC || answer->reserved ||
		 (!answer->error && count != 1))
		ret = dray_fail(
			-EBADMSG,
			"the exporting process answers %zd bytes and %d file descriptors",
			got, count);
	else if (answer->error)
		ret = ask_refused(answer);
	if (!ret && !answer->error) {
		fds[0] = dray_descriptor(fds[0]);
		count = fds[0] < 0 ? 0 : count;
		if (!count)
			ret = socket_failed(errno);
	}
	while (ret && count)
		close(fds[--count]);
	if (!ret)
		*buffer = fds[0];
	return ret;
}

int dray_ipc_ask(const struct dray_ipc_fields *fields, bool copies,
		 struct dray_ipc_answer *answer, int *connection, int *buffer)
{
	DRAY_NO_CANCEL;
	const struct dray_ipc_question question = {
		.fields = *fields,
		.copies = copies,
	};
	int fd = ask_connect_to(fields);
	int ret;

	if (fd < 0)
		return fd;
	if (send(fd, &question, copies ? sizeof(question) : sizeof(*fields),
		 MSG_NOSIGNAL) < 0)
		ret = socket_failed(errno);
	else
		ret = ask_receive(fd, answer, buffer);
	if (ret)
		close(fd);
	else
		*connection = fd;
	return ret;
}

/* An exporter that has ended meanwhile keeps nothing that it could take back. */
int dray_ipc_say_mapped(int connection)
{
	if (send(connection, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1 ||
	    errno == EPIPE || errno == ECONNRESET)
		return 0;
	return socket_failed(errno);
}

int dray_ipc_identify(int fd, struct dray_ipc_identity *identity)
{
	struct stat status;

	if (fstat(fd, &status))
		return dray_fail(-errno, "file descriptor %d: %s", fd,
				 strerror(errno));
	identity->device = status.st_dev;
	identity->inode = status.st_ino;
	return 0;
}

bool dray_ipc_is_same(const struct dray_ipc_identity *a,
		      const struct dray_ipc_identity *b)
{
	return a->device == b->device && a->inode == b->inode;
}

uint64_t dray_ipc_key(const struct dray_ipc_identity *identity)
{
	return (uint64_t)identity->inode ^ (uint64_t)identity->device << 32;
}
