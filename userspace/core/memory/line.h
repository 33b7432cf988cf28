/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A line: an end of a loop-back stream, with its packets in flight.  The lock
 * of all lines guards all of it but base.
 */
#ifndef DRAY_MEMORY_LINE_H
#define DRAY_MEMORY_LINE_H

#include "memory/loopback.h"
#include "memory/runs.h"

#define DRAY_LINE_NEVER UINT64_MAX

struct dray_line_piece {
	void *first; /* byte of the first run */
	uint64_t run;
	uint32_t axes_count;
	const struct dray_axis *axes;
};

enum dray_line_frame_state {
	DRAY_LINE_QUEUED, /* for packets: its job is in flight */
	DRAY_LINE_UNREAD, /* its point is there */
	DRAY_LINE_OWNED, /* by the reader or writer */
};

struct dray_line_frame {
	enum dray_line_frame_state state;
	struct dray_point point; /* of its last packet */
	struct dray_line_job *job;
};

struct dray_line_ring {
	bool overwrites;
	bool released; /* all frames, from the start */
	bool starved; /* until it gets a frame again */
	bool ended;
	uint32_t count;
	struct dray_line_frame frames[];
};

struct dray_line_job {
	struct dray_line_job *next;
	struct dray_line_frame
		*frame; /* of a ring, which keeps the job; or NULL */
	uint64_t number; /* of a frame: set at its end */
	uint64_t deadline; /* CLOCK_MONOTONIC, ns; DRAY_LINE_NEVER */
	uint64_t bytes; /* moved so far */
	struct dray_runs runs; /* of the piece at hand */
	uint32_t piece;
	uint32_t count; /* of pieces */
	struct dray_line_piece pieces[]; /* and their axes behind them */
};

/* Counts of a channel since the process began. */
struct dray_line_counts {
	uint64_t submitted, bytes, failed;
};

struct dray_host_line {
	struct dray_port base;
	struct dray_host_line **place; /* in the table of open lines */
	struct dray_line_counts *counts;
	uint32_t process; /* that opened it, see dray_fork_process() */
	bool sends;
	struct dray_timeline_head *timeline; /* and the points behind it */
	struct dray_point *points;
	int event; /* readable: points came */
	int timer; /* readable: a deadline passed */
	uint64_t submitted; /* number of the last job */
	struct dray_line_job *first; /* in flight, in the order of numbers */
	struct dray_line_job **last;
	uint32_t in_flight;
	struct dray_line_ring *ring; /* or NULL */
};

void dray_line_lock(void);
void dray_line_unlock(void);

/* Copies a packet's description; NULL with a sentence: no memory. */
struct dray_line_job *dray_line_job_create(const struct dray_host_line *line,
					   const struct dray_port_job *asked);
void dray_line_ring_free(struct dray_line_ring *ring);

/* The line of an open stream of this process, or NULL.  Lock held. */
struct dray_host_line *dray_line_at(struct dray_host_line **place);

/*
 * Moves and ends jobs of a line and its other end, if they can.  Returns the
 * next deadline of both.  Lock held.
 */
uint64_t dray_line_pump(struct dray_host_line *line);

/* Adds a job and sets its number.  Lock held. */
void dray_line_add(struct dray_host_line *line, struct dray_line_job *job);

/* Adds the job of a frame, for the next packet without a job.  Lock held. */
void dray_line_queue(struct dray_host_line *line, struct dray_line_job *job);

/* The unread frame that ended first; NULL: there is none.  Lock held. */
struct dray_line_frame *dray_line_unread(struct dray_line_ring *ring);

/* Cancels a job, or all if @number is 0; of a ring the first.  Lock held. */
void dray_line_stop(struct dray_host_line *line, uint64_t number);

/*
 * Sleeps until points are written since @seen, or until @until_ns
 * (CLOCK_MONOTONIC); -EINTR without a sentence.
 */
int dray_line_wait(uint32_t seen, uint64_t until_ns);
/* Wakes threads that sleep. */
void dray_line_wake(void);
/* The value to pass as @seen. */
uint32_t dray_line_changes(void);

#endif /* DRAY_MEMORY_LINE_H */
