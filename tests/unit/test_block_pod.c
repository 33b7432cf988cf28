// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * block_pod: arenas, over a pool and over the heap, through the allocator that
 * every producer of elements of variable size uses.
 */
#include "pool.h"

struct arena {
	struct dray_block *block;
	const struct dray_block_allocator *with;
	char *begin, *end;
};

static struct arena arena_over(struct dray_pool *pool, uint32_t type)
{
	struct arena arena = { 0 };

	assert_works(type == DRAY_BLOCK_POD
			     ? dray_block_create_pod(pool, &arena.block)
			     : dray_block_create_zeroed(pool, &arena.block));
	assert_int_equal(dray_block_type(arena.block), type);
	assert_works(dray_block_get_allocator(arena.block, &arena.with));
	assert_true(arena.with->size >=
		    offsetof(struct dray_block_allocator, reset));
	return arena;
}

static void allocate(struct arena *arena, size_t size, size_t alignment)
{
	assert_works(arena->with->allocate(arena->block, size, alignment,
					   &arena->begin, &arena->end));
	assert_int_equal(arena->end - arena->begin, size);
	if (alignment)
		assert_int_equal((uintptr_t)arena->begin % alignment, 0);
}

static void resize(struct arena *arena, size_t size)
{
	assert_works(arena->with->resize(arena->block, size, &arena->begin,
					 &arena->end));
	assert_int_equal(arena->end - arena->begin, size);
}

FACT(the_first_chunk_has_2048_bytes)
{
	struct arena arena = arena_over(NULL, DRAY_BLOCK_POD);

	assert_null(dray_block_data(arena.block));
	assert_true(dray_block_writable(arena.block));
	assert_int_equal(dray_block_size(arena.block), 0);
	allocate(&arena, 1, 1);
	assert_int_equal(dray_block_size(arena.block), 2048);
	allocate(&arena, 2047, 1);
	assert_int_equal(dray_block_size(arena.block), 2048);
	dray_block_unref(arena.block);
}

POOL_FACT(chunks_double_or_are_as_long_as_is_asked)
{
	struct arena arena = arena_over(*state, DRAY_BLOCK_POD);

	allocate(&arena, 2048, 1);
	allocate(&arena, 1, 1);
	assert_int_equal(dray_block_size(arena.block), 2048 + 4096);
	allocate(&arena, 4096, 1);
	assert_int_equal(dray_block_size(arena.block), 2048 + 4096 + 8192);
	allocate(&arena, 100000, 1);
	assert_int_equal(dray_block_size(arena.block),
			 2048 + 4096 + 8192 + 100000);
	assert_int_equal(stats_of(*state).blocks, 4);
	dray_block_unref(arena.block);
}

POOL_FACT(elements_lie_one_behind_the_other)
{
	struct arena arena = arena_over(*state, DRAY_BLOCK_POD);
	char *last;

	allocate(&arena, 10, 1);
	last = arena.end;
	allocate(&arena, 3, 1);
	assert_ptr_equal(arena.begin, last);
	allocate(&arena, 0, 0);
	assert_ptr_equal(arena.begin, last + 3);
	dray_block_unref(arena.block);
}

POOL_FACT(elements_are_in_the_pool)
{
	struct arena arena = arena_over(*state, DRAY_BLOCK_ZEROED);
	struct dray_location where;

	allocate(&arena, 100, 8);
	assert_works(dray_locate(arena.begin, &where));
	assert_ptr_equal(where.pool, *state);
	dray_block_unref(arena.block);
}

POOL_FACT(elements_start_at_their_alignment)
{
	for (int pooled = 0; pooled < 2; pooled++) {
		struct arena arena =
			arena_over(pooled ? *state : NULL, DRAY_BLOCK_POD);

		for (size_t alignment = 1; alignment <= 1 << 16;
		     alignment *= 2) {
			allocate(&arena, 1, 1);
			allocate(&arena, 5, alignment);
		}
		dray_block_unref(arena.block);
	}
}

