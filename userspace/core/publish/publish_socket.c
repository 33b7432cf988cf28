// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * publish: a thread that hands a snapshot of the pools to each permitted process
 * that connects.
 *
 * It reads nothing from a peer and sends a single message, into a new socket with
 * room for it, without waiting: no peer can stop it.  A child of fork() inherits
 * the sockets but not the thread, and closes them.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/thread.h"
#include "base/user.h"
#include "pool/pool.h"
#include "publish/notes.h"
#include "publish/snapshot.h"

/* How soon to accept again after file descriptors ran out. */
#define RETRY_MS 100

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool runs;
static pthread_t thread;
static int listener = -1;
static int wake = -1; /* an eventfd; readable: look at ends */
static _Atomic bool ends; /* the thread is to */
/* The thread's open files, for a child to close: a peer, a snapshot. */
static _Atomic int open_peer = -1;
static _Atomic int open_snapshot = -1;

static void close_both(void)
{
	if (listener >= 0)
		close(listener);
	if (wake >= 0)
		close(wake);
	listener = -1;
	wake = -1;
}

static void socket_take_lock(void)
{
	pthread_mutex_lock(&lock);
}

static void socket_give_lock(void)
{
	pthread_mutex_unlock(&lock);
}

static void close_open(_Atomic int *open)
{
	int fd = atomic_exchange(open, -1);

	if (fd >= 0)
		close(fd);
}

/* Runs in a child, where the thread does not exist. */
static void publish_socket_forget(void)
{
	close_open(&open_peer);
	close_open(&open_snapshot);
	close_both();
	runs = false;
	atomic_store(&dray_notes_wanted, false);
}

static void publish_socket_inherit(void)
{
	publish_socket_forget();
	socket_give_lock();
}

static struct dray_fork_locks locks = {
	.rank = DRAY_FORK_PUBLISHER,
	.take = socket_take_lock,
	.give = socket_give_lock,
	.inherit = publish_socket_inherit,
	.missed = publish_socket_forget,
};

static bool is_permitted(int peer)
{
	socklen_t length = sizeof(struct ucred);
	struct ucred user;

	return !getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &user, &length) &&
	       (!user.uid || dray_user_is_own(user.uid));
}

static void send_answer(int peer, int fd)
{
	struct dray_publish_answer answer = {
		.magic = DRAY_PUBLISH_MAGIC,
		.version = DRAY_PUBLISH_VERSION,
		.error = fd < 0 ? fd : 0,
	};
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .room = { 0 } };
	struct iovec part = { &answer, sizeof(answer) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (fd >= 0) {
		message.msg_control = control.room;
		message.msg_controllen = sizeof(control.room);
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	/* A peer that is gone, or without room, receives nothing. */
	if (sendmsg(peer, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return;
}

static void publish_socket_attend(int peer)
{
	int fd = -EACCES;

	atomic_store(&open_peer, peer);
	if (is_permitted(peer))
		fd = dray_snapshot_make(&open_snapshot);
	send_answer(peer, fd);
	close_open(&open_snapshot);
	close_open(&open_peer);
}

/* The sockets are the thread's copies: they stay open until it ends. */
static void *publish_socket_run(void *unused)
{
	struct pollfd events[] = {
		{ .fd = wake, .events = POLLIN },
		{ .fd = listener, .events = POLLIN },
	};
	nfds_t count = 2;
	int peer;

	pthread_setname_np(pthread_self(), "dray-publish");
	(void)unused;
	while (!atomic_load(&ends)) {
		if (poll(events, count, count == 2 ? -1 : RETRY_MS) < 0) {
			if (errno == EINTR)
				continue;
			break; /* a sandbox forbids it */
		}
		count = 2;
		if (events[0].revents || !events[1].revents)
			continue;
		peer = dray_descriptor(accept4(events[1].fd, NULL, NULL,
					       SOCK_CLOEXEC | SOCK_NONBLOCK));
		if (peer >= 0)
			publish_socket_attend(peer);
		else if (errno != EAGAIN && errno != ECONNABORTED)
			count = 1; /* no file descriptor is left */
	}
	return NULL;
}

static int publish_socket_open(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int length =
		snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
			 DRAY_PUBLISH_SOCKET "%d", (int)getpid());

	listener = dray_descriptor(socket(
		AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (listener < 0 ||
	    bind(listener, (struct sockaddr *)&address,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			     (size_t)length)) ||
	    listen(listener, SOMAXCONN))
		return dray_fail(-errno, "the publisher's socket \"@%s\": %s",
				 address.sun_path + 1, strerror(errno));
	wake = dray_descriptor(eventfd(0, EFD_CLOEXEC));
	if (wake < 0)
		return dray_fail(-errno, "the publisher's eventfd: %s",
				 strerror(errno));
	return 0;
}

static int socket_start_thread(void)
{
	int error = dray_thread_create(&thread, NULL, publish_socket_run, NULL);

	if (error)
		return dray_fail(-error, "the publisher's thread: %s",
				 strerror(error));
	return 0;
}

int dray_publish_start(void)
{
	DRAY_NO_CANCEL;
	int ret = 0;

	dray_notes_enlist();
	dray_fork_enlist(&locks);
	dray_fork_check();
	socket_take_lock();
	if (!runs) {
		atomic_store(&ends, false);
		ret = publish_socket_open();
		if (!ret)
			ret = socket_start_thread();
		if (ret)
			close_both();
		runs = !ret;
		atomic_store(&dray_notes_wanted, runs);
	}
	socket_give_lock();
	return ret;
}

void dray_publish_stop(void)
{
	DRAY_NO_CANCEL;
	uint64_t one = 1;

	dray_fork_check();
	socket_take_lock();
	if (runs) {
		atomic_store(&dray_notes_wanted, false);
		atomic_store(&ends, true);
		/* Either wakes the thread; a sandbox may forbid the other. */
		if (write(wake, &one, sizeof(one)) < 0)
			shutdown(listener, SHUT_RDWR);
		pthread_join(thread, NULL);
		close_both();
		runs = false;
	}
	socket_give_lock();
}

/* A failure is written to standard error. */
static void publish_if_asked(void)
{
	DRAY_NO_CANCEL;
	const char *asked = secure_getenv("DRAY_PUBLISH");

	if (!asked || strcmp(asked, "1"))
		return;
	if (dray_publish_start())
		fprintf(stderr, "dray: DRAY_PUBLISH=1: %s\n",
			dray_last_error());
}

int dray_pool_create(struct dray_node *node,
		     const struct dray_pool_options *options,
		     struct dray_pool **out)
{
	int ret = dray_pool_make(node, options, out);

	if (!ret)
		publish_if_asked();
	return ret;
}
