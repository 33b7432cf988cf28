// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * manager: the object, and the list of all there are, by which each node has
 * one.
 *
 * A manager ends when it has neither references nor live objects.  Its guard
 * covers that test, the list's lock covers its end.  In between
 * dray_get_manager() may have revived it, or another thread may have ended it,
 * so the list is searched first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fork.h"
#include "manager/manager.h"
#include "memory/node.h"

DEFINE_FORK_LOCK(DRAY_FORK_MANAGERS, lock);
static struct dray_manager *managers;
static const struct dray_manager_ops *chosen; /* NULL: the environment's */

/* A NULL member falls back to the base's. */
static void inherit_ops(struct dray_manager_ops *ops)
{
	const struct dray_manager_ops *base =
		dray_manager_base_ops((enum dray_manager_base)ops->base);

	if (!base)
		return;
	if (!ops->initialize)
		ops->initialize = base->initialize;
	if (!ops->memalloc)
		ops->memalloc = base->memalloc;
	if (!ops->memhostalloc)
		ops->memhostalloc = base->memhostalloc;
	if (!ops->mempin)
		ops->mempin = base->mempin;
	if (!ops->get_memory_info)
		ops->get_memory_info = base->get_memory_info;
	if (!ops->get_ipc_handle)
		ops->get_ipc_handle = base->get_ipc_handle;
	if (!ops->reset)
		ops->reset = base->reset;
}

static void destroy(struct dray_manager *manager)
{
	dray_resource_unref(manager->resource);
	dray_pool_close(manager->pool);
	dray_node_unref(manager->node);
	dray_guard_end(&manager->guard);
	free(manager);
}

/* Creates a manager that is in no list; -ENOMEM. */
static int create(struct dray_node *node, const struct dray_manager_ops *ops,
		  struct dray_resource *resource, struct dray_manager **out)
{
	struct dray_manager *manager = calloc(1, sizeof(*manager));
	int ret;

	if (!manager)
		return dray_fail(-ENOMEM, "no memory for a manager's object");
	dray_fork_enlist(&locks);
	manager->ops = *ops;
	inherit_ops(&manager->ops);
	manager->node = dray_node_ref(node);
	manager->holders = 1;
	manager->resource = resource ? dray_resource_ref(resource) : NULL;
	manager->pending_last = &manager->pending;
	manager->most_entries = 10;
	manager->most_percent = 20;
	dray_guard_init(&manager->guard);
	ret = ops->create ? ops->create(manager, &manager->ctx) : 0;
	if (ret) {
		destroy(manager);
		return ret;
	}
	*out = manager;
	return 0;
}

static void destroy_created(struct dray_manager *manager)
{
	if (manager->ops.destroy)
		manager->ops.destroy(manager->ctx);
	destroy(manager);
}

static void list(struct dray_manager *manager)
{
	manager->next = managers;
	managers = manager;
}

static bool unused(struct dray_manager *manager)
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
	if (!*link || !unused(manager)) {
		pthread_mutex_unlock(&lock);
		return;
	}
	*link = manager->next;
	pthread_mutex_unlock(&lock);
	destroy_created(manager);
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

void dray_manager_unref(struct dray_manager *manager)
{
	bool last;

	if (!manager)
		return;
	dray_guard_take(&manager->guard);
	dray_manager_keep(manager);
	last = !--manager->holders;
	dray_guard_give(&manager->guard);
	if (last)
		dray_pending_flush(manager, true);
	dray_manager_drop(manager);
}

int dray_manager_create(struct dray_node *node,
			const struct dray_manager_ops *ops,
			struct dray_resource *resource,
			struct dray_manager **out)
{
	struct dray_manager *manager;
	int ret = 0;

	if (!dray_given(node, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	if (ops)
		ret = dray_manager_check_ops(ops, "the manager");
	else
		ops = dray_manager_base_ops(DRAY_MANAGER_NATIVE);
	if (!ret)
		ret = create(node, ops, resource, &manager);
	if (ret)
		return ret;
	pthread_mutex_lock(&lock);
	list(manager);
	pthread_mutex_unlock(&lock);
	*out = manager;
	return 0;
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

int dray_set_manager(const struct dray_manager_ops *ops)
{
	const struct dray_manager *manager;
	int ret;

	ret = ops ? dray_manager_check_ops(ops, "the manager") : 0;
	if (ret)
		return ret;
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

static int operations(const struct dray_manager_ops **out)
{
	int ret;

	pthread_mutex_lock(&lock);
	*out = chosen;
	pthread_mutex_unlock(&lock);
	if (*out)
		return 0;
	ret = dray_manager_environment(out);
	if (!ret && !*out)
		*out = dray_manager_base_ops(DRAY_MANAGER_NATIVE);
	return ret;
}

/* Returns the listed manager of @node, or lists @made if it is not NULL. */
static struct dray_manager *share(struct dray_node *node,
				  struct dray_manager *made)
{
	struct dray_manager *manager;

	pthread_mutex_lock(&lock);
	manager = find_shared(node);
	if (manager) {
		dray_manager_ref(manager);
	} else if (made) {
		made->shared = true;
		list(made);
		manager = made;
	}
	pthread_mutex_unlock(&lock);
	return manager;
}

int dray_get_manager(struct dray_node *node, struct dray_manager **out)
{
	struct dray_manager *manager, *made;
	const struct dray_manager_ops *ops;
	int ret;

	if (!dray_given(node, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	manager = share(node, NULL);
	if (!manager) {
		ret = operations(&ops);
		if (!ret)
			ret = create(node, ops, NULL, &made);
		if (ret)
			return ret;
		manager = share(node, made);
		if (manager != made)
			destroy_created(made);
	}
	ret = dray_manager_ready(manager);
	if (ret) {
		dray_manager_unref(manager);
		return ret;
	}
	*out = manager;
	return 0;
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
