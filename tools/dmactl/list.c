// SPDX-License-Identifier: Apache-2.0 OR MIT
/* dmactl list: one row for each buffer or attachment, and the total size. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "document.h"
#include "gather.h"
#include "quantity.h"
#include "table.h"
#include "words.h"

static const char columns[] =
	">ID >SIZE ~HEAP MODE >PID ~COMM ~USER >MAPPED >ATTACHED >BUSY >AGE "
	"~NAME";

/* Adds the heap and mode of a buffer, or the exporter and kind of an attachment. */
static void add_origin(struct table *table, const struct dray_buffer_info *info)
{
	char word[WORD_ROOM];

	table_name(table, TABLE_PLAIN, info->heap_name,
		   sizeof(info->heap_name));
	table_cell(table, TABLE_PLAIN, "%s",
		   is_buffer(info) ? mode_word(info->mode, word)
				   : kind_word(info->kind, word));
}

static void add_owner(struct table *table, const struct dray_buffer_info *info)
{
	char *user = user_word(info->uid);

	if (info->flags & DRAY_BUFFER_HELD)
		table_cell(table, TABLE_BAD, "held");
	else if (info->flags & DRAY_BUFFER_ORPHAN)
		table_cell(table, TABLE_BAD, "gone");
	else if (info->pid)
		table_cell(table, TABLE_PLAIN, "%" PRId32, info->pid);
	else
		table_cell(table, TABLE_PLAIN, "-");
	table_name(table, TABLE_PLAIN, info->comm, sizeof(info->comm));
	table_name(table, TABLE_PLAIN, user, 256);
	free(user);
}

static void add_row(struct table *table, const struct request *request,
		    const struct dray_buffer_info *info)
{
	char age[QUANTITY_ROOM];

	table_cell(table, TABLE_PLAIN, "%" PRIu64, (uint64_t)info->id);
	table_size(table, request, info->size);
	add_origin(table, info);
	add_owner(table, info);
	if (is_buffer(info)) {
		table_cell(table, TABLE_PLAIN, "%u", info->mapped);
		table_cell(table, TABLE_PLAIN, "%u", info->attachments);
	} else {
		table_cell(table, TABLE_PLAIN, "-");
		table_cell(table, TABLE_PLAIN, "-");
	}
	table_cell(table, info->transfers ? TABLE_WARNING : TABLE_PLAIN, "%u",
		   info->transfers);
	table_cell(table, TABLE_PLAIN, "%s", quantity_time(age, info->age_ns));
	table_name(table, TABLE_PLAIN, info->name, sizeof(info->name));
}

struct total {
	size_t count;
	uint64_t size; /* bytes */
};

/* Sums up the buffers, or else the attachments. */
static struct total total_of(const struct buffer_list *list, bool buffers)
{
	struct total total = { 0 };
	size_t i;

	for (i = 0; i < list->count; i++) {
		const struct dray_buffer_info *info = &list->entries[i].info;

		if (is_buffer(info) != buffers)
			continue;
		total.count++;
		total.size += info->size;
	}
	return total;
}

static void print_total(const struct request *request,
			const struct total *total, const char *one,
			const char *many)
{
	char size[QUANTITY_ROOM];

	printf("%zu %s, %s%s", total->count, total->count == 1 ? one : many,
	       quantity_size(size, total->size, request->bytes),
	       request->bytes ? " bytes" : "");
}

static void print_totals(const struct request *request,
			 const struct buffer_list *list)
{
	struct total buffers = total_of(list, true);
	struct total attachments = total_of(list, false);

	printf("total: ");
	print_total(request, &buffers, "buffer", "buffers");
	if (attachments.count) {
		printf("; ");
		print_total(request, &attachments, "attachment", "attachments");
	}
	putchar('\n');
}

static void print_table(const struct request *request,
			const struct buffer_list *list)
{
	struct table *table = table_create(columns);
	size_t i;

	for (i = 0; i < list->count; i++)
		add_row(table, request, &list->entries[i].info);
	table_print(table, request);
	table_destroy(table);
	if (request->header)
		print_totals(request, list);
}

static void print_json(const struct buffer_list *list)
{
	struct total buffers = total_of(list, true);
	struct total attachments = total_of(list, false);
	json_t *root = json_object();
	json_t *array[] = { json_array(), json_array() };
	json_t *total = json_object();
	size_t i;

	for (i = 0; i < list->count; i++)
		document_set(array[!is_buffer(&list->entries[i].info)], NULL,
			     document_buffer(&list->entries[i]));
	document_number(total, "buffers", buffers.count);
	document_number(total, "size", buffers.size);
	document_number(total, "attachments", attachments.count);
	document_number(total, "attached", attachments.size);
	document_set(root, "buffers", array[0]);
	document_set(root, "attachments", array[1]);
	document_set(root, "total", total);
	document_print(root);
}

static enum exit_code list_run(const struct request *request)
{
	struct buffer_list list;

	if (!buffers_gather(request, &list))
		return EXIT_FAILED;
	if (request->json)
		print_json(&list);
	else
		print_table(request, &list);
	buffers_free(&list);
	return list.status;
}

static const char description[] =
	"One row for each buffer and each attachment, by id, and a last line\n"
	"with their number and size.  An attachment is memory that a program\n"
	"has made reachable for a device.  With -n, shows only buffers in a\n"
	"heap of that node and attachments for it.  Users without\n"
	"CAP_SYS_ADMIN see their own memory only.\n"
	"\n"
	"  HEAP      its heap; for a dma-buf the exporting driver\n"
	"  MODE      how the CPU maps it: cached, write-combined, coherent, or\n"
	"            device if it cannot; for an attachment 'pinned', memory\n"
	"            of the process, or 'dma-buf', one of another driver\n"
	"  PID       the process that made it; 'gone' if that has ended,\n"
	"            'held' if a device may still write it: see reclaim\n"
	"  MAPPED    mappings into user space\n"
	"  ATTACHED  devices attached by other drivers\n"
	"  BUSY      transfers in flight\n"
	"  AGE       time since it was allocated or attached\n";

static const struct command_option *const options[] = {
	&node_option, &json_option, &no_header_option, &bytes_option, NULL,
};

const struct command list_command = {
	.name = "list",
	.options = options,
	.summary = "lists buffers and attachments with their owners",
	.description = description,
	.run = list_run,
};
