// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attached memory that is held, as held.c holds buffers: pages stay pinned, and
 * another driver's dma-buf stays, when the last reference to an attachment goes
 * after the end of the process that got its address.  It has no identifier:
 * RECLAIM of all frees it.
 */
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "attach.h"
#include "held.h"
#include "node.h"

static LIST_HEAD(dray_attachments_held);
static DEFINE_MUTEX(dray_attachments_held_lock);

/* Its address is about to be given to the caller. */
void dray_attachment_disclose(struct dray_attachment *attachment)
{
	struct pid *before;

	/* What is unmapped behind an IOMMU has no address any more. */
	if (attachment->node->flags & DRAY_NODE_IOMMU)
		return;
	mutex_lock(&attachment->lock);
	before = attachment->told;
	attachment->told = get_pid(task_tgid(current));
	mutex_unlock(&attachment->lock);
	put_pid(before);
}

/* As dray_buffer_hold(). */
bool dray_attachment_hold(struct dray_attachment *attachment)
{
	if (!attachment->told || attachment->condemned)
		return false;
	if (!READ_ONCE(attachment->node->hold) ||
	    !dray_process_ended(attachment->told))
		return false;
	if (!try_module_get(THIS_MODULE)) {
		attachment->condemned = true;
		return false;
	}
	pr_notice_ratelimited("dray: attached memory of process %d is held\n",
			      pid_nr(attachment->told));
	return true;
}

/* With a reference, which is RECLAIM's to drop from here on. */
void dray_attachment_keep(struct dray_attachment *attachment)
{
	mutex_lock(&dray_attachments_held_lock);
	list_add_tail(&attachment->held, &dray_attachments_held);
	mutex_unlock(&dray_attachments_held_lock);
}

static struct dray_attachment *dray_attachment_take_held(void)
{
	struct dray_attachment *attachment;

	mutex_lock(&dray_attachments_held_lock);
	attachment = list_first_entry_or_null(&dray_attachments_held,
					      struct dray_attachment, held);
	if (attachment)
		list_del(&attachment->held);
	mutex_unlock(&dray_attachments_held_lock);
	return attachment;
}

int dray_attachments_reclaim(struct dray_reclaim *args)
{
	struct dray_attachment *attachment;

	while ((attachment = dray_attachment_take_held())) {
		args->bytes += attachment->charged;
		args->count++;
		/* Now nothing holds it any more. */
		put_pid(attachment->told);
		attachment->told = NULL;
		dray_attachment_put(attachment);
		/* The caller's open file holds the module too. */
		module_put(THIS_MODULE);
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}
