// SPDX-License-Identifier: Apache-2.0 OR MIT
/* dmactl show ID: all facts about one buffer or attachment. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/document.h"
#include "escape.h"
#include "base/gather.h"
#include "machine/holders.h"
#include "base/quantity.h"
#include "base/table.h"
#include "where.h"
#include "base/words.h"

static const struct command_option segments_option = {
	.name = "segments",
	.text = "the addresses for the node; read below first",
};

#define IDS_SHOWN 8 /* in the sentence that lists the ids */

__attribute__((format(printf, 2, 3))) static void
show_print_line(const char *key, const char *format, ...)
{
	va_list args;
	char *value;

	va_start(args, format);
	value = text_format_list(format, args);
	va_end(args);
	printf("%-12s %s\n", key, value);
	free(value);
}

static void print_name(const char *key, const char *name, size_t room)
{
	char *safe = escape(name, room, ESCAPE_NAME);

	show_print_line(key, "%s", *safe ? safe : "-");
	free(safe);
}

static void show_print_size(const struct request *request, const char *key,
			    uint64_t bytes)
{
	char size[QUANTITY_ROOM];

	if (request->bytes)
		show_print_line(key, "%" PRIu64, bytes);
	else if (bytes < 1024)
		show_print_line(key, "%" PRIu64 " bytes", bytes);
	else
		show_print_line(key, "%s (%" PRIu64 " bytes)",
				quantity_size(size, bytes, false), bytes);
}

static void print_owner(const struct request *request,
			const struct dray_buffer_info *info)
{
	bool orphan = info->flags & DRAY_BUFFER_ORPHAN;
	enum table_colour colour = orphan ? TABLE_BAD : TABLE_PLAIN;
	char *comm = escape(info->comm, sizeof(info->comm), ESCAPE_NAME);
	char *user = user_word(info->uid);
	char *safe_user = escape(user, strlen(user), ESCAPE_NAME);

	if (info->pid)
		show_print_line("owner:", "%s%s, pid %" PRId32 "%s%s",
				colour_on(request, colour), comm, info->pid,
				orphan ? ", gone" : "",
				colour_off(request, colour));
	else
		show_print_line("owner:", "%s%s, %s%s",
				colour_on(request, colour), comm,
				orphan ? "gone"
				       : "a process in another namespace",
				colour_off(request, colour));
	show_print_line("user:", "%s, uid %" PRIu32, safe_user, info->uid);
	free(safe_user);
	free(user);
	free(comm);
}

static void print_holder(const struct holder *holder)
{
	char *comm = escape(holder->comm, sizeof(holder->comm), ESCAPE_NAME);
	size_t i;

	printf("%-12s %s, pid %d, %s", "held by:", comm, holder->pid,
	       holder->count == 1 ? "file descriptor" : "file descriptors");
	for (i = 0; i < holder->count; i++)
		printf(" %d%s", holder->descriptors[i].number,
		       holder->descriptors[i].read_only ? " (read-only)" : "");
	putchar('\n');
	free(comm);
}

static void print_holders(const struct holder_list *holders)
{
	size_t i;

	for (i = 0; i < holders->count; i++)
		print_holder(&holders->entries[i]);
	if (!holders->count)
		show_print_line("held by:", "-");
	if (holders->hidden)
		show_print_line(
			"hidden:", "%zu processes that you may not inspect",
			holders->hidden);
}

static json_t *show_holders_document(const struct holder_list *holders)
{
	json_t *array = json_array();
	size_t i, k;

	for (i = 0; i < holders->count; i++) {
		const struct holder *holder = &holders->entries[i];
		json_t *descriptors = json_array();
		json_t *read_only = json_array();
		json_t *object = json_object();

		for (k = 0; k < holder->count; k++) {
			const struct descriptor *one = &holder->descriptors[k];

			document_set(descriptors, NULL,
				     json_integer(one->number));
			if (one->read_only)
				document_set(read_only, NULL,
					     json_integer(one->number));
		}
		document_set(object, "pid", json_integer(holder->pid));
		document_text(object, "comm", holder->comm,
			      sizeof(holder->comm));
		document_set(object, "descriptors", descriptors);
		document_set(object, "read_only", read_only);
		document_set(array, NULL, object);
	}
	return array;
}

static void show_print_json(const struct buffer_entry *entry,
			    const struct holder_list *holders,
			    const struct where *where)
{
	json_t *object = document_buffer(entry);

	where_document(where, object);
	document_set(object, "holders", show_holders_document(holders));
	document_number(object, "hidden_processes", holders->hidden);
	document_print(object);
}

static void print_heap(const struct buffer_entry *entry)
{
	const struct dray_buffer_info *info = &entry->info;
	char *heap =
		escape(info->heap_name, sizeof(info->heap_name), ESCAPE_NAME);
	char mode[WORD_ROOM];

	if (info->heap == DRAY_HEAP_ANY)
		show_print_line("heap:", "%s", heap);
	else
		show_print_line("heap:", "%s, number %" PRIu32 " of %s", heap,
				info->heap, entry->node->name);
	show_print_line("mode:", "%s", mode_word(info->mode, mode));
	free(heap);
}

