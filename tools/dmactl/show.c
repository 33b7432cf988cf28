// SPDX-License-Identifier: Apache-2.0 OR MIT
/* dmactl show ID: everything that is known of a buffer or an attachment. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "document.h"
#include "escape.h"
#include "gather.h"
#include "holders.h"
#include "message.h"
#include "quantity.h"
#include "table.h"
#include "words.h"

#define IDS_SHOWN 8 /* in the sentence that says which there are */

/* A decimal number from 1 on, and nothing else: "1x", "-1" are typing errors */
static bool parse_id(const char *text, uint64_t *id)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*id = strtoull(text, &end, 10);
	return !errno && !*end && *id;
}

__attribute__((format(printf, 2, 3))) static void
print_line(const char *key, const char *format, ...)
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

	print_line(key, "%s", *safe ? safe : "-");
	free(safe);
}

static void print_size(const char *key, uint64_t bytes)
{
	char size[QUANTITY_ROOM];

	if (bytes < 1024)
		print_line(key, "%" PRIu64 " bytes", bytes);
	else
		print_line(key, "%s (%" PRIu64 " bytes)",
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
		print_line("owner:", "%s%s, pid %" PRId32 "%s%s",
			   colour_on(request, colour), comm, info->pid,
			   orphan ? ", gone" : "", colour_off(request, colour));
	else
		print_line("owner:", "%s%s, %s%s", colour_on(request, colour),
			   comm,
			   orphan ? "gone" : "a process of another namespace",
			   colour_off(request, colour));
	print_line("user:", "%s, uid %" PRIu32, safe_user, info->uid);
	free(safe_user);
	free(user);
	free(comm);
}

static void print_holder(const struct holder *holder)
{
	char *comm = escape(holder->comm, sizeof(holder->comm), ESCAPE_NAME);

	printf("%-12s %s, pid %d, %s", "held by:", comm, holder->pid,
	       holder->count == 1 ? "descriptor" : "descriptors");
	for (size_t i = 0; i < holder->count; i++)
		printf(" %d%s", holder->descriptors[i].number,
		       holder->descriptors[i].read_only ? " (read-only)" : "");
	putchar('\n');
	free(comm);
}

static void print_holders(const struct holder_list *holders)
{
	for (size_t i = 0; i < holders->count; i++)
		print_holder(&holders->entries[i]);
	if (!holders->count)
		print_line("held by:", "-");
	if (holders->hidden)
		print_line(
			"hidden:", "%zu processes that you may not look into",
			holders->hidden);
}

static json_t *holders_document(const struct holder_list *holders)
{
	json_t *array = json_array();

	for (size_t i = 0; i < holders->count; i++) {
		const struct holder *holder = &holders->entries[i];
		json_t *descriptors = json_array();
		json_t *read_only = json_array();
		json_t *object = json_object();

		for (size_t k = 0; k < holder->count; k++) {
			const struct descriptor *one = &holder->descriptors[k];

			document_append(descriptors, json_integer(one->number));
			if (one->read_only)
				document_append(read_only,
						json_integer(one->number));
		}
		document_set(object, "pid", json_integer(holder->pid));
		document_set(object, "comm",
			     document_text(holder->comm, sizeof(holder->comm)));
		document_set(object, "descriptors", descriptors);
		document_set(object, "read_only", read_only);
		document_append(array, object);
	}
	return array;
}

static void print_json(const struct buffer_entry *entry,
		       const struct holder_list *holders)
{
	json_t *object = document_buffer(entry);

	document_set(object, "holders", holders_document(holders));
	document_set(object, "hidden_processes",
		     document_number(holders->hidden));
	document_print(object);
}

static void print_heap(const struct buffer_entry *entry)
{
	const struct dray_buffer_info *info = &entry->info;
	char *heap =
		escape(info->heap_name, sizeof(info->heap_name), ESCAPE_NAME);
	char mode[WORD_ROOM];

	if (info->heap == DRAY_HEAP_ANY)
		print_line("heap:", "%s", heap);
	else
		print_line("heap:", "%s, number %" PRIu32 " of %s", heap,
			   info->heap, entry->node->name);
	print_line("mode:", "%s", mode_word(info->mode, mode));
	free(heap);
}

/* Of an attachment: what it is, and for whom. */
static void print_attached(const struct dray_buffer_info *info)
{
	char *exporter =
		escape(info->heap_name, sizeof(info->heap_name), ESCAPE_NAME);
	char *node =
		escape(info->node_name, sizeof(info->node_name), ESCAPE_NAME);
	char kind[WORD_ROOM];

	if (info->kind == DRAY_KIND_USER)
		print_line("memory:", "pages of a process, pinned");
	else if (info->kind == DRAY_KIND_DMABUF)
		print_line("memory:", "dma-buf of %s", exporter);
	else
		print_line("memory:", "%s", kind_word(info->kind, kind));
	print_line("attached to:", "%s, which %s it", node,
		   info->flags & DRAY_BUFFER_READ_ONLY ? "only reads"
						       : "may write");
	free(node);
	free(exporter);
}

static void print_maintenance(const struct request *request,
			      const struct dray_buffer_info *info)
{
	char time[QUANTITY_ROOM];

	if (request->bytes)
		print_line("synced:", "%" PRIu64, (uint64_t)info->sync_bytes);
	else
		print_size("synced:", info->sync_bytes);
	print_line("sync time:", "%s", quantity_time(time, info->sync_ns));
}

static void print_text(const struct request *request,
		       const struct buffer_entry *entry)
{
	const struct dray_buffer_info *info = &entry->info;
	char time[QUANTITY_ROOM];

	print_line("id:", "%" PRIu64, (uint64_t)info->id);
	print_name("name:", info->name, sizeof(info->name));
	if (request->bytes)
		print_line("size:", "%" PRIu64, (uint64_t)info->size);
	else
		print_size("size:", info->size);
	if (is_buffer(info))
		print_heap(entry);
	else
		print_attached(info);
	print_owner(request, info);
	if (info->flags & DRAY_BUFFER_HELD)
		print_line("held:",
			   "%sa device may still write it; when it does not: "
			   "dmactl reclaim %" PRIu64 "%s",
			   colour_on(request, TABLE_BAD), (uint64_t)info->id,
			   colour_off(request, TABLE_BAD));
	if (is_buffer(info)) {
		print_line("mapped:", "%" PRIu32, info->mapped);
		print_line("attached:", "%" PRIu32, info->attachments);
	}
	print_line("busy:", "%" PRIu32 " %s in flight", info->transfers,
		   info->transfers == 1 ? "transfer" : "transfers");
	print_line("age:", "%s", quantity_time(time, info->age_ns));
	if (is_buffer(info))
		print_maintenance(request, info);
}

static void complain_no_buffer(const struct request *request,
			       const struct buffer_list *list)
{
	char *ids = text_format("%s", "");
	const char *where = request->node ? request->node : "any node";

	for (size_t i = 0; i < list->count && i < IDS_SHOWN; i++) {
		char *longer = text_format("%s%s%" PRIu64, ids, i ? ", " : "",
					   (uint64_t)list->entries[i].info.id);

		free(ids);
		ids = longer;
	}
	if (!list->count)
		complain(
			"no buffer or attachment %s: there is none on %s that you may see",
			request->operand, where);
	else if (list->count == 1)
		complain(
			"no buffer or attachment %s: the only one on %s that you may see "
			"is %s",
			request->operand, where, ids);
	else
		complain(
			"no buffer or attachment %s: there are %zu on %s that you may see "
			"(%s%s)",
			request->operand, list->count, where, ids,
			list->count > IDS_SHOWN ? ", ..." : "");
	free(ids);
}

static void show(const struct request *request,
		 const struct buffer_entry *entry)
{
	struct holder_list holders;

	holders_find(entry->node->name, entry->info.id, &holders);
	if (request->json) {
		print_json(entry, &holders);
	} else {
		print_text(request, entry);
		print_holders(&holders);
	}
	holders_free(&holders);
}

static enum exit_code show_run(const struct request *request)
{
	const struct buffer_entry *entry = NULL;
	struct open_nodes nodes;
	struct buffer_list list;
	enum exit_code status = EXIT_FAILED;
	uint64_t id;

	if (!parse_id(request->operand, &id)) {
		complain("'%s' is no id: 'dmactl list' shows them, numbers "
			 "from 1 on",
			 request->operand);
		return EXIT_USAGE;
	}
	if (!nodes_open(request, &nodes))
		return EXIT_FAILED;
	buffers_gather(request, &nodes, &list);
	for (size_t i = 0; i < list.count && !entry; i++)
		if (list.entries[i].info.id == id)
			entry = &list.entries[i];
	if (entry) {
		show(request, entry);
		status = list.status;
	} else {
		complain_no_buffer(request, &list);
	}
	buffers_free(&list);
	nodes_close(&nodes);
	return status;
}

static const char description[] =
	"One line for each thing that is known of the buffer or attachment,\n"
	"'key: value'.  ID is the number in the first column of 'dmactl list'.\n"
	"\n"
	"  owner    the process that allocated or attached it\n"
	"  held     nothing has it any more, but a device may still write it\n"
	"  held by  a process that has a descriptor of it now; 'read-only'\n"
	"           behind one through which it cannot write\n"
	"  synced   bytes that cache maintenance was asked for\n";

const struct command show_command = {
	.name = "show",
	.operand = "ID",
	.summary = "everything about one buffer or attachment",
	.description = description,
	.run = show_run,
};