POOL_FACT(the_last_element_grows_in_place_while_it_fits)
{
	struct arena arena = arena_over(*state, DRAY_BLOCK_POD);
	char *begin;

	allocate(&arena, 10, 1);
	begin = arena.begin;
	memcpy(begin, "0123456789", 10);
	resize(&arena, 2048);
	assert_ptr_equal(arena.begin, begin);
	resize(&arena, 4);
	assert_ptr_equal(arena.begin, begin);
	assert_memory_equal(begin, "0123", 4);
	allocate(&arena, 1, 1);
	assert_ptr_equal(arena.begin, begin + 4);
	dray_block_unref(arena.block);
}

POOL_FACT(an_element_that_moves_keeps_bytes_and_alignment)
{
	struct arena arena = arena_over(*state, DRAY_BLOCK_POD);
	char *first, *begin;

	allocate(&arena, 1000, 1);
	first = memset(arena.begin, 9, 1000);
	allocate(&arena, 500, 512);
	begin = memset(arena.begin, 7, 500);
	resize(&arena, 3000);
	assert_ptr_not_equal(arena.begin, begin);
	assert_int_equal((uintptr_t)arena.begin % 512, 0);
	assert_true(all_bytes_are(arena.begin, 7, 500));
	memset(arena.begin, 8, 3000);
	assert_true(all_bytes_are(first, 9, 1000));
	dray_block_unref(arena.block);
}

POOL_FACT(an_element_that_grows_and_grows_leaves_no_chunks)
{
	struct arena arena = arena_over(*state, DRAY_BLOCK_POD);

	allocate(&arena, 1, 1);
	*arena.begin = 'x';
	for (size_t size = 2; size <= 1 << 20; size *= 2)
		resize(&arena, size);
	assert_int_equal(*arena.begin, 'x');
	assert_int_equal(stats_of(*state).blocks, 1);
	assert_int_equal(dray_block_size(arena.block), 1 << 20);
	dray_block_unref(arena.block);
}

POOL_FACT(only_the_last_element_may_be_resized)
{
	struct arena arena = arena_over(*state, DRAY_BLOCK_POD), old;

	/* before there is any */
	assert_fails(arena.with->resize(arena.block, 1, &arena.begin,
					&arena.end),
		     -EINVAL, "not the last element");
	allocate(&arena, 10, 1);
	old = arena;
	allocate(&arena, 10, 1);
	assert_fails(arena.with->resize(arena.block, 20, &old.begin, &old.end),
		     -EINVAL, "not the last element");
	assert_int_equal(old.end - old.begin, 10);
	old = arena;
	resize(&arena, 20);
	/* the last one, but as it was before */
	assert_fails(arena.with->resize(arena.block, 30, &old.begin, &old.end),
		     -EINVAL, "not the last element");
	/* one of another arena */
	old = arena_over(NULL, DRAY_BLOCK_POD);
	allocate(&old, 20, 1);
	assert_fails(arena.with->resize(arena.block, 30, &old.begin, &old.end),
		     -EINVAL, "not the last element");
	resize(&arena, 40);
	dray_block_unref(old.block);
	dray_block_unref(arena.block);
}

POOL_FACT(after_finalize_nothing_changes)
{
	struct arena arena = arena_over(*state, DRAY_BLOCK_POD), before;

	allocate(&arena, 10, 1);
	memcpy(arena.begin, "0123456789", 10);
	assert_works(arena.with->finalize(arena.block));
	before = arena;
	assert_fails(arena.with->allocate(arena.block, 1, 1, &arena.begin,
					  &arena.end),
		     -EPERM, "finalized");
	assert_fails(arena.with->resize(arena.block, 1, &arena.begin,
					&arena.end),
		     -EPERM, "finalized");
	assert_fails(arena.with->reset(arena.block), -EPERM, "finalized");
	assert_works(arena.with->finalize(arena.block));
	assert_memory_equal(&arena, &before, sizeof(arena));
	assert_memory_equal(arena.begin, "0123456789", 10);
	dray_block_unref(arena.block);
}

