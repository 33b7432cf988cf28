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
	DRAY_FRAME_FREE, /* for the engine to go on with, or in flight */
	DRAY_FRAME_UNREAD, /* has its point; may be overwritten if asked for */
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
	bool held; /* the opener has all frames at first; constant */
	bool ended; /* READ_ONCE() */
	bool starved; /* the engine has had no frame to go on with */
	bool wanted; /* the work item has found no free frame */
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
 * Gives the claimed stream its frames, and starts it; takes them over.  @frames
 * NULL: only takes its ring away, so that jobs may follow.  @number: of the
 * queue's latest point, and from now on the first ring's.
 * @old: the ring whose place it took, for the caller to put; NULL: none may be
 * there
 * -EBUSY: there are jobs, or a ring, or one of its frames is the engine's;
 * -ENODEV: the ring has ended.
 */
int dray_frames_start(struct dray_channel *channel, struct dray_frames *frames,
		      u64 *number, struct dray_frames **old);
/* Ends the ring: the work item stops the engine.  Without a ring, does nothing. */
void dray_frames_stop(struct dray_channel *channel);
/* Takes the ring, which has ended, from its stream; NULL: there is none. */
struct dray_frames *dray_frames_take_away(struct dray_channel *channel);
/* The stream's ring with a reference; NULL: there is none. */
struct dray_frames *dray_frames_get(struct dray_channel *channel);
/* Frees a ring that no stream has, with the last reference. */
void dray_frames_put(struct dray_frames *frames);

/*
 * For the work item: the next frame for the engine, already among the stream's
 * jobs; the end of a flight; the end of a ring, once its engine has no frame.
 */
struct dray_job *dray_frame_next(struct dray_channel *channel);
void dray_frame_end(struct dray_job *job);
void dray_frames_settle(struct dray_channel *channel);

/*
 * Cancels the frames that the engine may have next, if they are those of @queue;
 * returns how many were not cancelled yet.  Before dray_queue_cancel(): the engine
 * may have some meanwhile.
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
 * For calls: -EINVAL if the opener does not have the frame.  The engine gets it
 * at the end of a flight, or by dray_frames_feed().
 */
int dray_frame_release(struct dray_frames *frames, u32 index,
		       struct dray_refusal *refusal);
/* Wakes the work item if it waits for frames, once for all that are released. */
void dray_frames_feed(struct dray_frames *frames);
/* Acquires the oldest unread frame; false: there is none. */
bool dray_frame_acquire(struct dray_frames *frames, struct dray_point *point);

#endif /* DRAY_FRAMES_H */
