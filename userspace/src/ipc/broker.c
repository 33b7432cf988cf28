// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ipc: the broker, a thread that sends descriptors of exported memory to
 * permitted importers.  It never waits for one; serve.c has its side of each
 * connection.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/thread.h"
#include "ipc/broker.h"

/* Brokers with a thread: the current one, and any about to end. */
static struct dray_ipc_broker *brokers;

/* Present and later importers find the connection refused. */
static void close_sockets(struct dray_ipc_broker *broker)
{
	dray_ipc_hang_up_all(broker);
	if (broker->listener >= 0)
		close(broker->listener);
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
		else
			dray_ipc_attend(broker, events[i].data.ptr);
	}
	/* These end connections, which may be among the events. */
	if (knocks)
		dray_ipc_accept(broker);
	dray_ipc_drop_silent(broker);
}

static void *run(void *argument)
{
	struct dray_ipc_broker *broker = argument, **link;
	struct epoll_event events[16];
	int n, timeout;

	pthread_setname_np(pthread_self(), "dray-broker");
	for (;;) {
		dray_ipc_lock();
		timeout = dray_ipc_patience(broker);
		dray_ipc_unlock();
		n = epoll_wait(broker->poller, events, 16, timeout);
		dray_ipc_lock();
		if (broker->ends)
			break;
		attend_all(broker, events, n);
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

static int start_thread(struct dray_ipc_broker *broker)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int error;

	error = pthread_attr_init(&attributes);
	if (error)
		return dray_fail(-error, "the broker's thread: %s",
				 strerror(error));
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	error = dray_thread_create(&thread, &attributes, run, broker);
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

int dray_ipc_broker_start(uint64_t name, struct dray_ipc_broker **out)
{
	struct dray_ipc_broker *broker = calloc(1, sizeof(*broker));
	struct epoll_event event = { .events = EPOLLIN };
	int ret;

	if (!broker)
		return dray_fail(-ENOMEM, "no memory for the broker");
	broker->reserve = -1;
	broker->poller = epoll_create1(EPOLL_CLOEXEC);
	broker->wake = eventfd(0, EFD_CLOEXEC);
	broker->listener = open_socket(name);
	event.data.ptr = &broker->wake;
	if (broker->poller < 0 || broker->wake < 0 || broker->listener < 0 ||
	    dray_ipc_restock(broker) ||
	    epoll_ctl(broker->poller, EPOLL_CTL_ADD, broker->wake, &event) ||
	    dray_ipc_listen(broker, EPOLL_CTL_ADD))
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
