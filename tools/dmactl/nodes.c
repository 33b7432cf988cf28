// SPDX-License-Identifier: Apache-2.0 OR MIT
/* dmactl nodes: what each device reaches, and the state of its channels. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "document.h"
#include "message.h"
#include "table.h"
#include "words.h"

static const struct table_column node_columns[] = {
	{ "NODE", false, false },  { "DEVICE", false, true },
	{ "MODULE", false, true }, { "MASK", true, false },
	{ "LINE", true, false },   { "ALIGN", true, false },
	{ "HEAPS", false, true },  { "CHANNELS", true, false },
	{ "FLAGS", false, true },  { NULL, false, false },
};

static const struct table_column channel_columns[] = {
	{ "NODE", false, false },   { "CHANNEL", false, true },
	{ "ENGINE", false, true },  { "ALIGN", true, false },
	{ "SEGMENT", true, false }, { "SUBMITTED", true, false },
	{ "BYTES", true, false },   { "FAILED", true, false },
	{ "STATE", false, false },  { NULL, false, false },
};

/* What one run collects: two tables, or a document. */
struct report {
	const struct request *request;
	struct table *nodes;
	struct table *channels;
	json_t *array;
};

/* The names of the node's heaps, joined by commas; NULL after a failure. */
static char *heap_names(const struct open_node *node, json_t *array)
{
	char *names = text_format("%s", "");

	for (uint32_t i = 0; i < node->info.heap_count; i++) {
		struct dray_heap_info heap = { .index = i };
		int error = dray_node_heap(node->node, i, &heap, sizeof(heap));
		char *longer;

		if (error) {
			node_complain(node, "read a heap", error);
			free(names);
			return NULL;
		}
		longer = text_format("%s%s%.*s", names, i ? "," : "",
				     (int)sizeof(heap.name), heap.name);
		free(names);
		names = longer;
		document_append(array,
				document_text(heap.name, sizeof(heap.name)));
	}
	return names;
}

static const char *channel_state(uint32_t flags)
{
	if (flags & DRAY_CHANNEL_DEAD)
		return "dead";
	return flags & DRAY_CHANNEL_OPEN ? "open" : "closed";
}

static void add_channel_row(const struct report *report,
			    const struct open_node *node,
			    const struct dray_channel_info *channel)
{
	struct table *table = report->channels;
	enum table_colour state =
		channel->flags & DRAY_CHANNEL_DEAD ? TABLE_BAD : TABLE_PLAIN;
	enum table_colour failed =
		channel->failed ? TABLE_WARNING : TABLE_PLAIN;

	table_name(table, TABLE_PLAIN, node->name, sizeof(node->name));
	table_name(table, TABLE_PLAIN, channel->name, sizeof(channel->name));
	table_name(table, TABLE_PLAIN, channel->device,
		   sizeof(channel->device));
	table_cell(table, TABLE_PLAIN, "%" PRIu32, channel->alignment);
	if (channel->max_segment)
		table_size(table, report->request, channel->max_segment);
	else /* not known before it is opened */
		table_cell(table, TABLE_PLAIN, "-");
	table_cell(table, TABLE_PLAIN, "%" PRIu64,
		   (uint64_t)channel->submitted);
	table_size(table, report->request, channel->bytes);
	table_cell(table, failed, "%" PRIu64, (uint64_t)channel->failed);
	table_cell(table, state, "%s", channel_state(channel->flags));
}

static json_t *channel_document(const struct dray_channel_info *channel)
{
	json_t *object = json_object();

	document_set(object, "index", json_integer(channel->index));
	document_set(object, "name",
		     document_text(channel->name, sizeof(channel->name)));
	document_set(object, "engine",
		     document_text(channel->device, sizeof(channel->device)));
	document_set(object, "state",
		     json_string(channel_state(channel->flags)));
	document_set(object, "flags",
		     document_flags(channel->flags, channel_flag_words));
	document_set(object, "alignment", json_integer(channel->alignment));
	document_set(object, "max_segment",
		     document_number(channel->max_segment));
	document_set(object, "submitted", document_number(channel->submitted));
	document_set(object, "bytes", document_number(channel->bytes));
	document_set(object, "failed", document_number(channel->failed));
	return object;
}

