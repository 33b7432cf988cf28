// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jobs: made from the arguments of SUBMIT, and freed.  Arguments are copied and
 * checked here, areas and in-fences are held; the channel is chosen later.  The
 * memory of a job that its engine never finished is lost with it.
 */
#include <linux/err.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>

#include "heap/account.h"
#include "engine.h"
#include "fence.h"
#include "fill.h"
#include "flight.h"
#include "in_fence.h"
#include "job.h"
#include "points.h"
#include "queue.h"
#include "store.h"

/* Bytes of a job that are not charged: fewer than a socket may keep. */
#define DRAY_JOB_SMALL SZ_4K

/* Patterns of fills, and the pieces of a stream, are at addresses of the engine. */
void dray_job_unprepare(struct dray_job *job)
{
	if (job->channel)
		dray_patterns_free(&job->patterns, job->channel->dev);
	dray_flight_put(job->flight);
	job->flight = NULL;
}

void dray_job_free(struct dray_job *job)
{
	struct dray_move *move;
	u32 i;

	if (job->store) {
		dray_flight_put(job->flight);
		kvfree(job->axes);
		return;
	}
	dma_fence_put(job->fence);
	dray_points_put(job->points);
	dray_job_unprepare(job);
	dray_in_fences_put(job);
	for (i = 0; i < job->count; i++) {
		move = &job->moves[i];
		dray_area_put(&move->dst.area);
		dray_area_put(&move->src.area);
	}
	kvfree(job->axes);
	if (job->user)
		dray_uncharge_user(job->user, job->size);
	dray_queues_put(job->queues);
	kvfree(job);
}

bool dray_job_is_attached(const struct dray_job *job)
{
	u32 i;

	for (i = 0; i < job->count; i++)
		if (job->moves[i].dst.area.attachment ||
		    job->moves[i].src.area.attachment)
			return true;
	return false;
}

void dray_job_count(struct dray_job *job, int step)
{
	u32 i;

	for (i = 0; i < job->count; i++) {
		dray_area_count(&job->moves[i].dst.area, step);
		dray_area_count(&job->moves[i].src.area, step);
	}
}

/*
 * Frees a job that its engine never finished.  Memory that it may still write,
 * or read for others to see, is never allocated again; nor are the patterns of
 * fills.
 */
void dray_job_abandon(struct dray_job *job)
{
	struct dray_store *store = job->store;
	struct dray_move *move;
	u32 i;

	for (i = 0; i < job->count; i++) {
		move = &job->moves[i];
		dray_area_condemn(&move->dst.area);
		dray_area_condemn(&move->src.area);
	}
	dray_patterns_abandon(&job->patterns);
	dray_job_count(job, -1);
	dray_job_free(job);
	dray_store_put(store);
}

void dray_job_keep_flight(struct dray_job *job)
{
	dray_store_get(job->store);
	job->flight = NULL;
}

static int dray_transfer_areas(struct dray_move *move,
			       const struct dray_transfer *transfer,
			       struct dray_node *node,
			       struct dray_refusal *refusal)
{
	int ret = 0;

	move->op = transfer->op;
	if (dray_move_reads(move))
		ret = dray_area_of_fd(transfer->src_fd, node, &move->src.area,
				      refusal);
	else if (transfer->src_fd != -1 || transfer->src_offset)
		ret = -EINVAL;
	if (ret)
		return ret;
	if (!dray_move_writes(move))
		return transfer->dst_fd != -1 || transfer->dst_offset ? -EINVAL
								      : 0;
	ret = dray_area_of_fd(transfer->dst_fd, node, &move->dst.area, refusal);
	if (ret)
		return ret;
	if (!move->dst.area.writable)
		return dray_refuse(refusal, -EACCES, DRAY_REASON_READ_ONLY,
				   (u32)transfer->dst_fd);
	return 0;
}

/* The kind of channel that @op needs; 0: there is no such operation. */
static u32 dray_op_kind(u32 op)
{
	switch (op) {
	case DRAY_OP_COPY:
	case DRAY_OP_FILL:
		return DRAY_CHANNEL_COPY;
	case DRAY_OP_SEND:
		return DRAY_CHANNEL_SEND;
	case DRAY_OP_RECV:
		return DRAY_CHANNEL_RECV;
	case DRAY_OP_SHOW:
		return DRAY_CHANNEL_SHOW;
	default:
		return 0;
	}
}

static int dray_job_add(struct dray_job *job, struct dray_move *move,
			const struct dray_transfer *transfer,
			struct dray_node *node, struct dray_refusal *refusal)
{
	struct dray_axis *axes;
	u64 most;
	int ret;

	if (transfer->flags || !job->kind ||
	    dray_op_kind(transfer->op) != job->kind)
		return -EINVAL;
	axes = memdup_user(u64_to_user_ptr(transfer->axes),
			   transfer->axes_count * sizeof(*axes));
	if (IS_ERR(axes))
		return PTR_ERR(axes);
	ret = dray_transfer_areas(move, transfer, node, refusal);
	if (!ret)
		ret = dray_move_check(move, transfer, axes, refusal);
	kfree(axes);
	if (ret)
		return ret;

