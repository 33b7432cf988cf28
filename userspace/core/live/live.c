// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * live: tables of blocks that are out, with their callers.
 *
 * The books lie in ordinary memory, so nothing about a block is read from bytes
 * that a fault could have overwritten.  The list of tables lets a snapshot find
 * the callers of a block without knowing its owner.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/error.h"
#include "base/fork.h"
#include "live/live.h"

DEFINE_FORK_LOCK(DRAY_FORK_LIVE, list_lock);
static struct dray_live_table *tables;

void dray_live_begin(struct dray_live_table *table, size_t sites)
{
	table->sites = sites;
	dray_guard_init(&table->guard);
	dray_fork_enlist(&locks);
	pthread_mutex_lock(&list_lock);
	table->next = tables;
	tables = table;
	pthread_mutex_unlock(&list_lock);
}

void dray_live_end(struct dray_live_table *table)
{
	struct dray_live_table **link = &tables;

	pthread_mutex_lock(&list_lock);
	while (*link != table)
		link = &(*link)->next;
	*link = table->next;
	pthread_mutex_unlock(&list_lock);
	dray_address_end(&table->blocks);
	dray_guard_end(&table->guard);
}

static void live_count(struct dray_live_table *table,
		       const struct dray_live *live, bool enters)
{
	if (enters) {
		table->numbers.blocks++;
		table->numbers.bytes += live->is.size;
	} else {
		table->numbers.blocks--;
		table->numbers.bytes -= live->is.size;
	}
}

bool dray_live_enter(struct dray_live_table *table, struct dray_live *live)
{
	struct dray_live *stale = NULL;
	bool room;

	dray_guard_take(&table->guard);
	room = dray_address_reserve(&table->blocks);
	if (room) {
		if (!live->is.number)
			live->is.number = ++table->allocations;
		live->freed = false;
		stale = dray_address_put(&table->blocks,
					 (uintptr_t)live->is.block, live);
		live_count(table, live, true);
	}
	if (stale && !stale->freed)
		live_count(table, stale, false);
	dray_guard_give(&table->guard);
	free(stale);
	return room;
}

struct dray_live *dray_live_find(const struct dray_live_table *table,
				 const void *address)
{
	return dray_address_get(&table->blocks, (uintptr_t)address);
}

struct dray_live *dray_live_claim(struct dray_live_table *table,
				  const void *address)
{
	struct dray_live *live = dray_live_find(table, address);

	if (live && !live->freed)
		return live;
	table->numbers.bad_frees += !live;
	table->numbers.double_frees += live != NULL;
	return NULL;
}

void dray_live_retire(struct dray_live_table *table, struct dray_live *live,
		      const size_t *size)
{
	live->freed = true;
	live_count(table, live, false);
	table->numbers.wrong_sizes += size && *size != live->is.size;
}

void dray_live_forget(struct dray_live_table *table, struct dray_live *live)
{
	dray_address_take(&table->blocks, (uintptr_t)live->is.block);
}

struct dray_check dray_live_count(struct dray_live_table *table)
{
	struct dray_check numbers;

	dray_guard_take(&table->guard);
	numbers = table->numbers;
	dray_guard_give(&table->guard);
	return numbers;
}

static int live_oldest_first(const void *a, const void *b)
{
	const struct dray_live *first = a, *second = b;

	return first->is.number < second->is.number ? -1 : 1;
}

/* With the guard, which keeps every live block in place. */
static struct dray_live *live_copy(const struct dray_live_table *table,
				   size_t *count)
{
	size_t blocks = (size_t)table->numbers.blocks, i;
	struct dray_live *list;
	void **sites;

	list = calloc(blocks + 1,
		      sizeof(*list) + table->sites * sizeof(*sites));
	if (!list)
		return NULL;
	sites = (void **)(list + blocks);
	for (i = 0; i < table->blocks.size; i++) {
		const struct dray_live *live = table->blocks.slots[i].value;

		if (!live || live->freed)
			continue;
		memcpy(sites, live->is.sites,
		       live->is.site_count * sizeof(*sites));
		list[*count] = *live;
		list[(*count)++].is.sites = sites;
		sites += table->sites;
	}
	return list;
}

struct dray_live *dray_live_list(struct dray_live_table *table, size_t *count)
{
	struct dray_live *list;

	*count = 0;
	dray_guard_take(&table->guard);
	list = live_copy(table, count);
	dray_guard_give(&table->guard);
	if (!list)
		dray_fail(-ENOMEM, "no memory for a list of blocks");
	else
		qsort(list, *count, sizeof(*list), live_oldest_first);
	return list;
}

int dray_live_report(struct dray_live_table *table, FILE *file,
		     const char *rest)
{
	DRAY_NO_CANCEL;
	size_t count, bytes = 0, i;
	struct dray_live *list = dray_live_list(table, &count);
	struct dray_symbols symbols;

	if (!list)
		return -ENOMEM;
	dray_symbols_begin(&symbols);
	for (i = 0; i < count; i++) {
		fprintf(file, "block %p of %zu byte%s\n", list[i].is.block,
			list[i].is.size, dray_plural(list[i].is.size));
		dray_callers_print(file, &symbols, "allocated by",
				   list[i].place, list[i].is.sites,
				   list[i].is.site_count);
		bytes += list[i].is.size;
	}
	dray_symbols_end(&symbols);
	free(list);
	fprintf(file, "%zu block%s of %zu byte%s %s out%s\n", count,
		dray_plural(count), bytes, dray_plural(bytes),
		count == 1 ? "is" : "are", rest);
	if (fflush(file) || ferror(file))
		return dray_fail(-EIO, "not all of the report was written");
	return 0;
}

bool dray_live_origin(const void *address, size_t *size,
		      struct dray_callers *out)
{
	const struct dray_live *live = NULL;
	struct dray_live_table *table;

	pthread_mutex_lock(&list_lock);
	for (table = tables; table && !live; table = table->next) {
		dray_guard_take(&table->guard);
		live = dray_live_find(table, address);
		if (live && live->freed)
			live = NULL;
		if (live) {
			*size = live->is.size;
			out->place = live->place;
			out->count = live->is.site_count;
			if (out->count > DRAY_CALLERS_SITES)
				out->count = DRAY_CALLERS_SITES;
			memcpy(out->sites, live->is.sites,
			       out->count * sizeof(void *));
		}
		dray_guard_give(&table->guard);
	}
	pthread_mutex_unlock(&list_lock);
	return live;
}
