// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The state of a node's heaps, and the rights of the caller.  A dedicated heap is
 * read until nothing has changed meanwhile.  Reading also makes the module look
 * whether quarantined pages are free, as ALLOC does before it refuses.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

#include "cli.h"
#include "why_read.h"

#define MOST_LOOKS 8
/* The name of the first user namespace. */
#define FIRST_NAMESPACE "user:[4026531837]"

/* The kernel asks for rights in its first user namespace. */
static bool may_lock(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	char space[sizeof(FIRST_NAMESPACE) + 1];
	ssize_t length =
		readlink("/proc/self/ns/user", space, sizeof(space) - 1);

	if (length < 0 || syscall(SYS_capget, &header, data))
		return false;
	space[length] = '\0';
	return !strcmp(space, FIRST_NAMESPACE) &&
	       data[0].effective & 1u << CAP_IPC_LOCK;
}

/* Asks for a map; makes room for its parts. */
static int ask_map(struct dray_node *node, uint64_t alignment, uint64_t mask,
		   struct plan_heap *heap)
{
	struct dray_heap_map *map = &heap->map;
	uint32_t room = 0;
	int ret;

	for (;;) {
		*map = (struct dray_heap_map){
			.heap = heap->info.index,
			.alignment = alignment,
			.address_limit = mask,
			.parts = (uintptr_t)heap->parts,
			.room = room,
		};
		ret = dray_node_heap_map(node, map, sizeof(*map));
		if (ret || map->count <= room)
			return ret;
		room = map->count + map->count / 8 + 1;
		heap->parts =
			memory_resize(heap->parts, room, sizeof(*heap->parts));
	}
}

static int read_map(struct dray_node *node, const struct plan_request *request,
		    struct plan_heap *heap)
{
	uint64_t alignment = request->alignment;
	int ret = ask_map(node, alignment, request->mask, heap);

	heap->largest_alignment = 0;
	/* The heap never has so large an alignment: which one does it have? */
	while (ret == -EINVAL && alignment > 1) {
		alignment /= 2;
		heap->largest_alignment = alignment;
		ret = ask_map(node, alignment, request->mask, heap);
	}
	heap->error = ret;
	if (!ret)
		return 0;
	heap->map.count = 0;
	/* A module that is older has no maps. */
	return ret == -EPERM || ret == -ENOTTY ? 0 : ret;
}

static int read_info(struct dray_node *node, uint32_t index,
		     struct dray_heap_info *info)
{
	*info = (struct dray_heap_info){ 0 };
	return dray_node_heap(node, index, info, sizeof(*info));
}

static int read_heap(struct dray_node *node, uint32_t index,
		     const struct plan_request *request, struct plan_heap *heap)
{
	struct dray_heap_info before;
	int ret = read_info(node, index, &before);
	int looks;

	for (looks = 0; !ret && looks < MOST_LOOKS; looks++) {
		heap->info = before;
		ret = read_map(node, request, heap);
		if (!ret)
			ret = read_info(node, index, &heap->info);
		if (ret || !plan_is_dedicated(heap) ||
		    !memcmp(&before, &heap->info, sizeof(before)))
			break;
		before = heap->info;
	}
	return ret;
}

/* Pinned memory counts as locked too. */
static int add_attachments(struct dray_node *node, uint64_t *locked)
{
	struct dray_buffer_info info;
	size_t count = 0, room, i;
	uint64_t *ids;
	int ret = dray_node_list(node, NULL, 0, &count);

	if (ret)
		return ret;
	room = count;
	ids = memory_new(room + 1, sizeof(*ids));
	ret = dray_node_list(node, ids, room, &count);
	for (i = 0; !ret && i < count && i < room; i++) {
		int missing = dray_node_buffer_info(node, ids[i], &info,
						    sizeof(info));

		if (!missing && info.kind != DRAY_KIND_BUFFER &&
		    info.uid == getuid())
			*locked += info.size;
	}
	free(ids);
	return ret;
}

static int read_locked(struct dray_node *node, struct plan_node *plan)
{
	struct rlimit limit;
	uint32_t i;

	plan->may_lock = may_lock();
	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return -errno;
	plan->lock_limit = limit.rlim_cur;
	if (plan->may_lock)
		return 0;
	for (i = 0; i < plan->info.heap_count; i++)
		if (plan->heaps[i].info.flags & DRAY_HEAP_SHARED)
			plan->locked += plan->heaps[i].info.user_used;
	return add_attachments(node, &plan->locked);
}

int plan_read(struct dray_node *node, const struct dray_info *info,
	      const struct plan_request *request, struct plan_node *plan)
{
	struct plan_request asked = *request;
	uint32_t i;
	int ret = 0;

	*plan = (struct plan_node){ .info = *info };
	plan->heaps = memory_new(info->heap_count + 1, sizeof(*plan->heaps));
	/* HEAP_MAP, like ALLOC, takes only powers of two. */
	if (asked.alignment & (asked.alignment - 1))
		asked.alignment = 0;
	for (i = 0; !ret && i < info->heap_count; i++)
		ret = read_heap(node, i, &asked, &plan->heaps[i]);
	if (!ret)
		ret = read_locked(node, plan);
	if (ret)
		plan_free(plan);
	return ret;
}

void plan_free(struct plan_node *plan)
{
	uint32_t i;

	for (i = 0; i < plan->info.heap_count; i++)
		free(plan->heaps[i].parts);
	free(plan->heaps);
	*plan = (struct plan_node){ 0 };
}
