// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Fetches a snapshot.  The kernel tells the process at the other end of the
 * socket, since any process may take a name.  A file is read only if its seals
 * say that it is memory without a writer: such a read never waits for another
 * process.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli.h"
#include "machine/machine.h"
#include "machine/processes.h"
#include "published.h"

#define PATIENCE_S 10
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

/* The number of the process in its own namespace, which its socket has; or 0. */
static int own_number(int pid)
{
	char *path = text_format("%s/proc/%d/status", machine_root(), pid);
	char *text = file_text(path);
	uint64_t number = 0;
	size_t length;
	const char *next = text ? value_of_key(text, "NSpid", &length) : NULL;

	if (text && !next)
		number = (uint64_t)pid;
	while (next && (next = parse_number(next, 10, &number)))
		next += strspn(next, " \t");
	free(text);
	free(path);
	return number <= INT32_MAX ? (int)number : 0;
}

/* Returns a socket, or a negative errno. */
static int read_connect_to(int number)
{
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int length =
		snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
			 DRAY_PUBLISH_SOCKET "%d", number);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int error;

	if (fd < 0)
		return -errno;
	if (!setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
			sizeof(patience)) &&
	    !setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience,
			sizeof(patience)) &&
	    !connect(fd, (struct sockaddr *)&address,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
				 (size_t)length)))
		return fd;
	error = errno;
	close(fd);
	return -error;
}

/* Returns false if another process has the socket. */
static bool socket_is_of_process(int fd, int pid, char **reason)
{
	socklen_t length = sizeof(struct ucred);
	struct ucred peer = { 0 };

	if (!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) &&
	    peer.pid == pid)
		return true;
	*reason = text_format("the socket that process %d would publish with "
			      "belongs to process %d",
			      pid, (int)peer.pid);
	return false;
}

/* The answer's file descriptor or -1; closes any other. */
static int take_fd(struct msghdr *message)
{
	struct cmsghdr *header = CMSG_FIRSTHDR(message);
	int fd = -1;

	if (header && header->cmsg_level == SOL_SOCKET &&
	    header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len == CMSG_LEN(sizeof(fd)))
		memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}

static char *published_read_refusal(int pid, int error)
{
	if (error == -EACCES)
		return text_format("process %d belongs to another user: only "
				   "that user and root may see its pools",
				   pid);
	return text_format("process %d cannot make a snapshot: %s", pid,
			   strerror(error > INT32_MIN ? -error : EINVAL));
}

/* Receives the snapshot's file descriptor; -1 with a reason. */
static int published_read_receive(int socket, int pid, char **reason)
{
	struct dray_publish_answer answer = { 0 };
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .room = { 0 } };
	struct iovec part = { &answer, sizeof(answer) };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room),
	};
	ssize_t got;
	int fd;

	do
		got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	fd = got < 0 ? -1 : take_fd(&message);
	if (got < 0 && errno == EAGAIN)
		*reason = text_format("process %d did not answer for %d s", pid,
				      PATIENCE_S);
	else if (got <= 0)
		*reason = text_format("process %d ended meanwhile, or stopped "
				      "to publish",
				      pid);
	else if (got != sizeof(answer) || answer.magic != DRAY_PUBLISH_MAGIC)
		*reason = text_format("process %d sends something else than a "
				      "snapshot",
				      pid);
	else if (answer.version != DRAY_PUBLISH_VERSION)
		*reason =
			text_format("process %d publishes in version %u of "
				    "the format, dmactl reads version %d",
				    pid, answer.version, DRAY_PUBLISH_VERSION);
	else if (answer.error)
		*reason = published_read_refusal(pid, answer.error);
	else if (fd < 0)
		*reason = text_format("process %d sends no snapshot", pid);
	else
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Reads the whole file; NULL with a reason. */
static void *published_read_whole(int fd, int pid, size_t *size, char **reason)
{
	int seals = fcntl(fd, F_GET_SEALS);
	char *bytes;
	struct stat file;
	size_t done = 0;
	ssize_t got = 1;

	if (seals < 0 || (seals & SEALS) != SEALS || fstat(fd, &file)) {
		*reason = text_format("process %d sends a file that it can "
				      "still change",
				      pid);
		return NULL;
	}
	if (file.st_size < 0 || (uint64_t)file.st_size > DRAY_PUBLISH_MOST) {
		*reason = text_format("process %d sends a snapshot of %lld "
				      "bytes, at most %llu are read",
				      pid, (long long)file.st_size,
				      (unsigned long long)DRAY_PUBLISH_MOST);
		return NULL;
	}
	*size = (size_t)file.st_size;
	bytes = memory_new(*size + 1, 1);
	while (done < *size && got > 0) {
		got = pread(fd, bytes + done, *size - done, (off_t)done);
		if (got > 0)
			done += (size_t)got;
	}
	if (done == *size)
		return bytes;
	*reason = text_format("cannot read the snapshot of process %d: %s", pid,
			      strerror(errno));
	free(bytes);
	return NULL;
}

static bool published_read_fetch(int socket, int pid, struct published *out,
				 char **reason)
{
	const char *wrong;
	void *bytes;
	size_t size;
	int fd;

	if (!socket_is_of_process(socket, pid, reason))
		return false;
	fd = published_read_receive(socket, pid, reason);
	if (fd < 0)
		return false;
	bytes = published_read_whole(fd, pid, &size, reason);
	close(fd);
	if (!bytes)
		return false;
	wrong = published_parse(bytes, size, out);
	out->bytes = bytes;
	if (!wrong)
		return true;
	*reason = text_format("the snapshot of process %d is wrong: it has %s",
			      pid, wrong);
	free(bytes);
	return false;
}

static char *say_not(int pid)
{
	return text_format(
		"process %d does not publish its pools: start it "
		"with DRAY_PUBLISH=1 in its environment, or let it "
		"call dray_publish_start(); a process with a network "
		"of its own, as in a container, is asked from there",
		pid);
}

enum published_result published_read(uint64_t process_number,
				     struct published *out, char **reason)
{
	int pid = process_number <= INT32_MAX ? (int)process_number : 0;
	int number = pid ? own_number(pid) : 0;
	struct process process;
	int socket;
	bool done;

	if (!number) {
		*reason = text_format("there is no process %" PRIu64,
				      process_number);
		return PUBLISHED_NOT;
	}
	socket = read_connect_to(number);
	if (socket == -ECONNREFUSED) {
		*reason = say_not(pid);
		return PUBLISHED_NOT;
	}
	if (socket < 0) {
		*reason = text_format("cannot ask process %d: %s", pid,
				      socket == -EAGAIN ? "it does not answer"
							: strerror(-socket));
		return PUBLISHED_FAILED;
	}
	done = published_read_fetch(socket, pid, out, reason);
	close(socket);
	if (!done)
		return PUBLISHED_FAILED;
	process_read(machine_root(), pid, &process);
	out->pid = pid;
	memcpy(out->comm, process.comm, sizeof(out->comm));
	return PUBLISHED_FINE;
}
