// SPDX-License-Identifier: Apache-2.0 OR MIT
/* pool: blocks, their alignment and size, and wrong frees. */
#include "pool.h"

#define MIB ((size_t)1 << 20)

POOL_FACT(a_block_holds_what_was_asked)
{
	static const size_t sizes[] = { 0, 1, 63, 64, 65, 4096, 5000, 1 << 20 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		void *block = take(*state, sizes[i], 0);

		assert_true(dray_usable_size(block) >= sizes[i]);
		assert_true(dray_usable_size(block) >= 1);
		memset(block, 0xee, dray_usable_size(block));
		dray_pool_free(*state, block);
	}
	assert_int_equal(stats_of(*state).used, 0);
}

POOL_FACT(no_two_blocks_share_a_line)
{
	struct dray_info info;
	uintptr_t a, b;

	assert_works(
		dray_node_info(dray_pool_node(*state), &info, sizeof(info)));
	a = (uintptr_t)take(*state, 1, 0);
	b = (uintptr_t)take(*state, 1, 0);
	assert_int_equal(a % 64, 0);
	assert_int_equal(b % 64, 0);
	if (!(info.flags & DRAY_NODE_COHERENT)) {
		assert_int_equal(a % info.cache_line, 0);
		assert_int_equal(a % info.dma_alignment, 0);
		/* The first block of a region lies at a page anyway. */
		assert_int_equal(b % info.cache_line, 0);
		assert_int_equal(b % info.dma_alignment, 0);
	}
	assert_int_not_equal(a / 64, b / 64);
	dray_pool_free(*state, (void *)a);
	dray_pool_free(*state, (void *)b);
}

POOL_FACT(alignment_reaches_beyond_two_mebibytes)
{
	size_t most = on_kernel() ? 2 * MIB : 256 * MIB, alignment;
	void *blocks[64];
	int n = 0;

	for (alignment = 1; alignment <= most; alignment *= 2) {
		blocks[n] = take(*state, 100, alignment);
		assert_int_equal((uintptr_t)blocks[n] % alignment, 0);
		n++;
	}
	while (n--)
		dray_pool_free(*state, blocks[n]);
	assert_int_equal(stats_of(*state).bad_frees, 0);
}

POOL_FACT(an_alignment_that_is_no_power_of_two_is_einval)
{
	errno = 0;
	assert_null(dray_pool_alloc(*state, 64, 48));
	assert_int_equal(errno, EINVAL);
	assert_non_null(strstr(dray_last_error(), "48 bytes is not a power"));
	errno = 0;
	assert_null(dray_pool_alloc(*state, 64, SIZE_MAX / 2 + 1));
	assert_int_equal(errno, ENOMEM);
}

POOL_FACT(an_alignment_that_no_address_has_is_refused_at_once)
{
	const char *most;
	size_t largest;
	char says[80];
	void *block;

	if (sizeof(void *) == 4) /* there are addresses of any alignment */
		skip();
	errno = 0;
	assert_null(dray_pool_alloc(*state, 1, SIZE_MAX / 2 + 1));
	assert_int_equal(errno, ENOMEM);
	assert_non_null(strstr(dray_last_error(),
			       "an alignment of 9223372036854775808 bytes"));
	most = strstr(dray_last_error(), "at most ");
	assert_non_null(most);
	largest = strtoull(most + strlen("at most "), NULL, 10);
	assert_null(dray_pool_alloc(*state, 1, 2 * largest));
	snprintf(says, sizeof(says),
		 "an alignment of %zu bytes, at most %zu are possible",
		 2 * largest, largest);
	assert_string_equal(dray_last_error(), says);
	/* One address has that.  It may be taken, but it is looked for. */
	block = dray_pool_alloc(*state, 1, largest);
	if (block)
		assert_int_equal((uintptr_t)block % largest, 0);
	else
		assert_null(strstr(dray_last_error(), "an alignment of"));
	dray_pool_free(*state, block);
}

POOL_FACT(what_no_memory_has_is_enomem)
{
	struct dray_pool_stats before = stats_of(*state), after;

	errno = 0;
	assert_null(dray_pool_alloc(*state, SIZE_MAX, 0));
	assert_int_equal(errno, ENOMEM);
	assert_non_null(strstr(dray_last_error(), SIZE_MAX_TEXT));
	errno = 0;
	assert_null(dray_pool_alloc(*state, PTRDIFF_MAX, 0));
	assert_int_equal(errno, ENOMEM);
	errno = 0;
	assert_null(dray_pool_alloc(
		*state, (size_t)1 << (sizeof(void *) == 4 ? 30 : 37), 0));
	assert_int_equal(errno, ENOMEM);
	after = stats_of(*state);
	/* A kernel pool gives what it kept back before it says no. */
	if (!on_kernel())
		assert_int_equal(after.reserved, before.reserved);
	assert_int_equal(after.blocks, before.blocks);
}

POOL_FACT(calloc_checks_its_product)
{
	void *a, *b;

	errno = 0;
	assert_null(dray_pool_calloc(*state, SIZE_MAX / 2, 3));
	assert_int_equal(errno, ENOMEM);
	assert_non_null(strstr(dray_last_error(), "elements of 3 bytes"));
	a = dray_pool_calloc(*state, 0, 8);
	b = dray_pool_calloc(*state, 8, 0);
	assert_non_null(a);
	assert_non_null(b);
	dray_pool_free(*state, a);
	dray_pool_free(*state, b);
}

