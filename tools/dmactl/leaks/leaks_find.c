// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Looks for leaks: buffers and attachments that are held, idle, or without an
 * owner; and memory of heaps that is freed but not free.
 *
 * The kernel does not record when a buffer was last used.  So a buffer counts as
 * idle if it is old enough, and two looks at it show no difference: no cache
 * maintenance, no transfer, no mapping or device more or less.  Accesses by the
 * CPU cannot be seen.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "leaks.h"
#include "machine/machine.h"

static struct leak *add_leak(struct leak_list *list, enum leak_kind kind,
			     uint64_t size)
{
	struct leak *leak;

	list->entries = memory_resize(list->entries, list->count + 1,
				      sizeof(*list->entries));
	leak = &list->entries[list->count++];
	*leak = (struct leak){ .kind = kind, .size = size };
	list->size += size;
	return leak;
}

static void find_sleep_for(uint64_t nanoseconds)
{
	struct timespec rest = {
		.tv_sec = (time_t)(nanoseconds / 1000000000),
		.tv_nsec = (long)(nanoseconds % 1000000000),
	};

	while (nanosleep(&rest, &rest) && errno == EINTR)
		continue;
}

static const struct buffer_entry *find_entry(const struct buffer_list *list,
					     uint64_t id)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->entries[middle].info.id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < list->count && list->entries[low].info.id == id
		       ? &list->entries[low]
		       : NULL;
}

static bool is_unchanged(const struct dray_buffer_info *a,
			 const struct dray_buffer_info *b)
{
	return !a->transfers && !b->transfers &&
	       a->sync_bytes == b->sync_bytes && a->sync_ns == b->sync_ns &&
	       a->mapped == b->mapped && a->attachments == b->attachments;
}

static void find_add_buffers(const struct leak_options *options,
			     const struct buffer_list *before,
			     struct leak_list *list)
{
	const struct buffer_entry *then;
	struct leak *leak;
	size_t i;

	for (i = 0; i < list->buffers.count; i++) {
		const struct buffer_entry *entry = &list->buffers.entries[i];
		enum leak_kind kind = LEAK_IDLE;

		if (entry->info.flags & DRAY_BUFFER_HELD) {
			kind = LEAK_HELD;
		} else if (entry->info.flags & DRAY_BUFFER_ORPHAN) {
			kind = LEAK_ORPHAN;
		} else {
			then = find_entry(before, entry->info.id);
			if (!options->idle || !then ||
			    entry->info.age_ns < options->idle ||
			    !is_unchanged(&then->info, &entry->info))
				continue;
		}
		leak = add_leak(list, kind, entry->info.size);
		leak->entry = entry;
		memcpy(leak->node, entry->node->name, sizeof(leak->node));
		memcpy(leak->heap, entry->info.heap_name, sizeof(leak->heap));
	}
}

/* The bytes of a heap's parts by their state, and of buffers without an id. */
struct states {
	uint64_t bytes[DRAY_PART_SYSTEM + 1];
	uint64_t others;
};

static int read_states(const struct open_node *node, uint32_t heap,
		       struct states *states)
{
	struct dray_heap_map map;
	struct dray_part *parts = NULL;
	uint32_t room = 0, i;
	int ret;

	for (;;) {
		map = (struct dray_heap_map){
			.heap = heap,
			.parts = (uintptr_t)parts,
			.room = room,
		};
		ret = dray_node_heap_map(node->node, &map, sizeof(map));
		if (ret || map.count <= room)
			break;
		room = map.count + map.count / 8 + 1;
		parts = memory_resize(parts, room, sizeof(*parts));
	}
	for (i = 0; !ret && i < map.count; i++) {
		const struct dray_part *part = &parts[i];

		if (part->state <= DRAY_PART_SYSTEM)
			states->bytes[part->state] += part->length;
		if (part->state == DRAY_PART_BUFFER && !part->id)
			states->others += part->length;
	}
	free(parts);
	return ret;
}

static bool is_known(const struct leak_list *list, const char *heap)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (!list->entries[i].entry &&
		    !strncmp(list->entries[i].heap, heap, DRAY_NAME_LEN))
			return true;
	return false;
}

static void add_heap_leak(struct leak_list *list, enum leak_kind kind,
			  const struct open_node *node,
			  const struct dray_heap_info *heap, uint64_t bytes)
{
	struct leak *leak;

	if (!bytes)
		return;
	leak = add_leak(list, kind, bytes);
	memcpy(leak->node, node->name, sizeof(leak->node));
	memcpy(leak->heap, heap->name, sizeof(leak->heap));
}

