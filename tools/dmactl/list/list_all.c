// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dmactl list --all: one row for each dma-buf of the machine, and the sources
 * that could not be read.  It works without the module.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/dmabufs.h"
#include "base/document.h"
#include "list.h"
#include "machine/machine.h"
#include "base/quantity.h"
#include "base/words.h"

static void add_inode(struct table *table, const struct request *request,
		      const void *row)
{
	(void)request;
	table_cell(table, TABLE_PLAIN, "%" PRIu64,
		   ((const struct dmabuf *)row)->inode);
}

static uint64_t inode_key(const void *row)
{
	return ((const struct dmabuf *)row)->inode;
}

static void all_add_size(struct table *table, const struct request *request,
			 const void *row)
{
	const struct dmabuf *entry = row;

	if (entry->size_known)
		table_size(table, request, entry->size);
	else
		table_cell(table, TABLE_PLAIN, "-");
}

static uint64_t all_size_key(const void *row)
{
	return ((const struct dmabuf *)row)->size;
}

static void add_exporter(struct table *table, const struct request *request,
			 const void *row)
{
	(void)request;
	table_name(table, TABLE_PLAIN, ((const struct dmabuf *)row)->exporter,
		   DMABUF_NAME_ROOM);
}

static char *exporter_key(const void *row)
{
	return text_format("%s", ((const struct dmabuf *)row)->exporter);
}

/* Adds a number, of which 0 is none. */
static void add_known(struct table *table, uint64_t number)
{
	if (number)
		table_cell(table, TABLE_PLAIN, "%" PRIu64, number);
	else
		table_cell(table, TABLE_PLAIN, "-");
}

static void all_add_id(struct table *table, const struct request *request,
		       const void *row)
{
	(void)request;
	add_known(table, ((const struct dmabuf *)row)->id);
}

static uint64_t all_id_key(const void *row)
{
	return ((const struct dmabuf *)row)->id;
}

static void add_references(struct table *table, const struct request *request,
			   const void *row)
{
	(void)request;
	add_known(table, ((const struct dmabuf *)row)->references);
}

static uint64_t references_key(const void *row)
{
	return ((const struct dmabuf *)row)->references;
}

/* Returns the holders as "python3(12),cat(13)", each a word. */
static char *holders_text(const void *row)
{
	const struct dmabuf *entry = row;
	char *text = text_format("%s", "");
	size_t i;

	for (i = 0; i < entry->holder_count; i++) {
		const struct process *process = &entry->holders[i].process;

		text_append(&text, "%s%s(%d)", i ? "," : "", process->comm,
			    process->pid);
	}
	return text;
}

static void add_holders(struct table *table, const struct request *request,
			const void *row)
{
	char *text = holders_text(row);

	(void)request;
	table_name(table, TABLE_PLAIN, text, strlen(text));
	free(text);
}

static char *devices_text(const void *row)
{
	const struct dmabuf *entry = row;
	char *text = text_format("%s", "");
	size_t i;

	for (i = 0; i < entry->device_count; i++)
		text_append(&text, "%s%s", i ? "," : "", entry->devices[i]);
	return text;
}

static void add_devices(struct table *table, const struct request *request,
			const void *row)
{
	char *text = devices_text(row);

	(void)request;
	table_name(table, TABLE_PLAIN, text, strlen(text));
	free(text);
}

static void all_add_name(struct table *table, const struct request *request,
			 const void *row)
{
	(void)request;
	table_name(table, TABLE_PLAIN, ((const struct dmabuf *)row)->name,
		   DMABUF_NAME_ROOM);
}

static char *all_name_key(const void *row)
{
	return text_format("%s", ((const struct dmabuf *)row)->name);
}

static const struct row_column columns[] = {
	{ "inode", ">INODE", "inode", false, add_inode, inode_key, NULL },
	{ "size", ">SIZE", "size", false, all_add_size, all_size_key, NULL },
	{ "exporter", "~EXPORTER", "exporter", false, add_exporter, NULL,
	  exporter_key },
	{ "id", ">ID", "id", false, all_add_id, all_id_key, NULL },
	{ "refs", ">REFS", "references", false, add_references, references_key,
	  NULL },
	{ "holders", "~HOLDERS", "holders", false, add_holders, NULL,
	  holders_text },
	{ "devices", "~DEVICES", "devices", false, add_devices, NULL,
	  devices_text },
	{ "name", "~NAME", "name", false, all_add_name, NULL, all_name_key },
	{ 0 },
};

static json_t *list_all_known(uint64_t number)
{
	return number ? json_integer((json_int_t)number) : json_null();
}

static json_t *all_holders_document(const struct dmabuf *entry)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < entry->holder_count; i++) {
		const struct dmabuf_holder *holder = &entry->holders[i];
		const struct process *process = &holder->process;
		char *user = user_word(process->uid);
		json_t *object = json_object();

		document_set(object, "pid", json_integer(process->pid));
		document_text(object, "comm", process->comm,
			      sizeof(process->comm));
		document_number(object, "uid", process->uid);
		document_text(object, "user", user, strlen(user));
		document_number(object, "descriptors", holder->descriptors);
		document_number(object, "mappings", holder->mappings);
		document_set(array, NULL, object);
		free(user);
	}
	return array;
}

