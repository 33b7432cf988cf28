// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tracking: a table of all blocks that are out.  A block leaves it before
 * upstream has it back, because from then on its address may be another's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/address_table.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/guard.h"
#include "base/options.h"
#include "pool/call_site.h"
#include "pool/notes.h"
#include "resource/resource.h"

struct tracking_record {
	struct dray_outstanding is;
	void *sites[];
};

struct tracking {
	struct dray_resource *upstream;
	struct dray_guard guard;
	struct dray_address_table table;
	struct dray_tracking numbers;
	uint64_t allocations;
	size_t sites;
	struct tracking *next; /* of all, for snapshots of pools */
};

DEFINE_FORK_LOCK(DRAY_FORK_TRACKINGS, list_lock);
static struct tracking *trackings;

static int no_record(void)
{
	return dray_fail(-ENOMEM, "no memory to track a block");
}

static struct tracking_record *new_record(const struct tracking *tracking)
{
	size_t sites = tracking->sites * sizeof(void *);
	struct tracking_record *record = calloc(1, sizeof(*record) + sites);

	if (record)
		record->is.sites = record->sites;
	return record;
}

/* False if the table cannot get room. */
static bool tracking_remember(struct tracking *tracking,
			      struct tracking_record *record)
{
	struct tracking_record *stale = NULL;
	bool room;

	dray_guard_take(&tracking->guard);
	room = dray_address_reserve(&tracking->table);
	if (room) {
		if (!record->is.number)
			record->is.number = ++tracking->allocations;
		stale = dray_address_put(&tracking->table,
					 (uintptr_t)record->is.block, record);
		tracking->numbers.blocks += !stale;
		tracking->numbers.bytes += record->is.size;
	}
	/* A stale record: its block was freed past this resource. */
	if (stale)
		tracking->numbers.bytes -= stale->is.size;
	dray_guard_give(&tracking->guard);
	free(stale);
	return room;
}

static int tracking_allocate(void *ctx, size_t size, size_t alignment,
			     uint64_t stream, void **out)
{
	struct tracking *tracking = ctx;
	struct tracking_record *record = new_record(tracking);
	int ret;

	if (!record)
		return no_record();
	ret = dray_resource_allocate(tracking->upstream, size, alignment,
				     stream, out);
	if (ret) {
		free(record);
		return ret;
	}
	record->is.block = *out;
	record->is.size = size;
	record->is.stream = stream;
	record->is.site_count = dray_call_sites(record->sites, tracking->sites);
	if (tracking_remember(tracking, record))
		return 0;
	dray_resource_deallocate(tracking->upstream, *out, size, stream);
	free(record);
	return no_record();
}

static int tracking_deallocate(void *ctx, void *block, size_t size,
			       uint64_t stream)
{
	struct tracking *tracking = ctx;
	struct tracking_record *record;
	int ret;

	dray_guard_take(&tracking->guard);
	record = dray_address_take(&tracking->table, (uintptr_t)block);
	if (record) {
		tracking->numbers.blocks--;
		tracking->numbers.bytes -= record->is.size;
		tracking->numbers.wrong_sizes += record->is.size != size;
	} else {
		tracking->numbers.bad_frees++;
	}
	dray_guard_give(&tracking->guard);
	if (!record)
		return dray_fail(-EINVAL,
				 "free of %p, which is not an allocated block",
				 block);
	ret = dray_resource_deallocate(tracking->upstream, block,
				       record->is.size, stream);
	/* Others may have taken the room that it had. */
	if (ret && tracking_remember(tracking, record))
		return ret;
	free(record);
	return ret;
}

/* Finds the record of a block, for a snapshot of pools. */
static bool tracking_find_origin(const void *block, struct dray_origin *out)
{
	const struct tracking_record *record = NULL;
	struct tracking *tracking;

	pthread_mutex_lock(&list_lock);
	for (tracking = trackings; tracking && !record;
	     tracking = tracking->next) {
		dray_guard_take(&tracking->guard);
		record = dray_address_get(&tracking->table, (uintptr_t)block);
		if (record) {
			*out = (struct dray_origin){
				.size = record->is.size,
				.count = record->is.site_count,
			};
			if (out->count > DRAY_ORIGIN_SITES)
				out->count = DRAY_ORIGIN_SITES;
			memcpy(out->sites, record->sites,
			       out->count * sizeof(void *));
		}
		dray_guard_give(&tracking->guard);
	}
	pthread_mutex_unlock(&list_lock);
	return record;
}

static void tracking_enlist(struct tracking *tracking)
{
	dray_fork_enlist(&locks);
	dray_origin_set_find(tracking_find_origin);
	pthread_mutex_lock(&list_lock);
	tracking->next = trackings;
	trackings = tracking;
	pthread_mutex_unlock(&list_lock);
}

static void tracking_unlist(struct tracking *tracking)
{
	struct tracking **link = &trackings;

	pthread_mutex_lock(&list_lock);
	while (*link != tracking)
		link = &(*link)->next;
	*link = tracking->next;
	pthread_mutex_unlock(&list_lock);
}

static void tracking_destroy(void *ctx)
{
	struct tracking *tracking = ctx;

	tracking_unlist(tracking);
	/* It ends after its last block, so no record is left. */
	dray_address_end(&tracking->table);
	dray_guard_end(&tracking->guard);
	dray_upstream_destroy(ctx);
}

