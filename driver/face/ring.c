// SPDX-License-Identifier: GPL-2.0-only
/*
 * RING and RELEASE: the frames of a stream are described once, and then pass
 * between the engine and the caller.
 */
#include <linux/err.h>
#include <linux/nospec.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "base/node.h"
#include "engine/alike.h"
#include "engine/caches.h"
#include "engine/channel.h"
#include "engine/flight.h"
#include "engine/frames.h"
#include "engine/job.h"
#include "engine/points.h"
#include "engine/prepare.h"
#include "engine/queue.h"
#include "engine/store.h"
#include "engine/stream.h"
#include "heap/account.h"
#include "timeline.h"

/* Arguments for a frame, as for a SUBMIT of a single transfer. */
static struct dray_submit dray_ring_frame(const struct dray_channel *channel)
{
	return (struct dray_submit){
		.channel = channel->index,
		.flags = DRAY_SUBMIT_NO_FENCE,
		.count = 1,
	};
}

/* Copies the job of the frame before for frame @i; NULL: the two differ. */
static struct dray_job *dray_ring_alike(struct dray_frames *frames, u32 i,
					const struct dray_transfer *transfer)
{
	if (!i || !dray_transfers_are_alike(transfer - 1, transfer))
		return NULL;
	if (!frames->store)
		frames->store = dray_store_create();
	if (!frames->store)
		return NULL;
	return dray_job_make_alike(frames->frame[i - 1].job, transfer,
				   frames->store, i);
}

static struct dray_job *dray_ring_job(struct dray_timeline_file *line,
				      const struct dray_transfer *transfer,
				      struct dray_refusal *refusal)
{
	struct dray_submit submit = dray_ring_frame(line->channel);
	struct dray_opener opener = { .node = line->node,
				      .queues = line->queues };

	return dray_job_make(&opener, &submit, transfer, refusal);
}

static int dray_ring_jobs(struct dray_timeline_file *line,
			  struct dray_ring *args, struct dray_frames *frames,
			  const struct dray_transfer *transfers,
			  struct dray_refusal *refusal)
{
	struct dray_job *job;
	u32 i;

	for (i = 0; i < args->count; i++) {
		args->failed = i;
		job = dray_ring_alike(frames, i, &transfers[i]);
		if (!job)
			job = dray_ring_job(line, &transfers[i], refusal);
		if (IS_ERR(job))
			return PTR_ERR(job);
		job->frames = frames;
		job->frame = i;
		frames->frame[i].job = job;
		frames->count++;
		if (job->kind != line->channel->kind)
			return dray_refuse(refusal, -EINVAL, DRAY_REASON_KIND,
					   line->channel->index);
	}
	return 0;
}

/* Makes the frames' jobs; the caller is not inside the node. */
static int dray_face_ring_create(struct dray_timeline_file *line,
				 struct dray_ring *args,
				 struct dray_frames *frames,
				 struct dray_refusal *refusal)
{
	struct dray_transfer *transfers;
	int ret;

	transfers = vmemdup_user(u64_to_user_ptr(args->frames),
				 args->count * sizeof(*transfers));
	if (IS_ERR(transfers))
		return PTR_ERR(transfers);
	ret = dray_ring_jobs(line, args, frames, transfers, refusal);
	kvfree(transfers);
	return ret;
}

/* Does an earlier frame share bytes with frame @i? */
static bool dray_ring_meets(struct dray_frames *frames, u32 i)
{
	u32 j;

	for (j = 0; j < i; j++)
		if (dray_sides_meet(&frames->frame[i].job->moves[0].dst,
				    &frames->frame[j].job->moves[0].dst))
			return true;
	return false;
}

/* Frames that receive must be apart: mostly each follows its predecessor. */
static int dray_face_ring_check(struct dray_frames *frames, u32 *failed,
				struct dray_refusal *refusal)
{
	const struct dray_side *before, *side;
	bool rises = true;
	u32 i;

	for (i = 1; i < frames->count; i++) {
		*failed = i;
		before = &frames->frame[i - 1].job->moves[0].dst;
		side = &frames->frame[i].job->moves[0].dst;
		rises = rises &&
			dray_area_is_same(&side->area, &before->area) &&
			side->low >= before->high;
		if (rises)
			continue;
		if (dray_ring_meets(frames, i))
			return dray_refuse(refusal, -EINVAL,
					   DRAY_REASON_OVERLAP, 0);
		cond_resched();
	}
	return 0;
}

/*
 * Charges all pages that the ring keeps to the caller's locked memory.  A
 * single job keeps few pages, free of charge; a ring keeps many.
 */
static int dray_ring_charge(struct dray_frames *frames,
			    struct dray_refusal *refusal)
{
	size_t size = struct_size(frames, frame, frames->count);
	const struct dray_job *job;
	u32 i;
	int ret;

	for (i = 0; i < frames->count; i++) {
		job = frames->frame[i].job;
		if (!job->user)
			size += job->size;
		if (!job->flight->user)
			size += job->flight->size;
	}
	ret = dray_charge_user(size, &frames->user, refusal);
	if (!ret)
		frames->charged = size;
	return ret;
}

