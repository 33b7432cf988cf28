// SPDX-License-Identifier: Apache-2.0 OR MIT
/* handler: the layout that runtimes expect, and the one of each thread. */
#include "pool.h"

FACT(the_layout_is_that_of_nep_49_version_1)
{
	/* char name[127]; uint8_t version; then five pointers. */
	assert_int_equal(offsetof(struct dray_handler, name), 0);
	assert_int_equal(offsetof(struct dray_handler, version), 127);
	assert_int_equal(offsetof(struct dray_handler, allocator), 128);
	assert_int_equal(offsetof(struct dray_allocator, ctx), 0);
	assert_int_equal(offsetof(struct dray_allocator, malloc),
			 sizeof(void *));
	assert_int_equal(offsetof(struct dray_allocator, calloc),
			 2 * sizeof(void *));
	assert_int_equal(offsetof(struct dray_allocator, realloc),
			 3 * sizeof(void *));
	assert_int_equal(offsetof(struct dray_allocator, free),
			 4 * sizeof(void *));
	assert_int_equal(sizeof(struct dray_handler), 128 + 5 * sizeof(void *));
}

POOL_FACT(it_is_named_after_the_back_end)
{
	const struct dray_handler *handler = dray_handler_for(*state);

	assert_string_equal(handler->name,
			    on_kernel() ? "dray kernel" : "dray host");
	assert_int_equal(handler->version, 1);
	assert_ptr_equal(dray_handler_for(*state), handler);
}

POOL_FACT(a_pools_own_handler_is_known)
{
	const struct dray_handler *pools = dray_handler_for(*state);
	const struct dray_handler *malloc = dray_handler_default();
	const struct dray_handler *checks, *splits;
	struct dray_handler renamed = *malloc;

	assert_works(dray_handler_check(pools, NULL, &checks));
	assert_works(dray_handler_split(*state, 100, malloc, &splits));
	memcpy(renamed.name, pools->name, sizeof(renamed.name));
	assert_true(dray_handler_is_pools(pools));
	assert_false(dray_handler_is_pools(malloc));
	assert_false(dray_handler_is_pools(checks));
	assert_false(dray_handler_is_pools(splits));
	assert_false(dray_handler_is_pools(&renamed));
	assert_works(dray_handler_split_end(splits));
}

static void use(const struct dray_allocator *a)
{
	unsigned char *block = a->malloc(a->ctx, 100);

	assert_non_null(block);
	memset(block, 1, 100);
	block = a->realloc(a->ctx, block, 1000);
	assert_non_null(block);
	assert_true(all_bytes_are(block, 1, 100));
	a->free(a->ctx, block, 3);

	block = a->calloc(a->ctx, 10, 100);
	assert_non_null(block);
	assert_true(all_bytes_are(block, 0, 1000));
	a->free(a->ctx, block, SIZE_MAX);

	block = a->realloc(a->ctx, NULL, 5);
	assert_non_null(block);
	block = a->realloc(a->ctx, block, 0);
	assert_non_null(block);
	a->free(a->ctx, block, 0);

	block = a->malloc(a->ctx, 0);
	assert_non_null(block);
	a->free(a->ctx, block, 0);
	block = a->calloc(a->ctx, 0, 0);
	assert_non_null(block);
	a->free(a->ctx, block, 0);
	a->free(a->ctx, NULL, 8);
}

POOL_FACT(the_four_functions_work_with_wrong_sizes)
{
	use(&dray_handler_for(*state)->allocator);
	assert_int_equal(stats_of(*state).blocks, 0);
	assert_int_equal(stats_of(*state).bad_frees, 0);
	use(&dray_handler_default()->allocator);
}

POOL_FACT(blocks_are_in_the_pool)
{
	const struct dray_allocator *a = &dray_handler_for(*state)->allocator;
	struct dray_location where;
	void *block = a->malloc(a->ctx, 10);

	assert_works(dray_locate(block, &where));
	assert_ptr_equal(where.pool, *state);
	a->free(a->ctx, block, 10);
	assert_null(a->calloc(a->ctx, SIZE_MAX, 2));
	assert_int_equal(errno, ENOMEM);
}

