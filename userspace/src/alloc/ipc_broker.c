// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ipc: the broker, a thread that gives the descriptors of what is exported to
 * those who may have them.  It never waits for anybody: whoever connects has a
 * while to say what he wants, then is hung up on.
 *
 * It sends with the lock, so that no descriptor is closed meanwhile, into a
 * socket that is new and has room.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "alloc/ipc.h"
#include "base/error.h"

/* Those who have connected and not asked yet. */
#define MOST_WAITING 64
/* How soon to accept again after descriptors had run out. */
#define RETRY_MS 100

struct connection {
	int fd;
	int64_t since;
	struct dray_ipc_export *export; /* NULL: has not asked yet */
	struct connection *next;
};

struct dray_ipc_broker {
	int listener;
	int poller;
	int wake;
	int control;
	bool deaf; /* no descriptor is left to accept with */
	bool ends;
	uint32_t waiting;
	struct connection *connections;
	struct dray_ipc_broker *next;
};

/* Those with a thread: one, and any that are about to end. */
static struct dray_ipc_broker *brokers;

static int watch(struct dray_ipc_broker *broker, int fd, void *what, int how)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = what };

	if (how == EPOLL_CTL_MOD)
		event.events = broker->deaf ? 0 : EPOLLIN;
	return epoll_ctl(broker->poller, how, fd, &event);
}

/* Out of the set first: a child may have the socket too. */
static void hang_up(struct dray_ipc_broker *broker, struct connection **link)
{
	struct connection *connection = *link;

	epoll_ctl(broker->poller, EPOLL_CTL_DEL, connection->fd, NULL);
	close(connection->fd);
	*link = connection->next;
	if (connection->export)
		dray_ipc_release(connection->export, false);
	else
		broker->waiting--;
	free(connection);
}

static bool answer(int fd, const struct dray_ipc_answer *said, const int *fds)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control = { 0 };
	struct iovec part = { (void *)said, sizeof(*said) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (fds) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(2 * sizeof(int));
		memcpy(CMSG_DATA(&control.header), fds, 2 * sizeof(int));
	}
	return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) ==
	       (ssize_t)sizeof(*said);
}

/* Of those who have not asked yet: he who has had the longest time for it. */
static void drop_oldest(struct dray_ipc_broker *broker)
{
	struct connection **link, **oldest = NULL;

	for (link = &broker->connections; *link; link = &(*link)->next) {
		if (!(*link)->export)
			oldest = link;
	}
	if (oldest)
		hang_up(broker, oldest);
}

static void accept_one(struct dray_ipc_broker *broker)
{
	struct connection *connection;
	int fd = accept4(broker->listener, NULL, NULL,
			 SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0) {
		broker->deaf = errno == EMFILE || errno == ENFILE ||
			       errno == ENOMEM || errno == ENOBUFS;
		if (broker->deaf)
			watch(broker, broker->listener, &broker->listener,
			      EPOLL_CTL_MOD);
		return;
	}
	if (broker->waiting >= MOST_WAITING)
		drop_oldest(broker);
	connection = calloc(1, sizeof(*connection));
	if (!connection || watch(broker, fd, connection, EPOLL_CTL_ADD)) {
		free(connection);
		close(fd);
		return;
	}
	connection->fd = fd;
	connection->since = dray_ipc_now();
	connection->next = broker->connections;
	broker->connections = connection;
	broker->waiting++;
}

/* True: it has a lease now. */
static bool serve(struct dray_ipc_broker *broker, struct connection *connection)
{
	struct dray_ipc_answer refused = { .magic = DRAY_IPC_MAGIC };
	struct dray_ipc_record record;
	struct dray_ipc_export *export;
	struct dray_ipc_fields asked;
	socklen_t length = sizeof(struct ucred);
	struct ucred peer;
	int fds[2], ret;

	if (recv(connection->fd, &record, sizeof(record), MSG_TRUNC) !=
	    (ssize_t)sizeof(record))
		return false;
	ret = getsockopt(connection->fd, SOL_SOCKET, SO_PEERCRED, &peer,
			 &length)
		      ? -EACCES
		      : dray_ipc_read(&record, &asked);
	if (!ret)
		ret = dray_ipc_lease(&asked, &peer.uid, &export);
	if (ret) {
		refused.error = ret;
		answer(connection->fd, &refused, NULL);
		return false;
	}
	fds[0] = export->file->fd;
	fds[1] = broker->control;
	if (!answer(connection->fd, &export->answer, fds)) {
		dray_ipc_release(export, false);
		return false;
	}
	connection->export = export;
	broker->waiting--;
	return true;
}

/* Who has a lease says nothing more: whatever comes is the end of it. */
static void attend(struct dray_ipc_broker *broker, void *what)
{
	struct connection **link = &broker->connections;

	while (*link && *link != what)
		link = &(*link)->next;
	if (*link && ((*link)->export || !serve(broker, *link)))
		hang_up(broker, link);
}

