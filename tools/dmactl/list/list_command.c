// SPDX-License-Identifier: Apache-2.0 OR MIT
/* dmactl list: one row for each buffer or attachment, and the total size. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/document.h"
#include "list.h"
#include "base/printer.h"
#include "base/quantity.h"

/* The rows to show: pointers to struct buffer_entry. */
struct list_rows {
	const void **entries;
	size_t count;
};

struct total {
	size_t count;
	uint64_t size; /* bytes */
};

/* Sums up the buffers, or else the attachments. */
static struct total total_of(const struct list_rows *rows, bool buffers)
{
	struct total total = { 0 };
	size_t i;

	for (i = 0; i < rows->count; i++) {
		const struct buffer_entry *entry = rows->entries[i];
		const struct dray_buffer_info *info = &entry->info;

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
			 const struct list_rows *rows)
{
	struct total buffers = total_of(rows, true);
	struct total attachments = total_of(rows, false);

	printf("total: ");
	print_total(request, &buffers, "buffer", "buffers");
	if (attachments.count) {
		printf("; ");
		print_total(request, &attachments, "attachment", "attachments");
	}
	putchar('\n');
}

static void command_print_table(const struct request *request,
				const struct row_view *view,
				const struct list_rows *rows)
{
	struct table *table =
		row_view_table(view, request, rows->entries, rows->count);

	table_print(table, request);
	table_destroy(table);
	if (request->header)
		print_totals(request, rows);
}

/* Prints an array of the buffers, or else of the attachments. */
static void print_array(struct printer *printer, const char *key,
			const struct row_view *view,
			const struct list_rows *rows, bool buffers)
{
	size_t i;

	printer_array(printer, key);
	for (i = 0; i < rows->count; i++) {
		const struct buffer_entry *entry = rows->entries[i];

		if (is_buffer(&entry->info) == buffers)
			printer_value(printer, NULL,
				      row_view_trim(view,
						    document_buffer(entry)));
	}
	printer_end(printer);
}

static void list_command_print_json(const struct row_view *view,
				    const struct list_rows *rows)
{
	struct total buffers = total_of(rows, true);
	struct total attachments = total_of(rows, false);
	struct printer printer = { 0 };
	json_t *total = json_object();

	printer_object(&printer, NULL);
	print_array(&printer, "buffers", view, rows, true);
	print_array(&printer, "attachments", view, rows, false);
	document_number(total, "buffers", buffers.count);
	document_number(total, "size", buffers.size);
	document_number(total, "attachments", attachments.count);
	document_number(total, "attached", attachments.size);
	printer_value(&printer, "total", total);
	printer_end(&printer);
}

/* Takes the rows that pass the filter, for free(). */
static struct list_rows choose_rows(const struct buffer_list *list,
				    const struct filter *filter)
{
	struct list_rows rows = {
		.entries =
			memory_resize(NULL, list->count, sizeof(*rows.entries)),
	};
	size_t i;

	for (i = 0; i < list->count; i++)
		if (filter_buffer(filter, &list->entries[i].info))
			rows.entries[rows.count++] = &list->entries[i];
	return rows;
}

static const struct command_option all_option = {
	.name = "all",
	.text = "every dma-buf of the machine, of any exporter",
};

static enum exit_code list_run(const struct request *request)
{
	struct buffer_list list;
	struct filter filter;
	struct row_view view;
	struct list_rows rows;

	if (!filter_make(request, &filter))
		return EXIT_USAGE;
	if (option_value(request, &all_option))
		return list_all(request, &filter);
	if (!row_view_make(request, list_columns, &view))
		return EXIT_USAGE;
	if (!buffers_gather(request, &list))
		return EXIT_FAILED;
	rows = choose_rows(&list, &filter);
	row_view_sort(&view, rows.entries, rows.count);
	if (request->json)
		list_command_print_json(&view, &rows);
	else
		command_print_table(request, &view, &rows);
	free(rows.entries);
	buffers_free(&list);
	return list.status;
}

static const char description[] =
	"A row for each buffer and each attachment, by id, and a last line\n"
	"with their number and size.  An attachment is memory that a program\n"
	"has made reachable for a device.  With -n, shows only buffers in a\n"
	"heap of that node and attachments for it.  Users without\n"
	"CAP_SYS_ADMIN see their own memory only.\n"
	"\n"
	"  HEAP      its heap; for a dma-buf the exporting driver\n"
	"  MODE      how the CPU maps it: cached, write-combined, coherent, or\n"
	"            device if it cannot; for an attachment 'pinned', memory\n"
	"            of the process, or 'dma-buf', another driver's\n"
	"  PID       the process that made it; 'gone' if that has ended,\n"
	"            'held' if a device may still write it: see reclaim\n"
	"  MAPPED    mappings into user space\n"
	"  ATTACHED  devices attached by other drivers\n"
	"  BUSY      transfers in flight\n"
	"  AGE       time since it was allocated or attached\n"
	"\n"
	"--columns and --sort also know node, and synced: bytes of cache\n"
	"maintenance.\n"
	"\n"
	"With --all, a row for each dma-buf of the machine, dray's or not, as\n"
	"/proc, /sys and debugfs report them:\n"
	"\n"
	"  INODE     the number in /proc and the kernel's lists\n"
	"  ID        the id of dray's own memory\n"
	"  REFS      references to its file\n"
	"  HOLDERS   processes with a descriptor or a mapping\n"
	"  DEVICES   attached devices\n";

static const struct command_option *const options[] = {
	&all_option,	     &node_option,
	&pid_option,	     &user_option,
	&heap_filter_option, &name_option,
	&min_size_option,    &older_option,
	&orphans_option,     &held_option,
	&sort_option,	     &columns_option,
	&json_option,	     &no_header_option,
	&bytes_option,	     NULL,
};

const struct command list_command = {
	.name = "list",
	.options = options,
	.columns = list_columns,
	.summary = "lists buffers and attachments with their owners",
	.description = description,
	.run = list_run,
};