static int by_address(const void *a, const void *b)
{
	const uintptr_t *first = a, *second = b;

	return (*first > *second) - (*first < *second);
}

#define MANY 600
#define LARGE ((size_t)1 << 20)

/* Whole granules, small and large, and a buffer of its own. */
static size_t whole_size(int i)
{
	return i % 50 ? 128 * (1 + (size_t)i * (size_t)i % 300) : LARGE;
}

/*
 * NumPy takes what touches for overlapping, and is up to twenty times as slow.
 * Each place is used twice, so that blocks come from the thread's cache too.
 */
POOL_FACT(blocks_do_not_touch)
{
	const struct dray_allocator *a = &dray_handler_for(*state)->allocator;
	uintptr_t blocks[MANY][2]; /* first byte, and the one behind the last */
	int i, again;

	for (again = 0; again < 2; again++) {
		for (i = 0; i < MANY; i++) {
			size_t size = whole_size(i);
			void *block;

			if (i % 3 == 0)
				block = a->malloc(a->ctx, size);
			else if (i % 3 == 1)
				block = a->calloc(a->ctx, size, 1);
			else
				block = a->realloc(a->ctx, a->malloc(a->ctx, 1),
						   size);
			assert_non_null(block);
			blocks[i][0] = (uintptr_t)block;
			blocks[i][1] = (uintptr_t)block + size;
		}
		qsort(blocks, MANY, sizeof(blocks[0]), by_address);
		for (i = 1; i < MANY; i++)
			assert_true(blocks[i - 1][1] < blocks[i][0]);
		for (i = 0; i < MANY; i++)
			a->free(a->ctx, (void *)blocks[i][0], 0);
	}
}

static bool relieve_none(void *argument, size_t size, int error)
{
	++*(int *)argument;
	return false;
}

/* What is between blocks is not worth an error, nor asking anybody. */
FACT_WITH(a_block_of_all_that_there_is_can_be_had, fixed_pool_setup,
	  pool_teardown)
{
	const struct dray_allocator *a = &dray_handler_for(*state)->allocator;
	unsigned char *all;
	int asked = 0;

	dray_pool_set_pressure(*state, relieve_none, &asked);
	all = a->malloc(a->ctx, FIXED_SIZE);
	assert_non_null(all);
	assert_ptr_equal(a->realloc(a->ctx, all, FIXED_SIZE), all);
	assert_int_equal(asked, 0);
	assert_null(a->malloc(a->ctx, 1));
	assert_int_equal(asked, 1);
	all = a->realloc(a->ctx, all, FIXED_SIZE / 2);
	assert_non_null(all);
	memset(all, 9, FIXED_SIZE / 2);
	assert_ptr_equal(a->realloc(a->ctx, all, FIXED_SIZE), all);
	assert_true(all_bytes_are(all, 9, FIXED_SIZE / 2));
	a->free(a->ctx, all, 0);
	all = a->calloc(a->ctx, FIXED_SIZE / 8, 8);
	assert_non_null(all);
	assert_true(all_bytes_are(all, 0, FIXED_SIZE));
	a->free(a->ctx, all, 0);
}

POOL_FACT(it_takes_what_fits_before_the_pool_grows)
{
	const struct dray_allocator *a = &dray_handler_for(*state)->allocator;
	uint64_t reserved = stats_of(*state).reserved;
	void *most = take(*state, reserved - LARGE, 0);
	void *rest = a->malloc(a->ctx, LARGE);

	assert_non_null(rest);
	assert_int_equal(stats_of(*state).reserved, reserved);
	assert_int_equal(stats_of(*state).used, reserved);
	a->free(a->ctx, most, 0);
	a->free(a->ctx, rest, 0);
}

