// SPDX-License-Identifier: Apache-2.0 OR MIT
/* dmactl list: one row for each buffer, and what they take together. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "document.h"
#include "gather.h"
#include "quantity.h"
#include "table.h"
#include "words.h"

static const struct table_column columns[] = {
	{ "ID", true, false },	     { "SIZE", true, false },
	{ "HEAP", false, true },     { "MODE", false, false },
	{ "PID", true, false },	     { "COMM", false, true },
	{ "USER", false, true },     { "MAPPED", true, false },
	{ "ATTACHED", true, false }, { "BUSY", true, false },
	{ "AGE", true, false },	     { "NAME", false, true },
	{ NULL, false, false },
};

static void add_row(struct table *table, const struct request *request,
		    const struct dray_buffer_info *info)
{
	bool orphan = info->flags & DRAY_BUFFER_ORPHAN;
	char age[QUANTITY_ROOM];
	char mode[WORD_ROOM];
	char *user = user_word(info->uid);

	table_cell(table, TABLE_PLAIN, "%" PRIu64, (uint64_t)info->id);
	table_size(table, request, info->size);
	table_name(table, TABLE_PLAIN, info->heap_name,
		   sizeof(info->heap_name));
	table_cell(table, TABLE_PLAIN, "%s", mode_word(info->mode, mode));
	if (info->flags & DRAY_BUFFER_HELD)
		table_cell(table, TABLE_BAD, "held");
	else if (orphan)
		table_cell(table, TABLE_BAD, "gone");
	else if (info->pid)
		table_cell(table, TABLE_PLAIN, "%" PRId32, info->pid);
	else
		table_cell(table, TABLE_PLAIN, "-");
	table_name(table, TABLE_PLAIN, info->comm, sizeof(info->comm));
	table_name(table, TABLE_PLAIN, user, 256);
	table_cell(table, TABLE_PLAIN, "%u", info->mapped);
	table_cell(table, TABLE_PLAIN, "%u", info->attachments);
	table_cell(table, info->transfers ? TABLE_WARNING : TABLE_PLAIN, "%u",
		   info->transfers);
	table_cell(table, TABLE_PLAIN, "%s", quantity_time(age, info->age_ns));
	table_name(table, TABLE_PLAIN, info->name, sizeof(info->name));
	free(user);
}

static uint64_t total_size(const struct buffer_list *list)
{
	uint64_t total = 0;

	for (size_t i = 0; i < list->count; i++)
		total += list->entries[i].info.size;
	return total;
}

static void print_table(const struct request *request,
			const struct buffer_list *list)
{
	struct table *table = table_create(columns);
	char size[QUANTITY_ROOM];

	for (size_t i = 0; i < list->count; i++)
		add_row(table, request, &list->entries[i].info);
	table_print(table, request);
	table_destroy(table);
	if (request->header)
		printf("total: %zu %s, %s%s\n", list->count,
		       list->count == 1 ? "buffer" : "buffers",
		       quantity_size(size, total_size(list), request->bytes),
		       request->bytes ? " bytes" : "");
}

static void print_json(const struct buffer_list *list)
{
	json_t *root = json_object();
	json_t *buffers = json_array();
	json_t *total = json_object();

	for (size_t i = 0; i < list->count; i++)
		document_append(buffers, document_buffer(&list->entries[i]));
	document_set(total, "buffers", document_number(list->count));
	document_set(total, "size", document_number(total_size(list)));
	document_set(root, "buffers", buffers);
	document_set(root, "total", total);
	document_print(root);
}

static enum exit_code list_run(const struct request *request)
{
	struct open_nodes nodes;
	struct buffer_list list;
	enum exit_code status;

	if (!nodes_open(request, &nodes))
		return EXIT_FAILED;
	buffers_gather(request, &nodes, &list);
	if (request->json)
		print_json(&list);
	else
		print_table(request, &list);
	status = list.status;
	buffers_free(&list);
	nodes_close(&nodes);
	return status;
}

static const char description[] =
	"One row for each buffer, by id, and a last line with their\n"
	"number and size.  With -n only buffers in a heap of that node.\n"
	"Whoever lacks CAP_SYS_ADMIN sees the buffers of their own user.\n"
	"\n"
	"  MODE      how the CPU sees it: cached, write-combined, coherent;\n"
	"            device: not at all\n"
	"  PID       the process that made it; 'gone' when that has ended,\n"
	"            'held' when a device may still write it: see reclaim\n"
	"  MAPPED    mappings into user space\n"
	"  ATTACHED  devices that other drivers attached\n"
	"  BUSY      transfers in flight\n"
	"  AGE       time since it was allocated\n";

const struct command list_command = {
	.name = "list",
	.summary = "the buffers that exist, and who made them",
	.description = description,
	.run = list_run,
};