POOL_FACT(finalize_gives_an_empty_chunk_back)
{
	struct arena arena = arena_over(*state, DRAY_BLOCK_POD);

	assert_int_equal(stats_of(*state).blocks, 1);
	assert_works(arena.with->finalize(arena.block));
	assert_int_equal(stats_of(*state).blocks, 0);
	assert_int_equal(dray_block_size(arena.block), 0);
	dray_block_unref(arena.block);
}

POOL_FACT(reset_keeps_the_last_chunk)
{
	struct arena arena = arena_over(*state, DRAY_BLOCK_POD);
	int i, round;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < 10; i++)
			allocate(&arena, 700, 1);
		assert_works(arena.with->reset(arena.block));
		assert_int_equal(stats_of(*state).blocks, 1);
		assert_true(dray_block_size(arena.block) >= 4096);
		assert_fails(arena.with->resize(arena.block, 1, &arena.begin,
						&arena.end),
			     -EINVAL, "not the last element");
	}
	dray_block_unref(arena.block);
}

POOL_FACT(zeroed_bytes_are_zero_whenever_they_are_given_out)
{
	struct dice dice = { 88172645463325252 };
	int i, pooled;

	for (pooled = 0; pooled < 2; pooled++) {
		struct arena arena =
			arena_over(pooled ? *state : NULL, DRAY_BLOCK_ZEROED);
		size_t size = 0, now;

		for (i = 0; i < rounds(3000); i++) {
			now = roll(&dice, 3000);
			if (i && roll(&dice, 2)) {
				resize(&arena, now);
				assert_true(
					all_bytes_are(arena.begin, 0xee,
						      now < size ? now : size));
				if (now > size)
					assert_true(all_bytes_are(
						arena.begin + size, 0,
						now - size));
			} else {
				allocate(&arena, now, 1);
				assert_true(all_bytes_are(arena.begin, 0, now));
			}
			size = now;
			memset(arena.begin, 0xee, size);
			if (roll(&dice, 100) == 0) {
				assert_works(arena.with->reset(arena.block));
				allocate(&arena, 0, 1);
				size = 0;
			}
		}
		dray_block_unref(arena.block);
	}
}

/* A copy of each element beside the arena: all are what they were made. */
POOL_FACT(elements_keep_their_bytes)
{
	enum {
		ELEMENTS = 400
	};
	static char *begin[ELEMENTS];
	static size_t sizes[ELEMENTS];
	struct dice dice = { 2463534242 };
	struct arena arena = arena_over(*state, DRAY_BLOCK_POD);
	int i, j;

	for (i = 0; i < ELEMENTS; i++) {
		size_t size = roll(&dice, 900);

		allocate(&arena, size, (size_t)1 << roll(&dice, 8));
		memset(arena.begin, i, size);
		for (j = (int)roll(&dice, 4); j; j--) {
			size_t now = roll(&dice, 1800);

			resize(&arena, now);
			assert_true(all_bytes_are(arena.begin, (char)i & 0xff,
						  now < size ? now : size));
			memset(arena.begin, i, now);
			size = now;
		}
		begin[i] = arena.begin;
		sizes[i] = size;
	}
	assert_works(arena.with->finalize(arena.block));
	for (i = 0; i < ELEMENTS; i++)
		assert_true(all_bytes_are(begin[i], (char)i & 0xff, sizes[i]));
	dray_block_unref(arena.block);
}

