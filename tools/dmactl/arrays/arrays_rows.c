// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The columns of blocks, each with the key that sorts by it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arrays.h"
#include "escape.h"

static const struct array_row *row_of(const void *row)
{
	return row;
}

const char *row_state(const struct array_row *row)
{
	static const char *const words[] = {
		[DRAY_PUBLISH_USED] = "used",
		[DRAY_PUBLISH_PARKED] = "parked",
		[DRAY_PUBLISH_CACHED] = "cached",
	};

	return row->block ? words[row->block->fixed->state] : "free";
}

const char *row_kind(const struct array_row *row)
{
	if (!row->block)
		return "free";
	return row->block->fixed->flags & DRAY_PUBLISH_ARRAY ? "array"
							     : "block";
}

static void rows_add_number(struct table *table, uint64_t number)
{
	table_cell(table, TABLE_PLAIN, "%" PRIu64, number);
}

static uint64_t rows_pid_key(const void *row)
{
	return (uint64_t)row_of(row)->process->pid;
}

static void rows_add_pid(struct table *table, const struct request *request,
			 const void *row)
{
	(void)request;
	rows_add_number(table, rows_pid_key(row));
}

static uint64_t buffer_key(const void *row)
{
	return row_of(row)->region->fixed->buffer;
}

static void add_buffer(struct table *table, const struct request *request,
		       const void *row)
{
	(void)request;
	rows_add_number(table, buffer_key(row));
}

static char *pool_key(const void *row)
{
	const struct dray_publish_pool *pool = row_of(row)->region->pool;

	return text_format("%.*s", (int)sizeof(pool->name), pool->name);
}

static void rows_add_pool(struct table *table, const struct request *request,
			  const void *row)
{
	const struct dray_publish_pool *pool = row_of(row)->region->pool;

	(void)request;
	table_name(table, TABLE_PLAIN, pool->name, sizeof(pool->name));
}

static uint64_t offset_key(const void *row)
{
	return row_of(row)->offset;
}

static void add_offset(struct table *table, const struct request *request,
		       const void *row)
{
	(void)request;
	rows_add_number(table, offset_key(row));
}

static uint64_t rows_size_key(const void *row)
{
	return row_of(row)->size;
}

static void rows_add_size(struct table *table, const struct request *request,
			  const void *row)
{
	table_size(table, request, rows_size_key(row));
}

static uint64_t asked_key(const void *row)
{
	return row_of(row)->block ? row_of(row)->block->fixed->asked : 0;
}

static void add_asked(struct table *table, const struct request *request,
		      const void *row)
{
	if (asked_key(row))
		table_size(table, request, asked_key(row));
	else
		table_cell(table, TABLE_PLAIN, "-");
}

static char *state_key(const void *row)
{
	return text_format("%s", row_state(row));
}

static char *lent_key(const void *row)
{
	const struct published_block *block = row_of(row)->block;

	if (!block || !block->loan)
		return text_format("%s", "");
	return escape(block->loan->to,
		      strnlen(block->loan->to, sizeof(block->loan->to)),
		      ESCAPE_NAME);
}

static void add_state(struct table *table, const struct request *request,
		      const void *row)
{
	char *lent = lent_key(row);

	(void)request;
	table_cell(table, TABLE_PLAIN, "%s%s%s", row_state(row),
		   *lent ? ", lent to " : "", lent);
	free(lent);
}

static char *kind_key(const void *row)
{
	return text_format("%s", row_kind(row));
}

static void add_kind(struct table *table, const struct request *request,
		     const void *row)
{
	(void)request;
	table_cell(table, TABLE_PLAIN, "%s", row_kind(row));
}

static bool rows_is_array(const struct array_row *row)
{
	return row->block && row->block->fixed->flags & DRAY_PUBLISH_ARRAY;
}

/* "(3,4)", as NumPy says it but in one word; "" if it is not an array. */
static char *shape_key(const void *row)
{
	const struct published_block *block = row_of(row)->block;
	char *text = text_format("%s", rows_is_array(row) ? "(" : "");
	uint32_t i;

	if (!rows_is_array(row))
		return text;
	for (i = 0; i < block->fixed->ndim; i++)
		text_append(&text, "%s%" PRId64, i ? "," : "", block->shape[i]);
	text_append(&text, "%s", block->fixed->ndim == 1 ? ",)" : ")");
	return text;
}

static void add_shape(struct table *table, const struct request *request,
		      const void *row)
{
	char *text = shape_key(row);

	(void)request;
	table_cell(table, TABLE_PLAIN, "%s", text);
	free(text);
}

/* Leaves out spaces, which types of records have. */
static char *one_word(const char *text, size_t length)
{
	char *word = memory_new(length + 1, 1);
	size_t kept = 0, i;
	char *safe;

	for (i = 0; i < length; i++)
		if (text[i] != ' ')
			word[kept++] = text[i];
	safe = escape(word, kept, ESCAPE_WORD);
	free(word);
	return safe;
}

static char *type_key(const void *row)
{
	const struct published_block *block = row_of(row)->block;

	if (!block)
		return text_format("%s", "");
	return one_word(block->type, block->fixed->type_length);
}

static void add_type(struct table *table, const struct request *request,
		     const void *row)
{
	char *text = type_key(row);

	(void)request;
	table_cell(table, TABLE_PLAIN, "%s", text);
	free(text);
}

static uint64_t rows_busy_key(const void *row)
{
	return row_of(row)->block ? row_of(row)->block->fixed->holds : 0;
}

static void rows_add_busy(struct table *table, const struct request *request,
			  const void *row)
{
	(void)request;
	rows_add_number(table, rows_busy_key(row));
}

static void add_lent(struct table *table, const struct request *request,
		     const void *row)
{
	char *text = lent_key(row);

	(void)request;
	table_cell(table, TABLE_PLAIN, "%s", text);
	free(text);
}

static char *site_key(const void *row)
{
	const struct published_block *block = row_of(row)->block;

	if (!block)
		return text_format("%s", "");
	return escape(block->site, block->fixed->site_length, ESCAPE_NAME);
}

static void add_site(struct table *table, const struct request *request,
		     const void *row)
{
	char *text = site_key(row);

	(void)request;
	table_cell(table, TABLE_PLAIN, "%s", text);
	free(text);
}

/* clang-format off */
const struct row_column array_columns[] = {
	{ "pid", ">PID", "", true, rows_add_pid, rows_pid_key, NULL },
	{ "pool", "~POOL", "", true, rows_add_pool, NULL, pool_key },
	{ "buffer", ">BUFFER", "", false, add_buffer, buffer_key, NULL },
	{ "offset", ">OFFSET", "offset", false, add_offset, offset_key, NULL },
	{ "size", ">SIZE", "size", false, rows_add_size, rows_size_key, NULL },
	{ "asked", ">ASKED", "asked", false, add_asked, asked_key, NULL },
	{ "state", "STATE", "state", false, add_state, NULL, state_key },
	{ "kind", "KIND", "kind", false, add_kind, NULL, kind_key },
	{ "shape", "SHAPE", "shape", false, add_shape, NULL, shape_key },
	{ "type", "~TYPE", "type", false, add_type, NULL, type_key },
	{ "busy", ">BUSY", "transfers", true, rows_add_busy, rows_busy_key, NULL },
	{ "lent", "~LENT", "lent_to", true, add_lent, NULL, lent_key },
	{ "site", "~SITE", "site", false, add_site, NULL, site_key },
	{ 0 },
};
/* clang-format on */
