// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Events: the end of a transfer each.  An ended event is a plain structure, and
 * needs neither the lock nor its stream.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/reply.h"
#include "memory/futex.h"
#include "pool/busy.h"
#include "stream/stream.h"

DEFINE_FORK_LOCK(DRAY_FORK_STREAMS, lock);
/* Changes when an event was settled or a stream was left. */
static _Atomic uint32_t changes;
static uint32_t sleepers; /* with the lock */
/* The same for events of calls: their waiters sleep through all packets. */
static _Atomic uint32_t calls_ended;
static uint32_t call_sleepers; /* with the lock */

void dray_streams_enlist(void)
{
	dray_fork_enlist(&locks);
	dray_uses_enlist();
}

int dray_stream_check(const struct dray_stream *stream)
{
	if (stream->process == dray_fork_process())
		return 0;
	return dray_fail(-ECHILD, "%s was opened by the parent process",
			 stream->name);
}

void dray_streams_lock(void)
{
	pthread_mutex_lock(&lock);
}

void dray_streams_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

/* With the lock. */
static void event_change(void)
{
	if (sleepers)
		dray_futex_change(&changes);
}

/*
 * Drops the lock until @word changes; false if a signal or the time came.
 * @count: of the threads that sleep there
 */
static bool wait_on(_Atomic uint32_t *word, uint32_t *count, uint64_t until_ns)
{
	uint32_t seen = atomic_load(word);
	bool woken;

	++*count;
	pthread_mutex_unlock(&lock);
	woken = !dray_futex_wait(word, seen, until_ns) || errno == EAGAIN;
	pthread_mutex_lock(&lock);
	--*count;
	return woken;
}

static bool wait_for_change(void)
{
	return wait_on(&changes, &sleepers, UINT64_MAX);
}

void dray_stream_use(struct dray_stream *stream)
{
	stream->users++;
}

void dray_stream_leave(struct dray_stream *stream)
{
	if (!--stream->users)
		event_change();
}

void dray_stream_drain(struct dray_stream *stream)
{
	while (stream->users)
		wait_for_change();
}

/* dray_event_wait(), for waits for memory. */
static int event_wait_for_use(struct dray_use *use,
			      const struct dray_use_part *part, int timeout_ms)
{
	(void)part;
	return dray_event_wait((struct dray_event *)(void *)use, timeout_ms);
}

static void event_free_use(struct dray_use *use)
{
	struct dray_event *event = (void *)use;

	if (event->fd >= 0)
		close(event->fd);
	free(event->failure);
	free(event);
}

static const struct dray_use_kind packet = { DRAY_USE_TRANSFER,
					     event_wait_for_use,
					     event_free_use };
static const struct dray_use_kind call = { DRAY_USE_CALL, event_wait_for_use,
					   event_free_use };

static int event_create(const struct dray_use_kind *kind, const char *name,
			uint32_t room, struct dray_event **out)
{
	struct dray_event *event =
		calloc(1, sizeof(*event) + room * sizeof(event->holds[0]));

	if (!event)
		return dray_fail(-ENOMEM, "no memory for an event");
	dray_use_init(&event->use, kind);
	event->fd = -1;
	snprintf(event->name, sizeof(event->name), "%s", name);
	*out = event;
	return 0;
}

int dray_event_create_call(const char *name, uint32_t room,
			   struct dray_event **out)
{
	return event_create(&call, name, room, out);
}

int dray_event_create(struct dray_stream *stream, uint32_t room,
		      struct dray_event **out)
{
	int ret = event_create(&packet, stream->name, room, out);

	if (ret)
		return ret;
	(*out)->use.process = stream->process;
	(*out)->stream = stream;
	return 0;
}

void dray_event_keep(struct dray_event *event, struct dray_operand *operand,
		     bool writes)
{
	struct dray_event_hold *hold = &event->holds[event->holds_count++];

	hold->held = operand->held;
	hold->location = operand->location;
	dray_use_add(&event->use, &hold->part, operand->span, writes);
	operand->held = false;
}

