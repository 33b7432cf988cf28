// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * block: counts, the types that stand for one piece of memory, what can be
 * asked of each, and the dump.
 */
#include <dray/array.h>

#include "pool.h"

static const uint32_t read_write = DRAY_READ | DRAY_WRITE;

FACT(type_numbers_stay)
{
	static const char *const names[] = { "unknown",	 "buffer", "pooled",
					     "external", "pod",	   "zeroed",
					     "mapped",	 "array",  "handled",
					     "opened",	 "dtype",  "unknown" };
	uint32_t type;

	assert_int_equal(DRAY_BLOCK_BUFFER, 1);
	assert_int_equal(DRAY_BLOCK_POOLED, 2);
	assert_int_equal(DRAY_BLOCK_EXTERNAL, 3);
	assert_int_equal(DRAY_BLOCK_POD, 4);
	assert_int_equal(DRAY_BLOCK_ZEROED, 5);
	assert_int_equal(DRAY_BLOCK_MAPPED, 6);
	assert_int_equal(DRAY_BLOCK_ARRAY, 7);
	assert_int_equal(DRAY_BLOCK_HANDLED, 8);
	assert_int_equal(DRAY_BLOCK_OPENED, 9);
	assert_int_equal(DRAY_BLOCK_DTYPE, 10);
	for (type = 0; type < 12; type++)
		assert_string_equal(dray_block_type_name(type), names[type]);
	assert_string_equal(dray_block_type_name(UINT32_MAX), "unknown");
}

FACT(the_preamble_is_a_count_and_a_type)
{
	static char byte;
	struct dray_block *block;
	uint32_t words[2];

	assert_works(dray_block_create_external(&byte, 1, DRAY_READ, NULL, NULL,
						&block));
	dray_block_ref(block);
	memcpy(words, block, sizeof(words));
	assert_int_equal(words[0], 2);
	assert_int_equal(words[1], DRAY_BLOCK_EXTERNAL);
	assert_int_equal((uintptr_t)block % 8, 0);
	assert_int_equal(dray_block_type(block), DRAY_BLOCK_EXTERNAL);
	dray_block_unref(block);
	assert_int_equal(dray_block_count(block), 1);
	dray_block_unref(block);
}

FACT(nothing_is_no_block)
{
	const struct dray_block_allocator *allocator;
	struct dray_block *block;

	assert_null(dray_block_ref(NULL));
	dray_block_unref(NULL);
	assert_int_equal(dray_block_count(NULL), 0);
	assert_int_equal(dray_block_type(NULL), 0);
	assert_null(dray_block_data(NULL));
	assert_int_equal(dray_block_size(NULL), 0);
	assert_false(dray_block_writable(NULL));
	assert_null(dray_block_as_array(NULL));
	assert_fails(dray_block_get_allocator(NULL, &allocator), -EINVAL,
		     "the block or the result pointer is NULL");
	assert_fails(dray_block_dump(NULL, stderr), -EINVAL,
		     "the block or the stream is NULL");
	assert_fails(dray_block_create_buffer(NULL, &block), -EINVAL,
		     "the buffer or the result pointer is NULL");
	assert_fails(dray_block_create_pooled(NULL, 1, 0, &block), -EINVAL,
		     "the pool or the result pointer is NULL");
	assert_fails(dray_block_create_external(NULL, 1, read_write, NULL, NULL,
						&block),
		     -EINVAL, "1 byte at NULL");
	assert_fails(dray_block_create_mapped(NULL, 0, 0, read_write, &block),
		     -EINVAL, "the path or the result pointer is NULL");
	assert_fails(dray_array_make(NULL, &(struct dray_array *){ NULL }),
		     -EINVAL, "the options or the result pointer are NULL");
}

