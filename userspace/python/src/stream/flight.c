// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The list of a stream's packets in flight, which keeps their arrays. */
#include <stdlib.h>

#include "stream.h"

void flight_init(struct flight *flight)
{
	flight->first = NULL;
	flight->last = &flight->first;
}

int flight_traverse(const struct flight *flight, visitproc visit, void *arg)
{
	const struct packet *packet;

	for (packet = flight->first; packet; packet = packet->next)
		Py_VISIT(packet->array);
	return 0;
}

/* Takes a packet off its list; returns the reference to its array. */
static PyObject *unlink_packet(struct packet *packet)
{
	PyObject *array = packet->array;

	*packet->link = packet->next;
	if (packet->next)
		packet->next->link = packet->link;
	else
		packet->flight->last = packet->link;
	packet->flight = NULL;
	packet->array = NULL;
	packet->references--;
	return array;
}

static void free_unused(struct packet *packet)
{
	if (packet->references)
		return;
	dray_event_unref(packet->event);
	free(packet);
}

/*
 * Takes the first packet off the list if it has ended, or if @closed.  The
 * analyzer does not follow the links.
 */
/* NOLINTBEGIN(clang-analyzer-unix.Malloc) */
static bool drop_first(PyObject *stream, struct flight *flight, bool closed)
{
	struct packet *packet;
	PyObject *array = NULL;
	bool dropped = false;

	(void)stream; /* if there is a GIL */
	Py_BEGIN_CRITICAL_SECTION(stream);
	packet = flight->first;
	if (packet && (closed || dray_event_status(packet->event))) {
		array = unlink_packet(packet);
		free_unused(packet);
		dropped = true;
	}
	Py_END_CRITICAL_SECTION();
	Py_XDECREF(array);
	return dropped;
}
/* NOLINTEND(clang-analyzer-unix.Malloc) */

void flight_end(PyObject *stream, struct flight *flight)
{
	while (drop_first(stream, flight, true))
		;
}

struct dray_event *flight_first(PyObject *stream)
{
	struct flight *flight = stream_flight(stream);
	struct dray_event *event = NULL;

	while (drop_first(stream, flight, false))
		;
	Py_BEGIN_CRITICAL_SECTION(stream);
	if (flight->first)
		event = dray_event_ref(flight->first->event);
	Py_END_CRITICAL_SECTION();
	return event;
}

struct packet *packet_new(void)
{
	struct packet *packet = calloc(1, sizeof(*packet));

	if (packet)
		packet->references = 1;
	return packet;
}

void packet_start(PyObject *stream, struct packet *packet,
		  struct dray_event *event, PyObject *array)
{
	struct flight *flight = stream_flight(stream);

	Py_BEGIN_CRITICAL_SECTION(stream);
	packet->event = event;
	packet->array = Py_NewRef(array);
	packet->references++;
	packet->flight = flight;
	packet->link = flight->last;
	*flight->last = packet;
	flight->last = &packet->next;
	Py_END_CRITICAL_SECTION();
	while (drop_first(stream, flight, false))
		;
}

void packet_end(PyObject *stream, struct packet *packet)
{
	PyObject *array = NULL;

	(void)stream;
	Py_BEGIN_CRITICAL_SECTION(stream);
	if (packet->flight)
		array = unlink_packet(packet);
	Py_END_CRITICAL_SECTION();
	Py_XDECREF(array);
}

void packet_put(PyObject *stream, struct packet *packet)
{
	(void)stream;
	Py_BEGIN_CRITICAL_SECTION(stream);
	packet->references--;
	free_unused(packet);
	Py_END_CRITICAL_SECTION();
}
