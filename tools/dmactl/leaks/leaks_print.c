// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Leaks for people and as JSON: schema/leaks.json describes the latter. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/document.h"
#include "escape.h"
#include "leaks.h"
#include "base/quantity.h"
#include "base/table.h"

const char *leak_word(enum leak_kind kind)
{
	static const char *const words[] = {
		[LEAK_HELD] = "held",
		[LEAK_ORPHAN] = "orphan",
		[LEAK_IDLE] = "idle",
		[LEAK_QUARANTINE] = "quarantine",
		[LEAK_CONDEMNED] = "condemned",
	};

	return words[kind];
}

static void add_keeper(char **text, int pid, const char *comm,
		       size_t descriptors, size_t mappings)
{
	char *name = escape(comm, strlen(comm), ESCAPE_NAME);

	text_append(text, "%sprocess %d (%s)", *text ? " and " : "when ", pid,
		    name);
	if (descriptors)
		text_append(text, " closes %zu %s", descriptors,
			    descriptors == 1 ? "descriptor" : "descriptors");
	if (mappings)
		text_append(text, "%s unmaps %zu %s", descriptors ? " and" : "",
			    mappings, mappings == 1 ? "mapping" : "mappings");
	free(name);
}

/* Names the processes that keep it; NULL if none is found. */
static char *keepers_text(const struct leak *leak)
{
	const struct dmabuf *dmabuf = leak->dmabuf;
	char *text = NULL;
	size_t i;

	for (i = 0; dmabuf && i < dmabuf->holder_count; i++) {
		const struct dmabuf_holder *holder = &dmabuf->holders[i];

		add_keeper(&text, holder->process.pid, holder->process.comm,
			   holder->descriptors, holder->mappings);
	}
	for (i = 0; i < leak->holders.count; i++) {
		const struct holder *holder = &leak->holders.entries[i];

		add_keeper(&text, holder->pid, holder->comm, holder->count, 0);
	}
	if (text && leak->guessed)
		text_append(&text, ", to judge by size and name");
	return text;
}

/* For an orphan without a descriptor or a mapping that can be seen. */
static char *hidden_text(const struct leak_list *list, const struct leak *leak)
{
	const struct dray_buffer_info *info = &leak->entry->info;

	if (info->transfers)
		return text_format("when %" PRIu32 " %s in flight %s ended",
				   info->transfers,
				   info->transfers == 1 ? "transfer"
							: "transfers",
				   info->transfers == 1 ? "has" : "have");
	if (info->attachments)
		return text_format("when %" PRIu32 " %s of other drivers "
				   "detach",
				   info->attachments,
				   info->attachments == 1 ? "device"
							  : "devices");
	if (list->machine.hidden || leak->holders.hidden)
		return text_format("by a process that you may not inspect: "
				   "ask root");
	return text_format("when a message in flight with its descriptor is "
			   "received or dropped");
}

static char *owner_text(const struct dray_buffer_info *info)
{
	char *comm = escape(info->comm, sizeof(info->comm), ESCAPE_NAME);
	char *text = NULL;

	if (info->pid)
		text_append(&text, "when process %" PRId32 " (%s) frees it",
			    info->pid, comm);
	else
		text_append(&text, "when %s of another namespace frees it",
			    comm);
	free(comm);
	return text;
}

char *leak_remedy(const struct leak_list *list, const struct leak *leak)
{
	char *text;

	switch (leak->kind) {
	case LEAK_HELD:
		return text_format("by dmactl reclaim %" PRIu64
				   ", if no device writes it",
				   (uint64_t)leak->entry->info.id);
	case LEAK_ORPHAN:
		text = keepers_text(leak);
		return text ? text : hidden_text(list, leak);
	case LEAK_IDLE:
		return owner_text(&leak->entry->info);
	case LEAK_QUARANTINE:
		return text_format("when the I/O ends that has its pages");
	case LEAK_CONDEMNED:
		break;
	}
	return text_format("by a restart: it is broken, or a device may write "
			   "it");
}

/* The cells that only a buffer or an attachment has. */
static void print_add_owner(struct table *table,
			    const struct dray_buffer_info *info)
{
	char age[QUANTITY_ROOM];

	if (info->pid)
		table_cell(table, TABLE_PLAIN, "%" PRId32, info->pid);
	else
		table_cell(table, TABLE_PLAIN, "-");
	table_name(table, TABLE_PLAIN, info->comm, sizeof(info->comm));
	table_cell(table, TABLE_PLAIN, "%s", quantity_time(age, info->age_ns));
	table_name(table, TABLE_PLAIN, info->name, sizeof(info->name));
}

