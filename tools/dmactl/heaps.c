// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dmactl heaps: how full each heap is, and how broken up.  Between them the
 * columns say why an allocation failed: too little is free, or no free run is
 * long enough, or it is more than this heap ever gives.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "document.h"
#include "table.h"
#include "words.h"

#define BAR_WIDTH 20

/* The last one is for terminals only. */
static const struct table_column columns[] = {
	{ "NODE", false, false },   { "HEAP", false, true },
	{ "TYPE", false, false },   { "BUFFERS", true, false },
	{ "TOTAL", true, false },   { "USED", true, false },
	{ "FREE", true, false },    { "QUARANTINE", true, false },
	{ "LARGEST", true, false }, { "REQUEST", true, false },
	{ "FRAG", true, false },    { "HELD", true, false },
	{ "FLAGS", false, true },   { "FILL", false, false },
	{ NULL, false, false },
};

#define COLUMN_COUNT (sizeof(columns) / sizeof(columns[0]) - 1)

/*
 * How much shorter the longest free run is than it could be with what is free,
 * in percent: 0 is as good as can be.  -1 where nothing is free.  The page
 * allocator has a longest piece however much is free.
 */
static int fragmentation(const struct dray_heap_info *heap)
{
	uint64_t possible = heap->free < heap->largest_request
				    ? heap->free
				    : heap->largest_request;
	uint64_t longest = heap->largest_free;

	if (!possible)
		return -1;
	/* a shared heap changes between the two readings */
	if (longest > possible)
		longest = possible;
	return (int)(100.0 * (double)(possible - longest) / (double)possible);
}

static enum table_colour fill_colour(const struct dray_heap_info *heap)
{
	double part =
		heap->total ? (double)heap->free / (double)heap->total : 0;

	if (part < 0.1)
		return TABLE_BAD;
	return part < 0.3 ? TABLE_WARNING : TABLE_GOOD;
}

/* '#' dray's buffers, '!' quarantine, 'o' others, '.' free */
static void draw_bar(const struct dray_heap_info *heap, char bar[BAR_WIDTH + 1])
{
	double total = heap->total ? (double)heap->total : 1;
	double used = (double)heap->used / total;
	double quarantined = used + (double)heap->quarantined / total;
	double taken = 1 - (double)heap->free / total;

	for (int i = 0; i < BAR_WIDTH; i++) {
		double middle = (i + 0.5) / BAR_WIDTH;

		if (middle < used)
			bar[i] = '#';
		else if (middle < quarantined)
			bar[i] = '!';
		else
			bar[i] = middle < taken ? 'o' : '.';
	}
	bar[BAR_WIDTH] = '\0';
}

static void add_row(struct table *table, const struct request *request,
		    const struct open_node *node,
		    const struct dray_heap_info *heap)
{
	char *flags = flag_list(heap->flags, heap_flag_words);
	int fragmented = fragmentation(heap);
	char bar[BAR_WIDTH + 1];
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
		draw_bar(heap, bar);
		table_cell(table, fill_colour(heap), "[%s]", bar);
	}
	free(flags);
}

static json_t *heap_document(const struct open_node *node,
			     const struct dray_heap_info *heap)
{
	json_t *object = json_object();
	int fragmented = fragmentation(heap);
	char type[WORD_ROOM];

	document_set(object, "node",
		     document_text(node->name, sizeof(node->name)));
	document_set(object, "index", json_integer(heap->index));
	document_set(object, "heap",
		     document_text(heap->name, sizeof(heap->name)));
	document_set(object, "type",
		     json_string(heap_type_word(heap->type, type)));
	document_set(object, "flags",
		     document_flags(heap->flags, heap_flag_words));
	document_set(object, "buffers", json_integer(heap->buffers));
	document_set(object, "total", document_number(heap->total));
	document_set(object, "used", document_number(heap->used));
	document_set(object, "free", document_number(heap->free));
	document_set(object, "quarantined", document_number(heap->quarantined));
	document_set(object, "held", document_number(heap->held));
	document_set(object, "limit", document_number(heap->limit));
	document_set(object, "user_limit", document_number(heap->user_limit));
	document_set(object, "user_used", document_number(heap->user_used));
	document_set(object, "largest_free",
		     document_number(heap->largest_free));
	document_set(object, "largest_request",
		     document_number(heap->largest_request));
	document_set(object, "fragmented_percent",
		     fragmented < 0 ? json_null() : json_integer(fragmented));
	return object;
}

/* Adds the heaps of one node to what is asked for, table or document. */
static enum exit_code read_node(const struct request *request,
				const struct open_node *node,
				struct table *table, json_t *heaps)
{
	for (uint32_t i = 0; i < node->info.heap_count; i++) {
		struct dray_heap_info heap = { .index = i };
		int error = dray_node_heap(node->node, i, &heap, sizeof(heap));

		if (error) {
			node_complain(node, "read a heap", error);
			return EXIT_FAILED;
		}
		if (request->json)
			document_append(heaps, heap_document(node, &heap));
		else
			add_row(table, request, node, &heap);
	}
	return EXIT_FINE;
}

static enum exit_code heaps_run(const struct request *request)
{
	struct table_column shown[COLUMN_COUNT + 1];
	struct open_nodes nodes;
	struct table *table;
	json_t *root;
	json_t *heaps;
	enum exit_code status;

	if (!nodes_open(request, &nodes))
		return EXIT_FAILED;
	memcpy(shown, columns, sizeof(columns));
	if (!request->terminal)
		shown[COLUMN_COUNT - 1].title = NULL;
	table = table_create(shown);
	root = json_object();
	heaps = json_array();
	status = nodes.status;
	for (size_t i = 0; i < nodes.count; i++)
		if (read_node(request, &nodes.entries[i], table, heaps))
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
	"  USED        bytes of buffers that exist, of held ones too\n"
	"  FREE        bytes that nobody has\n"
	"  QUARANTINE  bytes given back that somebody still holds on to\n"
	"  LARGEST     the longest free run: what can be had now\n"
	"  REQUEST     the largest request that the heap could ever serve\n"
	"  FRAG        how far LARGEST falls short of what FREE would allow\n"
	"  HELD        bytes freed that a device may still write: see reclaim\n"
	"  FILL        on a terminal: # buffers, ! quarantine, o others,\n"
	"              . free\n";

const struct command heaps_command = {
	.name = "heaps",
	.summary = "how full and how fragmented the heaps are",
	.description = description,
	.run = heaps_run,
};
