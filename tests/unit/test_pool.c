// SPDX-License-Identifier: Apache-2.0 OR MIT
/* pool: blocks, their alignment and size, growth, trimming, wrong frees. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pool.h"

#define MIB ((size_t)1 << 20)

static void a_block_holds_what_was_asked(void **state)
{
	static const size_t sizes[] = { 0, 1, 63, 64, 65, 4096, 5000, 1 << 20 };
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		void *block = take(*state, sizes[i], 0);

		assert_true(dray_usable_size(block) >= sizes[i]);
		assert_true(dray_usable_size(block) >= 1);
		memset(block, 0xee, dray_usable_size(block));
		dray_pool_free(*state, block);
	}
	assert_int_equal(stats_of(*state).used, 0);
}

static void no_two_blocks_share_a_line(void **state)
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
	}
	assert_int_not_equal(a / 64, b / 64);
	dray_pool_free(*state, (void *)a);
	dray_pool_free(*state, (void *)b);
}

static void the_granule_can_be_chosen(void **state)
{
	struct dray_pool_options options = { .granule = 4096 };
	struct dray_pool *pool = open_pool(test_spec(), &options);
	void *a = take(pool, 1, 0), *b = take(pool, 1, 0);

	(void)state;
	assert_int_equal(dray_usable_size(a), 4096);
	assert_int_equal((uintptr_t)a % 4096, 0);
	assert_int_equal((uintptr_t)b % 4096, 0);
	dray_pool_free(pool, a);
	dray_pool_free(pool, b);
	dray_pool_close(pool);
}

static void a_granule_may_be_larger_than_a_page(void **state)
{
	struct dray_pool_options options = { .granule = 1 << 20, .initial = 1 };
	struct dray_pool *pool = open_pool(test_spec(), &options);
	char *block = take(pool, 1, 0);

	(void)state;
	assert_int_equal(dray_usable_size(block), MIB);
	assert_int_equal((uintptr_t)block % MIB, 0);
	memset(block, 1, MIB);
	dray_pool_free(pool, block);
	assert_int_equal(dray_pool_trim(pool), MIB);
	dray_pool_close(pool);
}

static void a_limit_of_odd_bytes_is_kept(void **state)
{
	struct dray_pool_options options = { .limit = 100001 };
	struct dray_pool *pool = open_pool(test_spec(), &options);
	void *first = dray_pool_alloc(pool, 1, 0);

	(void)state;
	while (dray_pool_alloc(pool, 64, 0))
		;
	assert_in_range(stats_of(pool).reserved, 65536, 100001);
	/* What is still alive keeps its pool; it all goes at once here. */
	for (char *block = first; stats_of(pool).blocks; block += 64)
		dray_pool_free(pool, block);
	dray_pool_close(pool);
}

static void wrong_options_are_refused(void **state)
{
	struct dray_node *node = dray_pool_node(*state);
	struct dray_pool_options options = { .granule = 96 };
	struct dray_pool *pool = (void *)1;

	assert_fails(dray_pool_create(node, &options, &pool), -EINVAL,
		     "granule of 96 bytes");
	options.granule = 8;
	assert_fails(dray_pool_create(node, &options, &pool), -EINVAL,
		     "granule of 8 bytes");
	options.granule = 1u << 22;
	assert_fails(dray_pool_create(node, &options, &pool), -EINVAL,
		     "granule of 4194304 bytes");
	options = (struct dray_pool_options){ .flags = 4 };
	assert_fails(dray_pool_create(node, &options, &pool), -EINVAL,
		     "unknown flags 0x4");
	options = (struct dray_pool_options){ .initial = 8192, .limit = 4096 };
	assert_fails(dray_pool_create(node, &options, &pool), -EINVAL,
		     "8192 bytes at first, above the limit of 4096");
	options = (struct dray_pool_options){ .limit = 100 };
	assert_fails(dray_pool_create(node, &options, &pool), -EINVAL,
		     "limit of 100 bytes, below a page");
	options = (struct dray_pool_options){ .granule = MIB, .limit = 65536 };
	assert_fails(dray_pool_create(node, &options, &pool), -EINVAL,
		     "or granule of 1048576");
	options = (struct dray_pool_options){ .heap = "nowhere" };
	assert_fails(dray_pool_create(node, &options, &pool), -EINVAL,
		     "no heap \"nowhere\"");
	options.heap = "a name that is longer than any heap's name can be";
	assert_fails(dray_pool_create(node, &options, &pool), -EINVAL,
		     "no heap \"a name");
	options = (struct dray_pool_options){ .initial = 1ull << 50 };
	assert_int_not_equal(dray_pool_create(node, &options, &pool), 0);
	assert_ptr_equal(pool, (void *)1);
	/* None of them left a buffer behind. */
	assert_int_equal(buffers_of(node), 1);
}

