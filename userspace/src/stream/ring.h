/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The ring of a stream: the callers' frames, and the next point to read.  The
 * engine's side of it is the port's.
 */
#ifndef DRAY_STREAM_RING_H
#define DRAY_STREAM_RING_H

#include "stream/stream.h"

struct dray_ring_frame {
	bool owned; /* by a caller */
	bool held; /* location is, by dray_locate_hold() */
	struct dray_location location;
};

/* Changes with the lock of all streams. */
struct dray_stream_ring {
	bool overwrites; /* only the port knows the frames that wait */
	bool closing;
	uint32_t count;
	uint32_t owned; /* frames that callers have */
	uint32_t fresh; /* first frame that was never acquired; count to receive */
	uint64_t base; /* number of the last packet before the ring */
	uint64_t next; /* the points before it have been seen */
	uint64_t acquired; /* points */
	struct dray_ring_frame frames[];
};

/* Lets go of the memory of a ring that no engine has. */
void dray_ring_free(struct dray_stream_ring *ring);

#endif /* DRAY_STREAM_RING_H */
