// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The list of all managers, by which each node has one, and their references.
 *
 * A manager ends when it has neither references nor live objects.  Its guard
 * covers that test, the list's lock covers its end.  In between
 * dray_get_manager() may have revived it, or another thread may have ended it,
 * so the list is searched first.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/fork.h"
#include "manager/manager.h"
#include "memory/node.h"

DEFINE_FORK_LOCK(DRAY_FORK_MANAGERS, lock);
static struct dray_manager *managers;
static const struct dray_manager_ops *chosen; /* NULL: the environment's */

struct dray_manager *dray_manager_new(struct dray_node *node)
{
	struct dray_manager *manager = calloc(1, sizeof(*manager));

	if (!manager)
		return NULL;
	dray_fork_enlist(&locks);
	manager->node = dray_node_ref(node);
	manager->holders = 1;
	manager->pending_last = &manager->pending;
	dray_guard_init(&manager->guard);
	return manager;
}

void dray_manager_free(struct dray_manager *manager)
{
	dray_resource_unref(manager->resource);
	dray_pool_close(manager->pool);
	dray_node_unref(manager->node);
	dray_guard_end(&manager->guard);
	free(manager);
}

void dray_manager_destroy(struct dray_manager *manager)
{
	if (manager->ops.destroy)
		manager->ops.destroy(manager->ctx);
	dray_manager_free(manager);
}

static void manager_list(struct dray_manager *manager)
{
	manager->next = managers;
	managers = manager;
}

void dray_manager_enlist(struct dray_manager *manager)
{
	pthread_mutex_lock(&lock);
	manager_list(manager);
	pthread_mutex_unlock(&lock);
}

static bool manager_unused(struct dray_manager *manager)
{
	bool answer;

	dray_guard_take(&manager->guard);
	answer = !manager->holders && !manager->keeps;
	dray_guard_give(&manager->guard);
	return answer;
}

/* @manager is only an address: the object may be gone. */
static void end_if_unused(struct dray_manager *manager)
{
	struct dray_manager **link;

	pthread_mutex_lock(&lock);
	link = &managers;
	while (*link && *link != manager)
		link = &(*link)->next;
	if (!*link || !manager_unused(manager)) {
		pthread_mutex_unlock(&lock);
		return;
	}
	*link = manager->next;
	pthread_mutex_unlock(&lock);
	dray_manager_destroy(manager);
}

void dray_manager_keep(struct dray_manager *manager)
{
	manager->keeps++;
}

void dray_manager_enter(struct dray_manager *manager)
{
	dray_guard_take(&manager->guard);
	dray_manager_keep(manager);
	dray_guard_give(&manager->guard);
}

void dray_manager_drop(struct dray_manager *manager)
{
	bool last;

	dray_guard_take(&manager->guard);
	last = !--manager->keeps && !manager->holders;
	dray_guard_give(&manager->guard);
	if (last)
		end_if_unused(manager);
}

struct dray_manager *dray_manager_ref(struct dray_manager *manager)
{
	if (!manager)
		return NULL;
	dray_guard_take(&manager->guard);
	manager->holders++;
	dray_guard_give(&manager->guard);
	return manager;
}

/* Called with the lock. */
static struct dray_manager *find_shared(struct dray_node *node)
{
	struct dray_manager *manager = managers;

	while (manager &&
	       !(manager->shared && dray_node_same(manager->node, node)))
		manager = manager->next;
	return manager;
}

int dray_manager_choose(const struct dray_manager_ops *ops)
{
	const struct dray_manager *manager;
	int ret = 0;

	pthread_mutex_lock(&lock);
	manager = managers;
	while (manager && !manager->shared)
		manager = manager->next;
	if (!manager)
		chosen = ops;
	else
		ret = dray_fail(-EBUSY, "the manager \"%s\" is in use",
				manager->ops.name);
	pthread_mutex_unlock(&lock);
	return ret;
}

const struct dray_manager_ops *dray_manager_chosen(void)
{
	const struct dray_manager_ops *ops;

	pthread_mutex_lock(&lock);
	ops = chosen;
	pthread_mutex_unlock(&lock);
	return ops;
}

struct dray_manager *dray_manager_share(struct dray_node *node,
					struct dray_manager *made)
{
	struct dray_manager *manager;

	pthread_mutex_lock(&lock);
	manager = find_shared(node);
	if (manager) {
		dray_manager_ref(manager);
	} else if (made) {
		made->shared = true;
		manager_list(made);
		manager = made;
	}
	pthread_mutex_unlock(&lock);
	return manager;
}

const char *dray_manager_name(const struct dray_manager *manager)
{
	return dray_given(manager, __func__) ? manager->ops.name : NULL;
}

struct dray_node *dray_manager_node(const struct dray_manager *manager)
{
	return dray_given(manager, __func__) ? manager->node : NULL;
}

void *dray_manager_context(const struct dray_manager *manager)
{
	return dray_given(manager, __func__) ? manager->ctx : NULL;
}