/* A submission comes before the ring, or is refused; @frames NULL: after it. */
static int dray_ring_start(struct dray_timeline_file *line,
			   struct dray_frames *frames, bool replace)
{
	struct dray_queue *queue = &line->queues->queue[line->channel->index];
	struct dray_frames *old = NULL;
	int ret;

	mutex_lock(&queue->order);
	ret = dray_frames_start(line->channel, frames, &queue->number,
				replace ? &old : NULL);
	mutex_unlock(&queue->order);
	dray_frames_put(old);
	return ret;
}

static int dray_ring_prepare_frame(struct dray_timeline_file *line,
				   struct dray_frames *frames, u32 i,
				   struct dray_refusal *refusal)
{
	struct dray_submit submit = dray_ring_frame(line->channel);
	struct dray_job *job = frames->frame[i].job;
	int ret = -EAGAIN;

	if (job->store)
		ret = dray_prepare_alike(job, frames->frame[i - 1].job);
	return ret != -EAGAIN
		       ? ret
		       : dray_prepare_job(job, line->node, &submit, refusal);
}

/* Counts the frames from @i on that lie @pitch bytes apart. */
static u32 dray_ring_row(const struct dray_frames *frames, u32 i, u64 *pitch)
{
	const struct dray_move *first = &frames->frame[i].job->moves[0], *move;
	bool writes = dray_move_writes(first);
	u64 offset = writes ? first->dst.low : first->src.low;
	u64 run = writes ? first->dst.run : first->src.run;
	u32 dims = writes ? first->dst.dims : first->src.dims;
	u32 count = 1;

	for (*pitch = 0; !dims && i + count < frames->count; count++) {
		move = &frames->frame[i + count].job->moves[0];
		if (!frames->frame[i + count].job->store)
			break;
		if (!*pitch)
			*pitch = (writes ? move->dst.low : move->src.low) -
				 offset;
		offset += *pitch;
		if ((s64)*pitch < (s64)run ||
		    offset != (writes ? move->dst.low : move->src.low))
			break;
	}
	return count;
}

/* Syncs the frames that the engine owns at first; RELEASE syncs the others. */
static int dray_ring_sync(struct dray_frames *frames, u32 *failed)
{
	u32 i, count;
	u64 pitch;
	int ret = 0;

	if (frames->held)
		return 0;
	for (i = 0; i < frames->count && !ret; i += count) {
		*failed = i;
		count = dray_ring_row(frames, i, &pitch);
		ret = dray_job_sync_rows(frames->frame[i].job,
					 frames->channel->dev, pitch, count);
	}
	return ret;
}

/* Inside the node. */
static int dray_ring_prepare(struct dray_timeline_file *line,
			     struct dray_ring *args, struct dray_frames *frames,
			     struct dray_refusal *refusal)
{
	u32 i;
	int ret;

	for (i = 0; i < frames->count; i++) {
		args->failed = i;
		ret = dray_ring_prepare_frame(line, frames, i, refusal);
		if (ret)
			return ret;
	}
	ret = dray_ring_sync(frames, &args->failed);
	if (ret)
		return ret;
	args->failed = 0;
	ret = dray_ring_charge(frames, refusal);
	if (ret)
		return ret;
	return dray_ring_start(line, frames, args->flags & DRAY_RING_REPLACE);
}

static struct dray_frames *dray_ring_alloc(struct dray_timeline_file *line,
					   const struct dray_ring *args)
{
	struct dray_frames *frames;

	frames = kvzalloc(struct_size(frames, frame, args->count),
			  GFP_KERNEL_ACCOUNT);
	if (!frames)
		return NULL;
	kref_init(&frames->kref);
	frames->channel = line->channel;
	dray_points_get(line->points);
	frames->points = line->points;
	frames->overwrite = args->flags & DRAY_RING_OVERWRITE;
	frames->held = line->channel->kind != DRAY_CHANNEL_RECV &&
		       !(args->flags & DRAY_RING_RELEASED);
	INIT_LIST_HEAD(&frames->free);
	return frames;
}

/* Without frames: removes the ring, or ends it for good. */
static int dray_ring_end(struct dray_timeline_file *line,
			 const struct dray_ring *args)
{
	if (args->flags & DRAY_RING_REPLACE)
		return dray_ring_start(line, NULL, true);
	dray_frames_stop(line->channel);
	return 0;
}

static int dray_ring_make(struct dray_timeline_file *line,
			  struct dray_ring *args, struct dray_refusal *refusal)
{
	struct dray_frames *frames = dray_ring_alloc(line, args);
	int ret;

	if (!frames)
		return -ENOMEM;
	ret = dray_face_ring_create(line, args, frames, refusal);
	if (!ret && line->channel->kind == DRAY_CHANNEL_RECV)
		ret = dray_face_ring_check(frames, &args->failed, refusal);
	if (!ret)
		ret = dray_node_enter(line->node);
	if (!ret) {
		ret = dray_ring_prepare(line, args, frames, refusal);
		dray_node_leave(line->node);
	}
	if (ret)
		dray_frames_put(frames);
	return ret;
}

