// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The operations as runtimes call them: ready before the first allocation, and
 * an allocation that fails is asked for once more after a flush.
 */
#include <errno.h>

#include "base/error.h"
#include "base/options.h"
#include "manager/manager.h"

static int no_operation(const struct dray_manager *manager, const char *name)
{
	return dray_fail(-EOPNOTSUPP, "the manager \"%s\" has no %s",
			 manager->ops.name, name);
}

int dray_manager_initialize(struct dray_manager *manager)
{
	struct dray_capacity capacity = { 0 };
	int ret = 0;

	if (!dray_given(manager, __func__))
		return -EINVAL;
	if (manager->ops.initialize)
		ret = manager->ops.initialize(manager);
	if (ret)
		return ret;
	/* If the capacity is unknown, only the number of entries counts. */
	if (!manager->ops.get_memory_info ||
	    manager->ops.get_memory_info(manager, &capacity))
		capacity.total = 0;
	dray_guard_take(&manager->guard);
	manager->stats.capacity = capacity.total;
	manager->initialized = true;
	dray_guard_give(&manager->guard);
	return 0;
}

int dray_manager_ready(struct dray_manager *manager)
{
	bool ready;

	dray_guard_take(&manager->guard);
	ready = manager->initialized;
	dray_guard_give(&manager->guard);
	return ready ? 0 : dray_manager_initialize(manager);
}

/* One of the three allocations, and its arguments. */
struct manager_request {
	int (*ask)(struct dray_manager *manager,
		   const struct manager_request *request,
		   struct dray_memory **out);
	size_t size;
	uint64_t stream;
	uint32_t flags;
	const struct dray_memory_description *memory;
};

static int call_allocate(struct dray_manager *manager,
			 const struct manager_request *request,
			 struct dray_memory **out)
{
	int ret = dray_manager_ready(manager);
	uint64_t finished;

	if (ret)
		return ret;
	finished = dray_pending_finished(manager);
	ret = request->ask(manager, request, out);
	if (ret != -ENOMEM && ret != -EDQUOT)
		return ret;
	dray_manager_enter(manager);
	dray_pending_flush(manager, false);
	/* Another thread's flush may have been faster. */
	if (dray_pending_finished(manager) != finished) {
		dray_guard_take(&manager->guard);
		manager->stats.retries++;
		dray_guard_give(&manager->guard);
		ret = request->ask(manager, request, out);
	}
	dray_manager_drop(manager);
	return ret;
}

static int ask_memalloc(struct dray_manager *manager,
			const struct manager_request *request,
			struct dray_memory **out)
{
	return manager->ops.memalloc(manager, request->size, request->stream,
				     out);
}

int dray_manager_memalloc(struct dray_manager *manager, size_t size,
			  uint64_t stream, struct dray_memory **out)
{
	struct manager_request request = {
		.ask = ask_memalloc,
		.size = size,
		.stream = stream,
	};

	if (!dray_given(manager, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	return call_allocate(manager, &request, out);
}

static int ask_memhostalloc(struct dray_manager *manager,
			    const struct manager_request *request,
			    struct dray_memory **out)
{
	return manager->ops.memhostalloc(manager, request->size, request->flags,
					 out);
}

int dray_manager_memhostalloc(struct dray_manager *manager, size_t size,
			      uint32_t flags, struct dray_memory **out)
{
	struct manager_request request = {
		.ask = ask_memhostalloc,
		.size = size,
		.flags = flags,
	};

	if (!dray_given(manager, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	if (!manager->ops.memhostalloc)
		return no_operation(manager, "memhostalloc");
	if (flags &
	    ~(DRAY_HOST_MAPPED | DRAY_HOST_PORTABLE | DRAY_HOST_WRITE_COMBINED))
		return dray_fail(-EINVAL, "unknown flags 0x%x", flags);
	return call_allocate(manager, &request, out);
}

static int ask_mempin(struct dray_manager *manager,
		      const struct manager_request *request,
		      struct dray_memory **out)
{
	return manager->ops.mempin(manager, request->memory, request->flags,
				   out);
}

int dray_manager_mempin(struct dray_manager *manager, void *pointer,
			size_t size, uint32_t flags, void *owner,
			void (*release_owner)(void *owner),
			struct dray_memory **out)
{
	struct dray_memory_description memory = {
		.size = sizeof(memory),
		.pointer = pointer,
		.bytes = size,
		.kind = flags & DRAY_HOST_MAPPED ? DRAY_MEMORY_MAPPED
						 : DRAY_MEMORY_PINNED,
		.owner = owner,
		.release_owner = release_owner,
	};
	struct manager_request request = {
		.ask = ask_mempin,
		.flags = flags,
		.memory = &memory,
	};

	if (!dray_given(manager, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	if (!manager->ops.mempin)
		return no_operation(manager, "mempin");
	if (flags & ~(DRAY_HOST_MAPPED | DRAY_HOST_READ_ONLY))
		return dray_fail(-EINVAL, "unknown flags 0x%x", flags);
	if (!size)
		return dray_fail(-EINVAL, "no bytes to pin at %p", pointer);
	return call_allocate(manager, &request, out);
}

int dray_manager_get_memory_info(struct dray_manager *manager,
				 struct dray_capacity *out)
{
	struct dray_capacity known;
	int ret;

	if (!dray_given(manager, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_manager_ready(manager);
	if (ret)
		return ret;
	if (!manager->ops.get_memory_info)
		return no_operation(manager, "get_memory_info");
	ret = manager->ops.get_memory_info(manager, &known);
	if (!ret)
		*out = known;
	return ret;
}

int dray_manager_get_ipc_handle(struct dray_manager *manager,
				const struct dray_memory *memory,
				struct dray_ipc_handle *out)
{
	struct dray_ipc_handle known = { 0 };
	int ret;

	if (!dray_given(manager, __func__) || !dray_given(memory, __func__) ||
	    !dray_given(out, __func__))
		return -EINVAL;
	if (!manager->ops.get_ipc_handle)
		return no_operation(manager, "get_ipc_handle");
	if (memory->manager != manager)
		return dray_fail(-EINVAL,
				 "the memory at %p is of another manager",
				 memory->is.pointer);
	ret = manager->ops.get_ipc_handle(manager, memory, &known);
	if (!ret)
		*out = known;
	return ret;
}

int dray_manager_reset(struct dray_manager *manager)
{
	int ret = 0;

	if (!dray_given(manager, __func__))
		return -EINVAL;
	dray_manager_enter(manager);
	dray_pending_flush(manager, true);
	if (manager->ops.reset)
		ret = manager->ops.reset(manager);
	dray_manager_drop(manager);
	return ret;
}

void dray_manager_stats(struct dray_manager *manager,
			struct dray_manager_stats *stats)
{
	struct dray_manager_stats known;
	int ret;

	if (!dray_given(manager, __func__) || !dray_given(stats, __func__))
		return;
	dray_guard_take(&manager->guard);
	known = manager->stats;
	dray_guard_give(&manager->guard);
	ret = DRAY_WRITE_RESULT(stats, &known, DRAY_MANAGER_STATS_SIZE_FIRST);
	if (ret)
		errno = -ret;
}
