/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A stream, and the events of its transfers.  No thread waits in the
 * background: the first look at a timeline with a new point settles its event.
 * It ends a staging copy and releases the memory.  A single lock guards the lists
 * of all streams, is held briefly, and is dropped while an event is settled.
 */
#ifndef DRAY_STREAM_STREAM_H
#define DRAY_STREAM_STREAM_H

#include <pthread.h>
#include <stdatomic.h>

#include <dray/stream.h>

#include "layout/operand.h"
#include "memory/port.h"
#include "stream/stage.h"
#include "use/use.h"
#include "base/shared.h"

struct dray_stream {
	struct dray_stream *next; /* of all streams; with the lock */
	struct dray_port *port;
	uint32_t process; /* that opened it, see dray_fork_process() */
	bool sends; /* or shows; else it receives */
	uint32_t op; /* enum dray_op of its packets */
	bool repeats; /* a packet is rows, and ends when another replaces it */
	char name[DRAY_NAME_LEN];

	/* limits of the engine */
	uint64_t max_runs; /* contiguous pieces of a packet */
	uint64_t max_bytes; /* of a packet */
	uint64_t max_segment; /* bytes of a descriptor */
	uint32_t alignment; /* bytes; of addresses and lengths */
	uint32_t first_alignment; /* bytes; of the first byte to repeat */

	/* with the lock of all streams */
	bool turn; /* a thread submits a packet: the list is in order */
	struct dray_event *first; /* in flight; the list holds references */
	struct dray_event **last;
	uint64_t number; /* of the last packet submitted */
	uint32_t users; /* threads that use it without the lock */
	struct dray_stream_ring *ring; /* or NULL */
	struct dray_stream_counts counts; /* in_flight included */

	/* of executors: a single call at a time owns the stream */
	pthread_mutex_t calls;
	_Atomic bool stale; /* a call failed, and the IP was not reset */
};

/* Memory of a view of a packet. */
struct dray_event_hold {
	bool held; /* location is, by dray_locate_hold() */
	struct dray_location location;
	struct dray_use_part part;
};

struct dray_event {
	struct dray_use use; /* its status changes with the lock */
	bool settling; /* a thread settles it, others wait; with the lock */
	uint64_t number; /* of its packet; 0: of a call */
	struct dray_stream *stream; /* while it is pending; NULL: of a call */
	_Atomic bool cancelled; /* a call's executor may look */
	/* ends a call that did not start; NULL: not in a queue */
	void (*cancel)(struct dray_event *event);
	void *call; /* with the lock of queues of calls; NULL: freed */
	_Atomic bool runs_later; /* a call that @runner owns or will own */
	pthread_t runner;
	int fd; /* of a call: an eventfd that was asked for; -1: none */
	void (*on_end)(void *context); /* of a call; with the lock; NULL: none */
	void *on_end_context;
	struct dray_kept_failure *failure; /* of a call; freed with the event */
	struct dray_event *next; /* in its stream */
	struct dray_point point;
	struct dray_stage stage;
	char name[DRAY_NAME_LEN]; /* of its stream */
	uint32_t holds_count;
	struct dray_event_hold holds[];
};

/* Lets forks acquire the lock; before the first stream. */
DRAY_PRIVATE void dray_streams_enlist(void);
void dray_streams_lock(void);
void dray_streams_unlock(void);

/* Keeps a stream from being freed while the lock is dropped.  Lock held. */
void dray_stream_use(struct dray_stream *stream);
void dray_stream_leave(struct dray_stream *stream);
/* Waits until the stream is not in use.  Lock held, and dropped meanwhile. */
void dray_stream_drain(struct dray_stream *stream);

/* Ends waits for frames.  Lock held, and dropped meanwhile. */
void dray_ring_close(struct dray_stream *stream);
/* Releases the frames, after the port was closed. */
void dray_ring_drop(struct dray_stream *stream);

/*
 * Begins a turn to submit a packet, after others, and settles ended events.  No
 * lock is held meanwhile: a fork does not wait for a stream that is full.
 * Errors: -EAGAIN (@nonblock), -EINTR, -EBUSY (the stream is with a ring).
 */
int dray_stream_begin(struct dray_stream *stream, bool nonblock);
/* The same for a ring; with @replaces also if the stream is with a ring. */
int dray_stream_begin_ring(struct dray_stream *stream, bool replaces);
/*
 * Returns the event in flight, with a reference, that must end before the next
 * packet is submitted: their points could share a place in the timeline.  NULL
 * if there is none.  In the caller's turn.
 */
struct dray_event *dray_stream_hindrance(struct dray_stream *stream);
/* Ends the turn. */
void dray_stream_finish(struct dray_stream *stream);

/* Whether this process opened the stream; else -ECHILD. */
DRAY_PRIVATE int dray_stream_check(const struct dray_stream *stream);

/*
 * Settles the events with written points; false if there were none.
 * Lock held, and dropped meanwhile: the caller uses the stream.
 */
bool dray_stream_reap(struct dray_stream *stream);

/* Makes an event with room for holds; -ENOMEM. */
int dray_event_create(struct dray_stream *stream, uint32_t room,
		      struct dray_event **out);
/* Makes an event that no stream ends, for a call of @name.  -ENOMEM. */
DRAY_PRIVATE int dray_event_create_call(const char *name, uint32_t room,
					struct dray_event **out);
/* Ends such an event; drops a reference of the caller's. */
DRAY_PRIVATE void dray_event_end_call(struct dray_event *event, int status);
/* Notes the memory of @operand, and owns its hold, if any. */
DRAY_PRIVATE void dray_event_keep(struct dray_event *event,
				  struct dray_operand *operand, bool writes);
/* Ends an event if nothing was submitted for it, and drops it. */
DRAY_PRIVATE void dray_event_abandon(struct dray_event *event);
/* Adds a submitted event to its stream, which adds a reference. */
void dray_event_append(struct dray_event *event, uint64_t number);
/* Settles an event without a point.  Lock held, and dropped meanwhile. */
void dray_event_end(struct dray_event *event, int status);

#endif /* DRAY_STREAM_STREAM_H */