int dray_resource_tracking(struct dray_resource *upstream, size_t sites,
			   struct dray_resource **out)
{
	static const struct dray_resource_ops ops = {
		.size = sizeof(ops),
		.name = "tracking",
		.allocate = tracking_allocate,
		.deallocate = tracking_deallocate,
		.capacity = dray_upstream_capacity,
		.destroy = tracking_destroy,
	};
	struct tracking *tracking;
	int ret;

	if (sites > DRAY_TRACKING_SITES)
		return dray_fail(-EINVAL, "%zu call sites, at most %d are kept",
				 sites, DRAY_TRACKING_SITES);
	tracking = calloc(1, sizeof(*tracking));
	ret = dray_resource_stack(&ops, tracking, upstream, out);
	if (ret)
		return ret;
	tracking->sites = sites;
	dray_guard_init(&tracking->guard);
	tracking_enlist(tracking);
	return 0;
}

static struct tracking *tracking_of(struct dray_resource *resource)
{
	return dray_resource_context(resource, tracking_allocate, "tracking");
}

int dray_tracking_get(struct dray_resource *resource, struct dray_tracking *out)
{
	struct tracking *tracking = tracking_of(resource);
	struct dray_tracking known;

	if (!tracking || !dray_given(out, __func__))
		return -EINVAL;
	dray_guard_take(&tracking->guard);
	known = tracking->numbers;
	dray_guard_give(&tracking->guard);
	return DRAY_WRITE_RESULT(out, &known, DRAY_TRACKING_SIZE_FIRST);
}

/* A copy of the live blocks, to show without the guard. */
struct tracking_snapshot {
	struct dray_outstanding *blocks;
	void **sites;
	size_t count;
};

static int tracking_oldest_first(const void *a, const void *b)
{
	const struct dray_outstanding *first = a, *second = b;

	return first->number < second->number ? -1 : 1;
}

/* Called with the guard. */
static bool take_snapshot(const struct tracking *tracking,
			  struct tracking_snapshot *snapshot)
{
	size_t count = tracking->table.count, i;

	snapshot->blocks = calloc(count + 1, sizeof(*snapshot->blocks));
	snapshot->sites = calloc(count * tracking->sites + 1, sizeof(void *));
	if (!snapshot->blocks || !snapshot->sites)
		return false;
	for (i = 0; i < tracking->table.size; i++) {
		const struct tracking_record *record =
			tracking->table.slots[i].value;
		struct dray_outstanding *copy =
			&snapshot->blocks[snapshot->count];
		void **sites =
			snapshot->sites + snapshot->count * tracking->sites;

		if (!record)
			continue;
		*copy = record->is;
		memcpy(sites, record->sites,
		       record->is.site_count * sizeof(void *));
		copy->sites = sites;
		snapshot->count++;
	}
	return true;
}

int dray_tracking_visit(struct dray_resource *resource,
			int (*visit)(void *ctx,
				     const struct dray_outstanding *block),
			void *ctx)
{
	struct tracking *tracking = tracking_of(resource);
	struct tracking_snapshot snapshot = { .count = 0 };
	size_t i;
	int ret = 0;

	if (!tracking || !dray_given((const void *)(uintptr_t)visit, __func__))
		return -EINVAL;
	dray_guard_take(&tracking->guard);
	if (!take_snapshot(tracking, &snapshot))
		ret = dray_fail(-ENOMEM, "no memory for a list of blocks");
	dray_guard_give(&tracking->guard);
	if (!ret)
		qsort(snapshot.blocks, snapshot.count, sizeof(*snapshot.blocks),
		      tracking_oldest_first);
	for (i = 0; !ret && i < snapshot.count; i++)
		ret = visit(ctx, &snapshot.blocks[i]);
	free(snapshot.blocks);
	free(snapshot.sites);
	return ret;
}

/* A report, and its sums. */
struct tracking_report {
	FILE *file;
	struct dray_symbols symbols;
	size_t blocks, bytes;
};

static int report_block(void *ctx, const struct dray_outstanding *block)
{
	struct tracking_report *report = ctx;
	size_t i;

	fprintf(report->file, "%p: %zu byte%s\n", block->block, block->size,
		dray_plural(block->size));
	for (i = 0; i < block->site_count; i++) {
		fputs("    ", report->file);
		dray_call_site_print(report->file, block->sites[i],
				     &report->symbols);
		fputc('\n', report->file);
	}
	report->blocks++;
	report->bytes += block->size;
	return 0;
}

int dray_tracking_report(struct dray_resource *resource, FILE *file)
{
	DRAY_NO_CANCEL;
	struct tracking_report report = { .file = file };
	int ret;

	if (!dray_given(file, __func__))
		return -EINVAL;
	dray_symbols_begin(&report.symbols);
	ret = dray_tracking_visit(resource, report_block, &report);
	dray_symbols_end(&report.symbols);
	if (ret)
		return ret;
	fprintf(file, "%zu block%s of %zu byte%s %s out\n", report.blocks,
		dray_plural(report.blocks), report.bytes,
		dray_plural(report.bytes), report.blocks == 1 ? "is" : "are");
	if (fflush(file) || ferror(file))
		return dray_fail(-EIO, "not all of the report was written");
	return 0;
}