	most = dray_submit_max_bytes();
	/* The residue of a stream's transfer is a number of 32 bits. */
	if (job->kind != DRAY_CHANNEL_COPY)
		most = min_t(u64, most, U32_MAX);
	if (check_add_overflow(job->bytes, dray_move_bytes(move),
			       &job->bytes) ||
	    job->bytes > most)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_BYTES, most);
	return 0;
}

/*
 * A job's own memory is kept until its end, which in-fences may delay for long:
 * if it is large, it is locked memory of the caller.
 */
static int dray_job_charge(struct dray_job *job, size_t axes,
			   struct dray_refusal *refusal)
{
	job->size = struct_size(job, moves, job->count) + axes;
	if (job->size <= DRAY_JOB_SMALL)
		return 0;
	return dray_charge_user(job->size, &job->user, refusal);
}

/* Room for the steps and the two sides of every transfer. */
static int dray_job_axes(struct dray_job *job,
			 const struct dray_transfer *transfers, u32 count,
			 u32 *failed, struct dray_refusal *refusal)
{
	struct dray_dim *dim;
	struct dray_step *step;
	const size_t size = sizeof(*step) + 2 * sizeof(*dim);
	size_t total = 0;
	u32 i;
	int ret;

	for (i = 0; i < count; i++) {
		if (transfers[i].axes_count > DRAY_MAX_AXES) {
			*failed = i;
			return dray_refuse(refusal, -EINVAL, DRAY_REASON_AXES,
					   DRAY_MAX_AXES);
		}
		total += transfers[i].axes_count;
	}
	ret = dray_job_charge(job, total * size, refusal);
	if (ret || !total)
		return ret;
	job->axes = kvcalloc(total, size, GFP_KERNEL_ACCOUNT);
	if (!job->axes)
		return -ENOMEM;
	step = job->axes;
	dim = (struct dray_dim *)(step + total);
	for (i = 0; i < count; i++) {
		dray_move_room(&job->moves[i], step, dim,
			       transfers[i].axes_count);
		step += transfers[i].axes_count;
		dim += 2 * transfers[i].axes_count;
	}
	return 0;
}

/* Lets independent transfers run at the same time. */
static void dray_job_order(struct dray_job *job)
{
	u32 first = 0, i, j;

	for (i = 1; i < job->count; i++)
		for (j = first; j < i && !job->moves[i].waits; j++)
			if (dray_move_needs(&job->moves[i], &job->moves[j])) {
				job->moves[i].waits = true;
				first = i;
			}
}

static int dray_job_transfers(struct dray_job *job, struct dray_node *node,
			      struct dray_submit *args,
			      const struct dray_transfer *transfers,
			      struct dray_refusal *refusal)
{
	u32 i;
	int ret;

	job->kind = dray_op_kind(transfers[0].op);
	ret = dray_job_axes(job, transfers, args->count, &args->failed,
			    refusal);
	for (i = 0; i < args->count && !ret; i++) {
		ret = dray_job_add(job, &job->moves[i], &transfers[i], node,
				   refusal);
		if (ret)
			args->failed = i;
		else
			dray_move_count_pattern(&job->moves[i], &job->patterns);
	}
	if (!ret)
		dray_job_order(job);
	return ret;
}

struct dray_job *dray_job_make(struct dray_opener *opener,
			       struct dray_submit *args,
			       const struct dray_transfer *transfers,
			       struct dray_refusal *refusal)
{
	struct dray_job *job;
	int ret;

	job = kvzalloc(struct_size(job, moves, args->count),
		       GFP_KERNEL_ACCOUNT);
	if (!job)
		return ERR_PTR(-ENOMEM);
	kref_get(&opener->queues->kref);
	job->queues = opener->queues;
	job->sync = !(args->flags & DRAY_SUBMIT_NO_SYNC);
	job->count = args->count;
	if (args->deadline_ns)
		job->deadline = ktime_get_ns() + args->deadline_ns;
	ret = dray_job_transfers(job, opener->node, args, transfers, refusal);
	if (!ret)
		ret = dray_in_fences_take(job, args, refusal);
	if (ret) {
		dray_job_free(job);
		return ERR_PTR(ret);
	}
	return job;
}

struct dray_job *dray_job_create(struct dray_opener *opener,
				 struct dray_submit *args,
				 struct dray_refusal *refusal)
{
	struct dray_transfer *transfers;
	struct dray_job *job;

	transfers = vmemdup_user(u64_to_user_ptr(args->transfers),
				 args->count * sizeof(*transfers));
	if (IS_ERR(transfers))
		return ERR_CAST(transfers);
	job = dray_job_make(opener, args, transfers, refusal);
	kvfree(transfers);
	return job;
}