POOL_FACT(sizes_that_cannot_be_are_refused)
{
	static const size_t sizes[] = { SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 2,
					(size_t)PTRDIFF_MAX + 1 };
	const struct dray_allocator *a = &dray_handler_for(*state)->allocator;
	unsigned char *block = a->malloc(a->ctx, 1000);
	size_t i;

	memset(block, 7, 1000);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		errno = 0;
		assert_null(a->malloc(a->ctx, sizes[i]));
		assert_int_equal(errno, ENOMEM);
		assert_null(a->calloc(a->ctx, 1, sizes[i]));
		assert_null(a->calloc(a->ctx, sizes[i], 1));
		errno = 0;
		assert_null(a->realloc(a->ctx, block, sizes[i]));
		assert_int_equal(errno, ENOMEM);
		assert_true(dray_usable_size(block) >= 1000);
	}
	assert_true(all_bytes_are(block, 7, 1000));
	a->free(a->ctx, block, 1000);
}

FACT(the_default_is_the_c_library)
{
	struct dray_location where;
	const struct dray_handler *handler = dray_handler_default();
	void *block = handler->allocator.malloc(handler->allocator.ctx, 10);

	assert_string_equal(handler->name, "malloc");
	assert_int_equal(dray_locate(block, &where), -ENOENT);
	free(block);
}

POOL_FACT(scopes_nest)
{
	const struct dray_handler *ours = dray_handler_for(*state);
	const struct dray_handler *standard = dray_handler_default();
	struct dray_pool *other = open_pool(test_spec(), NULL);

	assert_ptr_equal(dray_get_handler(), standard);
	assert_ptr_equal(dray_set_handler(ours), standard);
	assert_ptr_equal(dray_set_handler(dray_handler_for(other)), ours);
	assert_ptr_equal(dray_get_handler(), dray_handler_for(other));
	assert_ptr_equal(dray_set_handler(ours), dray_handler_for(other));
	assert_ptr_equal(dray_get_handler(), ours);
	assert_ptr_equal(dray_set_handler(NULL), ours);
	assert_ptr_equal(dray_get_handler(), standard);
	dray_pool_close(other);
}

static void *in_another_thread(void *handler)
{
	const void *first = dray_get_handler();

	dray_set_handler(handler);
	return (void *)first;
}

POOL_FACT(each_thread_has_its_own)
{
	const struct dray_handler *ours = dray_handler_for(*state);
	pthread_t thread;
	void *first;

	dray_set_handler(ours);
	assert_int_equal(pthread_create(&thread, NULL, in_another_thread,
					(void *)dray_handler_default()),
			 0);
	assert_int_equal(pthread_join(thread, &first), 0);
	assert_ptr_equal(first, dray_handler_default());
	assert_ptr_equal(dray_get_handler(), ours);
	dray_set_handler(NULL);
}

static void assert_allocates_nothing(const struct dray_allocator *a)
{
	errno = 0;
	assert_null(a->malloc(a->ctx, 100));
	assert_int_equal(errno, ENOMEM);
	assert_non_null(strstr(dray_last_error(), "is closed"));
	assert_null(a->calloc(a->ctx, 10, 10));
	assert_null(a->realloc(a->ctx, NULL, 100));
	a->free(a->ctx, NULL, 0);
}

FACT(it_outlives_an_empty_pool_and_ends_it_once)
{
	struct dray_pool *pool = open_pool(test_spec(), NULL), *later[2];
	const struct dray_allocator *a = &dray_handler_for(pool)->allocator;

	dray_pool_close(pool);
	assert_allocates_nothing(a);
	dray_pool_close(pool);
	assert_allocates_nothing(a);
	later[0] = open_pool(test_spec(), NULL);
	later[1] = open_pool(test_spec(), NULL);
	assert_ptr_not_equal(later[0], later[1]);
	/* Nor does it become the handler of a later pool. */
	assert_allocates_nothing(a);
	assert_int_equal(stats_of(later[0]).blocks, 0);
	dray_pool_close(pool);
	use(&dray_handler_for(later[0])->allocator);
	use(&dray_handler_for(later[1])->allocator);
	dray_pool_close(later[0]);
	dray_pool_close(later[1]);
}

