/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The ring of a stream: the callers' frames, and the next point to read.  The
 * engine's side of it is the port's.
 */
#ifndef DRAY_STREAM_RING_H
#define DRAY_STREAM_RING_H

#include "stream/stream.h"
#include "base/shared.h"

struct dray_ring_frame {
	bool owned; /* by a caller */
	bool held; /* location is, by dray_locate_hold() */
	struct dray_location location;
	struct dray_addresses span;
	struct dray_use_part part; /* idle while a caller owns the frame */
};

/* Changes with the lock of all streams. */
struct dray_stream_ring {
	struct dray_use use; /* never ends */
	char name[DRAY_NAME_LEN]; /* of its stream */
	bool overwrites; /* only the port knows the frames that wait */
	bool closing;
	uint32_t count;
	uint32_t owned; /* frames that callers own */
	uint32_t fresh; /* first frame that was never acquired; count to receive */
	uint64_t base; /* number of the last packet before the ring */
	uint64_t lost; /* before the ring, as held_back */
	uint64_t held_back;
	uint64_t next; /* the points before it were seen */
	uint64_t acquired; /* points */
	struct dray_ring_frame frames[];
};

/* Views of frames, asked for in order; each is valid until the next is asked for. */
struct dray_ring_source {
	const struct dray_view *(*view)(void *context, uint32_t index);
	void *context;
	uint32_t count;
	bool of_call; /* frames are memory of a call, in use until it ends */
};

/* Checks flags, and the count of frames.  -EINVAL. */
DRAY_PRIVATE int dray_ring_check(const struct dray_stream *stream, size_t count,
				 uint32_t flags);
/*
 * As dray_stream_ring(), of arguments that were checked.
 * @replaces: the stream's present ring; else that is -EBUSY, even with
 *	DRAY_RING_REPLACE
 */
DRAY_PRIVATE int dray_ring_give(struct dray_stream *stream,
				const struct dray_ring_source *source,
				uint32_t flags, bool replaces);

/*
 * As dray_stream_acquire(), but sleeps until @least frames wait, or the time is
 * over and there are some.
 */
DRAY_PRIVATE int dray_ring_acquire(struct dray_stream *stream,
				   struct dray_point *points, uint32_t room,
				   uint32_t least, int timeout_ms);

/* Makes a ring of @count frames, all zero; NULL: no memory. */
struct dray_stream_ring *dray_ring_create(const struct dray_stream *stream,
					  uint32_t count);
/* Enters frames, which the engine owns or will own.  -EBUSY: some are lent. */
int dray_ring_enter(struct dray_stream_ring *ring, bool writes);
/*
 * Enters the ring of a call that ends while the engine keeps @count frames; returns
 * -ETIMEDOUT.
 */
DRAY_PRIVATE int dray_ring_abandon(struct dray_stream *stream, uint32_t count);
/* Releases the memory of a ring that no engine owns. */
void dray_ring_free(struct dray_stream_ring *ring);

#endif /* DRAY_STREAM_RING_H */
