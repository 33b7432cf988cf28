/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A stream and its packets in flight.  A stream lists them until their end is
 * noticed, and the list keeps their arrays, also if the program drops the
 * events.  The critical section of the stream object guards a list and its
 * packets.
 */
#ifndef DRAY_PYTHON_STREAM_H
#define DRAY_PYTHON_STREAM_H

#include "module.h"

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
	bool sends;
	bool closing;
	size_t users; /* calls under way */
	struct flight flight;
	PyObject *weak;
};

struct flight *stream_flight(PyObject *stream);
/* Closes the stream, or lets the last call do so; may be called again. */
void stream_end(PyObject *stream);
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
