// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dmactl heaps: use and fragmentation of each heap.  Its columns tell why an
 * allocation failed: too little is free, no free run is long enough, or the
 * request exceeds the heap's largest one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/access.h"
#include "base/bar.h"
#include "base/document.h"
#include "base/quantity.h"
#include "base/table.h"
#include "base/words.h"

#define COLUMNS                                                             \
	"NODE ~HEAP TYPE >BUFFERS >TOTAL >USED >FREE >QUARANTINE >LARGEST " \
	">REQUEST >FRAG >HELD ~FLAGS"

static int heaps_fragmentation(const struct dray_heap_info *heap)
{
	return quantity_fragmentation(heap->free, heap->largest_free,
				      heap->largest_request);
}

static void heaps_add_row(struct table *table, const struct request *request,
			  const struct open_node *node,
			  const struct dray_heap_info *heap)
{
	char *flags = flag_list(heap->flags, heap_flag_words);
	int fragmented = heaps_fragmentation(heap);
	char bar[BAR_ROOM];
	char type[WORD_ROOM];

	table_name(table, TABLE_PLAIN, node->name, sizeof(node->name));
	table_name(table, TABLE_PLAIN, heap->name, sizeof(heap->name));
	table_cell(table, TABLE_PLAIN, "%s", heap_type_word(heap->type, type));
	table_cell(table, TABLE_PLAIN, "%" PRIu32, heap->buffers);
	table_size(table, request, heap->total);
	table_size(table, request, heap->used);
	table_size(table, request, heap->free);
	table_size(table, request, heap->quarantined);
	table_size(table, request, heap->largest_free);
	table_size(table, request, heap->largest_request);
	if (fragmented < 0)
		table_cell(table, TABLE_PLAIN, "-");
	else
		table_cell(table, fragmented > 50 ? TABLE_BAD : TABLE_PLAIN,
			   "%d%%", fragmented);
	table_size(table, request, heap->held);
	table_cell(table, TABLE_PLAIN, "%s", flags);
	if (request->terminal) {
		heap_bar(heap, bar);
		table_cell(table, heap_colour(heap), "[%s]", bar);
	}
	free(flags);
}

static json_t *heaps_heap_document(const struct open_node *node,
				   const struct dray_heap_info *heap)
{
	json_t *object = json_object();
	int fragmented = heaps_fragmentation(heap);
	char type[WORD_ROOM];

	document_text(object, "node", node->name, sizeof(node->name));
	document_number(object, "index", heap->index);
	document_text(object, "heap", heap->name, sizeof(heap->name));
	document_word(object, "type", heap_type_word(heap->type, type));
	document_flags(object, "flags", heap->flags, heap_flag_words);
	document_number(object, "buffers", heap->buffers);
	document_number(object, "total", heap->total);
	document_number(object, "used", heap->used);
	document_number(object, "free", heap->free);
	document_number(object, "quarantined", heap->quarantined);
	document_number(object, "held", heap->held);
	document_number(object, "limit", heap->limit);
	document_number(object, "user_limit", heap->user_limit);
	document_number(object, "user_used", heap->user_used);
	document_number(object, "largest_free", heap->largest_free);
	document_number(object, "largest_request", heap->largest_request);
	document_set(object, "fragmented_percent",
		     fragmented < 0 ? json_null() : json_integer(fragmented));
	return object;
}

/* Adds the heaps of one node to the table or the document. */
static enum exit_code heaps_read_node(const struct request *request,
				      const struct open_node *node,
				      struct table *table, json_t *heaps)
{
	uint32_t i;

	for (i = 0; i < node->info.heap_count; i++) {
		struct dray_heap_info heap;

		if (!node_heap(node, i, &heap))
			return EXIT_FAILED;
		if (request->json)
			document_set(heaps, NULL,
				     heaps_heap_document(node, &heap));
		else
			heaps_add_row(table, request, node, &heap);
	}
	return EXIT_FINE;
}

static enum exit_code heaps_run(const struct request *request)
{
	struct open_nodes nodes;
	struct table *table;
	json_t *root;
	json_t *heaps;
	enum exit_code status;
	size_t i;

	if (!nodes_open(request, &nodes))
		return EXIT_FAILED;
	table = table_create(request->terminal ? COLUMNS " FILL" : COLUMNS);
	root = json_object();
	heaps = json_array();
	status = nodes.status;
	for (i = 0; i < nodes.count; i++)
		if (heaps_read_node(request, &nodes.entries[i], table, heaps))
			status = EXIT_FAILED;
	document_set(root, "heaps", heaps);
	if (request->json)
		document_print(root);
	else
		table_print(table, request);
	table_destroy(table);
	if (!request->json)
		json_decref(root);
	nodes_close(&nodes);
	return status;
}

static const char description[] =
	"One row for each heap of each node; a heap that nodes share is\n"
	"shown with each of them.\n"
	"\n"
	"  USED        bytes of existing buffers, including held ones\n"
	"  FREE        bytes that can be allocated\n"
	"  QUARANTINE  freed bytes that others still hold, or that are condemned:\n"
	"              'dmactl leaks' tells them apart\n"
	"  LARGEST     the longest free run: the largest buffer now possible\n"
	"  REQUEST     the largest request that the heap could ever serve\n"
	"  FRAG        how far LARGEST falls short of FREE, in percent\n"
	"  HELD        freed bytes that a device may still write: see reclaim\n"
	"  FILL        on a terminal: # buffers, ! quarantine, o others,\n"
	"              . free\n";

const struct command heaps_command = {
	.name = "heaps",
	.options = table_options,
	.summary = "shows use and fragmentation of the heaps",
	.description = description,
	.run = heaps_run,
};
