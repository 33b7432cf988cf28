// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Memory objects, until their last reference is dropped: pending.c ends them. */
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/options.h"
#include "manager/manager.h"
#include "memory/node.h"

static void memory_enlist(struct dray_memory *memory)
{
	struct dray_manager *manager = memory->manager;

	dray_guard_take(&manager->guard);
	dray_manager_keep(manager);
	memory->next = manager->alive;
	memory->link = &manager->alive;
	if (manager->alive)
		manager->alive->link = &memory->next;
	manager->alive = memory;
	manager->stats.objects++;
	if (!memory->base)
		manager->stats.bytes += memory->is.bytes;
	dray_guard_give(&manager->guard);
}

static int memory_create(struct dray_manager *manager,
			 const struct dray_memory_description *description,
			 struct dray_memory *base, struct dray_memory **out)
{
	struct dray_memory *memory = calloc(1, sizeof(*memory));

	if (!memory)
		return dray_fail(-ENOMEM, "no memory for a memory object");
	memory->is = *description;
	atomic_init(&memory->references, 1);
	memory->manager = manager;
	memory->base = base ? dray_memory_ref(base) : NULL;
	memory_enlist(memory);
	*out = memory;
	return 0;
}

int dray_memory_create(struct dray_manager *manager,
		       const struct dray_memory_description *description,
		       struct dray_memory **out)
{
	struct dray_memory_description known;
	int ret;

	if (!dray_given(manager, __func__) ||
	    !dray_given(description, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = DRAY_READ_OPTIONS(&known, description,
				DRAY_MEMORY_DESCRIPTION_SIZE_FIRST);
	if (ret)
		return ret;
	if (known.kind > DRAY_MEMORY_DEVICE)
		return dray_fail(-EINVAL, "%u is not a kind of memory: 0 to %d",
				 known.kind, DRAY_MEMORY_DEVICE);
	if (known.flags & ~DRAY_MEMORY_DEFERRED)
		return dray_fail(-EINVAL, "unknown flags 0x%x", known.flags);
	return memory_create(manager, &known, NULL, out);
}

int dray_memory_view(struct dray_memory *memory, size_t offset, size_t size,
		     struct dray_memory **out)
{
	struct dray_memory_description part = { .size = sizeof(part),
						.bytes = size };

	if (!dray_given(memory, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	if (offset > memory->is.bytes || size > memory->is.bytes - offset)
		return dray_fail(-EINVAL,
				 "%zu bytes at %zu, the memory has %zu", size,
				 offset, memory->is.bytes);
	part.pointer = (char *)memory->is.pointer + offset;
	part.kind = memory->is.kind;
	part.stream = memory->is.stream;
	/* Not the view that it is cut from: a chain of them has no end. */
	return memory_create(memory->manager, &part,
			     memory->base ? memory->base : memory, out);
}

struct dray_memory *dray_memory_ref(struct dray_memory *memory)
{
	if (memory)
		atomic_fetch_add_explicit(&memory->references, 1,
					  memory_order_relaxed);
	return memory;
}

const struct dray_memory_description *
dray_memory_describe(const struct dray_memory *memory)
{
	return dray_given(memory, __func__) ? &memory->is : NULL;
}

int dray_memory_device_address(const struct dray_memory *memory,
			       uint64_t *address)
{
	struct dray_location where;
	struct dray_segment segment;
	size_t pieces;
	int ret;

	if (!dray_given(memory, __func__) || !dray_given(address, __func__))
		return -EINVAL;
	if (!memory->is.bytes || dray_locate(memory->is.pointer, &where))
		return dray_fail(-EINVAL,
				 "%zu bytes at %p lie in no buffer of dray, as "
				 "memory that memhostalloc makes does",
				 memory->is.bytes, memory->is.pointer);
	ret = dray_buffer_addresses(where.buffer, where.offset,
				    memory->is.bytes, &segment, 1, &pieces);
	if (ret)
		return ret;
	if (pieces != 1)
		return dray_fail(
			-EOPNOTSUPP,
			"the device reaches the %zu bytes at %p in "
			"%zu pieces: dray_buffer_addresses() lists them",
			memory->is.bytes, memory->is.pointer, pieces);
	*address = segment.address;
	return 0;
}

struct dray_manager *dray_memory_manager_of(const struct dray_memory *memory)
{
	return dray_given(memory, __func__) ? memory->manager : NULL;
}

/* Called with the guard. */
static uint32_t kind_among(const struct dray_memory *memory, uintptr_t address)
{
	for (; memory; memory = memory->next)
		if (address - (uintptr_t)memory->is.pointer < memory->is.bytes)
			return memory->is.kind;
	return DRAY_MEMORY_UNKNOWN;
}

enum dray_memory_kind dray_manager_kind_of(struct dray_manager *manager,
					   const void *address)
{
	struct dray_location where;
	uint32_t kind;

	if (!dray_given(manager, __func__))
		return DRAY_MEMORY_UNKNOWN;
	dray_guard_take(&manager->guard);
	kind = kind_among(manager->alive, (uintptr_t)address);
	dray_guard_give(&manager->guard);
	if (kind == DRAY_MEMORY_UNKNOWN && !dray_locate(address, &where))
		kind = dray_buffer_mapped(where.buffer) ? DRAY_MEMORY_SHARED
							: DRAY_MEMORY_DEVICE;
	return (enum dray_memory_kind)kind;
}
