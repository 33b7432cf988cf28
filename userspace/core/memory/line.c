// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Lines move packets between the two ends of a loop-back stream.
 *
 * Nothing is held on the way.  A packet stays in flight until receives got its
 * bytes, and a receive until a packet arrives: that is the back-pressure of a
 * stream.  Each submission moves all bytes for which there is a place, in its own
 * thread, under a single lock.  Deadlines need no thread: each
 * look ends the jobs that are due, and a timer makes the port's descriptor
 * readable.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/fork.h"
#include "memory/futex.h"
#include "memory/line.h"

DEFINE_FORK_LOCK(DRAY_FORK_LOOPBACK, lock);
/* Changes with each point, and wakes threads that wait. */
static _Atomic uint32_t changes;

void dray_loopback_enlist(void)
{
	dray_fork_enlist(&locks);
}

void dray_line_lock(void)
{
	pthread_mutex_lock(&lock);
}

void dray_line_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

struct dray_host_line *dray_line_at(struct dray_host_line **place)
{
	struct dray_host_line *line = *place;

	/* A child cannot end its parent's, and inherits nothing of it. */
	return line && line->process == dray_fork_process() ? line : NULL;
}

static struct dray_host_line *other_end(const struct dray_host_line *line)
{
	return dray_line_at(line->place + (line->sends ? 1 : -1));
}

