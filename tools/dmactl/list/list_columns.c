// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The columns of buffers and attachments, each with the key that sorts by it. */
#include <inttypes.h>
#include <stdlib.h>

#include "list.h"
#include "base/quantity.h"
#include "base/words.h"

static const struct dray_buffer_info *columns_info_of(const void *row)
{
	return &((const struct buffer_entry *)row)->info;
}

static void columns_add_id(struct table *table, const struct request *request,
			   const void *row)
{
	(void)request;
	table_cell(table, TABLE_PLAIN, "%" PRIu64,
		   (uint64_t)columns_info_of(row)->id);
}

static uint64_t columns_id_key(const void *row)
{
	return columns_info_of(row)->id;
}

static void columns_add_size(struct table *table, const struct request *request,
			     const void *row)
{
	table_size(table, request, columns_info_of(row)->size);
}

static uint64_t columns_size_key(const void *row)
{
	return columns_info_of(row)->size;
}

/* The exporter of an attached dma-buf. */
static void columns_add_heap(struct table *table, const struct request *request,
			     const void *row)
{
	const struct dray_buffer_info *info = columns_info_of(row);

	(void)request;
	table_name(table, TABLE_PLAIN, info->heap_name,
		   sizeof(info->heap_name));
}

static char *heap_key(const void *row)
{
	const struct dray_buffer_info *info = columns_info_of(row);

	return text_format("%.*s", (int)sizeof(info->heap_name),
			   info->heap_name);
}

/* The kind of an attachment. */
static const char *mode_of(const void *row, char word[WORD_ROOM])
{
	const struct dray_buffer_info *info = columns_info_of(row);

	return is_buffer(info) ? mode_word(info->mode, word)
			       : kind_word(info->kind, word);
}

static void add_mode(struct table *table, const struct request *request,
		     const void *row)
{
	char word[WORD_ROOM];

	(void)request;
	table_cell(table, TABLE_PLAIN, "%s", mode_of(row, word));
}

static char *mode_key(const void *row)
{
	char word[WORD_ROOM];

	return text_format("%s", mode_of(row, word));
}

static void columns_add_node(struct table *table, const struct request *request,
			     const void *row)
{
	const struct buffer_entry *entry = row;
	const char *name = entry->info.node_name;

	(void)request;
	if (is_buffer(&entry->info))
		name = entry->info.heap == DRAY_HEAP_ANY ? ""
							 : entry->node->name;
	table_name(table, TABLE_PLAIN, name, DRAY_NAME_LEN);
}

static char *node_key(const void *row)
{
	const struct buffer_entry *entry = row;

	return text_format("%.*s", DRAY_NAME_LEN,
			   is_buffer(&entry->info) ? entry->node->name
						   : entry->info.node_name);
}

static void columns_add_pid(struct table *table, const struct request *request,
			    const void *row)
{
	(void)request;
	table_owner(table, columns_info_of(row));
}

static uint64_t columns_pid_key(const void *row)
{
	return (uint64_t)columns_info_of(row)->pid;
}

static void columns_add_comm(struct table *table, const struct request *request,
			     const void *row)
{
	const struct dray_buffer_info *info = columns_info_of(row);

	(void)request;
	table_name(table, TABLE_PLAIN, info->comm, sizeof(info->comm));
}

static char *columns_comm_key(const void *row)
{
	const struct dray_buffer_info *info = columns_info_of(row);

	return text_format("%.*s", (int)sizeof(info->comm), info->comm);
}

static void columns_add_user(struct table *table, const struct request *request,
			     const void *row)
{
	char *user = user_word(columns_info_of(row)->uid);

	(void)request;
	table_name(table, TABLE_PLAIN, user, 256);
	free(user);
}

static char *columns_user_key(const void *row)
{
	return user_word(columns_info_of(row)->uid);
}

/* Adds a count that only buffers have. */
static void columns_add_count(struct table *table, const void *row,
			      uint64_t count)
{
	if (is_buffer(columns_info_of(row)))
		table_cell(table, TABLE_PLAIN, "%" PRIu64, count);
	else
		table_cell(table, TABLE_PLAIN, "-");
}

static void add_mapped(struct table *table, const struct request *request,
		       const void *row)
{
	(void)request;
	columns_add_count(table, row, columns_info_of(row)->mapped);
}

static uint64_t mapped_key(const void *row)
{
	return columns_info_of(row)->mapped;
}

static void add_attached(struct table *table, const struct request *request,
			 const void *row)
{
	(void)request;
	columns_add_count(table, row, columns_info_of(row)->attachments);
}

static uint64_t attached_key(const void *row)
{
	return columns_info_of(row)->attachments;
}

static void columns_add_busy(struct table *table, const struct request *request,
			     const void *row)
{
	uint32_t transfers = columns_info_of(row)->transfers;

	(void)request;
	table_cell(table, transfers ? TABLE_WARNING : TABLE_PLAIN, "%" PRIu32,
		   transfers);
}

static uint64_t columns_busy_key(const void *row)
{
	return columns_info_of(row)->transfers;
}

static void columns_add_synced(struct table *table,
			       const struct request *request, const void *row)
{
	table_size(table, request, columns_info_of(row)->sync_bytes);
}

static uint64_t columns_synced_key(const void *row)
{
	return columns_info_of(row)->sync_bytes;
}

static void add_age(struct table *table, const struct request *request,
		    const void *row)
{
	char age[QUANTITY_ROOM];

	(void)request;
	table_cell(table, TABLE_PLAIN, "%s",
		   quantity_time(age, columns_info_of(row)->age_ns));
}

static uint64_t age_key(const void *row)
{
	return columns_info_of(row)->age_ns;
}

static void columns_add_name(struct table *table, const struct request *request,
			     const void *row)
{
	const struct dray_buffer_info *info = columns_info_of(row);

	(void)request;
	table_name(table, TABLE_PLAIN, info->name, sizeof(info->name));
}

static char *columns_name_key(const void *row)
{
	const struct dray_buffer_info *info = columns_info_of(row);

	return text_format("%.*s", (int)sizeof(info->name), info->name);
}

const struct row_column list_columns[] = {
	{ "id", ">ID", "id", false, columns_add_id, columns_id_key, NULL },
	{ "size", ">SIZE", "size", false, columns_add_size, columns_size_key,
	  NULL },
	{ "heap", "~HEAP", "heap exporter", false, columns_add_heap, NULL,
	  heap_key },
	{ "mode", "MODE", "kind mode device_reads_only", false, add_mode, NULL,
	  mode_key },
	{ "node", "NODE", "node", true, columns_add_node, NULL, node_key },
	{ "pid", ">PID", "pid owner_gone held", false, columns_add_pid,
	  columns_pid_key, NULL },
	{ "comm", "~COMM", "comm", false, columns_add_comm, NULL,
	  columns_comm_key },
	{ "user", "~USER", "uid user", false, columns_add_user, NULL,
	  columns_user_key },
	{ "mapped", ">MAPPED", "mapped", false, add_mapped, mapped_key, NULL },
	{ "attached", ">ATTACHED", "attachments", false, add_attached,
	  attached_key, NULL },
	{ "busy", ">BUSY", "transfers", false, columns_add_busy,
	  columns_busy_key, NULL },
	{ "synced", ">SYNCED", "sync_bytes sync_ns", true, columns_add_synced,
	  columns_synced_key, NULL },
	{ "age", ">AGE", "age_ns", false, add_age, age_key, NULL },
	{ "name", "~NAME", "name", false, columns_add_name, NULL,
	  columns_name_key },
	{ 0 },
};