static void event_release(struct dray_event *event)
{
	uint32_t i;

	dray_stage_end(&event->stage, event->point.bytes);
	for (i = 0; i < event->holds_count; i++)
		if (event->holds[i].held)
			dray_locate_release(&event->holds[i].location);
	event->holds_count = 0;
}

/* Ends an event after its memory was released: its point is valid. */
static void event_end(struct dray_event *event)
{
	const int status = event->point.status;

	atomic_store(&event->use.status, status ? status : 1);
	dray_use_leave(&event->use);
}

/* Drops a reference to an ended event. */
static void event_drop(struct dray_event *event)
{
	dray_use_unref(&event->use);
}

void dray_event_abandon(struct dray_event *event)
{
	atomic_store(&event->use.status, -ECANCELED);
	dray_use_leave(&event->use);
	event_release(event);
	event_drop(event);
}

void dray_event_append(struct dray_event *event, uint64_t number)
{
	struct dray_stream *stream = event->stream;

	event->number = number;
	pthread_mutex_lock(&lock);
	stream->number = number;
	*stream->last = dray_event_ref(event);
	stream->last = &event->next;
	stream->counts.submitted++;
	stream->counts.in_flight++;
	if (event->stage.buffer)
		stream->counts.staged++;
	dray_use_submitted(&event->use);
	pthread_mutex_unlock(&lock);
}

static void stream_event_count(struct dray_stream *stream,
			       const struct dray_point *point)
{
	struct dray_stream_counts *counts = &stream->counts;

	counts->in_flight--;
	counts->bytes += point->bytes;
	counts->transfers += point->status == 0;
	counts->failed += point->status != 0;
	counts->cancelled += point->status == -ECANCELED;
	counts->timed_out += point->status == -ETIMEDOUT;
}

static void unlink_from_stream(struct dray_event *event)
{
	struct dray_event **link = &event->stream->first;

	while (*link != event)
		link = &(*link)->next;
	*link = event->next;
	if (!*link)
		event->stream->last = link;
	event->stream = NULL;
}

/* With the lock, which is dropped meanwhile; the event is pending. */
static void event_settle(struct dray_event *event,
			 const struct dray_point *point)
{
	stream_event_count(event->stream, point);
	unlink_from_stream(event);
	event->point = *point;
	event->settling = true;
	pthread_mutex_unlock(&lock);
	event_release(event);
	pthread_mutex_lock(&lock);
	event_end(event);
	event_change();
	event_drop(event);
}

void dray_event_end(struct dray_event *event, int status)
{
	struct dray_point point = { .number = event->number, .status = status };

	event_settle(event, &point);
}

void dray_event_end_call(struct dray_event *event, int status)
{
	DRAY_NO_CANCEL;
	void (*on_end)(void *context);
	int fd;

	if (status)
		event->failure = malloc(sizeof(*event->failure));
	if (event->failure)
		dray_failure_keep(event->failure);
	event_release(event);
	pthread_mutex_lock(&lock);
	event->point.status = status;
	event_end(event);
	if (call_sleepers)
		dray_futex_change(&calls_ended);
	fd = event->fd;
	on_end = event->on_end;
	pthread_mutex_unlock(&lock);
	if (fd >= 0)
		eventfd_write(fd, 1);
	if (on_end)
		on_end(event->on_end_context);
	event_drop(event);
}

/*
 * Callers hold a reference, so that an event that settles stays; the analyzer does
 * not count them.
 */
/* NOLINTBEGIN(clang-analyzer-unix.Malloc) */

/*
 * Settles a pending event if its point is there; lock as for event_settle().  A later
 * point in its place does not say that it ended.
 */
