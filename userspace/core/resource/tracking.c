// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tracking: a table of all blocks that are out.  A block leaves it before
 * upstream has it back, because from then on its address may be another's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "live/live.h"
#include "resource/resource.h"

struct tracking_record {
	struct dray_live live;
	void *sites[];
};

struct tracking {
	struct dray_resource *upstream;
	struct dray_live_table table;
};

static int no_record(void)
{
	return dray_fail(-ENOMEM, "no memory to track a block");
}

static int tracking_allocate(void *ctx, size_t size, size_t alignment,
			     uint64_t stream, void **out)
{
	struct tracking *tracking = ctx;
	struct tracking_record *record =
		calloc(1, sizeof(*record) + tracking->table.sites *
						    sizeof(*record->sites));
	int ret;

	if (!record)
		return no_record();
	ret = dray_resource_allocate(tracking->upstream, size, alignment,
				     stream, out);
	if (ret) {
		free(record);
		return ret;
	}
	record->live = (struct dray_live){
		.is.block = *out,
		.is.size = size,
		.is.stream = stream,
		.is.sites = record->sites,
		.is.site_count =
			dray_call_sites(record->sites, tracking->table.sites),
	};
	if (dray_live_enter(&tracking->table, &record->live))
		return 0;
	dray_resource_deallocate(tracking->upstream, *out, size, stream);
	free(record);
	return no_record();
}

static int tracking_deallocate(void *ctx, void *block, size_t size,
			       uint64_t stream)
{
	struct tracking *tracking = ctx;
	struct dray_live *live;
	int ret;

	dray_guard_take(&tracking->table.guard);
	live = dray_live_claim(&tracking->table, block);
	if (live) {
		dray_live_retire(&tracking->table, live, &size);
		dray_live_forget(&tracking->table, live);
	}
	dray_guard_give(&tracking->table.guard);
	if (!live)
		return dray_fail(-EINVAL,
				 "free of %p, which is not an allocated block",
				 block);
	ret = dray_resource_deallocate(tracking->upstream, block, live->is.size,
				       stream);
	/* Others may have taken the room that it had. */
	if (ret && dray_live_enter(&tracking->table, live))
		return ret;
	free(live);
	return ret;
}

static void tracking_destroy(void *ctx)
{
	struct tracking *tracking = ctx;

	/* It ends after its last block, so no record is left. */
	dray_live_end(&tracking->table);
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
	dray_live_begin(&tracking->table, sites);
	return 0;
}

static struct tracking *tracking_of(struct dray_resource *resource)
{
	return dray_resource_context(resource, tracking_allocate, "tracking");
}

int dray_tracking_get(struct dray_resource *resource, struct dray_tracking *out)
{
	struct tracking *tracking = tracking_of(resource);
	struct dray_check numbers;
	struct dray_tracking known;

	if (!tracking || !dray_given(out, __func__))
		return -EINVAL;
	numbers = dray_live_count(&tracking->table);
	known = (struct dray_tracking){
		.blocks = numbers.blocks,
		.bytes = numbers.bytes,
		.bad_frees = numbers.bad_frees,
		.wrong_sizes = numbers.wrong_sizes,
	};
	return DRAY_WRITE_RESULT(out, &known, DRAY_TRACKING_SIZE_FIRST);
}

int dray_tracking_visit(struct dray_resource *resource,
			int (*visit)(void *ctx,
				     const struct dray_outstanding *block),
			void *ctx)
{
	struct tracking *tracking = tracking_of(resource);
	struct dray_live *list;
	size_t count, i;
	int ret = 0;

	if (!tracking || !dray_given((const void *)(uintptr_t)visit, __func__))
		return -EINVAL;
	list = dray_live_list(&tracking->table, &count);
	if (!list)
		return -ENOMEM;
	for (i = 0; !ret && i < count; i++)
		ret = visit(ctx, &list[i].is);
	free(list);
	return ret;
}

int dray_tracking_report(struct dray_resource *resource, FILE *file)
{
	struct tracking *tracking = tracking_of(resource);

	if (!tracking || !dray_given(file, __func__))
		return -EINVAL;
	return dray_live_report(&tracking->table, file, "");
}
