/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared by the files of the manager.  manager.c lists all managers and counts
 * references, manager_make.c makes managers and chooses a node's, call.c contains
 * the operations as runtimes call them, memory.c the memory objects, pending.c their
 * end, base.c and ipc.c dray's own operations, and plugin.c the loader of plug-ins.
 */
#ifndef DRAY_MANAGER_MANAGER_H
#define DRAY_MANAGER_MANAGER_H

#include <stdatomic.h>
#include <stdbool.h>

#include <dray/manager.h>
#include "base/guard.h"

struct dray_memory {
	struct dray_memory_description is;
	_Atomic uint64_t references;
	struct dray_manager *manager; /* kept by the object */
	struct dray_memory *base; /* of a view: a reference */
	struct dray_memory *next; /* alive, or pending */
	struct dray_memory **link; /* alive: to this object */
};

struct dray_manager {
	struct dray_manager_ops ops; /* NULL members filled from the base */
	struct dray_node *node; /* a reference */
	void *ctx;
	struct dray_manager *next; /* of all managers */
	bool shared; /* dray_get_manager() returns it */

	struct dray_guard guard; /* for all below */
	uint64_t holders; /* references of callers */
	uint64_t keeps; /* objects, and calls under way */
	bool initialized;
	struct dray_resource *resource; /* of the base; NULL: not yet */
	struct dray_pool *pool; /* under it, if it was made here */
	struct dray_memory *alive;
	struct dray_memory *pending, **pending_last;
	uint64_t finished; /* pending objects, by any thread */
	uint32_t most_entries; /* of pending objects */
	uint32_t most_percent;
	struct dray_manager_stats stats;
};

/*
 * Keeps the manager alive; called with the guard held.  Enter is for callers
 * without the guard that are about to run foreign code: a finalizer may drop
 * the caller's own, last reference.  Drop is called without the guard.
 */
void dray_manager_keep(struct dray_manager *manager);
void dray_manager_enter(struct dray_manager *manager);
void dray_manager_drop(struct dray_manager *manager);

/* Makes a manager with a reference, in no list; NULL: no memory. */
struct dray_manager *dray_manager_new(struct dray_node *node);
/* Frees a manager; destroy: after its operations' function for that. */
void dray_manager_free(struct dray_manager *manager);
void dray_manager_destroy(struct dray_manager *manager);
void dray_manager_enlist(struct dray_manager *manager);
/* Returns the listed manager of @node, or lists @made if it is not NULL. */
struct dray_manager *dray_manager_share(struct dray_node *node,
					struct dray_manager *made);

/* Sets the operations of managers of nodes; NULL: the environment's.  -EBUSY. */
int dray_manager_choose(const struct dray_manager_ops *ops);
const struct dray_manager_ops *dray_manager_chosen(void);

/* Initializes the manager, unless that was done before. */
int dray_manager_ready(struct dray_manager *manager);

/* Finalizes all that wait; the manager is kept.  @force: also in a deferral. */
size_t dray_pending_flush(struct dray_manager *manager, bool force);
/* Counts the finished finalizers of all threads. */
uint64_t dray_pending_finished(struct dray_manager *manager);

/* -EINVAL unless version and base are known, and name and memalloc are set. */
int dray_manager_check_ops(const struct dray_manager_ops *ops,
			   const char *from);
/* The operations that the environment names; NULL if none. */
int dray_manager_environment(const struct dray_manager_ops **out);

int dray_native_get_ipc_handle(struct dray_manager *self,
			       const struct dray_memory *memory,
			       struct dray_ipc_handle *out);

#endif /* DRAY_MANAGER_MANAGER_H */
