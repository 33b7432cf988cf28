// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tables of a sample: heaps, processes and streams. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bar.h"
#include "base/quantity.h"
#include "top.h"
#include "base/words.h"

static const struct top_process *process_at(const void *row)
{
	return row;
}

static void tables_add_pid(struct table *table, const struct request *request,
			   const void *row)
{
	const struct top_process *process = process_at(row);

	(void)request;
	if (process->state == TOP_HELD)
		table_cell(table, TABLE_BAD, "held");
	else if (process->state == TOP_GONE)
		table_cell(table, TABLE_BAD, "gone");
	else if (process->process.pid)
		table_cell(table, TABLE_PLAIN, "%d", process->process.pid);
	else
		table_cell(table, TABLE_PLAIN, "-");
}

static uint64_t tables_pid_key(const void *row)
{
	return (uint64_t)process_at(row)->process.pid;
}

static void tables_add_user(struct table *table, const struct request *request,
			    const void *row)
{
	char *user = user_word(process_at(row)->process.uid);

	(void)request;
	table_name(table, TABLE_PLAIN, user, 256);
	free(user);
}

static char *tables_user_key(const void *row)
{
	return user_word(process_at(row)->process.uid);
}

static void tables_add_buffers(struct table *table,
			       const struct request *request, const void *row)
{
	(void)request;
	table_cell(table, TABLE_PLAIN, "%" PRIu64, process_at(row)->buffers);
}

static uint64_t buffers_key(const void *row)
{
	return process_at(row)->buffers;
}

static void add_memory(struct table *table, const struct request *request,
		       const void *row)
{
	table_size(table, request, process_at(row)->memory);
}

static uint64_t memory_key(const void *row)
{
	return process_at(row)->memory;
}

/* Adds bytes a second. */
static void add_bytes(struct table *table, const struct request *request,
		      double rate)
{
	if (rate > 0)
		table_size(table, request, (uint64_t)rate);
	else
		table_cell(table, TABLE_PLAIN, "0");
}

static void add_allocated(struct table *table, const struct request *request,
			  const void *row)
{
	add_bytes(table, request, process_at(row)->rates[RATE_ALLOCATED]);
}

static uint64_t allocated_key(const void *row)
{
	return (uint64_t)process_at(row)->rates[RATE_ALLOCATED];
}

static void tables_add_synced(struct table *table,
			      const struct request *request, const void *row)
{
	add_bytes(table, request, process_at(row)->rates[RATE_SYNCED]);
}

static uint64_t tables_synced_key(const void *row)
{
	return (uint64_t)process_at(row)->rates[RATE_SYNCED];
}

/* Adds a count a second. */
static void tables_add_count(struct table *table, double rate)
{
	table_cell(table, TABLE_PLAIN, rate < 10 && rate > 0 ? "%.1f" : "%.0f",
		   rate);
}

/* Transfers belong to an opener, and it may be out of sight. */
static void add_transfers(struct table *table, const struct request *request,
			  const void *row)
{
	(void)request;
	if (process_at(row)->opener)
		tables_add_count(table, process_at(row)->rates[RATE_TRANSFERS]);
	else
		table_cell(table, TABLE_PLAIN, "-");
}

static uint64_t transfers_key(const void *row)
{
	return (uint64_t)(process_at(row)->rates[RATE_TRANSFERS] * 1000);
}

static void add_moved(struct table *table, const struct request *request,
		      const void *row)
{
	if (process_at(row)->opener)
		add_bytes(table, request, process_at(row)->rates[RATE_MOVED]);
	else
		table_cell(table, TABLE_PLAIN, "-");
}

static uint64_t moved_key(const void *row)
{
	return (uint64_t)process_at(row)->rates[RATE_MOVED];
}

static void tables_add_busy(struct table *table, const struct request *request,
			    const void *row)
{
	uint64_t busy = process_at(row)->busy;

	(void)request;
	table_cell(table, busy ? TABLE_WARNING : TABLE_PLAIN, "%" PRIu64, busy);
}

static uint64_t tables_busy_key(const void *row)
{
	return process_at(row)->busy;
}

static void tables_add_comm(struct table *table, const struct request *request,
			    const void *row)
{
	(void)request;
	table_name(table, TABLE_PLAIN, process_at(row)->process.comm,
		   sizeof(process_at(row)->process.comm));
}

static char *tables_comm_key(const void *row)
{
	return text_format("%s", process_at(row)->process.comm);
}

const struct row_column top_columns[] = {
	{ "pid", ">PID", "pid state", false, tables_add_pid, tables_pid_key,
	  NULL },
	{ "user", "~USER", "uid user", false, tables_add_user, NULL,
	  tables_user_key },
	{ "buffers", ">BUFFERS", "buffers attachments", false,
	  tables_add_buffers, buffers_key, NULL },
	{ "memory", ">MEMORY", "memory", false, add_memory, memory_key, NULL },
	{ "alloc", ">ALLOC/s", "allocated_per_second", false, add_allocated,
	  allocated_key, NULL },
	{ "sync", ">SYNC/s", "synced_per_second", false, tables_add_synced,
	  tables_synced_key, NULL },
	{ "transfers", ">TRANSFERS/s", "transfers_per_second", false,
	  add_transfers, transfers_key, NULL },
	{ "moved", ">MOVED/s", "moved_per_second", false, add_moved, moved_key,
	  NULL },
	{ "busy", ">BUSY", "busy", false, tables_add_busy, tables_busy_key,
	  NULL },
	{ "comm", "~COMM", "comm", false, tables_add_comm, NULL,
	  tables_comm_key },
	{ 0 },
};