POOL_FACT(bad_requests_change_nothing)
{
	struct arena arena = arena_over(*state, DRAY_BLOCK_POD), before;

	allocate(&arena, 10, 1);
	before = arena;
	assert_fails(arena.with->allocate(arena.block, SIZE_MAX, 1,
					  &arena.begin, &arena.end),
		     -EOVERFLOW, "at most");
	assert_fails(arena.with->allocate(arena.block, PTRDIFF_MAX, 1,
					  &arena.begin, &arena.end),
		     -ENOMEM, "bytes");
	assert_fails(arena.with->allocate(arena.block, 1, 3, &arena.begin,
					  &arena.end),
		     -EINVAL, "not a power of two");
	assert_fails(arena.with->allocate(arena.block, 1, SIZE_MAX / 2 + 1,
					  &arena.begin, &arena.end),
		     -ENOMEM, "");
	assert_fails(arena.with->resize(arena.block, SIZE_MAX, &arena.begin,
					&arena.end),
		     -EOVERFLOW, "at most");
	assert_fails(arena.with->resize(arena.block, PTRDIFF_MAX, &arena.begin,
					&arena.end),
		     -ENOMEM, "bytes");
	assert_fails(arena.with->allocate(arena.block, 1, 1, NULL, &arena.end),
		     -EINVAL, "result pointer is NULL");
	assert_fails(arena.with->resize(arena.block, 1, &arena.begin, NULL),
		     -EINVAL, "result pointer is NULL");
	assert_memory_equal(&arena, &before, sizeof(arena));
	assert_int_equal(stats_of(*state).blocks, 1);
	resize(&arena, 11);
	dray_block_unref(arena.block);
}

POOL_FACT(what_is_no_arena_is_refused)
{
	struct arena arena = arena_over(*state, DRAY_BLOCK_POD);
	struct dray_block *other;

	assert_works(dray_block_create_pooled(*state, 100, 0, &other));
	assert_fails(arena.with->allocate(other, 1, 1, &arena.begin,
					  &arena.end),
		     -EINVAL, "not an arena");
	assert_fails(arena.with->resize(other, 1, &arena.begin, &arena.end),
		     -EINVAL, "not an arena");
	assert_fails(arena.with->finalize(other), -EINVAL, "not an arena");
	assert_fails(arena.with->reset(other), -EINVAL, "not an arena");
	assert_fails(arena.with->finalize(NULL), -EINVAL,
		     "the block or the result pointer is NULL");
	assert_fails(arena.with->reset(NULL), -EINVAL,
		     "the block or the result pointer is NULL");
	dray_block_unref(other);
	dray_block_unref(arena.block);
}

FACT(a_closed_pool_gives_no_more_chunks)
{
	struct dray_pool *pool = open_pool(test_spec(), NULL);
	struct arena arena = arena_over(pool, DRAY_BLOCK_POD);

	dray_pool_close(pool);
	allocate(&arena, 2048, 1);
	memset(arena.begin, 1, 2048);
	assert_fails(arena.with->resize(arena.block, 2049, &arena.begin,
					&arena.end),
		     -ENOMEM, "is closed");
	assert_true(all_bytes_are(arena.begin, 1, 2048));
	dray_block_unref(arena.block);
}

FACT(where_twice_is_too_much_it_takes_what_is_asked)
{
	struct dray_pool_options options = { .initial = 1 << 20,
					     .limit = 1 << 20 };
	struct dray_pool *pool = open_pool(test_spec(), &options);
	struct arena arena = arena_over(pool, DRAY_BLOCK_POD);

	/* Twice the 600 KiB that are there is more than the pool may have. */
	allocate(&arena, 600 << 10, 1);
	allocate(&arena, 100 << 10, 1);
	assert_int_equal(stats_of(pool).blocks, 3);
	assert_int_equal(dray_block_size(arena.block),
			 2048 + (600 << 10) + (100 << 10));
	dray_block_unref(arena.block);
	dray_pool_close(pool);
}

POOL_FACT(a_dump_shows_the_chunks)
{
	struct arena arena = arena_over(*state, DRAY_BLOCK_ZEROED);
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	allocate(&arena, 2000, 1);
	allocate(&arena, 100, 1);
	allocate(&arena, 1, 1);
	assert_works(dray_block_dump(arena.block, stream));
	fclose(stream);
	assert_non_null(strstr(text, "------ zeroed\n"));
	assert_non_null(strstr(text, " finalized: no\n"));
	assert_non_null(strstr(text, ", 101 of 4096 bytes used by 2 elements"));
	assert_non_null(strstr(text, ", 2000 of 2048 bytes used by 1 element"));
	free(text);
	dray_block_unref(arena.block);
}
