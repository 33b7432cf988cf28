/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A port: a stream's channel that a back end opened.  The stream above it makes
 * packets or frames of views, and reads their ends from the timeline; the back end
 * moves the bytes.  On each back end the timeline is <linux/dray.h>'s, and only
 * dray_port_read() knows its protocol.
 */
#ifndef DRAY_MEMORY_PORT_H
#define DRAY_MEMORY_PORT_H

#include "memory/node.h"

struct dray_port {
	const struct dray_port_ops *ops;
	struct dray_node *node; /* a reference */
	uint32_t channel;
	int fd; /* readable if points came since ended() */
	const struct dray_timeline_head *timeline;
	uint64_t size; /* bytes of the timeline */
};

/* A submission: the pieces of a packet. */
struct dray_port_job {
	uint32_t flags; /* DRAY_SUBMIT_NONBLOCK, DRAY_SUBMIT_NO_SYNC */
	uint32_t count; /* of transfers */
	struct dray_transfer *transfers; /* descriptors are not set */
	struct dray_buffer *const *buffers; /* of each transfer */
	const int32_t *fences; /* sync_files; none if ops do not accept them */
	uint32_t fence_count;
	uint64_t deadline_ns; /* from now; 0: none */
	uint64_t point; /* out */
};

/* The frames of a ring, each a packet of a single piece. */
struct dray_port_ring {
	uint32_t flags; /* DRAY_RING_* */
	uint32_t count; /* of frames; to replace a ring by none: 0 */
	struct dray_transfer *transfers; /* descriptors are not set */
	struct dray_buffer *const *buffers; /* of each frame */
	uint32_t failed; /* out: index of the wrong frame, else 0 */
};

/*
 * Each returns 0 or a negative errno with a sentence.  Any thread may call
 * them, but nothing else may be under way when close() is called.
 */
struct dray_port_ops {
	bool takes_fences; /* if not, the caller waits for them before */
	/* @args: channel, points and batch are set.  node and ops are not. */
	int (*open)(struct dray_node *node, struct dray_timeline *args,
		    struct dray_port **out);
	/* Stops the engine and frees the port, but leaves node alone. */
	void (*close)(struct dray_port *port);
	/* -EINTR: a signal before there was room, and nothing was submitted */
	int (*submit)(struct dray_port *port, struct dray_port_job *job);
	/* @number: a point, 0: all.  Ended points are left alone. */
	int (*cancel)(struct dray_port *port, uint64_t number);
	/*
	 * @until_ns: CLOCK_MONOTONIC; ~0: no limit.  -ETIME, -EINTR, -EOVERFLOW
	 * (the point was overwritten), -ENODEV.
	 */
	int (*wait)(struct dray_port *port, uint64_t number, uint64_t until_ns,
		    struct dray_point *out);
	/*
	 * Before the frames of @ring are passed.  -EBUSY: there are jobs, or the
	 * engine holds frames of the ring to be replaced
	 */
	int (*ring)(struct dray_port *port, struct dray_port_ring *ring);
	/* As RELEASE.  If the wait fails, as wait() does, all were released. */
	int (*release)(struct dray_port *port, struct dray_release *args);
	/* Stops the ring, if any: waits end as -ENODEV. */
	void (*end_ring)(struct dray_port *port);
	/* Returns the count of points that came, and makes fd unreadable. */
	uint64_t (*ended)(struct dray_port *port);
	/* Ends transfers that are due.  NULL: an engine does so. */
	void (*progress)(struct dray_port *port);
};

/*
 * Opens a channel that serves a stream; @args is completed.  Errors: -EBUSY
 * (the stream is open already), -EINVAL (points), -EOPNOTSUPP (the module does
 * not know streams), -ENOMEM, -ENODEV, and errors of mmap().
 */
int dray_port_open(struct dray_node *node, struct dray_timeline *args,
		   struct dray_port **out);
/* Ends all submissions. */
void dray_port_close(struct dray_port *port);

/*
 * Reads a point from the timeline, without a system call.  Returns 1 if it is
 * there, 0 if not yet, -EOVERFLOW without a sentence if a later point is in its
 * place.
 */
int dray_port_read(const struct dray_port *port, uint64_t number,
		   struct dray_point *out);

#endif /* DRAY_MEMORY_PORT_H */
