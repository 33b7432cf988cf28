// SPDX-License-Identifier: Apache-2.0 OR MIT
/* resource: blocks of one size, and bins of them. */
#include "resource.h"

static struct dray_resource *fixed(struct dray_pool *pool, size_t size,
				   uint32_t blocks)
{
	return STACK(pool, dray_resource_fixed(upstream, size, blocks, &top));
}

POOL_FACT(blocks_of_a_chunk_lie_side_by_side)
{
	struct dray_resource *resource = fixed(*state, 200, 4);
	char *blocks[8];

	assert_int_equal(stats_of(*state).blocks, 0);
	for (int i = 0; i < 8; i++) {
		blocks[i] = allocate(resource, 1 + i, 0);
		memset(blocks[i], i, 256);
		assert_ptr_equal(blocks[i], blocks[i & 4] + 256 * (i & 3));
	}
	assert_int_equal(stats_of(*state).blocks, 2);
	assert_int_equal(stats_of(*state).used, 2 * 4 * 256);
	for (int i = 0; i < 8; i++) {
		assert_true(all_bytes_are(blocks[i], i, 256));
		give_back(resource, blocks[i], 1 + i);
	}
	/* Chunks are kept, and used again. */
	assert_int_equal(stats_of(*state).blocks, 2);
	assert_ptr_equal(allocate(resource, 1, 0), blocks[7]);
	give_back(resource, blocks[7], 1);
	dray_resource_unref(resource);
}

POOL_FACT(blocks_are_aligned_as_their_size_is)
{
	static const struct {
		size_t size, alignment;
	} rows[] = {
		{ 1, 128 },	{ 128, 128 },	{ 384, 128 },
		{ 1024, 1024 }, { 4096, 4096 }, { 65536, 4096 },
	};
	struct dray_resource *resource;
	void *block, *out;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		resource = fixed(*state, rows[i].size, 3);
		block = allocate(resource, 1, rows[i].alignment);
		assert_int_equal((uintptr_t)block % rows[i].alignment, 0);
		assert_fails(dray_resource_allocate(resource, 1,
						    2 * rows[i].alignment, 0,
						    &out),
			     -EINVAL, "an alignment of");
		give_back(resource, block, 1);
		dray_resource_unref(resource);
	}
}

POOL_FACT(a_request_above_the_block_size_is_refused)
{
	struct dray_resource *resource = fixed(*state, 200, 4);
	void *out, *block = allocate(resource, 256, 0);

	assert_fails(dray_resource_allocate(resource, 257, 0, 0, &out), -EINVAL,
		     "257 bytes, blocks here have 256");
	give_back(resource, block, 256);
	dray_resource_unref(resource);
}

POOL_FACT(what_is_no_block_is_refused)
{
	struct dray_resource *resource = fixed(*state, 256, 4);
	char *block = allocate(resource, 1, 0);
	char *kept = allocate(resource, 1, 0);
	int local;

	assert_fails(dray_resource_deallocate(resource, block + 128, 1, 0),
		     -EINVAL, "no block of 256 bytes that is out");
	assert_fails(dray_resource_deallocate(resource, &local, 1, 0), -EINVAL,
		     "no block");
	/* Of the chunk, but never handed out. */
	assert_fails(dray_resource_deallocate(resource, block + 3 * 256, 1, 0),
		     -EINVAL, "no block");
	assert_fails(dray_resource_deallocate(resource, block + 4 * 256, 1, 0),
		     -EINVAL, "no block");
	give_back(resource, block, 1);
	assert_fails(dray_resource_deallocate(resource, block, 1, 0), -EINVAL,
		     "no block");
	assert_ptr_equal(allocate(resource, 1, 0), block);
	assert_ptr_not_equal(allocate(resource, 1, 0), block);
	give_back(resource, block, 1);
	give_back(resource, block + 2 * 256, 1);
	give_back(resource, kept, 1);
	dray_resource_unref(resource);
}

POOL_FACT(sizes_that_cannot_be_are_refused)
{
	struct dray_resource *upstream = pool_resource(*state), *out = NULL;

	assert_fails(dray_resource_fixed(upstream, 0, 4, &out), -EINVAL,
		     "4 blocks of 0 bytes");
	assert_fails(dray_resource_fixed(upstream, SIZE_MAX, 1, &out), -EINVAL,
		     "chunks of 1");
	assert_fails(dray_resource_fixed(upstream, SIZE_MAX / 4, 5, &out),
		     -EINVAL, "chunks of 5");
	assert_fails(dray_resource_binning(upstream, 9, 8, &out), -EINVAL,
		     "2^9 to 2^8");
	assert_fails(dray_resource_binning(upstream, 8, 41, &out), -EINVAL,
		     "2^8 to 2^41");
	assert_null(out);
	dray_resource_unref(upstream);
}

POOL_FACT(what_is_free_here_counts_as_free)
{
	struct dray_resource *limit =
		STACK(*state, dray_resource_limit(upstream, 1 << 20, &top));
	struct dray_resource *resource = NULL;
	struct dray_capacity capacity;
	void *block;

	assert_works(dray_resource_fixed(limit, 1 << 18, 2, &resource));
	block = allocate(resource, 1, 0);
	assert_works(dray_resource_capacity(resource, &capacity));
	assert_int_equal(capacity.total, 1 << 20);
	assert_int_equal(capacity.free, 3 << 18);
	give_back(resource, block, 1);
	dray_resource_unref(resource);
	dray_resource_unref(limit);
}

