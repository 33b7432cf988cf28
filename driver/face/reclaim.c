// SPDX-License-Identifier: GPL-2.0-only
/*
 * RECLAIM: frees held memory, when its caller knows that the hardware is quiet.
 */
#include <linux/capability.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "base/entry.h"
#include "base/node.h"
#include "base/reply.h"
#include "memory/hold.h"
#include "calls.h"

static int dray_reclaim_all(struct dray_reclaim *args)
{
	struct dray_entry *entry;
	u64 id = 0;

	while ((entry = dray_entry_next(&id))) {
		dray_hold_end(entry, args);
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

int dray_reclaim_call(struct dray_opener *opener, void *data,
		      struct dray_reply *reply)
{
	struct dray_reclaim *args = data;
	struct dray_entry *entry;
	int ret;

	if (args->flags)
		return -EINVAL;
	args->count = 0;
	args->attachments = 0;
	args->bytes = 0;
	ret = dray_node_check(opener->node);
	if (ret)
		return ret;
	if (!capable(CAP_SYS_RAWIO))
		return dray_refuse(&reply->refusal, -EPERM,
				   DRAY_REASON_PERMISSION, 0);
	if (!args->id)
		return dray_reclaim_all(args);
	entry = dray_entry_of_id(args->id);
	if (!entry || !dray_hold_end(entry, args))
		return -ENOENT;
	return 0;
}
