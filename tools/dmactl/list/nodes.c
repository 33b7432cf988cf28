// SPDX-License-Identifier: Apache-2.0 OR MIT
/* dmactl nodes: the reach of each device, and the state of its channels. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dray/registers.h>

#include "base/access.h"
#include "base/document.h"
#include "base/table.h"
#include "base/words.h"

static const char node_columns[] =
	"NODE ~DEVICE ~MODULE >MASK >LINE >ALIGN ~HEAPS >CHANNELS ~FLAGS";

static const char channel_columns[] =
	"NODE ~CHANNEL ~ENGINE >ALIGN >SEGMENT >SUBMITTED >BYTES >FAILED STATE";

static const char area_columns[] = "NODE ~REGISTERS >SIZE >MAPPABLE";
static const char interrupt_columns[] = "NODE ~INTERRUPT >COUNT";

#define STREAM (DRAY_CHANNEL_SEND | DRAY_CHANNEL_RECV | DRAY_CHANNEL_SHOW)

static const char stream_columns[] =
	"NODE ~STREAM KIND >PACKETS >BYTES >FAILED >LOST >HELD-BACK >READY STATE";

/* Output of one run: tables, or a document. */
struct nodes_report {
	const struct request *request;
	struct table *nodes;
	struct table *channels;
	struct table *streams;
	struct table *areas;
	struct table *interrupts;
	json_t *array;
};

/* Joins the names of the node's heaps by commas; NULL after a failure. */
static char *heap_names(const struct open_node *node, json_t *array)
{
	char *names = text_format("%s", "");
	uint32_t i;

	for (i = 0; i < node->info.heap_count; i++) {
		struct dray_heap_info heap;

		if (!node_heap(node, i, &heap)) {
			free(names);
			return NULL;
		}
		text_append(&names, "%s%.*s", i ? "," : "",
			    (int)sizeof(heap.name), heap.name);
		document_text(array, NULL, heap.name, sizeof(heap.name));
	}
	return names;
}

static void add_channel_row(const struct nodes_report *report,
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
	else /* unknown until it is opened */
		table_cell(table, TABLE_PLAIN, "-");
	table_cell(table, TABLE_PLAIN, "%" PRIu64,
		   (uint64_t)channel->submitted);
	table_size(table, report->request, channel->bytes);
	table_cell(table, failed, "%" PRIu64, (uint64_t)channel->failed);
	table_cell(table, state, "%s", channel_state_word(channel->flags));
}

static const char *stream_word(uint32_t flags)
{
	if (flags & DRAY_CHANNEL_SHOW)
		return "display";
	return flags & DRAY_CHANNEL_SEND ? "send" : "receive";
}

static void add_stream_row(const struct nodes_report *report,
			   const struct open_node *node,
			   const struct dray_channel_info *channel)
{
	struct table *table = report->streams;
	bool full = channel->flags & DRAY_CHANNEL_RECV &&
		    channel->ring_ready == channel->ring_frames;

	table_name(table, TABLE_PLAIN, node->name, sizeof(node->name));
	table_name(table, TABLE_PLAIN, channel->name, sizeof(channel->name));
	table_cell(table, TABLE_PLAIN, "%s", stream_word(channel->flags));
	table_cell(table, TABLE_PLAIN, "%" PRIu64, (uint64_t)channel->packets);
	table_size(table, report->request, channel->bytes);
	table_cell(table, channel->failed ? TABLE_WARNING : TABLE_PLAIN,
		   "%" PRIu64, (uint64_t)channel->failed);
	table_cell(table, channel->lost ? TABLE_WARNING : TABLE_PLAIN,
		   "%" PRIu64, (uint64_t)channel->lost);
	table_cell(table, channel->held_back ? TABLE_WARNING : TABLE_PLAIN,
		   "%" PRIu64, (uint64_t)channel->held_back);
	if (channel->ring_frames)
		table_cell(table, full ? TABLE_WARNING : TABLE_PLAIN,
			   "%" PRIu32 "/%" PRIu32, channel->ring_ready,
			   channel->ring_frames);
	else
		table_cell(table, TABLE_PLAIN, "-");
	table_cell(table,
		   channel->flags & DRAY_CHANNEL_DEAD ? TABLE_BAD : TABLE_PLAIN,
		   "%s", channel_state_word(channel->flags));
}