/* Prints the memory of an attachment and its device. */
static void print_attached(const struct dray_buffer_info *info)
{
	char *exporter =
		escape(info->heap_name, sizeof(info->heap_name), ESCAPE_NAME);
	char *node =
		escape(info->node_name, sizeof(info->node_name), ESCAPE_NAME);
	char kind[WORD_ROOM];

	if (info->kind == DRAY_KIND_USER)
		show_print_line("memory:", "pinned pages of a process");
	else if (info->kind == DRAY_KIND_DMABUF)
		show_print_line("memory:", "dma-buf of %s", exporter);
	else
		show_print_line("memory:", "%s", kind_word(info->kind, kind));
	show_print_line("attached to:", "%s, which %s it", node,
			info->flags & DRAY_BUFFER_READ_ONLY ? "only reads"
							    : "may write");
	free(node);
	free(exporter);
}

static void print_maintenance(const struct request *request,
			      const struct dray_buffer_info *info)
{
	char time[QUANTITY_ROOM];

	show_print_size(request, "synced:", info->sync_bytes);
	show_print_line("sync time:", "%s", quantity_time(time, info->sync_ns));
}

static void show_print_text(const struct request *request,
			    const struct buffer_entry *entry,
			    const struct where *where)
{
	const struct dray_buffer_info *info = &entry->info;
	char time[QUANTITY_ROOM];

	show_print_line("id:", "%" PRIu64, (uint64_t)info->id);
	print_name("name:", info->name, sizeof(info->name));
	show_print_size(request, "size:", info->size);
	if (is_buffer(info))
		print_heap(entry);
	else
		print_attached(info);
	print_owner(request, info);
	if (where->command)
		print_name("command:", where->command, strlen(where->command));
	if (info->flags & DRAY_BUFFER_HELD)
		show_print_line("held:",
				"%sa device may still write it; if none does: "
				"dmactl reclaim %" PRIu64 "%s",
				colour_on(request, TABLE_BAD),
				(uint64_t)info->id,
				colour_off(request, TABLE_BAD));
	if (is_buffer(info)) {
		show_print_line("mapped:", "%" PRIu32, info->mapped);
		show_print_line("attached:", "%" PRIu32, info->attachments);
	}
	show_print_line("busy:", "%" PRIu32 " %s in flight", info->transfers,
			info->transfers == 1 ? "transfer" : "transfers");
	show_print_line("age:", "%s", quantity_time(time, info->age_ns));
	if (is_buffer(info))
		print_maintenance(request, info);
}

static void complain_no_buffer(const struct request *request,
			       const struct buffer_list *list)
{
	const char *where = request->node ? request->node : "any node";
	char *ids = NULL;
	size_t i;

	for (i = 0; i < list->count && i < IDS_SHOWN; i++)
		text_append(&ids, "%s%" PRIu64, i ? ", " : "",
			    (uint64_t)list->entries[i].info.id);
	if (i < list->count)
		text_append(&ids, ", ... (%zu in all)", list->count);
	if (ids)
		complain("no buffer or attachment %s; visible on %s: %s",
			 operand_at(request, 0), where, ids);
	else
		complain("no buffer or attachment %s; none is visible on %s",
			 operand_at(request, 0), where);
	free(ids);
}

static void list_show(const struct request *request,
		      const struct buffer_entry *entry)
{
	struct holder_list holders;
	struct where where;

	holders_find(entry->node->name, entry->info.id, &holders);
	where_find(entry, &holders, option_value(request, &segments_option),
		   &where);
	if (request->json) {
		show_print_json(entry, &holders, &where);
	} else {
		show_print_text(request, entry, &where);
		print_holders(&holders);
		where_print(&where);
	}
	where_free(&where);
	holders_free(&holders);
}

static enum exit_code list_show_run(const struct request *request)
{
	const struct buffer_entry *entry = NULL;
	struct buffer_list list;
	enum exit_code status = EXIT_FAILED;
	uint64_t id;
	size_t i;

	if (!parse_id(operand_at(request, 0), &id))
		return EXIT_USAGE;
	if (!buffers_gather(request, &list))
		return EXIT_FAILED;
	for (i = 0; i < list.count && !entry; i++)
		if (list.entries[i].info.id == id)
			entry = &list.entries[i];
	if (entry) {
		list_show(request, entry);
		status = list.status;
	} else {
		complain_no_buffer(request, &list);
	}
	buffers_free(&list);
	return status;
}

static const char description[] =
	"A line for each fact about the buffer or attachment, 'key: value'.\n"
	"ID is the number in the first column of 'dmactl list'.\n"
	"\n"
	"  owner    the process that allocated or attached it\n"
	"  command  its command line\n"
	"  held     it was freed, but a device may still write it\n"
	"  held by  a process that has a file descriptor of it now; 'read-only'\n"
	"           marks file descriptors that do not permit writing\n"
	"  synced   bytes of requested cache maintenance\n"
	"  mapped by, device\n"
	"           processes with mappings, as far as they can be found; devices of\n"
	"           other drivers\n"
	"\n"
	"With --segments, dmactl itself is a process that knows the addresses, and ends:\n"
	"without an IOMMU the memory is then held when it is freed, until it is reclaimed.\n";

static const struct command_option *const options[] = {
	&node_option, &json_option, &bytes_option, &segments_option, NULL,
};

const struct command show_command = {
	.name = "show",
	.operands = "ID",
	.operands_least = 1,
	.operands_most = 1,
	.offers = "id",
	.options = options,
	.summary = "shows all facts about a buffer or attachment",
	.description = description,
	.run = list_show_run,
};
