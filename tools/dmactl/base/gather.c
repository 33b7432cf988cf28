// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Every node lists all memory of the module, so each buffer appears once per
 * node.  All entries are read and sorted by id; one per id is kept, if possible
 * from the node that has the buffer's heap or the attachment.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gather.h"

/* Lists all ids; retries if their number grows between two calls. */
static int list_ids(const struct open_node *node, uint64_t **out, size_t *count)
{
	uint64_t *ids = NULL;
	size_t room = 0;
	int ret;

	for (;;) {
		ret = dray_node_list(node->node, ids, room, count);
		if (ret || *count <= room)
			break;
		room = *count + *count / 8 + 1;
		ids = memory_resize(ids, room, sizeof(*ids));
	}
	if (ret) {
		free(ids);
		ids = NULL;
	}
	*out = ids;
	return ret;
}

static int gather_node(const struct open_node *node, struct buffer_list *list)
{
	uint64_t *ids;
	size_t count, i;
	int ret = list_ids(node, &ids, &count);

	if (ret) {
		node_complain(node, "list its buffers", ret);
		return ret;
	}
	list->entries = memory_resize(list->entries, list->count + count,
				      sizeof(*list->entries));
	for (i = 0; i < count; i++) {
		struct buffer_entry *entry = &list->entries[list->count];

		*entry = (struct buffer_entry){ .node = node };
		ret = dray_node_buffer_info(node->node, ids[i], &entry->info,
					    sizeof(entry->info));
		if (!ret)
			list->count++;
		else if (ret != -ENOENT)
			break;
		ret = 0;
	}
	if (ret)
		node_complain(node, "read a buffer", ret);
	free(ids);
	return ret;
}

/* Whether the entry's node has the heap or the attachment. */
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

static bool gather_is_wanted(const struct request *request,
			     const struct buffer_list *list, size_t kept,
			     const struct buffer_entry *entry)
{
	if (kept && list->entries[kept - 1].info.id == entry->info.id)
		return false;
	return !request->node || is_at_home(entry);
}

bool buffers_gather(const struct request *request, struct buffer_list *list)
{
	size_t kept = 0, i;

	*list = (struct buffer_list){ 0 };
	if (!nodes_open(request, &list->nodes))
		return false;
	list->status = list->nodes.status;
	for (i = 0; i < list->nodes.count; i++)
		if (gather_node(&list->nodes.entries[i], list))
			list->status = EXIT_FAILED;
	if (!list->count)
		return true;
	qsort(list->entries, list->count, sizeof(*list->entries),
	      compare_entries);
	for (i = 0; i < list->count; i++)
		if (gather_is_wanted(request, list, kept, &list->entries[i]))
			list->entries[kept++] = list->entries[i];
	list->count = kept;
	return true;
}

void buffers_free(struct buffer_list *list)
{
	free(list->entries);
	nodes_close(&list->nodes);
}

bool parse_id(const char *text, uint64_t *id)
{
	const char *end = parse_number(text, 10, id);

	if (end && !*end && *id)
		return true;
	complain("'%s' is not an id; 'dmactl list' shows them, numbers from 1 "
		 "on",
		 text);
	return false;
}