int dray_ring_call(struct dray_timeline_file *line, void *data,
		   struct dray_refusal *refusal)
{
	u32 kind = line->channel->kind, most = DRAY_MAX_FRAMES;
	struct dray_ring *args = data;

	args->failed = 0;
	if (args->flags & ~(DRAY_RING_OVERWRITE | DRAY_RING_REPLACE |
			    DRAY_RING_RELEASED) ||
	    (args->flags & DRAY_RING_OVERWRITE && kind != DRAY_CHANNEL_RECV))
		return -EINVAL;
	if (kind == DRAY_CHANNEL_COPY)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_KIND,
				   line->channel->index);
	if (!args->count && READ_ONCE(line->channel->stream.frames))
		return dray_ring_end(line, args);
	/* Without OVERWRITE points and RELEASE name each returned frame. */
	if (!(args->flags & DRAY_RING_OVERWRITE))
		most = min(most, line->points->head->points);
	if (args->count < 2 || args->count > most)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_FRAMES, most);
	return dray_ring_make(line, args, refusal);
}

/* Inside the node, which keeps the frames' mappings. */
static int dray_ring_give_some(struct dray_frames *frames, const u32 *indices,
			       u32 count, struct dray_release *args,
			       struct dray_refusal *refusal)
{
	u32 i, index;
	int ret;

	for (i = 0; i < count; i++) {
		index = indices[i];
		if (index >= frames->count)
			return dray_refuse(refusal, -EINVAL, DRAY_REASON_FRAME,
					   index);
		index = array_index_nospec(index, frames->count);
		ret = dray_frame_release(frames, index, refusal);
		if (ret)
			return ret;
		args->released++;
	}
	return 0;
}

static int dray_face_ring_give(struct dray_timeline_file *line,
			       struct dray_frames *frames,
			       struct dray_release *args,
			       struct dray_refusal *refusal)
{
	u32 __user *user = u64_to_user_ptr(args->frames);
	u32 indices[64], count;
	int ret = 0;

	while (!ret && args->released < args->count) {
		count = min_t(u32, args->count - args->released,
			      ARRAY_SIZE(indices));
		if (copy_from_user(indices, user + args->released,
				   count * sizeof(*indices)))
			return -EFAULT;
		ret = dray_node_enter(line->node);
		if (ret)
			return ret;
		ret = dray_ring_give_some(frames, indices, count, args,
					  refusal);
		dray_frames_feed(frames);
		dray_node_leave(line->node);
	}
	return ret;
}

static int dray_ring_take(struct dray_frames *frames, struct dray_release *args)
{
	struct dray_point __user *user = u64_to_user_ptr(args->points);
	struct dray_point point;

	while (args->acquired < args->room &&
	       dray_frame_acquire(frames, &point)) {
		if (copy_to_user(user + args->acquired, &point, sizeof(point)))
			return -EFAULT;
		args->acquired++;
	}
	return 0;
}

/* Acquires frames; without a free frame, waits for a point and tries again. */
static int dray_ring_await(struct dray_timeline_file *line,
			   struct dray_frames *frames,
			   struct dray_release *args, u32 rings)
{
	struct dray_wait wait = { .number = args->number,
				  .until_ns = args->until_ns };
	int ret = dray_ring_take(frames, args);

	if (ret || args->acquired || !args->until_ns)
		return ret;
	ret = dray_timeline_wait(line, &wait, rings);
	/* A restarted call would release the frames again. */
	if (ret == -ERESTARTSYS)
		return -EINTR;
	/* -EOVERFLOW: later points overtook it, so it has ended. */
	if (ret && ret != -EOVERFLOW)
		return ret;
	return dray_ring_take(frames, args);
}

static int dray_ring_pass(struct dray_timeline_file *line,
			  struct dray_frames *frames, struct dray_release *args,
			  u32 rings, struct dray_refusal *refusal)
{
	int ret;

	if (!frames || args->count > DRAY_MAX_FRAMES ||
	    args->room > DRAY_MAX_FRAMES || (args->room && !frames->overwrite))
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_FRAMES,
				   DRAY_MAX_FRAMES);
	ret = dray_face_ring_give(line, frames, args, refusal);
	return ret ? ret : dray_ring_await(line, frames, args, rings);
}

int dray_release_call(struct dray_timeline_file *line, void *data,
		      struct dray_refusal *refusal)
{
	u32 rings = dray_points_rings(line->points);
	struct dray_release *args = data;
	struct dray_frames *frames;
	int ret;

	args->released = 0;
	args->acquired = 0;
	if (args->reserved)
		return -EINVAL;
	/* Another thread may replace the ring meanwhile. */
	frames = dray_frames_get(line->channel);
	ret = dray_ring_pass(line, frames, args, rings, refusal);
	dray_frames_put(frames);
	return ret;
}
