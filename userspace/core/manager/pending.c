// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The end of memory objects.  Dropping the last reference removes an object from the list
 * of live objects; its finalizer runs at once or in its turn.
 *
 * Objects that wait to be finalized: a list through the objects themselves, so
 * that to free needs no memory, emptied as a whole when it is too long.
 *
 * They are removed singly, so that a thread that runs out of memory meanwhile can
 * help.  A finalizer may drop objects of the same manager: they
 * wait for the flush that is on, else a chain of them would be a chain of
 * calls.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "manager/manager.h"

/* The manager of this thread's innermost flush. */
static _Thread_local const struct dray_manager *flushing
	__attribute__((tls_model("initial-exec")));

/* Called with the guard. */
static bool too_many(const struct dray_manager *manager)
{
	const struct dray_manager_stats *stats = &manager->stats;

	if (stats->deferrals)
		return false;
	return stats->pending > manager->most_entries ||
	       (stats->capacity &&
		stats->pending_bytes >
			stats->capacity / 100 * manager->most_percent);
}

/* Queues an object, with the guard; true if the queue is over its limit. */
static bool pending_add(struct dray_manager *manager,
			struct dray_memory *memory)
{
	memory->next = NULL;
	*manager->pending_last = memory;
	manager->pending_last = &memory->next;
	manager->stats.pending++;
	manager->stats.pending_bytes += memory->is.bytes;
	return flushing != manager && too_many(manager);
}

static struct dray_memory *pending_take_first(struct dray_manager *manager,
					      bool force)
{
	struct dray_memory *memory = NULL;

	dray_guard_take(&manager->guard);
	if (force || !manager->stats.deferrals)
		memory = manager->pending;
	if (memory) {
		manager->pending = memory->next;
		if (!manager->pending)
			manager->pending_last = &manager->pending;
		manager->stats.pending--;
		manager->stats.pending_bytes -= memory->is.bytes;
	}
	dray_guard_give(&manager->guard);
	return memory;
}

/* Called with the guard. */
static void pending_delist(struct dray_memory *memory)
{
	*memory->link = memory->next;
	if (memory->next)
		memory->next->link = memory->link;
	memory->manager->stats.objects--;
	if (!memory->base)
		memory->manager->stats.bytes -= memory->is.bytes;
}

static void pending_finish(struct dray_memory *memory)
{
	struct dray_manager *manager = memory->manager;

	if (memory->is.finalize)
		memory->is.finalize(memory->is.ctx, &memory->is);
	if (memory->is.release_owner)
		memory->is.release_owner(memory->is.owner);
	dray_memory_unref(memory->base);
	free(memory);
	dray_manager_drop(manager);
}

size_t dray_pending_flush(struct dray_manager *manager, bool force)
{
	const struct dray_manager *outer = flushing;
	struct dray_memory *memory;
	size_t count = 0;

	flushing = manager;
	while ((memory = pending_take_first(manager, force)) != NULL) {
		pending_finish(memory);
		count++;
		dray_guard_take(&manager->guard);
		manager->finished++;
		dray_guard_give(&manager->guard);
	}
	flushing = outer;
	if (count) {
		dray_guard_take(&manager->guard);
		manager->stats.flushes++;
		dray_guard_give(&manager->guard);
	}
	return count;
}

/* With the guard: whether an object without a reference must wait. */
static bool pending_takes(const struct dray_manager *manager,
			  const struct dray_memory *memory)
{
	return (memory->is.flags & DRAY_MEMORY_DEFERRED) && manager->holders;
}

void dray_memory_unref(struct dray_memory *memory)
{
	struct dray_manager *manager;
	bool waits, too_many = false;

	if (!memory || atomic_fetch_sub_explicit(&memory->references, 1,
						 memory_order_acq_rel) != 1)
		return;
	manager = memory->manager;
	dray_guard_take(&manager->guard);
	pending_delist(memory);
	waits = pending_takes(manager, memory);
	if (waits)
		too_many = pending_add(manager, memory);
	/* Others may finalize it, and all the rest, before the flush. */
	if (too_many)
		dray_manager_keep(manager);
	dray_guard_give(&manager->guard);
	if (!waits)
		pending_finish(memory);
	if (too_many) {
		dray_pending_flush(manager, false);
		dray_manager_drop(manager);
	}
}

uint64_t dray_pending_finished(struct dray_manager *manager)
{
	uint64_t finished;

	dray_guard_take(&manager->guard);
	finished = manager->finished;
	dray_guard_give(&manager->guard);
	return finished;
}

size_t dray_manager_flush(struct dray_manager *manager)
{
	size_t count;

	if (!dray_given(manager, __func__))
		return 0;
	dray_manager_enter(manager);
	count = dray_pending_flush(manager, false);
	dray_manager_drop(manager);
	return count;
}

void dray_manager_defer_cleanup(struct dray_manager *manager)
{
	bool outermost;

	if (!dray_given(manager, __func__))
		return;
	dray_guard_take(&manager->guard);
	outermost = !manager->stats.deferrals++;
	dray_guard_give(&manager->guard);
	if (outermost && manager->ops.defer_cleanup)
		manager->ops.defer_cleanup(manager, true);
}

int dray_manager_end_deferral(struct dray_manager *manager)
{
	bool begun, outermost = false, full = false;

	if (!dray_given(manager, __func__))
		return -EINVAL;
	dray_guard_take(&manager->guard);
	begun = manager->stats.deferrals;
	if (begun) {
		outermost = !--manager->stats.deferrals;
		full = too_many(manager);
		dray_manager_keep(manager);
	}
	dray_guard_give(&manager->guard);
	if (!begun)
		return dray_fail(-EINVAL,
				 "the end of a deferral without its begin");
	if (outermost && manager->ops.defer_cleanup)
		manager->ops.defer_cleanup(manager, false);
	if (full)
		dray_pending_flush(manager, false);
	dray_manager_drop(manager);
	return 0;
}

int dray_manager_set_pending(struct dray_manager *manager, uint32_t entries,
			     uint32_t percent)
{
	bool full;

	if (!dray_given(manager, __func__))
		return -EINVAL;
	if (percent > 100)
		return dray_fail(-EINVAL, "reserve of %u percent: 0 to 100",
				 percent);
	dray_guard_take(&manager->guard);
	manager->most_entries = entries;
	manager->most_percent = percent;
	full = too_many(manager);
	dray_manager_keep(manager);
	dray_guard_give(&manager->guard);
	if (full)
		dray_pending_flush(manager, false);
	dray_manager_drop(manager);
	return 0;
}