static void add_node_row(const struct report *report,
			 const struct open_node *node, const char *heaps)
{
	const struct dray_info *info = &node->info;
	struct table *table = report->nodes;
	char *flags = flag_list(info->flags, node_flag_words);

	table_name(table, TABLE_PLAIN, node->name, sizeof(node->name));
	table_name(table, TABLE_PLAIN, info->device, sizeof(info->device));
	table_name(table, TABLE_PLAIN, info->version, sizeof(info->version));
	table_cell(table, TABLE_PLAIN, "0x%" PRIx64, (uint64_t)info->dma_mask);
	table_cell(table, TABLE_PLAIN, "%" PRIu32, info->cache_line);
	table_cell(table, TABLE_PLAIN, "%" PRIu32, info->dma_alignment);
	table_name(table, TABLE_PLAIN, heaps, strlen(heaps));
	table_cell(table, TABLE_PLAIN, "%" PRIu32, info->channel_count);
	table_cell(table, TABLE_PLAIN, "%s", flags);
	free(flags);
}

static json_t *node_document(const struct open_node *node)
{
	const struct dray_info *info = &node->info;
	json_t *object = json_object();

	document_set(object, "node",
		     document_text(node->name, sizeof(node->name)));
	document_set(object, "device",
		     document_text(info->device, sizeof(info->device)));
	document_set(object, "version",
		     document_text(info->version, sizeof(info->version)));
	document_set(object, "abi_version", json_integer(info->abi_version));
	document_set(object, "flags",
		     document_flags(info->flags, node_flag_words));
	document_set(object, "dma_mask", document_mask(info->dma_mask));
	document_set(object, "cache_line", json_integer(info->cache_line));
	document_set(object, "dma_alignment",
		     json_integer(info->dma_alignment));
	document_set(object, "page_size", json_integer(info->page_size));
	document_set(object, "max_runs", document_number(info->max_runs));
	document_set(object, "max_bytes", document_number(info->max_bytes));
	document_set(object, "queue_depth", json_integer(info->queue_depth));
	return object;
}

static enum exit_code read_channels(const struct report *report,
				    const struct open_node *node, json_t *array)
{
	for (uint32_t i = 0; i < node->info.channel_count; i++) {
		struct dray_channel_info channel = { .index = i };
		int error = dray_node_channel(node->node, i, &channel,
					      sizeof(channel));

		if (error) {
			node_complain(node, "read a channel", error);
			return EXIT_FAILED;
		}
		add_channel_row(report, node, &channel);
		document_append(array, channel_document(&channel));
	}
	return EXIT_FINE;
}

/* A node that fails half-way is shown with what has been read. */
static enum exit_code read_node(const struct report *report,
				const struct open_node *node)
{
	json_t *object = node_document(node);
	json_t *heaps = json_array();
	json_t *channels = json_array();
	char *names = heap_names(node, heaps);
	enum exit_code status = names ? EXIT_FINE : EXIT_FAILED;

	add_node_row(report, node, names ? names : "");
	if (status == EXIT_FINE)
		status = read_channels(report, node, channels);
	document_set(object, "heaps", heaps);
	document_set(object, "channels", channels);
	document_append(report->array, object);
	free(names);
	return status;
}

static enum exit_code nodes_run(const struct request *request)
{
	struct report report = { .request = request };
	struct open_nodes nodes;
	enum exit_code status;
	json_t *root;

	if (!nodes_open(request, &nodes))
		return EXIT_FAILED;
	report.nodes = table_create(node_columns);
	report.channels = table_create(channel_columns);
	report.array = json_array();
	status = nodes.status;
	for (size_t i = 0; i < nodes.count; i++)
		if (read_node(&report, &nodes.entries[i]))
			status = EXIT_FAILED;
	root = json_object();
	document_set(root, "nodes", report.array);
	if (request->json) {
		document_print(root);
	} else {
		table_print(report.nodes, request);
		if (table_rows(report.channels)) {
			putchar('\n');
			table_print(report.channels, request);
		}
		json_decref(root);
	}
	table_destroy(report.nodes);
	table_destroy(report.channels);
	nodes_close(&nodes);
	return status;
}

static const char description[] =
	"One row for each node; then, after an empty line, one for each\n"
	"DMA channel.\n"
	"\n"
	"  MASK       the highest address that the device reaches\n"
	"  LINE       bytes of a cache line: what one sync may touch\n"
	"  ALIGN      bytes that start and length are to be multiples of\n"
	"  SEGMENT    bytes of the longest descriptor\n"
	"  SUBMITTED  transfers since the node came up\n"
	"  BYTES      what they moved\n"
	"  FAILED     submissions that failed\n"
	"  STATE      closed until first used, open, or dead: no answer\n";

const struct command nodes_command = {
	.name = "nodes",
	.summary = "the DMA devices, and their channels",
	.description = description,
	.run = nodes_run,
};