/* Nodes may share a heap: the first node with it counts. */
static bool find_add_heap(const struct open_node *node, uint32_t index,
			  struct leak_list *list)
{
	struct dray_heap_info heap = { 0 };
	struct states states = { 0 };
	uint64_t condemned;
	int ret = dray_node_heap(node->node, index, &heap, sizeof(heap));

	if (!ret && is_known(list, heap.name))
		return true;
	if (!ret)
		ret = read_states(node, index, &states);
	/* An older module lacks maps: it reports only the sum. */
	if (ret && ret != -ENOTTY) {
		node_complain(node, "read a heap", ret);
		return false;
	}
	condemned = states.bytes[DRAY_PART_CONDEMNED];
	if (condemned > heap.quarantined)
		condemned = heap.quarantined;
	add_heap_leak(list, LEAK_QUARANTINE, node, &heap,
		      heap.quarantined - condemned);
	add_heap_leak(list, LEAK_CONDEMNED, node, &heap, condemned);
	list->others += states.others;
	return true;
}

static void add_heaps(struct leak_list *list)
{
	const struct open_nodes *nodes = &list->buffers.nodes;
	size_t i;
	uint32_t k;

	for (i = 0; i < nodes->count; i++)
		for (k = 0; k < nodes->entries[i].info.heap_count; k++)
			if (!find_add_heap(&nodes->entries[i], k, list))
				list->status = EXIT_FAILED;
}

/*
 * Finds the dma-buf of a buffer.  Only a descriptor shows the id.  Without it, a
 * mapped dma-buf of the same size and name is a guess.
 */
static void find_dmabuf(const struct leak_list *list, struct leak *leak)
{
	const struct dray_buffer_info *info = &leak->entry->info;
	const struct dmabuf *guess = NULL;
	size_t i;

	for (i = 0; i < list->machine.count; i++) {
		const struct dmabuf *dmabuf = &list->machine.entries[i];

		if (dmabuf->id == info->id) {
			leak->dmabuf = dmabuf;
			return;
		}
		if (!dmabuf->id && info->mapped && dmabuf->holder_count &&
		    (!*dmabuf->exporter || !strcmp(dmabuf->exporter, "dray")) &&
		    (!dmabuf->size_known || dmabuf->size == info->size) &&
		    (!*dmabuf->name ||
		     !strncmp(dmabuf->name, info->name, sizeof(info->name))))
			guess = dmabuf;
	}
	leak->dmabuf = guess;
	leak->guessed = guess;
}

static void find_keepers(struct leak_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		struct leak *leak = &list->entries[i];

		if (leak->kind != LEAK_ORPHAN)
			continue;
		if (is_buffer(&leak->entry->info))
			find_dmabuf(list, leak);
		else
			holders_find(leak->node, leak->entry->info.id,
				     &leak->holders);
	}
}

static int compare_leaks(const void *a, const void *b)
{
	const struct leak *first = a;
	const struct leak *second = b;

	if (first->size != second->size)
		return first->size < second->size ? 1 : -1;
	if (first->entry && second->entry)
		return first->entry->info.id < second->entry->info.id ? -1 : 1;
	return (int)first->kind - (int)second->kind;
}

bool leaks_find(const struct request *request,
		const struct leak_options *options, struct leak_list *list)
{
	struct buffer_list before = { 0 };

	*list = (struct leak_list){ 0 };
	if (options->idle) {
		if (!buffers_gather(request, &before))
			return false;
		find_sleep_for(options->watch);
	}
	if (!buffers_gather(request, &list->buffers)) {
		buffers_free(&before);
		return false;
	}
	list->status = list->buffers.status;
	dmabufs_gather(machine_root(), &list->machine);
	dmabufs_identify(&list->machine);
	add_heaps(list);
	find_add_buffers(options, &before, list);
	find_keepers(list);
	buffers_free(&before);
	if (list->count)
		qsort(list->entries, list->count, sizeof(*list->entries),
		      compare_leaks);
	return true;
}

void leaks_free(struct leak_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		holders_free(&list->entries[i].holders);
	free(list->entries);
	dmabufs_free(&list->machine);
	buffers_free(&list->buffers);
}
