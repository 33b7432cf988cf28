// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Managers are made of their operations, chosen for nodes, and given up by callers. */
#include <errno.h>

#include "base/error.h"
#include "manager/manager.h"

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

/* Creates a manager that is in no list; -ENOMEM. */
static int manager_make_create(struct dray_node *node,
			       const struct dray_manager_ops *ops,
			       struct dray_resource *resource,
			       struct dray_manager **out)
{
	struct dray_manager *manager = dray_manager_new(node);
	int ret;

	if (!manager)
		return dray_fail(-ENOMEM, "no memory for a manager's object");
	manager->ops = *ops;
	inherit_ops(&manager->ops);
	manager->resource = resource ? dray_resource_ref(resource) : NULL;
	manager->most_entries = 10;
	manager->most_percent = 20;
	ret = ops->create ? ops->create(manager, &manager->ctx) : 0;
	if (ret) {
		dray_manager_free(manager);
		return ret;
	}
	*out = manager;
	return 0;
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
		ret = manager_make_create(node, ops, resource, &manager);
	if (ret)
		return ret;
	dray_manager_enlist(manager);
	*out = manager;
	return 0;
}

int dray_set_manager(const struct dray_manager_ops *ops)
{
	int ret = ops ? dray_manager_check_ops(ops, "the manager") : 0;

	return ret ? ret : dray_manager_choose(ops);
}

static int manager_make_operations(const struct dray_manager_ops **out)
{
	int ret;

	*out = dray_manager_chosen();
	if (*out)
		return 0;
	ret = dray_manager_environment(out);
	if (!ret && !*out)
		*out = dray_manager_base_ops(DRAY_MANAGER_NATIVE);
	return ret;
}

int dray_get_manager(struct dray_node *node, struct dray_manager **out)
{
	struct dray_manager *manager, *made;
	const struct dray_manager_ops *ops;
	int ret;

	if (!dray_given(node, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	manager = dray_manager_share(node, NULL);
	if (!manager) {
		ret = manager_make_operations(&ops);
		if (!ret)
			ret = manager_make_create(node, ops, NULL, &made);
		if (ret)
			return ret;
		manager = dray_manager_share(node, made);
		if (manager != made)
			dray_manager_destroy(made);
	}
	ret = dray_manager_ready(manager);
	if (ret) {
		dray_manager_unref(manager);
		return ret;
	}
	*out = manager;
	return 0;
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