static void alignment_reaches_beyond_two_mebibytes(void **state)
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

static void an_alignment_that_is_no_power_of_two_is_einval(void **state)
{
	errno = 0;
	assert_null(dray_pool_alloc(*state, 64, 48));
	assert_int_equal(errno, EINVAL);
	assert_non_null(strstr(dray_last_error(), "48 bytes is no power"));
	errno = 0;
	assert_null(dray_pool_alloc(*state, 64, (size_t)1 << 63));
	assert_int_equal(errno, ENOMEM);
}

static void what_no_memory_has_is_enomem(void **state)
{
	struct dray_pool_stats before = stats_of(*state), after;

	errno = 0;
	assert_null(dray_pool_alloc(*state, SIZE_MAX, 0));
	assert_int_equal(errno, ENOMEM);
	assert_non_null(strstr(dray_last_error(), "18446744073709551615"));
	errno = 0;
	assert_null(dray_pool_alloc(*state, PTRDIFF_MAX, 0));
	assert_int_equal(errno, ENOMEM);
	errno = 0;
	assert_null(dray_pool_alloc(*state, (size_t)1 << 37, 0));
	assert_int_equal(errno, ENOMEM);
	after = stats_of(*state);
	/* A kernel pool gives what it kept back before it says no. */
	if (!on_kernel())
		assert_int_equal(after.reserved, before.reserved);
	assert_int_equal(after.blocks, before.blocks);
}

static void calloc_checks_its_product(void **state)
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

static void calloc_is_zero_whatever_was_there(void **state)
{
	struct dice dice = { 3 };
	void *blocks[32] = { NULL };
	int i;

	for (i = 0; i < 3000; i++) {
		size_t size = 1 + roll(&dice, 1ull << roll(&dice, 18));
		size_t j = roll(&dice, 32);

		dray_pool_free(*state, blocks[j]);
		if (roll(&dice, 2)) {
			blocks[j] = take(*state, size, 0);
		} else {
			blocks[j] = dray_pool_calloc(*state, 1, size);
			assert_non_null(blocks[j]);
			assert_true(all_bytes_are(blocks[j], 0, size));
		}
		memset(blocks[j], 0xff, dray_usable_size(blocks[j]));
		if (roll(&dice, 500) == 0)
			dray_pool_trim(*state);
	}
	for (i = 0; i < 32; i++)
		dray_pool_free(*state, blocks[i]);
}

static void calloc_does_not_touch_what_is_clean(void **state)
{
	size_t size = 8 * MIB, page = (size_t)sysconf(_SC_PAGESIZE), i;
	unsigned char *resident;
	struct dray_pool *pool;
	char *block;

	(void)state;
	/* Whether pages are there can be asked for a memfd, page by page. */
	pool = open_pool("host:shareable", NULL);
	block = dray_pool_calloc(pool, size, 1);
	resident = calloc(1, size / page);
	assert_int_equal(mincore(block, size, resident), 0);
	assert_true(all_bytes_are(resident, 0, size / page));
	/* One that was written is cleared when its page is given out again. */
	block[5 * page] = 1;
	dray_pool_free(pool, block);
	block = dray_pool_calloc(pool, size, 1);
	for (i = 0; i < size; i++)
		assert_int_equal(block[i], 0);
	free(resident);
	dray_pool_free(pool, block);
	dray_pool_close(pool);
}