static void leaks_print_add_row(struct table *table,
				const struct request *request,
				const struct leak_list *list,
				const struct leak *leak)
{
	char *remedy = leak_remedy(list, leak);
	int i;

	table_cell(table, leak->kind == LEAK_IDLE ? TABLE_WARNING : TABLE_BAD,
		   "%s", leak_word(leak->kind));
	if (leak->entry)
		table_cell(table, TABLE_PLAIN, "%" PRIu64,
			   (uint64_t)leak->entry->info.id);
	else
		table_cell(table, TABLE_PLAIN, "-");
	table_size(table, request, leak->size);
	table_name(table, TABLE_PLAIN, leak->heap, sizeof(leak->heap));
	if (leak->entry)
		print_add_owner(table, &leak->entry->info);
	else
		for (i = 0; i < 4; i++)
			table_cell(table, TABLE_PLAIN, "-");
	table_cell(table, TABLE_PLAIN, "%s", remedy);
	free(remedy);
}

void leaks_print(const struct request *request, const struct leak_list *list)
{
	struct table *table = table_create(
		"WHY >ID >SIZE ~HEAP >PID ~COMM >AGE ~NAME ~FREED");
	char size[QUANTITY_ROOM];
	size_t i;

	for (i = 0; i < list->count; i++)
		leaks_print_add_row(table, request, list, &list->entries[i]);
	if (list->count)
		table_print(table, request);
	table_destroy(table);
	if (!request->header)
		return;
	printf("total: %zu %s, %s%s\n", list->count,
	       list->count == 1 ? "leak" : "leaks",
	       quantity_size(size, list->size, request->bytes),
	       request->bytes ? " bytes" : "");
	if (list->others)
		printf("not seen: buffers of other users, %s%s: ask root\n",
		       quantity_size(size, list->others, request->bytes),
		       request->bytes ? " bytes" : "");
	if (list->machine.hidden)
		printf("not seen: %zu processes that you may not inspect\n",
		       list->machine.hidden);
}

static json_t *keeper_document(int pid, const char *comm, size_t descriptors,
			       size_t mappings)
{
	json_t *object = json_object();

	document_set(object, "pid", json_integer(pid));
	document_text(object, "comm", comm, strlen(comm));
	document_number(object, "descriptors", descriptors);
	document_number(object, "mappings", mappings);
	return object;
}

static json_t *keepers_document(const struct leak *leak)
{
	const struct dmabuf *dmabuf = leak->dmabuf;
	json_t *array = json_array();
	size_t i;

	for (i = 0; dmabuf && i < dmabuf->holder_count; i++) {
		const struct dmabuf_holder *holder = &dmabuf->holders[i];

		document_set(array, NULL,
			     keeper_document(
				     holder->process.pid, holder->process.comm,
				     holder->descriptors, holder->mappings));
	}
	for (i = 0; i < leak->holders.count; i++) {
		const struct holder *holder = &leak->holders.entries[i];

		document_set(array, NULL,
			     keeper_document(holder->pid, holder->comm,
					     holder->count, 0));
	}
	return array;
}

static json_t *leak_document(const struct leak_list *list,
			     const struct leak *leak)
{
	char *remedy = leak_remedy(list, leak);
	json_t *object = json_object();

	document_word(object, "why", leak_word(leak->kind));
	document_number(object, "size", leak->size);
	document_text(object, "heap", leak->heap, sizeof(leak->heap));
	document_set(object, "memory",
		     leak->entry ? document_buffer(leak->entry) : json_null());
	document_set(object, "keepers", keepers_document(leak));
	document_set(object, "keepers_guessed", json_boolean(leak->guessed));
	document_text(object, "freed", remedy, strlen(remedy));
	free(remedy);
	return object;
}

void leaks_print_json(const struct leak_list *list)
{
	json_t *root = json_object();
	json_t *array = json_array();
	json_t *total = json_object();
	size_t i;

	for (i = 0; i < list->count; i++)
		document_set(array, NULL,
			     leak_document(list, &list->entries[i]));
	document_number(total, "leaks", list->count);
	document_number(total, "size", list->size);
	document_set(root, "leaks", array);
	document_set(root, "total", total);
	document_number(root, "others", list->others);
	document_number(root, "hidden_processes", list->machine.hidden);
	document_print(root);
}