static struct dray_resource *bins(struct dray_pool *pool, uint32_t smallest,
				  uint32_t largest)
{
	return STACK(pool,
		     dray_resource_binning(upstream, smallest, largest, &top));
}

struct returning {
	struct dray_resource *resource;
	void *block;
};

/* Upstream refuses; meanwhile somebody gives a block back. */
static bool give_it_back(void *ctx, size_t size, int error)
{
	struct returning *returning = ctx;

	if (returning->block)
		give_back(returning->resource, returning->block, 100);
	returning->block = NULL;
	return false;
}

POOL_FACT(a_block_that_comes_back_while_upstream_refuses_is_taken)
{
	struct dray_resource *source, *limited, *asking;
	struct returning returning;
	void *block;

	assert_works(dray_resource_pool(*state, &source));
	/* A chunk of one block, and no more. */
	assert_works(dray_resource_limit(source, 128, &limited));
	assert_works(dray_resource_on_failure(limited, give_it_back, &returning,
					      &asking));
	assert_works(dray_resource_fixed(asking, 100, 1, &returning.resource));
	returning.block = allocate(returning.resource, 100, 0);
	block = allocate(returning.resource, 100, 0);
	assert_null(returning.block);
	/* Nobody has one to give back now. */
	assert_true(dray_resource_allocate(returning.resource, 100, 0, 0,
					   &returning.block) < 0);
	returning.block = NULL;
	give_back(returning.resource, block, 100);
	block = allocate(returning.resource, 100, 0);
	give_back(returning.resource, block, 100);
	dray_resource_unref(returning.resource);
	dray_resource_unref(asking);
	dray_resource_unref(limited);
	dray_resource_unref(source);
}

POOL_FACT(each_size_goes_to_the_smallest_bin_that_holds_it)
{
	struct dray_resource *resource = bins(*state, 8, 10);
	char *a = allocate(resource, 256, 0), *b = allocate(resource, 1, 0);
	char *c = allocate(resource, 257, 0), *d = allocate(resource, 1024, 0);
	char *large = allocate(resource, 1025, 0);
	char *aligned = allocate(resource, 300, 8192);

	/* Two of one chunk; one each of others; two of the pool's. */
	assert_ptr_equal(b, a + 256);
	assert_int_equal(stats_of(*state).blocks, 5);
	assert_int_equal((uintptr_t)aligned % 8192, 0);
	/* With sizes that lead to other bins. */
	give_back(resource, a, 5000);
	give_back(resource, b, 1024);
	give_back(resource, c, 1);
	give_back(resource, d, 1);
	assert_int_equal(stats_of(*state).blocks, 5);
	give_back(resource, large, 1);
	give_back(resource, aligned, 0);
	assert_int_equal(stats_of(*state).blocks, 3);
	assert_fails(dray_resource_deallocate(resource, a, 256, 0), -EINVAL,
		     "no block");
	dray_resource_unref(resource);
}

POOL_FACT(bins_can_be_added_up_to_a_number)
{
	struct dray_resource *resource = bins(*state, 9, 9);
	char *first, *second;

	assert_works(dray_binning_add(resource, 768, 2));
	assert_works(dray_binning_add(resource, 768, 9));
	first = allocate(resource, 600, 0);
	second = allocate(resource, 768, 256);
	assert_ptr_equal(second, first + 768);
	for (size_t i = 2; i < DRAY_BINNING_BINS; i++)
		assert_works(dray_binning_add(resource, 768 + i, 1));
	assert_fails(dray_binning_add(resource, 5000, 1), -ENOSPC, "64 bins");
	assert_fails(dray_binning_add(resource, 0, 1), -EINVAL, "0 bytes");
	give_back(resource, first, 600);
	give_back(resource, second, 768);
	dray_resource_unref(resource);
}

static void *churn(void *resource)
{
	struct dice dice = { (uintptr_t)&dice | 1 };
	unsigned char *blocks[20] = { NULL };
	size_t sizes[20], i, n;

	for (n = 0; n < 5000; n++) {
		i = roll(&dice, 20);
		if (!blocks[i]) {
			sizes[i] = roll(&dice, 6000);
			if (dray_resource_allocate(resource, sizes[i], 0, 0,
						   (void **)&blocks[i]))
				abort();
			memset(blocks[i], (int)i, sizes[i]);
			continue;
		}
		if (!all_bytes_are(blocks[i], (int)i, sizes[i]) ||
		    dray_resource_deallocate(resource, blocks[i], sizes[i], 0))
			abort();
		blocks[i] = NULL;
	}
	for (i = 0; i < 20; i++)
		if (dray_resource_deallocate(resource, blocks[i], sizes[i], 0))
			abort();
	return NULL;
}

POOL_FACT(threads_share_bins)
{
	struct dray_resource *resource = bins(*state, 7, 12);
	pthread_t threads[4];
	int i;

	for (i = 0; i < 4; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, churn, resource), 0);
	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	dray_resource_unref(resource);
}