static void
memory_that_others_saw_is_cleared_though_never_given_out(void **state)
{
	struct dray_pool *pool;
	struct dray_location where;
	char *block, *outside;

	(void)state;
	pool = open_pool("host:shareable", NULL);
	block = take(pool, 64, 0);
	assert_works(dray_locate(block, &where));
	outside = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED,
		       dray_buffer_fd(where.buffer), 0);
	assert_ptr_not_equal(outside, MAP_FAILED);
	memset(outside, 0x77, MIB);
	munmap(outside, MIB);
	dray_pool_free(pool, block);
	block = dray_pool_calloc(pool, MIB / 2, 1);
	assert_true(all_bytes_are(block, 0, MIB / 2));
	dray_pool_free(pool, block);
	dray_pool_close(pool);
}

static void the_pool_never_touches_what_it_manages(void **state)
{
	size_t size = 16 * MIB, page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *resident = calloc(1, size / page);
	struct dray_pool *pool = open_pool("host:shareable", NULL);
	struct dice dice = { 5 };
	struct dray_location where;
	void *blocks[512] = { NULL };
	int i;

	(void)state;
	for (i = 0; i < 20000; i++) {
		size_t j = roll(&dice, 512);

		dray_pool_free(pool, blocks[j]);
		blocks[j] = take(pool, roll(&dice, 16000), 0);
	}
	assert_works(dray_locate(blocks[0], &where));
	assert_int_equal(
		mincore(dray_buffer_data(where.buffer), size, resident), 0);
	assert_true(all_bytes_are(resident, 0, size / page));
	for (i = 0; i < 512; i++)
		dray_pool_free(pool, blocks[i]);
	dray_pool_close(pool);
	free(resident);
}

static void realloc_keeps_contents_and_alignment(void **state)
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
	assert_int_equal(stats_of(*state).blocks, 0);
}

static void realloc_grows_in_place_where_there_is_room(void **state)
{
	void *a = take(*state, 64, 0), *b = take(*state, 4096, 0);

	dray_pool_free(*state, b);
	assert_ptr_equal(dray_pool_realloc(*state, a, 4000), a);
	assert_ptr_equal(dray_pool_realloc(*state, a, 1), a);
	assert_int_equal(stats_of(*state).used, dray_usable_size(a));
	dray_pool_free(*state, a);
}

static void realloc_that_fails_leaves_the_block(void **state)
{
	char *block = take(*state, 1000, 0);

	memset(block, 9, 1000);
	errno = 0;
	assert_null(dray_pool_realloc(*state, block, (size_t)1 << 45));
	assert_int_equal(errno, ENOMEM);
	errno = 0;
	assert_null(dray_pool_realloc(*state, block, SIZE_MAX));
	assert_int_equal(errno, ENOMEM);
	assert_true(all_bytes_are(block, 9, 1000));
	assert_true(dray_usable_size(block) >= 1000);
	dray_pool_free(*state, block);
}

static void realloc_of_nothing_allocates(void **state)
{
	void *block = dray_pool_realloc(*state, NULL, 100);

	assert_non_null(block);
	assert_true(dray_usable_size(block) >= 100);
	dray_pool_free(*state, block);
}

static void realloc_moves_a_block_of_another_pool(void **state)
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

static void a_wrong_free_is_counted_and_harmless(void **state)
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
	assert_non_null(strstr(dray_last_error(), "no block of a pool"));
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

static void memory_of_a_bare_buffer_is_no_block(void **state)
{
	struct dray_buffer *buffer;

	assert_works(
		dray_buffer_alloc(dray_pool_node(*state), 4096, NULL, &buffer));
	dray_pool_free(*state, dray_buffer_data(buffer));
	assert_int_equal(stats_of(*state).bad_frees, 1);
	dray_buffer_unref(buffer);
}

static void a_block_freed_through_another_pool_goes_home(void **state)
{
	struct dray_pool *other = open_pool(test_spec(), NULL);
	void *block = take(other, 100, 0);

	dray_pool_free(*state, block);
	assert_int_equal(stats_of(other).blocks, 0);
	assert_int_equal(stats_of(other).bad_frees, 0);
	dray_pool_close(other);
}

static void a_wrong_free_aborts_where_that_is_asked_for(void **state)
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

