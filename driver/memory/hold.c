// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that is held.  Without an IOMMU an address works for as long as the
 * memory exists.  A device that knows an address still writes after its process
 * was killed.  So memory of a disclosed address stays in place if a process that
 * knows it ended before the last reference was dropped.  Pages stay pinned,
 * another driver's dma-buf stays.  RECLAIM frees it, when its caller knows that
 * the hardware is quiet.  If every such process lives, the last release vouches
 * for the hardware.
 *
 * An attachment that a dead channel may still write is held too, even if all
 * live.  A buffer's heap keeps such memory out of use; attachments have no
 * heap.
 */
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "base/disclosure.h"
#include "attachment.h"
#include "buffer.h"
#include "hold.h"

static bool hold = true;
module_param(hold, bool, 0444);
MODULE_PARM_DESC(hold, "nodes hold memory that a device may still write");

/* Bytes of its memory. */
static u64 dray_entry_bytes(struct dray_entry *entry)
{
	struct dray_buffer *buffer = dray_entry_buffer(entry);

	return buffer ? buffer->memory.size
		      : dray_entry_attachment(entry)->charged;
}

/* A heap reports the bytes that are held. */
static void dray_heap_count_held(struct dray_entry *entry, s64 step)
{
	struct dray_buffer *buffer = dray_entry_buffer(entry);

	if (buffer)
		atomic64_add(step, &buffer->heap->held);
}

/*
 * Must @entry be held, now that its last reference is gone?  A device may still
 * write it.  Holds the module too; if the module is on its way out, the memory
 * stays out of use for good instead.
 */
bool dray_hold_take(struct dray_entry *entry)
{
	struct pid *pid = entry->pid;

	if (!entry->condemned) {
		if (!dray_disclosures_ended(entry, &pid))
			return false;
	} else if (dray_entry_buffer(entry)) {
		/* Its heap keeps it out of use. */
		return false;
	}
	if (!try_module_get(THIS_MODULE)) {
		entry->condemned = true;
		return false;
	}
	dray_heap_count_held(entry, dray_entry_bytes(entry));
	atomic_set(&entry->held, 1);
	pr_notice_ratelimited("dray: %s %llu of process %d is held\n",
			      dray_entry_buffer(entry) ? "buffer"
						       : "attachment",
			      entry->id, pid_nr(pid));
	return true;
}

/* Keeps the caller's reference; false if it is not held. */
bool dray_hold_end(struct dray_entry *entry, struct dray_reclaim *args)
{
	bool held = atomic_cmpxchg(&entry->held, 1, 0);
	u64 bytes = dray_entry_bytes(entry);

	if (held) {
		args->bytes += bytes;
		args->count++;
		args->attachments += !dray_entry_buffer(entry);
		dray_heap_count_held(entry, -bytes);
		dray_disclosures_forget(entry);
		/* No device writes it: so says the caller. */
		entry->condemned = false;
		/* The reference that held it. */
		dray_entry_put(entry);
	}
	dray_entry_put(entry);
	/* The caller's open file holds the module too. */
	if (held)
		module_put(THIS_MODULE);
	return held;
}

bool dray_hold_default(void)
{
	return hold;
}
