// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ipc: the broker, a thread that sends descriptors of exported memory to
 * permitted importers.  It never waits for an importer; its side of each
 * connection is in serve.c.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/thread.h"
#include "ipc/broker.h"

/*
 * The broker with a thread.  After the last export it is about to end; an export
 * before that starts it again, so that there are never two.
 */
static struct dray_ipc_broker *only;

/*
 * Present and later importers find the connection refused.  Out of the set first:
 * a child may have the listener too.
 */
static void close_sockets(struct dray_ipc_broker *broker)
{
	dray_ipc_hang_up_all(broker);
	if (broker->listener >= 0) {
		epoll_ctl(broker->poller, EPOLL_CTL_DEL, broker->listener,
			  NULL);
		close(broker->listener);
	}
	if (broker->reserve >= 0)
		close(broker->reserve);
	broker->listener = -1;
	broker->reserve = -1;
}

static void close_all(struct dray_ipc_broker *broker)
{
	close_sockets(broker);
	if (broker->poller >= 0)
		close(broker->poller);
	if (broker->wake >= 0)
		close(broker->wake);
	dray_address_end(&broker->others);
	free(broker);
}

/* Empties the eventfd of an end that was called off. */
static void broker_thread_drain(struct dray_ipc_broker *broker)
{
	uint64_t stops;

	/* In a sandbox without read() it would be there for ever. */
	if (read(broker->wake, &stops, sizeof(stops)) < 0)
		epoll_ctl(broker->poller, EPOLL_CTL_DEL, broker->wake, NULL);
}

/* Handles all events but the end. */
static void attend_all(struct dray_ipc_broker *broker,
		       const struct epoll_event *events, int n)
{
	bool knocks = false;
	int i;

	if (broker->deaf) {
		broker->deaf = false;
		dray_ipc_listen(broker, EPOLL_CTL_MOD);
	}
	for (i = 0; i < n; i++) {
		if (events[i].data.ptr == &broker->listener)
			knocks = true;
		else if (events[i].data.ptr == &broker->wake)
			broker_thread_drain(broker);
		else
			dray_ipc_attend(broker, events[i].data.ptr);
	}
	/* These end connections, which may be among the events. */
	if (knocks)
		dray_ipc_accept(broker);
	dray_ipc_drop_silent(broker);
}

/* In a sandbox that forbids epoll_wait(): importers get no answer. */
static void broker_thread_rest(void)
{
	const struct timespec pause = { .tv_nsec = 100000000 };

	nanosleep(&pause, NULL);
}

static void *broker_thread_run(void *argument)
{
	struct dray_ipc_broker *broker = argument;
	struct epoll_event events[16];
	uint64_t starts;
	int n, timeout;

	pthread_setname_np(pthread_self(), "dray-broker");
	for (;;) {
		dray_ipc_lock();
		starts = broker->starts;
		timeout = dray_ipc_patience(broker);
		dray_ipc_unlock();
		n = epoll_wait(broker->poller, events, 16, timeout);
		if (n < 0 && errno != EINTR)
			broker_thread_rest();
		dray_ipc_lock();
		if (broker->ends)
			break;
		/* Events from before the start are of connections that ended. */
		if (broker->starts == starts)
			attend_all(broker, events, n);
		dray_ipc_unlock();
		dray_ipc_settle();
	}
	/* With the lock: a child of fork() gets all of it, or nothing. */
	only = NULL;
	close_all(broker);
	dray_ipc_unlock();
	return NULL;
}

static int broker_thread_start(struct dray_ipc_broker *broker)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int error;

	error = pthread_attr_init(&attributes);
	if (error)
		return dray_fail(-error, "the broker's thread: %s",
				 strerror(error));
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	error = dray_thread_create(&thread, &attributes, broker_thread_run,
				   broker);
	pthread_attr_destroy(&attributes);
	if (error)
		return dray_fail(-error, "the broker's thread: %s",
				 strerror(error));
	return 0;
}

static int thread_open_socket(uint64_t name)
{
	int fd = dray_descriptor(socket(
		AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
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

/* Opens all that importers need.  The caller closes it after an error. */
static int open_sockets(struct dray_ipc_broker *broker, uint64_t name)
{
	broker->listener = thread_open_socket(name);
	if (broker->listener < 0 || dray_ipc_restock(broker) ||
	    dray_ipc_listen(broker, EPOLL_CTL_ADD))
		return dray_fail(-errno, "the broker's socket: %s",
				 strerror(errno));
	return 0;
}

static int start_anew(uint64_t name, struct dray_ipc_broker **out)
{
	struct dray_ipc_broker *broker = calloc(1, sizeof(*broker));
	struct epoll_event event = { .events = EPOLLIN };
	int ret;

	if (!broker)
		return dray_fail(-ENOMEM, "no memory for the broker");
	broker->listener = -1;
	broker->reserve = -1;
	broker->poller = dray_descriptor(epoll_create1(EPOLL_CLOEXEC));
	broker->wake = dray_descriptor(eventfd(0, EFD_CLOEXEC));
	event.data.ptr = &broker->wake;
	if (broker->poller < 0 || broker->wake < 0 ||
	    epoll_ctl(broker->poller, EPOLL_CTL_ADD, broker->wake, &event))
		ret = dray_fail(-errno, "the broker's socket: %s",
				strerror(errno));
	else
		ret = open_sockets(broker, name);
	if (!ret)
		ret = broker_thread_start(broker);
	if (ret)
		close_all(broker);
	else
		*out = broker;
	return ret;
}

/* Its thread did not see yet that it was to end. */
static int start_again(struct dray_ipc_broker *broker, uint64_t name)
{
	int ret = open_sockets(broker, name);

	if (ret) {
		close_sockets(broker);
		return ret;
	}
	broker->ends = false;
	broker->starts++;
	return 0;
}

static int broker_start(uint64_t name, struct dray_ipc_broker **out)
{
	int ret = only ? start_again(only, name) : start_anew(name, &only);

	if (!ret)
		*out = only;
	return ret;
}

static void broker_stop(struct dray_ipc_broker *broker)
{
	uint64_t one = 1;

	broker->ends = true;
	broker->deaf = false;
	close_sockets(broker);
	/*
	 * The thread reads it at each start, so that there is room.  In a sandbox
	 * without write() the thread waits for the next export.
	 */
	if (write(broker->wake, &one, sizeof(one)) < 0)
		return;
}

static void broker_forget(void)
{
	if (!only)
		return;
	/* The set is the parent's, too: nothing may be removed from it. */
	close(only->poller);
	only->poller = -1;
	close_all(only);
	only = NULL;
}

const struct dray_ipc_server dray_ipc_server = {
	.start = broker_start,
	.stop = broker_stop,
	.forget = broker_forget,
	.hear = dray_ipc_hear,
	.tell_end = dray_ipc_tell_end,
	.forget_leases = dray_ipc_forget_leases,
};