POOL_FACT(nowhere_to_put_a_block_is_an_error)
{
	static const struct dray_array_options options;
	static char byte;
	struct dray_buffer *buffer;

	assert_works(
		dray_buffer_alloc(dray_pool_node(*state), 4096, NULL, &buffer));
	assert_int_equal(dray_block_create_buffer(buffer, NULL), -EINVAL);
	dray_buffer_unref(buffer);
	assert_int_equal(dray_block_create_pooled(*state, 1, 0, NULL), -EINVAL);
	assert_int_equal(dray_block_create_external(&byte, 1, read_write, NULL,
						    NULL, NULL),
			 -EINVAL);
	assert_int_equal(dray_block_create_mapped("/etc/passwd", 0, 0, 1, NULL),
			 -EINVAL);
	assert_int_equal(dray_block_create_pod(*state, NULL), -EINVAL);
	assert_int_equal(dray_block_create_zeroed(NULL, NULL), -EINVAL);
	assert_int_equal(dray_array_make(&options, NULL), -EINVAL);
}

NODE_FACT(a_buffer_lives_as_long_as_its_block)
{
	struct dray_node *node = *state;
	size_t before = buffers_of(node);
	struct dray_block *block;
	struct dray_buffer *buffer;

	assert_works(dray_buffer_alloc(node, 10000, NULL, &buffer));
	assert_works(dray_block_create_buffer(buffer, &block));
	assert_int_equal(dray_block_type(block), DRAY_BLOCK_BUFFER);
	assert_ptr_equal(dray_block_data(block), dray_buffer_data(buffer));
	assert_int_equal(dray_block_size(block), dray_buffer_size(buffer));
	assert_true(dray_block_writable(block));
	dray_buffer_unref(buffer);
	memset(dray_block_data(block), 5, dray_block_size(block));
	assert_int_equal(buffers_of(node), before + 1);
	dray_block_unref(block);
	assert_int_equal(buffers_of(node), before);
}

POOL_FACT(a_pooled_block_is_a_block_of_the_pool)
{
	struct dray_location where;
	struct dray_block *block;

	assert_works(dray_block_create_pooled(*state, 1000, 4096, &block));
	assert_int_equal(dray_block_type(block), DRAY_BLOCK_POOLED);
	assert_int_equal((uintptr_t)dray_block_data(block) % 4096, 0);
	assert_int_equal(dray_block_size(block), 1000);
	assert_works(dray_locate(dray_block_data(block), &where));
	assert_ptr_equal(where.pool, *state);
	assert_ptr_equal(where.block, dray_block_data(block));
	/* The count is not in memory that a device may write. */
	assert_int_equal(dray_locate(block, &where), -ENOENT);
	dray_block_unref(block);
	assert_int_equal(stats_of(*state).blocks, 0);
	assert_int_equal(stats_of(*state).bad_frees, 0);
}

POOL_FACT(a_pooled_block_of_no_bytes_has_one)
{
	struct dray_block *block;

	assert_works(dray_block_create_pooled(*state, 0, 0, &block));
	assert_int_equal(dray_block_size(block), 1);
	dray_block_unref(block);
}

FACT(a_pooled_block_outlives_its_pool)
{
	struct dray_pool *pool = open_pool(test_spec(), NULL);
	struct dray_block *block;

	assert_works(dray_block_create_pooled(pool, 1 << 20, 0, &block));
	dray_pool_close(pool);
	memset(dray_block_data(block), 7, 1 << 20);
	dray_block_unref(block);
}

POOL_FACT(what_a_pool_refuses_is_no_block)
{
	struct dray_block *block = NULL;

	assert_fails(dray_block_create_pooled(*state, 10, 48, &block), -EINVAL,
		     "not a power of two");
	assert_fails(dray_block_create_pooled(*state, SIZE_MAX, 0, &block),
		     -ENOMEM, "bytes");
	assert_null(block);
}

static int released;

static void release(void *owner)
{
	released++;
	memset(owner, 0xdd, 100);
}

FACT(memory_of_others_is_released_once)
{
	unsigned char *memory = malloc(100);
	struct dray_block *block;

	released = 0;
	assert_works(dray_block_create_external(memory + 10, 90, read_write,
						release, memory, &block));
	assert_ptr_equal(dray_block_data(block), memory + 10);
	assert_int_equal(dray_block_size(block), 90);
	dray_block_ref(block);
	dray_block_unref(block);
	assert_int_equal(released, 0);
	dray_block_unref(block);
	assert_int_equal(released, 1);
	assert_true(all_bytes_are(memory, 0xdd, 100));
	free(memory);
}

