// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ipc: connections to the broker.  An importer may ask for a while, then the
 * broker hangs up.  Messages are sent with the lock held, so that no descriptor
 * closes meanwhile; they fit into the socket, which is new.
 *
 * A process at its limit of descriptors cannot even refuse, because accept()
 * needs a descriptor.  The broker therefore keeps a reserve.  The connection
 * accepted with it is refused, and as soon as it closes the reserve is there
 * for the next connection.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/error.h"
#include "ipc/broker.h"
#include "ipc/others.h"

/* Connections that did not ask yet. */
#define MOST_WAITING 64
/* How soon to accept again after descriptors ran out. */
#define RETRY_MS 100

struct dray_ipc_connection {
	int fd;
	int refusal; /* it uses the reserve: a negative errno */
	int64_t since;
	struct dray_ipc_export *export; /* NULL if it did not ask yet */
	bool mapped; /* the importer said so */
	bool is_other; /* counted, as a lease of another user */
	uid_t user;
	struct dray_ipc_connection *next;
	struct dray_ipc_connection *before; /* of leases */
};

int dray_ipc_listen(struct dray_ipc_broker *broker, int how)
{
	struct epoll_event event = {
		.events = broker->deaf ? 0 : EPOLLIN,
		.data.ptr = &broker->listener,
	};

	return epoll_ctl(broker->poller, how, broker->listener, &event);
}

int dray_ipc_restock(struct dray_ipc_broker *broker)
{
	if (broker->reserve < 0)
		broker->reserve = dray_descriptor_copy(broker->wake);
	return broker->reserve < 0 ? -1 : 0;
}

static void put_lease(struct dray_ipc_connection *connection)
{
	struct dray_ipc_export *export = connection->export;

	connection->before = NULL;
	connection->next = export->connections;
	if (connection->next)
		connection->next->before = connection;
	export->connections = connection;
}

static void take_lease(struct dray_ipc_connection *connection)
{
	if (connection->next)
		connection->next->before = connection->before;
	if (connection->before)
		connection->before->next = connection->next;
	else
		connection->export->connections = connection->next;
}

/* Out of the set first: a child may share the socket. */
static void serve_end(struct dray_ipc_broker *broker,
		      struct dray_ipc_connection *connection)
{
	epoll_ctl(broker->poller, EPOLL_CTL_DEL, connection->fd, NULL);
	close(connection->fd);
	if (connection->refusal)
		dray_ipc_restock(broker);
	free(connection);
}

/* Unlinks a connection that gets a lease, or ends. */
static struct dray_ipc_connection *
take_asking(struct dray_ipc_broker *broker, struct dray_ipc_connection **link)
{
	struct dray_ipc_connection *connection = *link;

	*link = connection->next;
	broker->waiting--;
	return connection;
}

static void hang_up(struct dray_ipc_broker *broker,
		    struct dray_ipc_connection **link)
{
	serve_end(broker, take_asking(broker, link));
}

/* Drops the silent importer with the oldest connection. */
static void drop_oldest(struct dray_ipc_broker *broker)
{
	struct dray_ipc_connection **link = &broker->asking;

	while (*link && (*link)->next)
		link = &(*link)->next;
	if (*link)
		hang_up(broker, link);
}

/* Drops the connection on the reserve if it is silent for a while. */
static void drop_refused(struct dray_ipc_broker *broker)
{
	int64_t since = dray_ipc_now() - RETRY_MS;
	struct dray_ipc_connection **link = &broker->asking;

	while (*link) {
		if ((*link)->refusal && (*link)->since <= since)
			hang_up(broker, link);
		else
			link = &(*link)->next;
	}
}

static int accept_next(const struct dray_ipc_broker *broker)
{
	return dray_descriptor(accept4(broker->listener, NULL, NULL,
				       SOCK_CLOEXEC | SOCK_NONBLOCK));
}

static bool is_limit(int error)
{
	return error == EMFILE || error == ENFILE;
}