static bool event_look(struct dray_event *event)
{
	struct dray_point point;

	if (!event->stream ||
	    dray_port_read(event->stream->port, event->number, &point) <= 0)
		return false;
	event_settle(event, &point);
	return true;
}

static void event_progress(const struct dray_stream *stream)
{
	if (stream->port->ops->progress)
		stream->port->ops->progress(stream->port);
}

bool dray_stream_reap(struct dray_stream *stream)
{
	struct dray_event *event, *next;
	bool any = false;

	event_progress(stream);
	for (event = stream->first; event; event = next) {
		next = event->next;
		if (!event_look(event))
			continue;
		/* The list may change meanwhile. */
		next = stream->first;
		any = true;
	}
	return any;
}

static int take_turn(struct dray_stream *stream, bool nonblock, bool replaces)
{
	int ret = 0;

	pthread_mutex_lock(&lock);
	while (!ret && stream->turn) {
		if (nonblock)
			ret = dray_fail(-EAGAIN,
					"another thread waits for room in %s",
					stream->name);
		else if (!wait_for_change())
			ret = dray_fail(
				-EINTR,
				"a signal came before there was room in %s, nothing was submitted",
				stream->name);
	}
	if (!ret && stream->ring && !replaces)
		ret = dray_fail(
			-EBUSY,
			"packets of %s pass in the frames of its ring; end "
			"the ring first: close() of the frames in Python, "
			"dray_stream_ring() with DRAY_RING_REPLACE, or "
			"close the stream",
			stream->name);
	if (!ret) {
		stream->turn = true;
		dray_stream_use(stream);
		dray_stream_reap(stream);
		dray_stream_leave(stream);
	}
	pthread_mutex_unlock(&lock);
	return ret;
}

int dray_stream_begin(struct dray_stream *stream, bool nonblock)
{
	return take_turn(stream, nonblock, false);
}

int dray_stream_begin_ring(struct dray_stream *stream, bool replaces)
{
	return take_turn(stream, false, replaces);
}

struct dray_event *dray_stream_hindrance(struct dray_stream *stream)
{
	uint32_t points = stream->port->timeline->points;
	struct dray_event *oldest;

	pthread_mutex_lock(&lock);
	oldest = stream->first;
	if (oldest && stream->number + 1 - oldest->number >= points)
		dray_event_ref(oldest);
	else
		oldest = NULL;
	pthread_mutex_unlock(&lock);
	return oldest;
}

void dray_stream_finish(struct dray_stream *stream)
{
	pthread_mutex_lock(&lock);
	stream->turn = false;
	event_change();
	pthread_mutex_unlock(&lock);
}

static bool event_has_ended(struct dray_event *event)
{
	return dray_use_has_ended(&event->use);
}

/* Whether an event can be asked about in this process. */
static int event_check_process(struct dray_event *event)
{
	if (event_has_ended(event) || event->use.process == dray_fork_process())
		return 0;
	if (!event->number)
		return dray_fail(
			-ECHILD,
			"the call of %s was submitted by the parent process",
			event->name);
	return dray_fail(-ECHILD,
			 "packet %" PRIu64
			 " of %s was submitted by the parent process",
			 event->number, event->name);
}

/* The answer about an ended event: 0, or why it failed. */
static int event_answer(const struct dray_event *event)
{
	const struct dray_point *point = &event->point;

	if (point->status && event->failure)
		return dray_failure_restore(point->status, event->failure);
	if (point->status && !event->number)
		return dray_fail(point->status, "%s", strerror(-point->status));
	if (point->status)
		return dray_fail(point->status,
				 "packet %" PRIu64 " of %s ended after %" PRIu64
				 " bytes: %s",
				 event->number, event->name,
				 (uint64_t)point->bytes,
				 strerror(-point->status));
	return 0;
}

/*
 * Settles the event if it ended, without a wait beyond another thread's that
 * settles it.  True if it is done with.  Lock held, and dropped meanwhile.
 */