static void a_limit_is_kept_and_named(void **state)
{
	struct dray_pool_options options = { .initial = MIB,
					     .limit = 2 * MIB,
					     .name = "small" };
	struct dray_pool *pool = open_pool(test_spec(), &options);
	void *blocks[64];
	int n = 0;

	(void)state;
	assert_int_equal(stats_of(pool).reserved, MIB);
	while ((blocks[n] = dray_pool_alloc(pool, 65536, 0)))
		assert_true(++n < 64);
	assert_int_equal(errno, ENOMEM);
	assert_non_null(strstr(dray_last_error(), "\"small\""));
	assert_non_null(strstr(dray_last_error(), "the limit of 2097152"));
	/* All of it was used. */
	assert_int_equal(n, 32);
	assert_int_equal(stats_of(pool).reserved, 2 * MIB);
	assert_int_equal(stats_of(pool).largest_free, 0);
	while (n--)
		dray_pool_free(pool, blocks[n]);
	dray_pool_close(pool);
}

static void a_region_can_be_filled_to_the_last_granule(void **state)
{
	struct dray_pool_options options = { .initial = MIB, .limit = MIB };
	struct dray_pool *pool = open_pool(test_spec(), &options);
	void *whole = take(pool, MIB, 0);

	(void)state;
	assert_null(dray_pool_alloc(pool, 1, 0));
	dray_pool_free(pool, whole);
	assert_int_equal(stats_of(pool).largest_free, MIB);
	dray_pool_close(pool);
}

static void a_host_pool_grows_in_one_piece(void **state)
{
	struct dray_pool_stats stats;
	void *a, *b;

	a = take(*state, 100 * MIB, 0);
	b = take(*state, 300 * MIB, 0);
	stats = stats_of(*state);
	assert_int_equal(stats.regions, 1);
	dray_pool_free(*state, a);
	dray_pool_free(*state, b);
	stats = stats_of(*state);
	assert_int_equal(stats.largest_free, stats.reserved);
	/* So the next can be as large as both. */
	a = take(*state, 400 * MIB, 0);
	assert_int_equal(stats_of(*state).reserved, stats.reserved);
	dray_pool_free(*state, a);
}

static void a_kernel_pool_gives_large_blocks_a_buffer_of_their_own(void **state)
{
	struct dray_node *node = dray_pool_node(*state);
	void *first, *large, *again;
	size_t before;

	/* What is left of the first region is too small for another. */
	first = take(*state, 3 * MIB, 0);
	before = buffers_of(node);
	large = take(*state, 3 * MIB, 0);
	assert_int_equal(buffers_of(node), before + 1);
	/* One that becomes free is kept for the next. */
	dray_pool_free(*state, large);
	assert_int_equal(buffers_of(node), before + 1);
	again = take(*state, 3 * MIB, 0);
	assert_ptr_equal(again, large);
	/* Small blocks stay out of it. */
	dray_pool_free(*state, again);
	dray_pool_free(*state, take(*state, 100, 0));
	assert_true(dray_pool_trim(*state) >= 3 * MIB);
	assert_int_equal(buffers_of(node), before);
	dray_pool_free(*state, first);
}

static void a_kernel_pool_does_not_keep_many_empty_buffers(void **state)
{
	struct dray_node *node = dray_pool_node(*state);
	size_t before = buffers_of(node);
	void *blocks[8];
	int i;

	for (i = 0; i < 8; i++)
		blocks[i] = take(*state, 4 * MIB, 0);
	assert_true(buffers_of(node) >= before + 7);
	for (i = 0; i < 8; i++)
		dray_pool_free(*state, blocks[i]);
	assert_true(stats_of(*state).reserved <= 16 * MIB);
	assert_true(buffers_of(node) < before + 5);
}

static void memory_that_is_missing_is_taken_from_what_is_kept(void **state)
{
	struct dray_pool_options options = { .initial = MIB, .limit = 5 * MIB };
	struct dray_pool *pool;
	void *block;

	(void)state;
	pool = open_pool(test_spec(), &options);
	block = take(pool, 3 * MIB, 0);
	dray_pool_free(pool, block);
	/* With the 3 MiB that are kept the limit would not allow it. */
	block = take(pool, 4 * MIB, 0);
	assert_true(stats_of(pool).reserved <= 5 * MIB);
	dray_pool_free(pool, block);
	dray_pool_close(pool);
}