static void drop_silent(struct dray_ipc_broker *broker)
{
	struct connection **link = &broker->connections;
	int64_t now = broker->waiting ? dray_ipc_now() : 0;

	while (broker->waiting && *link) {
		if (!(*link)->export &&
		    now - (*link)->since >= DRAY_IPC_PATIENCE_MS)
			hang_up(broker, link);
		else
			link = &(*link)->next;
	}
}

static int patience(const struct dray_ipc_broker *broker)
{
	if (broker->deaf)
		return RETRY_MS;
	return broker->waiting ? DRAY_IPC_PATIENCE_MS : -1;
}

/* Whoever is connected or connects from now on is told that nobody is here. */
static void close_sockets(struct dray_ipc_broker *broker)
{
	struct connection *connection;

	while ((connection = broker->connections)) {
		broker->connections = connection->next;
		close(connection->fd);
		free(connection);
	}
	if (broker->listener >= 0)
		close(broker->listener);
	broker->listener = -1;
	broker->waiting = 0;
	broker->deaf = false;
}

static void close_all(struct dray_ipc_broker *broker)
{
	close_sockets(broker);
	if (broker->poller >= 0)
		close(broker->poller);
	if (broker->wake >= 0)
		close(broker->wake);
	free(broker);
}

static void *run(void *argument)
{
	struct dray_ipc_broker *broker = argument, **link;
	struct epoll_event events[16];
	int i, n, timeout;
	bool knocks;

	for (;;) {
		dray_ipc_lock();
		timeout = patience(broker);
		dray_ipc_unlock();
		n = epoll_wait(broker->poller, events, 16, timeout);
		dray_ipc_lock();
		if (broker->ends)
			break;
		if (broker->deaf) {
			broker->deaf = false;
			watch(broker, broker->listener, &broker->listener,
			      EPOLL_CTL_MOD);
		}
		knocks = false;
		for (i = 0; i < n; i++) {
			if (events[i].data.ptr == &broker->listener)
				knocks = true;
			else
				attend(broker, events[i].data.ptr);
		}
		/* These end connections, which may be among the events. */
		if (knocks)
			accept_one(broker);
		drop_silent(broker);
		dray_ipc_unlock();
		dray_ipc_settle();
	}
	/* With the lock: a process that forks has all of it, or nothing. */
	for (link = &brokers; *link != broker;)
		link = &(*link)->next;
	*link = broker->next;
	close_all(broker);
	dray_ipc_unlock();
	return NULL;
}

/* A thread of the library's own gets no signal of the program's. */
static int start_thread(struct dray_ipc_broker *broker)
{
	sigset_t all, before;
	pthread_attr_t attributes;
	pthread_t thread;
	int error;

	error = pthread_attr_init(&attributes);
	if (error)
		return dray_fail(-error, "the broker's thread: %s",
				 strerror(error));
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread, &attributes, run, broker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	if (error)
		return dray_fail(-error, "the broker's thread: %s",
				 strerror(error));
	return 0;
}

static int open_socket(uint64_t name)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
			0);
	struct sockaddr_un address;
	unsigned int length = dray_ipc_address(name, &address);

	if (fd >= 0 && (bind(fd, (struct sockaddr *)&address, length) ||
			listen(fd, SOMAXCONN))) {
		int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

int dray_ipc_broker_start(int control, uint64_t name,
			  struct dray_ipc_broker **out)
{
	struct dray_ipc_broker *broker = calloc(1, sizeof(*broker));
	int ret;

	if (!broker)
		return dray_fail(-ENOMEM, "no memory for the broker");
	broker->control = control;
	broker->poller = epoll_create1(EPOLL_CLOEXEC);
	broker->wake = eventfd(0, EFD_CLOEXEC);
	broker->listener = open_socket(name);
	if (broker->poller < 0 || broker->wake < 0 || broker->listener < 0 ||
	    watch(broker, broker->wake, &broker->wake, EPOLL_CTL_ADD) ||
	    watch(broker, broker->listener, &broker->listener, EPOLL_CTL_ADD))
		ret = dray_fail(-errno, "the broker's socket: %s",
				strerror(errno));
	else
		ret = start_thread(broker);
	if (ret) {
		close_all(broker);
		return ret;
	}
	broker->next = brokers;
	brokers = broker;
	*out = broker;
	return 0;
}

void dray_ipc_broker_stop(struct dray_ipc_broker *broker)
{
	uint64_t one = 1;

	broker->ends = true;
	close_sockets(broker);
	/* An eventfd that was never read has room. */
	if (write(broker->wake, &one, sizeof(one)) < 0)
		abort();
}

void dray_ipc_broker_forget(void)
{
	struct dray_ipc_broker *broker;

	while ((broker = brokers)) {
		brokers = broker->next;
		close_all(broker);
	}
}