static bool ran_out(int error)
{
	return is_limit(error) || error == ENOMEM || error == ENOBUFS;
}

/*
 * A descriptor, or -1 and errno.
 * @refusal: 0, or the error to send to a connection on the reserve
 */
static int take_caller(struct dray_ipc_broker *broker, int *refusal)
{
	int error, fd = accept_next(broker);

	*refusal = 0;
	if (fd >= 0 || !is_limit(errno) || broker->reserve < 0)
		return fd;
	error = errno;
	close(broker->reserve);
	broker->reserve = -1;
	fd = accept_next(broker);
	if (fd < 0)
		error = errno;
	/* Others may close some meanwhile, or be faster. */
	if (dray_ipc_restock(broker) && fd >= 0)
		*refusal = -error;
	errno = error;
	return fd;
}

static void be_deaf(struct dray_ipc_broker *broker)
{
	broker->deaf = true;
	dray_ipc_listen(broker, EPOLL_CTL_MOD);
	drop_refused(broker);
}

/*
 * Without memory for its object a connection stays in the backlog, as it does
 * without descriptors.
 */
void dray_ipc_accept(struct dray_ipc_broker *broker)
{
	struct dray_ipc_connection *connection = calloc(1, sizeof(*connection));
	struct epoll_event event = { .events = EPOLLIN };

	if (!connection) {
		be_deaf(broker);
		return;
	}
	dray_ipc_restock(broker);
	connection->fd = take_caller(broker, &connection->refusal);
	if (connection->fd < 0) {
		if (ran_out(errno))
			be_deaf(broker);
		free(connection);
		return;
	}
	if (broker->waiting >= MOST_WAITING)
		drop_oldest(broker);
	event.data.ptr = connection;
	if (epoll_ctl(broker->poller, EPOLL_CTL_ADD, connection->fd, &event)) {
		close(connection->fd);
		free(connection);
		dray_ipc_restock(broker);
		return;
	}
	connection->since = dray_ipc_now();
	connection->next = broker->asking;
	broker->asking = connection;
	broker->waiting++;
}

static bool serve_answer(int fd, const struct dray_ipc_answer *said,
			 const int *buffer)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec part = { (void *)said, sizeof(*said) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (buffer) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), buffer, sizeof(int));
	}
	return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) ==
	       (ssize_t)sizeof(*said);
}

/* Ends the lease of a connection. */
static void serve_release(struct dray_ipc_broker *broker,
			  struct dray_ipc_connection *connection)
{
	struct dray_ipc_export *export = connection->export;

	if (connection->is_other)
		dray_ipc_others_give(&broker->others, connection->user,
				     export->fields.slot);
	dray_ipc_release(export, false);
}

/*
 * Adds a lease of the memory to which the record leads, or says why not.  A
 * connection with the reserve gets a lease only if its user is the exporter's
 * and copies, which soon ends it.
 */
static int serve_lease(struct dray_ipc_broker *broker,
		       struct dray_ipc_connection *connection,
		       const struct dray_ipc_record *record, bool copies,
		       struct dray_ipc_answer *refused)
{
	socklen_t length = sizeof(struct ucred);
	struct dray_ipc_export *export;
	struct dray_ipc_fields asked;
	struct ucred peer;
	int ret;

	if (getsockopt(connection->fd, SOL_SOCKET, SO_PEERCRED, &peer, &length))
		return -EACCES;
	ret = dray_ipc_read(record, &asked);
	if (!ret)
		ret = dray_ipc_find(&asked, &peer.uid, &export);
	if (ret)
		return ret;
	connection->user = peer.uid;
	connection->is_other = !dray_ipc_is_same_user(peer.uid, export->user);
	if (connection->refusal && (connection->is_other || !copies))
		return connection->refusal;
	if (connection->is_other)
		ret = dray_ipc_others_take(&broker->others, peer.uid,
					   asked.slot, &refused->share,
					   &refused->limit);
	return ret ? ret
		   : dray_ipc_lease(&asked, &peer.uid, &connection->export);
}