static bool settle_if_there(struct dray_event *event)
{
	while (!event_has_ended(event)) {
		if (event->settling)
			wait_for_change();
		else if (!event_look(event))
			return false;
	}
	return true;
}

/* As above, without the lock. */
static bool event_ask(struct dray_event *event)
{
	bool done = event_has_ended(event);

	if (done)
		return true;
	pthread_mutex_lock(&lock);
	if (event->stream)
		event_progress(event->stream);
	done = settle_if_there(event);
	pthread_mutex_unlock(&lock);
	return done;
}

static int event_interrupted(const struct dray_event *event)
{
	return dray_fail(-EINTR,
			 "a signal interrupted the wait for the call of %s",
			 event->name);
}

static int event_late(const struct dray_event *event, int timeout_ms)
{
	if (!event->number)
		return dray_fail(
			-ETIME, "the call of %s is still under way after %d ms",
			event->name, timeout_ms);
	return dray_fail(-ETIME,
			 "packet %" PRIu64
			 " of %s is still under way after %d ms",
			 event->number, event->name, timeout_ms);
}

/* Lock held, and dropped meanwhile; the event is pending. */
static int wait_for_point(struct dray_event *event, uint64_t until_ns)
{
	struct dray_stream *stream = event->stream;
	struct dray_port *port;
	struct dray_point point = { .number = event->number };
	int ret;

	if (!stream)
		return wait_on(&calls_ended, &call_sleepers, until_ns) ? 0
		       : errno == ETIMEDOUT			       ? -ETIME
					    : event_interrupted(event);
	port = stream->port;
	dray_stream_use(stream);
	pthread_mutex_unlock(&lock);
	ret = port->ops->wait(port, event->number, until_ns, &point);
	pthread_mutex_lock(&lock);
	if (event->stream && !event_look(event)) {
		/* A node that is gone stopped its engines. */
		if (ret == -ENODEV)
			point.status = ret;
		if (!ret || ret == -ENODEV)
			event_settle(event, &point);
	}
	dray_stream_leave(stream);
	return ret;
}

int dray_event_wait(struct dray_event *event, int timeout_ms)
{
	DRAY_NO_CANCEL;
	uint64_t until_ns;
	int ret = 0;

	if (!dray_given(event, __func__))
		return -EINVAL;
	ret = event_check_process(event);
	if (ret)
		return ret;
	if (event_ask(event))
		return event_answer(event);
	if (timeout_ms < 0 && atomic_load(&event->runs_later) &&
	    pthread_equal(event->runner, pthread_self()))
		return dray_fail(
			-EDEADLK,
			"%s would wait in the thread of its queue, which runs it",
			event->name);
	until_ns = dray_use_until(timeout_ms);
	if (!timeout_ms)
		ret = -ETIME;
	pthread_mutex_lock(&lock);
	while (!settle_if_there(event)) {
		if (ret == -ETIME)
			event_late(event, timeout_ms);
		if (ret)
			break;
		ret = wait_for_point(event, until_ns);
	}
	pthread_mutex_unlock(&lock);
	return event_has_ended(event) ? event_answer(event) : ret;
}

/* Sets the descriptor of an event, unless another thread did. */
static int keep_descriptor(struct dray_event *event, int fd)
{
	int other;

	pthread_mutex_lock(&lock);
	other = event->fd;
	if (other < 0) {
		event->fd = fd;
		if (event_has_ended(event))
			eventfd_write(fd, 1);
	}
	pthread_mutex_unlock(&lock);
	if (other < 0)
		return fd;
	close(fd);
	return other;
}

/* Leaves a failure in errno, too. */
static int event_no_descriptor(int error, const struct dray_event *event)
{
	if (error == -EOPNOTSUPP)
		dray_fail(
			error,
			"packets of %s are without file descriptors: poll dray_stream_fd()",
			event->name);
	else
		dray_fail(error, "a descriptor of the call of %s: %s",
			  event->name, strerror(-error));
	errno = -error;
	return -1;
}

