// SPDX-License-Identifier: GPL-2.0-only
/*
 * WAIT: sleeps until a point is there.  RELEASE waits so too.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/wait.h>

#include "base/node.h"
#include "engine/points.h"
#include "timeline.h"

bool dray_timeline_is_over(struct dray_timeline_file *line)
{
	return READ_ONCE(line->points->ended) || READ_ONCE(line->node->gone);
}

/* Is there anything to tell a waiter?  Leaves it in @ret. */
static bool dray_tells(struct dray_timeline_file *line, struct dray_wait *args,
		       u32 rings, int *ret)
{
	*ret = dray_points_find(line->points, args->number, &args->point);
	if (*ret == -EAGAIN && dray_timeline_is_over(line))
		*ret = -ENODEV;
	if (*ret == -EAGAIN && dray_points_rings(line->points) != rings)
		*ret = -ECANCELED;
	return *ret != -EAGAIN;
}

struct dray_waiter {
	struct wait_queue_entry entry;
	struct dray_timeline_file *line;
	u64 number;
	u32 rings;
};

/* A task that waits for a later point sleeps through those before it. */
static int dray_waiter_wake(struct wait_queue_entry *entry, unsigned int mode,
			    int flags, void *key)
{
	struct dray_waiter *waiter =
		container_of(entry, struct dray_waiter, entry);
	struct dray_timeline_file *line = waiter->line;

	if (!dray_points_reach(line->points, waiter->number) &&
	    dray_points_rings(line->points) == waiter->rings &&
	    !dray_timeline_is_over(line))
		return 0;
	return autoremove_wake_function(entry, mode, flags, key);
}

/* -ETIME, or -ERESTARTSYS on a signal. */
static int dray_timeline_sleep(struct dray_timeline_file *line,
			       struct dray_wait *args, u32 rings, int *told)
{
	ktime_t until = min_t(u64, args->until_ns, KTIME_MAX);
	ktime_t *limit = args->until_ns == U64_MAX ? NULL : &until;
	wait_queue_head_t *moved = &line->points->moved;
	struct dray_waiter waiter = { .line = line,
				      .number = args->number,
				      .rings = rings };
	int ret = 0;

	init_wait(&waiter.entry);
	waiter.entry.func = dray_waiter_wake;
	while (!ret) {
		prepare_to_wait(moved, &waiter.entry, TASK_INTERRUPTIBLE);
		if (dray_tells(line, args, rings, told))
			break;
		if (signal_pending(current))
			ret = -ERESTARTSYS;
		else if (!schedule_hrtimeout(limit, HRTIMER_MODE_ABS))
			ret = -ETIME;
	}
	finish_wait(moved, &waiter.entry);
	return ret;
}

int dray_timeline_wait(struct dray_timeline_file *line, struct dray_wait *args,
		       u32 rings)
{
	int ret = 0, told = -EAGAIN;

	args->completed = READ_ONCE(line->points->head->completed);
	if (!args->number)
		return -EINVAL;
	if (!dray_tells(line, args, rings, &told) && args->until_ns)
		ret = dray_timeline_sleep(line, args, rings, &told);
	if (ret == -ERESTARTSYS)
		return ret;
	/* It may have come at the last moment. */
	if (ret)
		dray_tells(line, args, rings, &told);
	args->completed = READ_ONCE(line->points->head->completed);
	if (told)
		memset(&args->point, 0, sizeof(args->point));
	return told == -EAGAIN ? -ETIME : told;
}

int dray_wait_call(struct dray_timeline_file *line, void *data,
		   struct dray_refusal *refusal)
{
	return dray_timeline_wait(line, data, dray_points_rings(line->points));
}