/* True: it got a lease. */
static bool ipc_serve(struct dray_ipc_broker *broker,
		      struct dray_ipc_connection *connection)
{
	struct dray_ipc_answer refused = { .magic = DRAY_IPC_MAGIC };
	struct dray_ipc_question asked = { .copies = 0 };
	struct dray_ipc_record record;
	struct dray_ipc_export *export;
	ssize_t got;

	got = recv(connection->fd, &asked, sizeof(asked), MSG_TRUNC);
	if (got != sizeof(asked.fields) &&
	    (got != sizeof(asked) || asked.copies != 1))
		return false;
	memcpy(&record, &asked.fields, sizeof(record));
	refused.error = serve_lease(broker, connection, &record, asked.copies,
				    &refused);
	if (refused.error) {
		serve_answer(connection->fd, &refused, NULL);
		return false;
	}
	export = connection->export;
	if (serve_answer(connection->fd, &export->answer, &export->file->fd))
		return true;
	serve_release(broker, connection);
	return false;
}

/*
 * Reads a byte from an importer that mapped the memory.  False at the end of the
 * connection, and for any other input.
 */
static bool serve_hear(struct dray_ipc_connection *connection)
{
	char byte;
	ssize_t got = recv(connection->fd, &byte, 1, MSG_TRUNC);

	/* It was heard already, by dray_ipc_hear(). */
	if (got < 0 && errno == EAGAIN)
		return true;
	if (got != 1 || connection->mapped)
		return false;
	connection->mapped = true;
	dray_ipc_mapped(connection->export);
	return true;
}

void dray_ipc_hear(struct dray_ipc_export *export)
{
	struct dray_ipc_connection *connection;

	for (connection = export->connections; connection;
	     connection = connection->next)
		if (!connection->mapped)
			serve_hear(connection);
}

/* It fits into the socket: nothing but the answer was sent before. */
void dray_ipc_tell_end(struct dray_ipc_export *export)
{
	struct dray_ipc_connection *connection;

	for (connection = export->connections; connection;
	     connection = connection->next)
		send(connection->fd, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void end_lease(struct dray_ipc_broker *broker,
		      struct dray_ipc_connection *connection)
{
	take_lease(connection);
	serve_release(broker, connection);
	serve_end(broker, connection);
}

void dray_ipc_attend(struct dray_ipc_broker *broker,
		     struct dray_ipc_connection *connection)
{
	struct dray_ipc_connection **link = &broker->asking;

	if (connection->export) {
		if (!serve_hear(connection))
			end_lease(broker, connection);
		return;
	}
	while (*link != connection)
		link = &(*link)->next;
	if (ipc_serve(broker, connection))
		put_lease(take_asking(broker, link));
	else
		hang_up(broker, link);
}

void dray_ipc_drop_silent(struct dray_ipc_broker *broker)
{
	struct dray_ipc_connection **link = &broker->asking;
	int64_t now = *link ? dray_ipc_now() : 0;

	while (*link) {
		if (now - (*link)->since >= DRAY_IPC_PATIENCE_MS)
			hang_up(broker, link);
		else
			link = &(*link)->next;
	}
}

int dray_ipc_patience(const struct dray_ipc_broker *broker)
{
	if (broker->deaf)
		return RETRY_MS;
	return broker->waiting ? DRAY_IPC_PATIENCE_MS : -1;
}

static void close_list(struct dray_ipc_connection **list)
{
	struct dray_ipc_connection *connection;

	while ((connection = *list)) {
		*list = connection->next;
		close(connection->fd);
		free(connection);
	}
}

void dray_ipc_hang_up_all(struct dray_ipc_broker *broker)
{
	close_list(&broker->asking);
	broker->waiting = 0;
	broker->deaf = false;
}

void dray_ipc_forget_leases(struct dray_ipc_export *export)
{
	close_list(&export->connections);
}