int dray_event_fd(struct dray_event *event)
{
	DRAY_NO_CANCEL;
	int fd, ret;

	if (!dray_given(event, __func__))
		return -1;
	if (event->use.kind != &call)
		return event_no_descriptor(-EOPNOTSUPP, event);
	ret = event_check_process(event);
	if (ret) {
		errno = -ret;
		return -1;
	}
	fd = dray_descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (fd < 0)
		return event_no_descriptor(-errno, event);
	return keep_descriptor(event, fd);
}

/* Sets the function of a call's end; true if that was before. */
static int set_on_end(struct dray_event *event, void (*ended)(void *context),
		      void *context)
{
	int ret;

	pthread_mutex_lock(&lock);
	ret = event->on_end ? -EBUSY : event_has_ended(event);
	if (!event->on_end) {
		event->on_end = ended;
		event->on_end_context = context;
	}
	pthread_mutex_unlock(&lock);
	return ret;
}

int dray_event_on_end(struct dray_event *event, void (*ended)(void *context),
		      void *context)
{
	int ret;

	if (!dray_given(ended ? event : NULL, __func__))
		return -EINVAL;
	if (event->use.kind != &call)
		return dray_fail(
			-EOPNOTSUPP,
			"packets of %s call no function at their end: poll dray_stream_fd()",
			event->name);
	ret = event_check_process(event);
	if (!ret)
		ret = set_on_end(event, ended, context);
	if (ret == -EBUSY)
		return dray_fail(
			ret,
			"the call of %s already calls a function at its end",
			event->name);
	if (ret > 0)
		ended(context);
	return ret < 0 ? ret : 0;
}

int dray_event_status(struct dray_event *event)
{
	int ret;

	if (!dray_given(event, __func__))
		return -EINVAL;
	ret = event_check_process(event);
	if (ret || !event_ask(event))
		return ret;
	ret = event_answer(event);
	return ret ? ret : 1;
}

int dray_event_point(struct dray_event *event, struct dray_point *point,
		     size_t size)
{
	int ret;

	if (!dray_given(event, __func__) || !dray_given(point, __func__))
		return -EINVAL;
	ret = event_check_process(event);
	if (ret)
		return ret;
	if (!event_ask(event))
		return event->number ? dray_fail(-EINPROGRESS,
						 "packet %" PRIu64
						 " of %s is not done",
						 event->number, event->name)
				     : dray_fail(-EINPROGRESS,
						 "the call of %s is not done",
						 event->name);
	dray_reply(point, size, &event->point, sizeof(event->point));
	return 0;
}

int dray_event_cancel(struct dray_event *event)
{
	struct dray_stream *stream;
	int ret;

	if (!dray_given(event, __func__))
		return -EINVAL;
	ret = event_check_process(event);
	if (ret)
		return ret;
	atomic_store(&event->cancelled, true);
	if (event->cancel)
		event->cancel(event);
	pthread_mutex_lock(&lock);
	if (!settle_if_there(event) && event->stream) {
		stream = event->stream;
		dray_stream_use(stream);
		pthread_mutex_unlock(&lock);
		ret = stream->port->ops->cancel(stream->port, event->number);
		pthread_mutex_lock(&lock);
		settle_if_there(event);
		dray_stream_leave(stream);
	}
	pthread_mutex_unlock(&lock);
	return ret;
}

struct dray_event *dray_event_ref(struct dray_event *event)
{
	if (event)
		dray_use_ref(&event->use);
	return event;
}

void dray_event_unref(struct dray_event *event)
{
	if (!event)
		return;
	/* Settle early: the user may not look at the stream for long. */
	if (!event_has_ended(event) &&
	    event->use.process == dray_fork_process())
		event_ask(event);
	event_drop(event);
}

/* NOLINTEND(clang-analyzer-unix.Malloc) */
