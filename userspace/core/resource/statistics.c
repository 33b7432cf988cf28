// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Statistics: counters in scopes that nest.  A scope begins at 0, so that its
 * peak is its own; when it ends, its peak is added to the level before it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/guard.h"
#include "base/options.h"
#include "resource/resource.h"

struct scope {
	struct dray_statistics numbers;
	struct scope *outer;
};

struct statistics {
	struct dray_resource *upstream;
	struct dray_guard guard;
	struct scope all;
	struct scope *innermost;
};

static void statistics_add(struct dray_count *count, int64_t more)
{
	count->now += more;
	count->total += more;
	if (count->now > count->peak)
		count->peak = count->now;
}

static void add_scope(struct dray_count *count, const struct dray_count *inner)
{
	if (count->now + inner->peak > count->peak)
		count->peak = count->now + inner->peak;
	count->now += inner->now;
	count->total += inner->total;
}

static int statistics_allocate(void *ctx, size_t size, size_t alignment,
			       uint64_t stream, void **out)
{
	struct statistics *statistics = ctx;
	int ret = dray_resource_allocate(statistics->upstream, size, alignment,
					 stream, out);

	if (ret)
		return ret;
	dray_guard_take(&statistics->guard);
	statistics_add(&statistics->innermost->numbers.bytes, (int64_t)size);
	statistics_add(&statistics->innermost->numbers.blocks, 1);
	dray_guard_give(&statistics->guard);
	return 0;
}

static int statistics_deallocate(void *ctx, void *block, size_t size,
				 uint64_t stream)
{
	struct statistics *statistics = ctx;
	int ret = dray_resource_deallocate(statistics->upstream, block, size,
					   stream);

	if (ret)
		return ret;
	dray_guard_take(&statistics->guard);
	statistics->innermost->numbers.bytes.now -= (int64_t)size;
	statistics->innermost->numbers.blocks.now--;
	dray_guard_give(&statistics->guard);
	return 0;
}

static void statistics_destroy(void *ctx)
{
	struct statistics *statistics = ctx;

	while (statistics->innermost != &statistics->all) {
		struct scope *scope = statistics->innermost;

		statistics->innermost = scope->outer;
		free(scope);
	}
	dray_guard_end(&statistics->guard);
	dray_upstream_destroy(ctx);
}

int dray_resource_statistics(struct dray_resource *upstream,
			     struct dray_resource **out)
{
	static const struct dray_resource_ops ops = {
		.size = sizeof(ops),
		.name = "statistics",
		.allocate = statistics_allocate,
		.deallocate = statistics_deallocate,
		.capacity = dray_upstream_capacity,
		.destroy = statistics_destroy,
	};
	struct statistics *statistics = calloc(1, sizeof(*statistics));
	int ret = dray_resource_stack(&ops, statistics, upstream, out);

	if (ret)
		return ret;
	statistics->innermost = &statistics->all;
	dray_guard_init(&statistics->guard);
	return 0;
}

static struct statistics *statistics_of(struct dray_resource *resource)
{
	return dray_resource_context(resource, statistics_allocate,
				     "statistics");
}

int dray_statistics_get(struct dray_resource *resource,
			struct dray_statistics *out)
{
	struct statistics *statistics = statistics_of(resource);
	struct dray_statistics known;

	if (!statistics || !dray_given(out, __func__))
		return -EINVAL;
	dray_guard_take(&statistics->guard);
	known = statistics->innermost->numbers;
	dray_guard_give(&statistics->guard);
	return DRAY_WRITE_RESULT(out, &known, DRAY_STATISTICS_SIZE_FIRST);
}

int dray_statistics_push(struct dray_resource *resource)
{
	struct statistics *statistics = statistics_of(resource);
	struct scope *scope;

	if (!statistics)
		return -EINVAL;
	scope = calloc(1, sizeof(*scope));
	if (!scope)
		return dray_fail(-ENOMEM, "no memory for a scope");
	dray_guard_take(&statistics->guard);
	scope->outer = statistics->innermost;
	statistics->innermost = scope;
	dray_guard_give(&statistics->guard);
	return 0;
}

int dray_statistics_pop(struct dray_resource *resource,
			struct dray_statistics *out)
{
	struct statistics *statistics = statistics_of(resource);
	struct scope *scope, *outer;
	int ret = 0;

	if (!statistics)
		return -EINVAL;
	if (out)
		ret = dray_result_check(out, DRAY_STATISTICS_SIZE_FIRST,
					__func__);
	if (ret)
		return ret;
	dray_guard_take(&statistics->guard);
	scope = statistics->innermost;
	outer = scope->outer;
	if (outer) {
		add_scope(&outer->numbers.bytes, &scope->numbers.bytes);
		add_scope(&outer->numbers.blocks, &scope->numbers.blocks);
		statistics->innermost = outer;
	}
	dray_guard_give(&statistics->guard);
	if (!outer)
		return dray_fail(-EINVAL,
				 "the end of a scope without its begin");
	if (out)
		ret = DRAY_WRITE_RESULT(out, &scope->numbers,
					DRAY_STATISTICS_SIZE_FIRST);
	free(scope);
	return ret;
}