static json_t *entry_document(const struct dmabuf_list *list,
			      const struct dmabuf *entry)
{
	json_t *object = json_object();
	json_t *devices = list->devices_known ? json_array() : json_null();
	size_t i;

	for (i = 0; i < entry->device_count; i++)
		document_text(devices, NULL, entry->devices[i],
			      strlen(entry->devices[i]));
	document_number(object, "inode", entry->inode);
	if (entry->size_known)
		document_number(object, "size", entry->size);
	else
		document_set(object, "size", json_null());
	document_text(object, "exporter", entry->exporter, DMABUF_NAME_ROOM);
	document_set(object, "id", list_all_known(entry->id));
	document_set(object, "references", list_all_known(entry->references));
	document_set(object, "holders", all_holders_document(entry));
	document_set(object, "devices", devices);
	document_text(object, "name", entry->name, DMABUF_NAME_ROOM);
	return object;
}

static json_t *unread_document(const struct dmabuf_list *list)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < list->unread_count; i++) {
		const struct unread *unread = &list->unread[i];
		const char *reason = strerror(unread->error);
		json_t *object = json_object();

		document_text(object, "path", unread->path,
			      strlen(unread->path));
		document_text(object, "reason", reason, strlen(reason));
		document_word(object, "lost", unread->lost);
		document_set(array, NULL, object);
	}
	return array;
}

static uint64_t total_size(const void *const *rows, size_t count)
{
	uint64_t size = 0;
	size_t i;

	for (i = 0; i < count; i++)
		size += ((const struct dmabuf *)rows[i])->size;
	return size;
}

static void all_print_json(const struct row_view *view,
			   const struct dmabuf_list *list,
			   const void *const *rows, size_t count)
{
	json_t *root = json_object();
	json_t *array = json_array();
	json_t *total = json_object();
	size_t i;

	for (i = 0; i < count; i++)
		document_set(array, NULL,
			     row_view_trim(view,
					   entry_document(list, rows[i])));
	document_number(total, "dma_bufs", count);
	document_number(total, "size", total_size(rows, count));
	document_set(root, "dma_bufs", array);
	document_set(root, "total", total);
	document_set(root, "unread", unread_document(list));
	document_number(root, "hidden_processes", list->hidden);
	document_print(root);
}

/* Tells the missing sources, each with its reason. */
static void all_print_unread(const struct dmabuf_list *list)
{
	size_t i;

	for (i = 0; i < list->unread_count; i++)
		printf("not shown: %s; cannot read %s: %s\n",
		       list->unread[i].lost, list->unread[i].path,
		       strerror(list->unread[i].error));
	if (list->hidden)
		printf("hidden: %zu %s that you may not inspect\n",
		       list->hidden,
		       list->hidden == 1 ? "process" : "processes");
}

static void all_print_table(const struct request *request,
			    const struct row_view *view,
			    const struct dmabuf_list *list,
			    const void *const *rows, size_t count)
{
	struct table *table = row_view_table(view, request, rows, count);
	char size[QUANTITY_ROOM];

	table_print(table, request);
	table_destroy(table);
	if (!request->header)
		return;
	printf("total: %zu %s, %s%s\n", count,
	       count == 1 ? "dma-buf" : "dma-bufs",
	       quantity_size(size, total_size(rows, count), request->bytes),
	       request->bytes ? " bytes" : "");
	all_print_unread(list);
}

/* Without holders, only a list that does not ask for any has the entry. */
static bool filter_holders(const struct filter *filter,
			   const struct dmabuf *entry)
{
	size_t i;

	for (i = 0; i < entry->holder_count; i++) {
		const struct process *process = &entry->holders[i].process;

		if (filter_pid(filter, process->pid) &&
		    filter_user(filter, process->uid))
			return true;
	}
	return !option_value(filter->request, &pid_option) &&
	       !option_value(filter->request, &user_option);
}

static bool filter_entry(const struct filter *filter,
			 const struct dmabuf *entry)
{
	return entry->size >= filter->min_size &&
	       filter_heap(filter, entry->exporter, DMABUF_NAME_ROOM) &&
	       filter_name(filter, entry->name, DMABUF_NAME_ROOM) &&
	       filter_holders(filter, entry);
}

/* Complains about options that only dray's own memory can answer. */
static bool all_check_options(const struct request *request)
{
	static const struct command_option *const others[] = {
		&node_option, &older_option, &orphans_option,
		&held_option, NULL,
	};
	size_t i;

	for (i = 0; others[i]; i++)
		if (option_value(request, others[i])) {
			complain("list: give --all or --%s, not both: it is "
				 "known of dray's memory only",
				 others[i]->name);
			return false;
		}
	return true;
}

enum exit_code list_all(const struct request *request,
			const struct filter *filter)
{
	struct dmabuf_list list;
	struct row_view view;
	const void **rows;
	size_t count = 0;
	size_t i;

	if (!all_check_options(request) ||
	    !row_view_make(request, columns, &view))
		return EXIT_USAGE;
	dmabufs_gather(machine_root(), &list);
	dmabufs_identify(&list);
	rows = memory_resize(NULL, list.count, sizeof(*rows));
	for (i = 0; i < list.count; i++)
		if (filter_entry(filter, &list.entries[i]))
			rows[count++] = &list.entries[i];
	row_view_sort(&view, rows, count);
	if (request->json)
		all_print_json(&view, &list, rows, count);
	else
		all_print_table(request, &view, &list, rows, count);
	free(rows);
	dmabufs_free(&list);
	return EXIT_FINE;
}
