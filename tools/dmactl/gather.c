// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Every node lists what the whole module has, so the same buffer is met once
 * for each node.  All are taken, sorted by id, and one of each is kept: one
 * from a node that has the buffer's heap, or that the attachment is of, where
 * there is such a node.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gather.h"
#include "message.h"

/* All ids, however many there are by the time that the kernel looks. */
static int list_ids(const struct open_node *node, uint64_t **out, size_t *count)
{
	uint64_t *ids = NULL;
	size_t room = 0;
	int error;

	for (;;) {
		error = dray_node_list(node->node, ids, room, count);
		if (error || *count <= room)
			break;
		room = *count + *count / 8 + 1;
		ids = memory_resize(ids, room, sizeof(*ids));
	}
	if (error) {
		free(ids);
		ids = NULL;
	}
	*out = ids;
	return error;
}

static int gather_node(const struct open_node *node, struct buffer_list *list)
{
	uint64_t *ids;
	size_t count;
	int error = list_ids(node, &ids, &count);

	if (error) {
		node_complain(node, "list its buffers", error);
		return error;
	}
	list->entries = memory_resize(list->entries, list->count + count,
				      sizeof(*list->entries));
	for (size_t i = 0; i < count; i++) {
		struct buffer_entry *entry = &list->entries[list->count];

		*entry = (struct buffer_entry){ .node = node };
		error = dray_node_buffer_info(node->node, ids[i], &entry->info,
					      sizeof(entry->info));
		if (!error)
			list->count++;
		else if (error != -ENOENT)
			break;
		error = 0;
	}
	if (error)
		node_complain(node, "read a buffer", error);
	free(ids);
	return error;
}

/* Does its node have its heap, or is it attached for this node? */
static bool is_at_home(const struct buffer_entry *entry)
{
	if (is_buffer(&entry->info))
		return entry->info.heap != DRAY_HEAP_ANY;
	return !strncmp(entry->info.node_name, entry->node->name,
			sizeof(entry->info.node_name));
}

static int compare_entries(const void *a, const void *b)
{
	const struct buffer_entry *first = a;
	const struct buffer_entry *second = b;

	if (first->info.id != second->info.id)
		return first->info.id < second->info.id ? -1 : 1;
	return is_at_home(second) - is_at_home(first);
}

static bool is_wanted(const struct request *request,
		      const struct buffer_list *list, size_t kept,
		      const struct buffer_entry *entry)
{
	if (kept && list->entries[kept - 1].info.id == entry->info.id)
		return false;
	return !request->node || is_at_home(entry);
}

void buffers_gather(const struct request *request,
		    const struct open_nodes *nodes, struct buffer_list *list)
{
	size_t kept = 0;

	*list = (struct buffer_list){ .status = nodes->status };
	for (size_t i = 0; i < nodes->count; i++)
		if (gather_node(&nodes->entries[i], list))
			list->status = EXIT_FAILED;
	if (!list->count)
		return;
	qsort(list->entries, list->count, sizeof(*list->entries),
	      compare_entries);
	for (size_t i = 0; i < list->count; i++)
		if (is_wanted(request, list, kept, &list->entries[i]))
			list->entries[kept++] = list->entries[i];
	list->count = kept;
}

void buffers_free(struct buffer_list *list)
{
	free(list->entries);
	list->entries = NULL;
	list->count = 0;
}