FACT(memory_of_others_may_be_read_only)
{
	static const char text[] = "constant";
	struct dray_block *block;

	assert_works(dray_block_create_external((void *)text, sizeof(text),
						DRAY_READ, NULL, NULL, &block));
	assert_false(dray_block_writable(block));
	dray_block_unref(block);
}

FACT(memory_of_others_is_not_released_on_failure)
{
	struct dray_block *block = NULL;
	static char byte;

	released = 0;
	assert_fails(dray_block_create_external(&byte, 1, 0, release, &byte,
						&block),
		     -EINVAL, "flags 0x0");
	assert_fails(dray_block_create_external(&byte, 1, DRAY_WRITE, release,
						&byte, &block),
		     -EINVAL, "flags 0x2");
	assert_fails(dray_block_create_external(&byte, 1,
						DRAY_READ | DRAY_IMMUTABLE,
						release, &byte, &block),
		     -EINVAL, "flags 0x5");
	assert_fails(dray_block_create_external(&byte, SIZE_MAX, read_write,
						release, &byte, &block),
		     -EINVAL, "leave the address space");
	assert_null(block);
	assert_int_equal(released, 0);
}

/* Memory of the pool, which its owner turns into a block of its own. */
struct chain {
	struct dray_pool *pool;
	struct dray_block *next;
	int depth;
};

static void release_and_allocate(void *owner)
{
	struct chain *chain = owner;
	void *memory = dray_pool_alloc(chain->pool, 5000, 0);

	memset(memory, 1, 5000);
	dray_pool_free(chain->pool, memory);
	if (--chain->depth)
		dray_block_create_external(chain, sizeof(*chain), DRAY_READ,
					   release_and_allocate, chain,
					   &chain->next);
	else
		chain->next = NULL;
}

POOL_FACT(a_release_may_allocate_and_make_blocks)
{
	struct chain chain = { *state, NULL, 3 };
	struct dray_block *block;
	int ended = 0;

	assert_works(dray_block_create_external(&chain, sizeof(chain),
						DRAY_READ, release_and_allocate,
						&chain, &chain.next));
	while ((block = chain.next)) {
		dray_block_unref(block);
		ended++;
	}
	assert_int_equal(ended, 3);
}

static void count_release(void *unused)
{
	released++;
}

/* The count is public: a test need not count to two thousand million. */
static struct dray_block *block_with_count(uint32_t count)
{
	static char byte;
	struct dray_block *block;

	released = 0;
	assert_works(dray_block_create_external(&byte, 1, DRAY_READ,
						count_release, NULL, &block));
	block->count = count;
	return block;
}

/* What nobody would end otherwise. */
static void end(struct dray_block *block)
{
	assert_int_equal(released, 0);
	block->count = 1;
	dray_block_unref(block);
	assert_int_equal(released, 1);
}

FACT(a_count_below_its_limit_is_exact)
{
	struct dray_block *block = block_with_count(DRAY_BLOCK_COUNT_LIMIT - 2);

	assert_fails(dray_block_dump(NULL, stderr), -EINVAL,
		     "the block or the stream is NULL");
	dray_block_ref(block);
	assert_int_equal(dray_block_count(block), DRAY_BLOCK_COUNT_LIMIT - 1);
	dray_block_unref(block);
	assert_int_equal(dray_block_count(block), DRAY_BLOCK_COUNT_LIMIT - 2);
	/* No sentence but the old one. */
	assert_non_null(strstr(dray_last_error(), "the block or the stream"));
	end(block);
}