FACT(it_frees_the_last_block_of_a_closed_pool)
{
	struct dray_pool *pool = open_pool(test_spec(), NULL);
	const struct dray_allocator *a = &dray_handler_for(pool)->allocator;
	struct dray_location where;
	void *block = a->malloc(a->ctx, 100);

	assert_non_null(block);
	dray_pool_close(pool);
	assert_allocates_nothing(a);
	assert_works(dray_locate(block, &where));
	a->free(a->ctx, block, 100);
	assert_int_equal(dray_locate(block, &where), -ENOENT);
	assert_allocates_nothing(a);
}

static void free_at_exit(void *block)
{
	const struct dray_handler *handler = dray_get_handler();

	handler->allocator.free(handler->allocator.ctx, block, 1);
}

static pthread_key_t key;

static void *leave_a_block(void *handler)
{
	const struct dray_handler *h = dray_set_handler(handler);

	h = dray_get_handler();
	pthread_setspecific(key, h->allocator.malloc(h->allocator.ctx, 100));
	return NULL;
}

POOL_FACT(it_works_while_a_thread_ends)
{
	pthread_t thread;

	assert_int_equal(pthread_key_create(&key, free_at_exit), 0);
	assert_int_equal(pthread_create(&thread, NULL, leave_a_block,
					(void *)dray_handler_for(*state)),
			 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(stats_of(*state).blocks, 0);
	assert_int_equal(stats_of(*state).bad_frees, 0);
	pthread_key_delete(key);
}

POOL_FACT(calls_by_name_are_those_of_the_handler)
{
	const struct dray_handler *handler = dray_handler_for(*state);
	unsigned char *block = dray_handler_alloc(handler, 100);

	assert_non_null(block);
	assert_int_equal(stats_of(*state).blocks, 1);
	memset(block, 1, 100);
	block = dray_handler_realloc(handler, block, 5000);
	assert_non_null(block);
	assert_true(all_bytes_are(block, 1, 100));
	dray_handler_free(handler, block, 5000);
	dray_handler_free(handler, NULL, 0);
	assert_int_equal(stats_of(*state).blocks, 0);
	block = dray_handler_zalloc(handler, 5000);
	assert_non_null(block);
	assert_true(all_bytes_are(block, 0, 5000));
	dray_handler_free(handler, block, 5000);
	block = dray_handler_realloc(dray_handler_default(), NULL, 5);
	assert_non_null(block);
	dray_handler_free(dray_handler_default(), block, 5);
}

/* @part: how the sentence goes on behind the handler's name. */
static void is_refused(struct dray_pool *pool,
		       const struct dray_handler *handler, const char *part)
{
	const struct dray_handler *out = NULL;

	assert_fails(dray_handler_split(pool, 1, handler, &out), -EINVAL, part);
	assert_fails(dray_handler_check(handler, NULL, &out), -EINVAL, part);
	assert_null(out);
	errno = 0;
	assert_null(dray_set_handler(handler));
	assert_int_equal(errno, EINVAL);
	assert_non_null(strstr(dray_last_error(), part));
	assert_ptr_equal(dray_get_handler(), dray_handler_default());
}

POOL_FACT(a_handler_needs_all_four_functions)
{
	struct dray_handler handler = *dray_handler_default();

	handler.allocator.malloc = NULL;
	is_refused(*state, &handler, "\"malloc\" has no malloc");
	handler = *dray_handler_default();
	handler.allocator.calloc = NULL;
	is_refused(*state, &handler, "\"malloc\" has no calloc");
	handler = *dray_handler_default();
	handler.allocator.realloc = NULL;
	is_refused(*state, &handler, "\"malloc\" has no realloc");
	handler = *dray_handler_default();
	handler.allocator.free = NULL;
	is_refused(*state, &handler, "\"malloc\" has no free");
	handler = *dray_handler_default();
	handler.version = 2;
	is_refused(*state, &handler, "version 2, not 1");
}