bool top_view_make(const struct request *request, struct row_view *view)
{
	const struct row_column *column = top_columns;

	if (!row_view_make(request, top_columns, view))
		return false;
	if (view->sort)
		return true;
	while (column->number != memory_key)
		column++;
	view->sort = column;
	view->descending = true;
	return true;
}

bool top_matches(const char *filter, const struct top_process *process)
{
	char *user = user_word(process->process.uid);
	char *words = text_format("%d %s %s", process->process.pid, user,
				  process->process.comm);
	bool matches = strcasestr(words, filter);

	free(words);
	free(user);
	return matches;
}

const void **top_rows(const struct row_view *view,
		      const struct top_sample *sample, const char *filter,
		      size_t *count)
{
	const void **rows =
		memory_resize(NULL, sample->process_count, sizeof(*rows));
	size_t i;

	*count = 0;
	for (i = 0; i < sample->process_count; i++)
		if (top_matches(filter, &sample->processes[i]))
			rows[(*count)++] = &sample->processes[i];
	row_view_sort(view, rows, *count);
	return rows;
}

/* Adds a bar; with @blocks in characters that look like one. */
static void add_bar(struct table *table, const struct dray_heap_info *heap,
		    bool blocks)
{
	static const char letters[] = "#h!o.";
	static const char *const pictures[] = { "█", "▓", "▒", "░", "·" };
	char bar[BAR_ROOM];
	char *text = NULL;
	size_t i;

	heap_bar(heap, bar);
	for (i = 0; blocks && bar[i]; i++)
		text_append(&text, "%s",
			    pictures[strchr(letters, bar[i]) - letters]);
	table_cell(table, heap_colour(heap), "[%s]", text ? text : bar);
	free(text);
}

struct table *top_heaps(const struct request *request,
			const struct top_sample *sample, bool blocks)
{
	struct table *table = table_create("NODE ~HEAP >TOTAL >USED >HELD "
					   ">QUARANTINE >FREE >BUFFERS FILL");
	size_t i;

	for (i = 0; i < sample->heap_count; i++) {
		const struct top_heap *heap = &sample->heaps[i];
		const struct dray_heap_info *info = &heap->info;

		table_name(table, TABLE_PLAIN, heap->node, DRAY_NAME_LEN);
		table_name(table, TABLE_PLAIN, info->name, sizeof(info->name));
		table_size(table, request, info->total);
		table_size(table, request, info->used);
		table_size(table, request, info->held);
		table_size(table, request, info->quarantined);
		table_size(table, request, info->free);
		table_cell(table, TABLE_PLAIN, "%" PRIu32, info->buffers);
		add_bar(table, info, blocks);
	}
	return table;
}

/* Adds "READY/FRAMES" of a ring. */
static void add_ring(struct table *table, const struct dray_channel_info *info)
{
	if (info->ring_frames)
		table_cell(table, TABLE_PLAIN, "%" PRIu32 "/%" PRIu32,
			   info->ring_ready, info->ring_frames);
	else
		table_cell(table, TABLE_PLAIN, "-");
}

/* Adds a count a second of something that should not happen. */
static void add_mishaps(struct table *table, double rate)
{
	table_cell(table, rate > 0 ? TABLE_WARNING : TABLE_PLAIN,
		   rate < 10 && rate > 0 ? "%.1f" : "%.0f", rate);
}

struct table *top_streams(const struct request *request,
			  const struct top_sample *sample)
{
	struct table *table = table_create(
		"NODE ~CHANNEL STATE >PID >BYTES/s >PACKETS/s >RING >LOST/s "
		">STALLS/s >FAILED >TRANSFERS/s");
	size_t i;

	for (i = 0; i < sample->stream_count; i++) {
		const struct top_stream *stream = &sample->streams[i];
		const struct dray_channel_info *info = &stream->info;
		bool dead = info->flags & DRAY_CHANNEL_DEAD;

		table_name(table, TABLE_PLAIN, stream->node, DRAY_NAME_LEN);
		table_name(table, TABLE_PLAIN, info->name, sizeof(info->name));
		table_cell(table, dead ? TABLE_BAD : TABLE_PLAIN, "%s",
			   channel_state_word(info->flags));
		if (stream->pid)
			table_cell(table, TABLE_PLAIN, "%d", stream->pid);
		else
			table_cell(table, TABLE_PLAIN, "-");
		add_bytes(table, request, stream->rates[STREAM_BYTES]);
		tables_add_count(table, stream->rates[STREAM_PACKETS]);
		add_ring(table, info);
		add_mishaps(table, stream->rates[STREAM_LOST]);
		add_mishaps(table, stream->rates[STREAM_STALLS]);
		table_cell(table, info->failed ? TABLE_WARNING : TABLE_PLAIN,
			   "%" PRIu64, (uint64_t)info->failed);
		tables_add_count(table, stream->rates[STREAM_SUBMITTED]);
	}
	return table;
}
