/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The ring of a stream.  The program has one frame at hand, which goes back to
 * the engine with the next step.  Then its array becomes read-only; the memory
 * stays as long as an array refers to it.
 */
#ifndef DRAY_PYTHON_RING_H
#define DRAY_PYTHON_RING_H

#include "base/arguments.h"
#include "stream.h"

struct frames_object {
	PyObject_HEAD PyObject *stream;
	PyObject *arrays; /* a tuple: the whole frames, by their indices */
	bool sends;
	double timeout; /* of a step in seconds, below 0: none */
	uint64_t last; /* number of the last packet received */

	/* by the thread that set it, in the critical section of the object */
	bool busy;
	bool ended; /* it has no ring any more */
	bool at_hand; /* point is valid, and its frame is the program's */
	PyObject *array; /* of the frame at hand, or NULL */
	struct dray_point point;
	uint64_t lost; /* packets just before it */
	/* frames that flush() acquired, for steps to come */
	struct dray_point *spare;
	uint32_t spare_first, spare_end;
};

/* Makes one step within @limit seconds; NULL without an exception: the end. */
PyObject *ring_step(struct frames_object *self, double limit);
/* Sends the frame at hand, and waits for all within @limit seconds. */
PyObject *ring_flush(struct frames_object *self, double limit);

/*
 * Waits until all frames that were released are sent, and takes the ring away.  @broken:
 * the first frame that broke off, if its status is not 0.  0, or a negative errno as of
 * wait_for_end().
 */
int ring_take_away(struct dray_stream *stream, double limit,
		   struct dray_point *broken);
/*
 * Ends the ring.  One that sends waits for the frames that were released, unless it
 * @drops them.  Returns -1 with an exception.
 */
int ring_end(struct frames_object *self, bool drops, double limit);
/* Ends it with its last reference, without an exception. */
void ring_abandon(struct frames_object *self);

#endif /* DRAY_PYTHON_RING_H */