FACT(a_count_at_its_limit_saturates_with_a_sentence)
{
	struct dray_block *block = block_with_count(DRAY_BLOCK_COUNT_LIMIT - 1);

	assert_ptr_equal(dray_block_ref(block), block);
	assert_int_equal(dray_block_count(block), DRAY_BLOCK_SATURATED);
	assert_non_null(strstr(dray_last_error(), "never be freed"));
	for (int i = 0; i < 1000; i++)
		dray_block_unref(block);
	assert_int_equal(dray_block_count(block), DRAY_BLOCK_SATURATED);
	for (int i = 0; i < 1000; i++)
		dray_block_ref(block);
	assert_int_equal(dray_block_count(block), DRAY_BLOCK_SATURATED);
	end(block);
}

FACT(a_count_that_nobody_had_saturates_with_a_sentence)
{
	struct dray_block *block = block_with_count(0);

	dray_block_ref(block);
	assert_int_equal(dray_block_count(block), DRAY_BLOCK_SATURATED);
	assert_non_null(strstr(dray_last_error(), "after it was freed"));
	block->count = 0;
	dray_block_unref(block);
	assert_int_equal(dray_block_count(block), DRAY_BLOCK_SATURATED);
	assert_non_null(strstr(dray_last_error(), "after it was freed"));
	end(block);
}

POOL_FACT(only_arenas_have_an_allocator)
{
	const struct dray_block_allocator *allocator = NULL;
	struct dray_block *block;

	assert_works(dray_block_create_pooled(*state, 100, 0, &block));
	assert_fails(dray_block_get_allocator(block, &allocator), -EINVAL,
		     "pooled, not an arena");
	assert_null(allocator);
	dray_block_unref(block);
}

/* What a dump says has these lines in this order. */
static void assert_dump(const struct dray_block *block,
			const char *const *parts)
{
	char *text = NULL;
	const char *at;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	assert_works(dray_block_dump(block, stream));
	fclose(stream);
	for (at = text; *parts; parts++) {
		at = strstr(at, *parts);
		if (!at)
			fail_msg("'%s' is not, or not here, in\n%s", *parts,
				 text);
		at += strlen(*parts);
	}
	free(text);
}

POOL_FACT(a_dump_says_what_a_block_is)
{
	static char byte;
	struct dray_block *block;
	char address[40], data[40];

	assert_works(dray_block_create_pooled(*state, 1000, 0, &block));
	dray_block_ref(block);
	snprintf(address, sizeof(address), " address: %p\n", (void *)block);
	snprintf(data, sizeof(data), " data: %p\n", dray_block_data(block));
	assert_dump(block,
		    (const char *[]){ "------ pooled\n", address, " count: 2\n",
				      data, " size: 1000\n",
				      " access: read write\n", " pool: 0x",
				      "\n------\n", NULL });
	dray_block_unref(block);
	dray_block_unref(block);
	assert_works(dray_block_create_external(&byte, 1, DRAY_READ, NULL, NULL,
						&block));
	block->count = DRAY_BLOCK_SATURATED;
	assert_dump(block, (const char *[]){ "------ external\n",
					     "(saturated)\n", " access: read\n",
					     "(nothing to release)\n", NULL });
	block->count = 1;
	dray_block_unref(block);
}

NODE_FACT(a_dump_of_a_buffer_has_its_id)
{
	struct dray_buffer *buffer;
	struct dray_block *block;
	char id[60];

	assert_works(dray_buffer_alloc(*state, 4096, NULL, &buffer));
	assert_works(dray_block_create_buffer(buffer, &block));
	snprintf(id, sizeof(id), " buffer: %llu (%s)\n",
		 (unsigned long long)dray_buffer_id(buffer),
		 dray_node_backend(*state));
	assert_dump(block, (const char *[]){ "------ buffer\n", id, NULL });
	dray_block_unref(block);
	dray_buffer_unref(buffer);
}

POOL_FACT(a_dump_that_does_not_fit_is_an_error)
{
	FILE *full = fopen("/dev/full", "w");
	struct dray_block *block;

	assert_non_null(full);
	assert_works(dray_block_create_pooled(*state, 1000, 0, &block));
	assert_fails(dray_block_dump(block, full), -EIO,
		     "could not be written completely");
	assert_fails(dray_block_dump(block, NULL), -EINVAL,
		     "the block or the stream is NULL");
	dray_block_unref(block);
	fclose(full);
}
