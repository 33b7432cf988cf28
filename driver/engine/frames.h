/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The frames of a ring: jobs that are made once, and fly again and again.  A
 * frame is the engine's (free or in flight), or the opener's.
 */
#ifndef DRAY_FRAMES_H
#define DRAY_FRAMES_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/types.h>

struct dray_channel;
struct dray_job;
struct dray_point;
struct dray_points;
struct dray_queue;
struct dray_refusal;
struct dray_store;
struct user_struct;

enum dray_frame_state {
	DRAY_FRAME_FREE, /* next for the engine, or in flight */
	DRAY_FRAME_UNREAD, /* its point is written; may be overwritten */
	DRAY_FRAME_HELD, /* by the opener */
};

struct dray_frame {
	struct dray_job *job; /* NULL: lost to an engine that does not stop */
	enum dray_frame_state state;
	struct dray_point point; /* the latest */
};

/* Under the channel's lock, if no comment says otherwise. */
struct dray_frames {
	struct kref kref; /* the stream's, and those of calls */
	struct dray_channel *channel; /* NULL: no frame passes any more */
	struct dray_points *points;
	bool overwrite; /* constant */
	bool held; /* the opener owns all frames at first; constant */
	bool ended; /* READ_ONCE() */
	bool starved; /* the engine ran out of frames */
	bool wanted; /* the work item found no free frame */
	u64 number; /* of the latest point */
	u32 away; /* frames that are the engine's */
	struct list_head free; /* jobs for the engine, in this order */
	struct dray_store *store; /* of jobs that are alike, or NULL */
	struct user_struct *user; /* payer of the jobs' memory */
	size_t charged; /* bytes */
	u32 count;
	struct dray_frame frame[];
};

/*
 * Starts the ring @frames on the claimed stream, which then owns it.  @frames
 * NULL: only removes the stream's ring, so that jobs may follow.  @number: of the
 * queue's latest point, and from now on the first ring's.
 * @old: the ring that it replaced, for the caller to put; NULL: the stream must be
 * without a ring
 * -EBUSY: the stream is in use by jobs, a ring, or an engine that holds a frame of
 * it; -ENODEV: the ring has ended.
 */
int dray_frames_start(struct dray_channel *channel, struct dray_frames *frames,
		      u64 *number, struct dray_frames **old);
/* Ends the ring: the work item stops the engine.  Without a ring, does nothing. */
void dray_frames_stop(struct dray_channel *channel);
/* Detaches the ring, which has ended, from its stream; NULL: there is none. */
struct dray_frames *dray_frames_take_away(struct dray_channel *channel);
/* The stream's ring with a reference; NULL: there is none. */
struct dray_frames *dray_frames_get(struct dray_channel *channel);
/* Frees a ring without a stream, with the last reference. */
void dray_frames_put(struct dray_frames *frames);

/*
 * For the work item: the next frame for the engine, already among the stream's
 * jobs; the end of a flight; the end of a ring, once its engine holds no frame.
 */
struct dray_job *dray_frame_next(struct dray_channel *channel);
void dray_frame_end(struct dray_job *job);
void dray_frames_settle(struct dray_channel *channel);

/*
 * Cancels the frames that the engine may get next, if they belong to @queue;
 * returns how many were not cancelled yet.  Before dray_queue_cancel(): the engine
 * may get some meanwhile.
 */
u32 dray_frames_cancel(struct dray_channel *channel,
		       const struct dray_queue *queue);
/*
 * For the work item: the next of them, among the stream's jobs from here on; NULL:
 * there is none.
 */
struct dray_job *dray_frame_cancelled(struct dray_channel *channel);

/*
 * The number of frames of the stream's ring; 0: there is none.  Sets *@ready to
 * those with data: received and not released yet, or to be sent.  Under the
 * channel's lock.
 */
u32 dray_frames_fill(struct dray_channel *channel, u32 *ready);

/*
 * For calls: -EINVAL if the opener does not own the frame.  The engine gets it
 * at the end of a flight, or by dray_frames_feed().
 */
int dray_frame_release(struct dray_frames *frames, u32 index,
		       struct dray_refusal *refusal);
/* Wakes the work item if it waits for frames, once for all that are released. */
void dray_frames_feed(struct dray_frames *frames);
/* Acquires the oldest unread frame; false: there is none. */
bool dray_frame_acquire(struct dray_frames *frames, struct dray_point *point);

#endif /* DRAY_FRAMES_H */