static json_t *channel_document(const struct dray_channel_info *channel)
{
	json_t *object = json_object();

	document_number(object, "index", channel->index);
	document_text(object, "name", channel->name, sizeof(channel->name));
	document_text(object, "engine", channel->device,
		      sizeof(channel->device));
	document_word(object, "state", channel_state_word(channel->flags));
	document_flags(object, "flags", channel->flags, channel_flag_words);
	document_number(object, "alignment", channel->alignment);
	document_number(object, "max_segment", channel->max_segment);
	document_number(object, "submitted", channel->submitted);
	document_number(object, "bytes", channel->bytes);
	document_number(object, "failed", channel->failed);
	document_number(object, "packets", channel->packets);
	document_number(object, "lost", channel->lost);
	document_number(object, "held_back", channel->held_back);
	document_number(object, "ring_frames", channel->ring_frames);
	document_number(object, "ring_ready", channel->ring_ready);
	return object;
}

static void add_node_row(const struct nodes_report *report,
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

static json_t *nodes_node_document(const struct open_node *node)
{
	const struct dray_info *info = &node->info;
	json_t *object = json_object();
	char mask[32];

	document_text(object, "node", node->name, sizeof(node->name));
	document_text(object, "device", info->device, sizeof(info->device));
	document_text(object, "version", info->version, sizeof(info->version));
	document_number(object, "abi_version", info->abi_version);
	document_flags(object, "flags", info->flags, node_flag_words);
	/* in hexadecimal, because all 64 bits may be set */
	snprintf(mask, sizeof(mask), "0x%" PRIx64, (uint64_t)info->dma_mask);
	document_word(object, "dma_mask", mask);
	document_number(object, "cache_line", info->cache_line);
	document_number(object, "dma_alignment", info->dma_alignment);
	document_number(object, "page_size", info->page_size);
	document_number(object, "max_runs", info->max_runs);
	document_number(object, "max_bytes", info->max_bytes);
	document_number(object, "queue_depth", info->queue_depth);
	return object;
}

static enum exit_code read_channels(const struct nodes_report *report,
				    const struct open_node *node, json_t *array)
{
	uint32_t i;

	for (i = 0; i < node->info.channel_count; i++) {
		struct dray_channel_info channel = { .index = i };
		int ret = dray_node_channel(node->node, i, &channel,
					    sizeof(channel));

		if (ret) {
			node_complain(node, "read a channel", ret);
			return EXIT_FAILED;
		}
		add_channel_row(report, node, &channel);
		if (channel.flags & STREAM)
			add_stream_row(report, node, &channel);
		document_set(array, NULL, channel_document(&channel));
	}
	return EXIT_FINE;
}

static enum exit_code read_areas(const struct nodes_report *report,
				 const struct open_node *node, json_t *array)
{
	struct table *table = report->areas;
	struct dray_register_area area;
	json_t *object;
	uint32_t i;

	for (i = 0; i < node->info.register_count; i++) {
		int ret = dray_node_register_area(node->node, i, &area,
						  sizeof(area));

		if (ret) {
			node_complain(node, "read its registers", ret);
			return EXIT_FAILED;
		}
		table_name(table, TABLE_PLAIN, node->name, sizeof(node->name));
		table_name(table, TABLE_PLAIN, area.name, sizeof(area.name));
		table_size(table, report->request, area.size);
		table_size(table, report->request, area.mappable);
		object = json_object();
		document_text(object, "name", area.name, sizeof(area.name));
		document_number(object, "size", area.size);
		document_number(object, "mappable", area.mappable);
		document_set(array, NULL, object);
	}
	return EXIT_FINE;
}

static enum exit_code read_interrupts(const struct nodes_report *report,
				      const struct open_node *node,
				      json_t *array)
{
	struct table *table = report->interrupts;
	struct dray_interrupt_line line;
	json_t *object;
	uint32_t i;

	for (i = 0; i < node->info.interrupt_count; i++) {
		int ret = dray_node_interrupt_line(node->node, i, &line,
						   sizeof(line));

		if (ret) {
			node_complain(node, "read its interrupts", ret);
			return EXIT_FAILED;
		}
		table_name(table, TABLE_PLAIN, node->name, sizeof(node->name));
		table_name(table, TABLE_PLAIN, line.name, sizeof(line.name));
		table_cell(table, TABLE_PLAIN, "%" PRIu64,
			   (uint64_t)line.count);
		object = json_object();
		document_text(object, "name", line.name, sizeof(line.name));
		document_number(object, "count", line.count);
		document_set(array, NULL, object);
	}
	return EXIT_FINE;
}

/* Shows a node that fails half-way with the facts read so far. */
static enum exit_code nodes_read_node(const struct nodes_report *report,
				      const struct open_node *node)
{
	json_t *object = nodes_node_document(node);
	json_t *heaps = json_array();
	json_t *channels = json_array();
	json_t *areas = json_array();
	json_t *interrupts = json_array();
	char *names = heap_names(node, heaps);
	enum exit_code status = names ? EXIT_FINE : EXIT_FAILED;

	add_node_row(report, node, names ? names : "");
	if (status == EXIT_FINE)
		status = read_channels(report, node, channels);
	if (status == EXIT_FINE)
		status = read_areas(report, node, areas);
	if (status == EXIT_FINE)
		status = read_interrupts(report, node, interrupts);
	document_set(object, "heaps", heaps);
	document_set(object, "channels", channels);
	document_set(object, "registers", areas);
	document_set(object, "interrupts", interrupts);
	document_set(report->array, NULL, object);
	free(names);
	return status;
}

static void nodes_print_part(struct table *table, const struct request *request)
{
	if (!table_rows(table))
		return;
	putchar('\n');
	table_print(table, request);
}

static enum exit_code nodes_run(const struct request *request)
{
	struct nodes_report report = { .request = request };
	struct open_nodes nodes;
	enum exit_code status;
	json_t *root;
	size_t i;

	if (!nodes_open(request, &nodes))
		return EXIT_FAILED;
	report.nodes = table_create(node_columns);
	report.channels = table_create(channel_columns);
	report.streams = table_create(stream_columns);
	report.areas = table_create(area_columns);
	report.interrupts = table_create(interrupt_columns);
	report.array = json_array();
	status = nodes.status;
	for (i = 0; i < nodes.count; i++)
		if (nodes_read_node(&report, &nodes.entries[i]))
			status = EXIT_FAILED;
	root = json_object();
	document_set(root, "nodes", report.array);
	if (request->json) {
		document_print(root);
	} else {
		table_print(report.nodes, request);
		nodes_print_part(report.channels, request);
		nodes_print_part(report.streams, request);
		nodes_print_part(report.areas, request);
		nodes_print_part(report.interrupts, request);
		json_decref(root);
	}
	table_destroy(report.nodes);
	table_destroy(report.channels);
	table_destroy(report.streams);
	table_destroy(report.areas);
	table_destroy(report.interrupts);
	nodes_close(&nodes);
	return status;
}

static const char description[] =
	"A row for each node; then, after an empty line, a row for each\n"
	"DMA channel; then a row for each channel that serves a stream, for each\n"
	"area of registers, and for each interrupt.\n"
	"\n"
	"  MASK       the highest address that the device reaches\n"
	"  LINE       bytes of a cache line, the unit of a sync\n"
	"  ALIGN      alignment of start and length, in bytes\n"
	"  SEGMENT    bytes of the longest descriptor\n"
	"  SUBMITTED  transfers since the node came up\n"
	"  BYTES      bytes moved by these transfers\n"
	"  FAILED     failed submissions\n"
	"  STATE      closed until first used, open, or dead: no answer\n"
	"  PACKETS    packets that the stream passed\n"
	"  LOST       frames of a ring that were overwritten unread\n"
	"  HELD-BACK  times that the engine lacked a frame to continue with\n"
	"  READY      frames with data, of all in the ring: received and not\n"
	"             released, or to be sent\n"
	"  MAPPABLE   bytes of the registers that programs may map\n"
	"  COUNT      interrupts while a program had the interrupt open\n";

const struct command nodes_command = {
	.name = "nodes",
	.options = table_options,
	.summary = "shows the DMA devices and their channels",
	.description = description,
	.run = nodes_run,
};