static void trimming_gives_everything_back_and_the_pool_works_on(void **state)
{
	void *block = take(*state, 2 * MIB, 0);

	memset(block, 1, 2 * MIB);
	dray_pool_free(*state, block);
	assert_true(dray_pool_trim(*state) >= 2 * MIB);
	assert_int_equal(stats_of(*state).reserved, 0);
	assert_int_equal(stats_of(*state).regions, 0);
	assert_int_equal(dray_pool_trim(*state), 0);
	block = take(*state, 100, 0);
	dray_pool_free(*state, block);
}

static void trimming_around_a_block_keeps_it_and_clears_the_rest(void **state)
{
	char *a, *b;

	a = take(*state, MIB, 0);
	b = take(*state, MIB, 0);
	memset(a, 1, MIB);
	memset(b, 2, MIB);
	dray_pool_free(*state, a);
	assert_true(dray_pool_trim(*state) >= MIB);
	assert_true(all_bytes_are(b, 2, MIB));
	assert_true(all_bytes_are(a, 0, MIB));
	assert_int_equal(dray_pool_trim(*state), 0);
	dray_pool_free(*state, b);
}

static void pages_of_a_large_freed_block_go_back_at_once(void **state)
{
	size_t size = 128 * MIB, page = (size_t)sysconf(_SC_PAGESIZE);
	struct dray_pool *pool = open_pool("host:shareable", NULL);
	unsigned char *resident = calloc(1, size / page);
	char *block = take(pool, size, 0);

	(void)state;
	memset(block, 1, size);
	dray_pool_free(pool, block);
	assert_int_equal(mincore(block, size, resident), 0);
	assert_true(all_bytes_are(resident, 0, size / page));
	assert_int_equal(stats_of(pool).largest_free, stats_of(pool).reserved);
	free(resident);
	dray_pool_close(pool);
}

static void as_many_pages_as_are_used_stay_warm(void **state)
{
	size_t size = 80 * MIB, page = (size_t)sysconf(_SC_PAGESIZE);
	struct dray_pool *pool = open_pool("host:shareable", NULL);
	unsigned char *resident = calloc(1, size / page);
	char *used = take(pool, 2 * size, 0), *block = take(pool, size, 0);
	size_t i, there = 0;

	(void)state;
	memset(block, 1, size);
	dray_pool_free(pool, block);
	assert_int_equal(mincore(block, size, resident), 0);
	for (i = 0; i < size / page; i++)
		there += resident[i] & 1;
	assert_int_equal(there, size / page);
	dray_pool_free(pool, used);
	free(resident);
	dray_pool_close(pool);
}

static void many_pools_leave_room_for_more(void **state)
{
	struct dray_node *node = dray_pool_node(*state);
	struct dray_pool *pools[100];
	struct dray_buffer *buffer;
	int i;

	for (i = 0; i < 100; i++)
		assert_works(dray_pool_create(
			node, &(struct dray_pool_options){ .initial = 65536 },
			&pools[i]));
	assert_works(dray_buffer_alloc(node, MIB, NULL, &buffer));
	dray_buffer_unref(buffer);
	for (i = 0; i < 100; i++)
		dray_pool_close(pools[i]);
}

static void the_counters_add_up(void **state)
{
	struct dray_pool_stats stats, part;
	void *a = take(*state, 1000, 0), *b = take(*state, 5000, 0);

	stats = stats_of(*state);
	assert_int_equal(stats.blocks, 2);
	assert_int_equal(stats.used, dray_usable_size(a) + dray_usable_size(b));
	assert_int_equal(stats.peak, stats.used);
	dray_pool_free(*state, b);
	assert_int_equal(stats_of(*state).peak, stats.peak);
	assert_int_equal(stats_of(*state).used, dray_usable_size(a));
	dray_pool_free(*state, a);

	memset(&part, 0xaa, sizeof(part));
	assert_works(dray_pool_stats(*state, &part, 8));
	assert_int_equal(part.regions, 1);
	assert_true(all_bytes_are(&part.reserved, 0xaa, sizeof(part) - 8));
}