POOL_FACT(realloc_keeps_contents_and_alignment)
{
	static const size_t sizes[] = { 100,  5000,    64,   200000, 200001,
					3000, 1 << 20, 4096, 0,	     70000 };
	size_t kept = 100, i;
	unsigned char *block = take(*state, kept, 4096), *other = NULL;

	memset(block, 0x3c, kept);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t size = sizes[i] ? sizes[i] : 1;

		block = dray_pool_realloc(*state, block, sizes[i]);
		assert_non_null(block);
		assert_int_equal((uintptr_t)block % 4096, 0);
		assert_true(dray_usable_size(block) >= size);
		kept = kept < size ? kept : size;
		assert_true(all_bytes_are(block, 0x3c, kept));
		memset(block, 0x3c, size);
		kept = size;
		/* Something behind it, so that it has to move now and then. */
		dray_pool_free(*state, other);
		other = take(*state, 64, 0);
	}
	dray_pool_free(*state, block);
	dray_pool_free(*state, other);
}

POOL_FACT(realloc_grows_in_place_where_there_is_room)
{
	void *a = take(*state, 8192, 0), *b = take(*state, 65536, 0);

	/* Though the thread may keep the block behind it to use it again. */
	dray_pool_free(*state, b);
	assert_ptr_equal(dray_pool_realloc(*state, a, 70000), a);
	assert_ptr_equal(dray_pool_realloc(*state, a, 1), a);
	assert_int_equal(stats_of(*state).used, dray_usable_size(a));
	dray_pool_free(*state, a);
}

POOL_FACT(realloc_that_fails_leaves_the_block)
{
	char *block = take(*state, 1000, 0);

	memset(block, 9, 1000);
	errno = 0;
	assert_null(dray_pool_realloc(*state, block, SIZE_MAX / 4));
	assert_int_equal(errno, ENOMEM);
	errno = 0;
	assert_null(dray_pool_realloc(*state, block, SIZE_MAX));
	assert_int_equal(errno, ENOMEM);
	assert_true(all_bytes_are(block, 9, 1000));
	assert_true(dray_usable_size(block) >= 1000);
	dray_pool_free(*state, block);
}

POOL_FACT(realloc_of_nothing_allocates)
{
	void *block = dray_pool_realloc(*state, NULL, 100);

	assert_non_null(block);
	assert_true(dray_usable_size(block) >= 100);
	dray_pool_free(*state, block);
}

POOL_FACT(realloc_moves_a_block_of_another_pool)
{
	struct dray_pool *other = open_pool(test_spec(), NULL);
	char *block = take(other, 100, 0);
	struct dray_location where;

	memset(block, 4, 100);
	block = dray_pool_realloc(*state, block, 100);
	assert_non_null(block);
	assert_works(dray_locate(block, &where));
	assert_ptr_equal(where.pool, *state);
	assert_true(all_bytes_are(block, 4, 100));
	assert_int_equal(stats_of(other).blocks, 0);
	dray_pool_free(*state, block);
	dray_pool_close(other);
}

POOL_FACT(a_wrong_free_is_counted_and_harmless)
{
	char *block = take(*state, 1000, 0), local[64];
	void *heap = malloc(64);

	dray_pool_free(*state, NULL);
	assert_int_equal(stats_of(*state).bad_frees, 0);
	dray_pool_free(*state, block + 64);
	dray_pool_free(*state, block + 1);
	dray_pool_free(*state, local);
	dray_pool_free(*state, heap);
	dray_pool_free(*state, (void *)1);
	dray_pool_free(*state, (void *)UINTPTR_MAX);
	assert_int_equal(stats_of(*state).bad_frees, 6);
	assert_non_null(strstr(dray_last_error(), "not a block of a pool"));
	assert_int_equal(stats_of(*state).blocks, 1);
	dray_pool_free(*state, block);
	dray_pool_free(*state, block);
	assert_int_equal(stats_of(*state).bad_frees, 7);
	assert_null(dray_pool_realloc(*state, block, 10));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(stats_of(*state).bad_frees, 8);
	assert_int_equal(dray_usable_size(block), 0);
	free(heap);
}

POOL_FACT(memory_of_a_bare_buffer_is_no_block)
{
	struct dray_buffer *buffer;

	assert_works(
		dray_buffer_alloc(dray_pool_node(*state), 4096, NULL, &buffer));
	dray_pool_free(*state, dray_buffer_data(buffer));
	assert_int_equal(stats_of(*state).bad_frees, 1);
	dray_buffer_unref(buffer);
}

POOL_FACT(a_block_freed_through_another_pool_goes_home)
{
	struct dray_pool *other = open_pool(test_spec(), NULL);
	void *block = take(other, 100, 0);

	dray_pool_free(*state, block);
	assert_int_equal(stats_of(other).blocks, 0);
	assert_int_equal(stats_of(other).bad_frees, 0);
	dray_pool_close(other);
}

POOL_FACT(a_wrong_free_aborts_where_that_is_asked_for)
{
	int status;
	pid_t child = fork();

	if (!child) {
		/* cmocka's handler would report this as its own failure. */
		signal(SIGABRT, SIG_DFL);
		freopen("/dev/null", "w", stderr);
		setenv("DRAY_ABORT_ON_BAD_FREE", "1", 1);
		dray_pool_free(*state, &status);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}