#define STORE(field, value, order) \
	__atomic_store_n(&(field), value, __ATOMIC_##order)

static void line_publish(struct dray_host_line *line,
			 const struct dray_point *end)
{
	struct dray_timeline_head *head = line->timeline;
	struct dray_point *point = &line->points[end->number % head->points];
	bool all = line->ring || !line->first;

	/* Each of the next keeps the 0 before it. */
	STORE(point->number, 0, RELAXED);
	STORE(point->bytes, end->bytes, RELEASE);
	STORE(point->time_ns, end->time_ns, RELEASE);
	STORE(point->status, end->status, RELEASE);
	STORE(point->frame, end->frame, RELEASE);
	STORE(point->number, end->number, RELEASE);
	STORE(head->completed, all ? line->submitted : line->first->number - 1,
	      RELEASE);
	STORE(head->published, head->published + 1, RELEASE);
}

/* Shows the end of a job, and its frame. */
static void line_tell(struct dray_host_line *line,
		      const struct dray_line_job *job, int status,
		      uint64_t time_ns)
{
	struct dray_line_frame *frame = job->frame;
	struct dray_point point = {
		.number = frame ? ++line->submitted : job->number,
		.bytes = job->bytes,
		.time_ns = time_ns,
		.status = status,
	};

	if (frame) {
		point.frame = (uint32_t)(frame - line->ring->frames);
		frame->point = point;
		frame->state = DRAY_LINE_UNREAD;
	}
	line_publish(line, &point);
}

/* Removes the job at @link from its line, and says how it ended. */
static void line_finish(struct dray_host_line *line,
			struct dray_line_job **link, int status,
			uint64_t time_ns)
{
	DRAY_NO_CANCEL;
	struct dray_line_job *job = *link;

	*link = job->next;
	if (!*link)
		line->last = link;
	line->in_flight--;
	line_tell(line, job, status, time_ns);
	if (status) {
		line->counts->failed++;
	} else {
		line->counts->submitted += job->count;
		line->counts->bytes += job->bytes;
	}
	eventfd_write(line->event, 1);
	dray_futex_change(&changes);
	if (!job->frame)
		free(job);
}

/* Ends the jobs of a line if they are due. */
static void line_expire(struct dray_host_line *line, uint64_t time_ns)
{
	struct dray_line_job **link = &line->first;

	while (*link && !line->ring) {
		uint64_t deadline = (*link)->deadline;

		if (deadline <= time_ns)
			line_finish(line, link, -ETIMEDOUT, deadline);
		else
			link = &(*link)->next;
	}
}

/* Sets the timer of a line to its next deadline, and returns that. */
static uint64_t set_timer(const struct dray_host_line *line)
{
	struct itimerspec time = { .it_value = { 0, 0 } };
	uint64_t next = DRAY_LINE_NEVER;
	const struct dray_line_job *job;

	/* Frames are without a deadline. */
	if (line->ring)
		return next;
	for (job = line->first; job; job = job->next)
		if (job->deadline < next)
			next = job->deadline;
	if (next != DRAY_LINE_NEVER) {
		time.it_value.tv_sec = (time_t)(next / 1000000000);
		time.it_value.tv_nsec = (long)(next % 1000000000);
	}
	timerfd_settime(line->timer, TFD_TIMER_ABSTIME, &time, NULL);
	return next;
}

static void begin_piece(const struct dray_host_line *line,
			struct dray_line_job *job)
{
	const struct dray_line_piece *piece = &job->pieces[job->piece];

	dray_runs_begin(&job->runs, piece->first, piece->run, piece->axes,
			piece->axes_count, line->sends);
}

/* Passes bytes of a job; false at its end. */
static bool line_pass(const struct dray_host_line *line,
		      struct dray_line_job *job, uint64_t length)
{
	job->bytes += length;
	if (dray_runs_pass(&job->runs, length))
		return true;
	if (++job->piece == job->count)
		return false;
	begin_piece(line, job);
	return true;
}

/* Moves bytes of the first packet to the first receive, until either ends. */
static void line_move(struct dray_host_line *tx, struct dray_host_line *rx)
{
	struct dray_line_job *from = tx->first, *to = rx->first;
	bool more = true, room = true;
	uint64_t time_ns;

	while (more && room) {
		uint64_t length, space;
		const void *src = dray_runs_next(&from->runs, &length);
		void *dst = dray_runs_next(&to->runs, &space);

		if (length > space)
			length = space;
		/* Both may be the same bytes. */
		memmove(dst, src, (size_t)length);
		more = line_pass(tx, from, length);
		room = line_pass(rx, to, length);
	}
	time_ns = dray_clock_now();
	/* The end of the packet ends the receive, full or not. */
	line_finish(rx, &rx->first, 0, time_ns);
	if (!more)
		line_finish(tx, &tx->first, 0, time_ns);
}

struct dray_line_frame *dray_line_unread(struct dray_line_ring *ring)
{
	struct dray_line_frame *frame, *oldest = NULL;
	uint32_t i;

	for (i = 0; i < ring->count; i++) {
		frame = &ring->frames[i];
		if (frame->state == DRAY_LINE_UNREAD &&
		    (!oldest || frame->point.number < oldest->point.number))
			oldest = frame;
	}
	return oldest;
}

/* Queues the oldest unread frame, if the ring may overwrite it. */
static void line_overwrite(struct dray_host_line *line)
{
	struct dray_line_frame *frame = NULL;

	if (line->ring->overwrites && !line->ring->ended)
		frame = dray_line_unread(line->ring);
	if (!frame)
		return;
	STORE(line->timeline->lost, line->timeline->lost + 1, RELEASE);
	dray_line_queue(line, frame->job);
}

/* Whether a job of the line meets a job of the other end. */
static bool has_job(struct dray_host_line *line)
{
	struct dray_line_ring *ring = line->ring;

	if (!line->first && ring)
		line_overwrite(line);
	if (!line->first && ring && !ring->starved && line->timeline->completed)
		STORE(line->timeline->held_back, line->timeline->held_back + 1,
		      RELEASE);
	if (ring)
		ring->starved = !line->first;
	return line->first;
}

/* Whether a packet can move between the ends. */
static bool can_move(struct dray_host_line *tx, struct dray_host_line *rx)
{
	if (!tx || !rx)
		return false;
	if (tx->first)
		return has_job(rx);
	return rx->first && has_job(tx);
}

uint64_t dray_line_pump(struct dray_host_line *line)
{
	struct dray_host_line *other = other_end(line);
	struct dray_host_line *tx = line->sends ? line : other;
	struct dray_host_line *rx = line->sends ? other : line;
	uint64_t time_ns = dray_clock_now(), mine, its = DRAY_LINE_NEVER;

	line_expire(line, time_ns);
	if (other)
		line_expire(other, time_ns);
	while (can_move(tx, rx))
		line_move(tx, rx);
	mine = set_timer(line);
	if (other)
		its = set_timer(other);
	return mine < its ? mine : its;
}

void dray_line_stop(struct dray_host_line *line, uint64_t number)
{
	struct dray_line_job **link = &line->first;
	uint64_t time_ns = dray_clock_now();

	while (*link) {
		if (!number || (*link)->number == number)
			line_finish(line, link, -ECANCELED, time_ns);
		else
			link = &(*link)->next;
		if (line->ring)
			break;
	}
}

static void line_append(struct dray_host_line *line, struct dray_line_job *job)
{
	begin_piece(line, job);
	*line->last = job;
	line->last = &job->next;
	line->in_flight++;
}

void dray_line_add(struct dray_host_line *line, struct dray_line_job *job)
{
	job->number = ++line->submitted;
	line_append(line, job);
}

void dray_line_queue(struct dray_host_line *line, struct dray_line_job *job)
{
	job->next = NULL;
	job->bytes = 0;
	job->piece = 0;
	job->frame->state = DRAY_LINE_QUEUED;
	line_append(line, job);
}

void dray_line_wake(void)
{
	dray_futex_change(&changes);
}

int dray_line_wait(uint32_t seen, uint64_t until_ns)
{
	if (dray_futex_wait(&changes, seen, until_ns) && errno == EINTR)
		return -EINTR;
	return 0;
}

uint32_t dray_line_changes(void)
{
	return atomic_load(&changes);
}