static void a_closed_pool_lives_until_its_last_block(void **state)
{
	struct dray_node *node = open_node(test_spec());
	const struct dray_handler *handler;
	struct dray_pool *pool;
	size_t before = buffers_of(node);
	char *a, *b;

	(void)state;
	assert_works(dray_pool_create(node, NULL, &pool));
	handler = dray_handler_for(pool);
	a = take(pool, 100, 0);
	b = take(pool, 200, 0);
	dray_pool_close(pool);
	errno = 0;
	assert_null(dray_pool_alloc(pool, 1, 0));
	assert_int_equal(errno, ENOMEM);
	assert_non_null(strstr(dray_last_error(), "closed"));
	assert_null(handler->allocator.malloc(handler->allocator.ctx, 1));
	memset(a, 1, 100);
	memset(b, 1, 200);
	/* Freeing through the handler of the closed pool, as a runtime does. */
	handler->allocator.free(handler->allocator.ctx, a, 1);
	assert_int_equal(dray_usable_size(b) >= 200, 1);
	assert_true(buffers_of(node) > before);
	handler->allocator.free(handler->allocator.ctx, b, 200);
	assert_int_equal(buffers_of(node), before);
	dray_node_unref(node);
}

static void pools_come_and_go_without_a_trace(void **state)
{
	struct dray_node *node = dray_pool_node(*state);
	size_t before = buffers_of(node);
	struct dray_pool *pool;
	int i;

	for (i = 0; i < 200; i++) {
		assert_works(dray_pool_create(node, NULL, &pool));
		dray_pool_free(pool, take(pool, 1000, 0));
		dray_pool_close(pool);
	}
	assert_int_equal(buffers_of(node), before);
	dray_pool_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		POOL_FACT(a_block_holds_what_was_asked),
		POOL_FACT(no_two_blocks_share_a_line),
		cmocka_unit_test(the_granule_can_be_chosen),
		cmocka_unit_test(a_granule_may_be_larger_than_a_page),
		cmocka_unit_test(a_limit_of_odd_bytes_is_kept),
		POOL_FACT(wrong_options_are_refused),
		POOL_FACT(alignment_reaches_beyond_two_mebibytes),
		POOL_FACT(an_alignment_that_is_no_power_of_two_is_einval),
		POOL_FACT(what_no_memory_has_is_enomem),
		POOL_FACT(calloc_checks_its_product),
		POOL_FACT(calloc_is_zero_whatever_was_there),
		cmocka_unit_test(calloc_does_not_touch_what_is_clean),
		cmocka_unit_test(
			memory_that_others_saw_is_cleared_though_never_given_out),
		cmocka_unit_test(the_pool_never_touches_what_it_manages),
		POOL_FACT(realloc_keeps_contents_and_alignment),
		POOL_FACT(realloc_grows_in_place_where_there_is_room),
		POOL_FACT(realloc_that_fails_leaves_the_block),
		POOL_FACT(realloc_of_nothing_allocates),
		POOL_FACT(realloc_moves_a_block_of_another_pool),
		POOL_FACT(a_wrong_free_is_counted_and_harmless),
		POOL_FACT(memory_of_a_bare_buffer_is_no_block),
		POOL_FACT(a_block_freed_through_another_pool_goes_home),
		POOL_FACT(a_wrong_free_aborts_where_that_is_asked_for),
		cmocka_unit_test(a_limit_is_kept_and_named),
		cmocka_unit_test(a_region_can_be_filled_to_the_last_granule),
		POOL_FACT(trimming_gives_everything_back_and_the_pool_works_on),
		cmocka_unit_test(pages_of_a_large_freed_block_go_back_at_once),
		cmocka_unit_test(as_many_pages_as_are_used_stay_warm),
		POOL_FACT(many_pools_leave_room_for_more),
		POOL_FACT(the_counters_add_up),
		cmocka_unit_test(a_closed_pool_lives_until_its_last_block),
		POOL_FACT(pools_come_and_go_without_a_trace),
	};

	const struct CMUnitTest host[] = {
		POOL_FACT(a_host_pool_grows_in_one_piece),
		POOL_FACT(trimming_around_a_block_keeps_it_and_clears_the_rest),
	};
	const struct CMUnitTest kernel[] = {
		POOL_FACT(
			a_kernel_pool_gives_large_blocks_a_buffer_of_their_own),
		POOL_FACT(a_kernel_pool_does_not_keep_many_empty_buffers),
		cmocka_unit_test(
			memory_that_is_missing_is_taken_from_what_is_kept),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	if (on_kernel())
		return failed + cmocka_run_group_tests(kernel, NULL, NULL);
	return failed + cmocka_run_group_tests(host, NULL, NULL);
}
