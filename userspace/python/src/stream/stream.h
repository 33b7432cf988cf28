/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A stream and its packets in flight.  A stream lists them until their end is
 * noticed, and the list keeps their arrays, also if the program drops the
 * events.  The critical section of the stream object guards a list and its
 * packets.
 */
#ifndef DRAY_PYTHON_STREAM_H
#define DRAY_PYTHON_STREAM_H

#include "base/module.h"

struct packet {
	struct flight *flight; /* the list; NULL: not there */
	struct packet *next;
	struct packet **link;
	size_t references; /* of the list and of an Event */
	struct dray_event *event; /* NULL: not submitted */
	PyObject *array; /* while it is in the list */
};

struct flight {
	struct packet *first; /* in the order of submission */
	struct packet **last;
};

/* The critical section of the object guards all that changes. */
struct stream_object {
	PyObject_HEAD struct dray_stream *stream; /* NULL: closed */
	struct node_entry *entry;
	char name[DRAY_NAME_LEN];
	struct dray_stream_options options;
	bool sends;
	bool shows; /* on a display */
	bool closing;
	bool renewing; /* the last call closes it and opens it again */
	bool has_rest; /* of a ring without a Frames object: frames to be sent */
	size_t users; /* calls under way */
	struct flight flight;
	PyObject *weak;
};

struct flight *stream_flight(PyObject *stream);
/* Closes the stream, or lets the last call do so; may be called again. */
void stream_end(PyObject *stream);

/*
 * Drops the rest of a ring: closes the stream after the last call, and opens it
 * again.  Returns a negative errno with a sentence if that fails: then it is closed.
 */
int stream_renew(PyObject *stream);
/* Leaves frames of a ring to be sent, until the stream is used for something else. */
void stream_leave_rest(PyObject *stream);
/* Waits for these and ends their ring; 0, or a negative errno as of wait_for_end(). */
int stream_finish_rest(PyObject *stream, double limit);
int stream_traverse(PyObject *stream, visitproc visit, void *arg);
int stream_clear(PyObject *stream);
void stream_dealloc(PyObject *stream);

void flight_init(struct flight *flight);
int flight_traverse(const struct flight *flight, visitproc visit, void *arg);
/* Lets all arrays go, after the stream was closed. */
void flight_end(PyObject *stream, struct flight *flight);
/* The first packet that has not ended, with a reference; NULL: none. */
struct dray_event *flight_first(PyObject *stream);

/* Makes a packet with the reference of an Event; NULL: out of memory. */
struct packet *packet_new(void);
/* Adds a submitted packet to its stream; takes over @event. */
void packet_start(PyObject *stream, struct packet *packet,
		  struct dray_event *event, PyObject *array);
/* Lets the array go after the end.  Two threads may notice it together. */
void packet_end(PyObject *stream, struct packet *packet);
/* Drops the reference of an Event. */
void packet_put(PyObject *stream, struct packet *packet);

#endif /* DRAY_PYTHON_STREAM_H */
