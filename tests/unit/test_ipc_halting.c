// SPDX-License-Identifier: Apache-2.0 OR MIT
/* ipc: records that come in pieces, late, or not to their end. */
#include <poll.h>

#include <dray/array.h>

#include "record.h"

/*
 * Sockets that stop and go: while on, every second call is in vain, the
 * others move at most 100 bytes.
 */
static struct {
	bool on;
	unsigned int calls;
	int poll_error; /* what the next poll() meets */
	int patience; /* ms that poll() is let wait at most, all in vain */
} halting;

static bool in_vain(struct msghdr *message)
{
	if (!halting.on)
		return false;
	if (halting.calls++ % 2) {
		errno = halting.calls % 4 ? EAGAIN : EINTR;
		return true;
	}
	if (message->msg_iov->iov_len > 100)
		message->msg_iov->iov_len = 100;
	return false;
}
WRAPPED(ssize_t, sendmsg, (int socket, const struct msghdr *message, int flags))
{
	struct iovec part = *message->msg_iov;
	struct msghdr less = *message;

	less.msg_iov = &part;
	return in_vain(&less) ? -1 : __real_sendmsg(socket, &less, flags);
}
WRAPPED(ssize_t, recvmsg, (int socket, struct msghdr *message, int flags))
{
	struct iovec part = *message->msg_iov, *whole = message->msg_iov;
	ssize_t got;

	message->msg_iov = &part;
	got = in_vain(message) ? -1 : __real_recvmsg(socket, message, flags);
	message->msg_iov = whole;
	return got;
}
WRAPPED(int, poll, (struct pollfd * fds, nfds_t count, int timeout))
{
	if (halting.patience) {
		/* the time passes here, not in the test */
		assert_in_range(timeout, 1, halting.patience);
		halting.patience = 0;
		return 0;
	}
	errno = halting.poll_error;
	halting.poll_error = 0;
	return errno ? -1 : __real_poll(fds, count, timeout);
}

struct dribble {
	int socket;
	const struct record *record;
	int fd;
};

static void *send_in_pieces(void *argument)
{
	const struct dribble *dribble = argument;
	const char *bytes = (const char *)dribble->record;
	size_t done = 0;

	while (done < sizeof(*dribble->record)) {
		size_t size = sizeof(*dribble->record) - done;

		if (size > 100)
			size = 100;
		send_raw(dribble->socket, bytes + done, size, dribble->fd,
			 !done);
		done += size;
	}
	return NULL;
}

FACT(a_record_in_pieces_is_put_together)
{
	struct dray_array *array = make_array(4, 4), *received;
	struct record record;
	struct dribble dribble;
	pthread_t thread;
	int fd, ends[2], error;

	record_of(whole_view(array), &record, &fd);
	for (int type = 0; type < 2; type++) {
		make_pair(SOCK_STREAM | (type ? SOCK_NONBLOCK : 0), ends);
		dribble = (struct dribble){ ends[0], &record, fd };
		assert_int_equal(pthread_create(&thread, NULL, send_in_pieces,
						&dribble),
				 0);
		do { /* before the first byte a socket may say: not yet */
			error = dray_array_receive(ends[1], node, &received);
		} while (error == -EAGAIN);
		assert_works(error);
		assert_int_equal(pthread_join(thread, NULL), 0);
		dray_array_unref(received);
		close_pair(ends);
	}
	close(fd);
	dray_array_unref(array);
}

FACT(records_go_on_after_signals_and_waits)
{
	struct dray_array *array = make_array(4, 4), *received;
	int ends[2], before = count_fds(), error;

	make_pair(SOCK_STREAM, ends);
	halting.on = true;
	halting.calls = 0;
	assert_works(dray_view_send(ends[0], whole_view(array)));
	halting.calls = 0;
	halting.poll_error = EINTR;
	assert_works(dray_array_receive(ends[1], node, &received));
	halting.on = false;
	assert_true(halting.calls >= 2 * (sizeof(struct record) / 100));
	assert_int_equal(dray_array_axes(received)[1].size, 4);
	dray_array_unref(received);

	halting.on = true;
	halting.calls = 0;
	halting.poll_error = ENOMEM;
	assert_fails(dray_view_send(ends[0], whole_view(array)), -ENOMEM,
		     "waiting for the socket");
	halting.calls = 0;
	halting.poll_error = ENOMEM;
	error = dray_array_receive(ends[1], node, &received);
	halting.on = false;
	assert_int_equal(error, -ENOMEM);
	close_pair(ends);
	assert_int_equal(count_fds(), before);
	dray_array_unref(array);
}

FACT(a_signal_before_the_first_byte_ends_the_call)
{
	struct dray_array *array = make_array(4, 4), *received = NULL;
	int ends[2], error;

	make_pair(SOCK_STREAM, ends);
	halting.on = true;
	halting.calls = 3; /* the next one meets EINTR */
	error = dray_view_send(ends[0], whole_view(array));
	assert_int_equal(error, -EINTR);
	halting.on = false;
	assert_works(dray_view_send(ends[0], whole_view(array)));
	halting.on = true;
	halting.calls = 3;
	error = dray_array_receive(ends[1], node, &received);
	assert_int_equal(error, -EINTR);
	assert_null(received);
	halting.on = false;
	assert_works(dray_array_receive(ends[1], node, &received));
	dray_array_unref(received);
	dray_array_unref(array);
	close_pair(ends);
}

FACT(a_peer_that_stops_in_the_middle_is_given_up)
{
	struct dray_array *received = NULL;
	int ends[2], before = count_fds();

	for (int type = 0; type < 2; type++) {
		make_pair(SOCK_STREAM | (type ? SOCK_NONBLOCK : 0), ends);
		assert_int_equal(write(ends[0], "d", 1), 1);
		halting.patience = 5000;
		assert_fails(dray_array_receive(ends[1], node, &received),
			     -ETIMEDOUT, "in the middle of a record");
		assert_int_equal(halting.patience, 0);
		close_pair(ends);
	}
	assert_null(received);
	assert_int_equal(count_fds(), before);
}

FACTS_SHARE(set_up, tear_down)
