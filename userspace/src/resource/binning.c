// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Bins: each a resource of blocks of one size, and upstream for what fits
 * none.  A block that comes back is looked for where it is, not where the size
 * that came with it would have it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/guard.h"
#include "resource/resource.h"

#define LARGEST_EXPONENT 40
#define CHUNK ((size_t)1 << 20)
#define MOST_BLOCKS 128

struct bin {
	size_t block_size; /* as it was asked for */
	struct dray_resource *fixed;
};

struct binning {
	struct dray_resource *upstream;
	struct dray_guard guard;
	struct bin bins[DRAY_BINNING_BINS]; /* by size */
	size_t count;
};

/* With the guard: the first bin of at least @size bytes. */
static size_t first_bin(const struct binning *binning, size_t size)
{
	size_t i = 0;

	while (i < binning->count && binning->bins[i].block_size < size)
		i++;
	return i;
}

/* Where requests of that size go; bins stay as long as the resource. */
static struct dray_resource *bin_for(struct binning *binning, size_t size,
				     size_t alignment)
{
	struct dray_resource *fixed = NULL;
	size_t i;

	dray_guard_take(&binning->guard);
	i = first_bin(binning, size);
	if (i < binning->count) {
		size_t bytes = binning->bins[i].block_size;

		if (alignment <= 128 ||
		    (alignment <= 4096 && bytes % alignment == 0))
			fixed = binning->bins[i].fixed;
	}
	dray_guard_give(&binning->guard);
	return fixed ? fixed : binning->upstream;
}

static int binning_allocate(void *ctx, size_t size, size_t alignment,
			    uint64_t stream, void **out)
{
	struct binning *binning = ctx;

	return dray_resource_allocate(bin_for(binning, size, alignment), size,
				      alignment, stream, out);
}

static int binning_deallocate(void *ctx, void *block, size_t size,
			      uint64_t stream)
{
	struct binning *binning = ctx;
	struct dray_resource *bins[DRAY_BINNING_BINS];
	size_t count, i;

	dray_guard_take(&binning->guard);
	count = binning->count;
	for (i = 0; i < count; i++)
		bins[i] = binning->bins[i].fixed;
	dray_guard_give(&binning->guard);
	for (i = 0; i < count; i++)
		if (dray_fixed_owns(bins[i], block))
			return dray_resource_deallocate(bins[i], block, size,
							stream);
	return dray_resource_deallocate(binning->upstream, block, size, stream);
}

static void binning_destroy(void *ctx)
{
	struct binning *binning = ctx;
	size_t i;

	for (i = 0; i < binning->count; i++)
		dray_resource_unref(binning->bins[i].fixed);
	dray_guard_end(&binning->guard);
	dray_upstream_destroy(ctx);
}

/* With the guard.  False where the bin is not needed, or has no room. */
static bool insert(struct binning *binning, const struct bin *bin, int *ret)
{
	size_t at = first_bin(binning, bin->block_size);

	if (at < binning->count &&
	    binning->bins[at].block_size == bin->block_size)
		return false;
	if (binning->count == DRAY_BINNING_BINS) {
		*ret = dray_fail(-ENOSPC, "there are %d bins",
				 DRAY_BINNING_BINS);
		return false;
	}
	memmove(binning->bins + at + 1, binning->bins + at,
		(binning->count - at) * sizeof(*bin));
	binning->bins[at] = *bin;
	binning->count++;
	return true;
}

int dray_binning_add(struct dray_resource *resource, size_t block_size,
		     uint32_t blocks)
{
	struct binning *binning =
		dray_resource_context(resource, binning_allocate, "binning");
	struct bin bin = { .block_size = block_size };
	bool inserted;
	int ret;

	if (!binning)
		return -EINVAL;
	ret = dray_resource_fixed(binning->upstream, block_size, blocks,
				  &bin.fixed);
	if (ret)
		return ret;
	dray_guard_take(&binning->guard);
	inserted = insert(binning, &bin, &ret);
	dray_guard_give(&binning->guard);
	if (!inserted)
		dray_resource_unref(bin.fixed);
	return ret;
}

static uint32_t blocks_for(size_t block_size)
{
	size_t blocks = CHUNK / block_size;

	if (blocks > MOST_BLOCKS)
		return MOST_BLOCKS;
	return blocks ? (uint32_t)blocks : 1;
}

int dray_resource_binning(struct dray_resource *upstream, uint32_t smallest,
			  uint32_t largest, struct dray_resource **out)
{
	static const struct dray_resource_ops ops = {
		.size = sizeof(ops),
		.name = "binning",
		.allocate = binning_allocate,
		.deallocate = binning_deallocate,
		.capacity = dray_upstream_capacity,
		.destroy = binning_destroy,
	};
	struct dray_resource *resource;
	struct binning *binning;
	uint32_t i;
	int ret;

	if (!dray_given(out, __func__))
		return -EINVAL;
	if (smallest > largest || largest > LARGEST_EXPONENT ||
	    largest >= 8 * sizeof(size_t) - 1)
		return dray_fail(-EINVAL,
				 "bins from 2^%u to 2^%u bytes, at most 2^%d "
				 "is possible",
				 smallest, largest, LARGEST_EXPONENT);
	binning = calloc(1, sizeof(*binning));
	ret = dray_resource_stack(&ops, binning, upstream, &resource);
	if (ret)
		return ret;
	dray_guard_init(&binning->guard);
	for (i = smallest; !ret && i <= largest; i++) {
		size_t block_size = (size_t)1 << i;

		ret = dray_binning_add(resource, block_size,
				       blocks_for(block_size));
	}
	if (ret)
		dray_resource_unref(resource);
	else
		*out = resource;
	return ret;
}
