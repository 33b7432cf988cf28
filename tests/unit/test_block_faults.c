// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * block_faults: every call that making and filling blocks makes fails once,
 * then with all that come after it; each time there is a code and a sentence,
 * blocks of before are as they were, and nothing is left over.
 */
#include <dray/array.h>

#include "fault.h"
#include "fault_files.h"
#include "pool.h"
WRAPPED(void *, malloc, (size_t size))
{
	return fails_now() ? NULL : __real_malloc(size);
}

static struct dray_pool *pool;
static struct dray_block *below; /* an array's elements */

static int open_descriptors(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 64; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static bool fail_call(int (*work)(void), int n, bool last, int *failures)
{
	int descriptors = open_descriptors(), ret;
	uint64_t blocks = stats_of(pool).blocks;

	arm_with(n, last);
	ret = work();
	disarm_after(ret);
	assert_int_equal(open_descriptors(), descriptors);
	assert_int_equal(stats_of(pool).blocks, blocks);
	assert_int_equal(dray_block_count(below), 1);
	*failures += !!ret;
	return faulted;
}

static void fail_each_call_of(int (*work)(void), int least)
{
	int failures = 0, n = 0;

	assert_int_equal(work(), 0);
	while (fail_call(work, n, false, &failures))
		n++;
	assert_true(n >= least);
	assert_true(failures >= least);
	for (n = 0; fail_call(work, n, true, &failures);)
		n++;
}

static int make_memory(void)
{
	struct dray_block *block;
	static char byte;
	int ret;

	ret = dray_block_create_pooled(pool, 100, 0, &block);
	if (ret)
		return ret;
	dray_block_unref(block);
	ret = dray_block_create_external(&byte, 1, DRAY_READ, NULL, NULL,
					 &block);
	if (!ret)
		dray_block_unref(block);
	return ret;
}

static int make_from_buffer(void)
{
	static struct dray_buffer *buffer;
	struct dray_block *block;
	int armed = calls_to_go, ret;

	disarm();
	assert_works(
		dray_buffer_alloc(dray_pool_node(pool), 4096, NULL, &buffer));
	calls_to_go = armed;
	ret = dray_block_create_buffer(buffer, &block);
	disarm();
	if (!ret)
		dray_block_unref(block);
	dray_buffer_unref(buffer);
	return ret;
}

static int map_a_file(void)
{
	struct dray_block *block;
	int ret = dray_block_create_mapped("/proc/self/exe", 0, 0, DRAY_READ,
					   &block);

	if (!ret)
		dray_block_unref(block);
	return ret;
}

/* Grows until it moves, twice; a failure leaves elements as they are. */
static int fill(struct dray_pool *from, bool zeroed)
{
	const struct dray_block_allocator *with;
	char *begin[2], *end[2];
	struct dray_block *block;
	size_t size = 100, now, sizes[] = { 3000, 9000 };
	int i, ret;

	ret = zeroed ? dray_block_create_zeroed(from, &block)
		     : dray_block_create_pod(from, &block);
	if (ret)
		return ret;
	assert_works(dray_block_get_allocator(block, &with));
	ret = with->allocate(block, 100, 1, &begin[0], &end[0]);
	if (ret)
		goto unref;
	memset(begin[0], 1, 100);
	ret = with->allocate(block, 100, 8, &begin[1], &end[1]);
	if (ret)
		goto unref;
	memset(begin[1], 2, 100);
	for (i = 0; i < 2 && !ret; i++) {
		ret = with->resize(block, sizes[i], &begin[1], &end[1]);
		now = (size_t)(end[1] - begin[1]);
		assert_int_equal(now, ret ? size : sizes[i]);
		assert_true(all_bytes_are(begin[0], 1, 100));
		assert_true(all_bytes_are(begin[1], 2, size));
		size = now;
		memset(begin[1], 2, size);
	}
	/* It is as good as before. */
	disarm();
	assert_works(with->resize(block, 20000, &begin[1], &end[1]));
	assert_works(with->finalize(block));
unref:
	dray_block_unref(block);
	return ret;
}

static int fill_from_the_heap(void)
{
	return fill(NULL, false);
}

static int fill_from_a_pool(void)
{
	return fill(pool, true);
}

static int make_arrays(void)
{
	struct dray_array_options options = { .ndim = 2,
					      .reference = below,
					      .bytes = 100 };
	struct dray_array *array;
	int ret;

	options.data = dray_block_data(below);
	ret = dray_array_make(&options, &array);
	if (ret)
		return ret;
	dray_array_unref(array);
	options.reference = NULL;
	options.data = NULL;
	ret = dray_array_make(&options, &array);
	if (!ret)
		dray_array_unref(array);
	return ret;
}

static bool released;

static void release(void *owner)
{
	released = true;
}

static int make_arrays_of_values(void)
{
	static uint16_t data[6];
	struct dray_array *arrays[4] = { NULL };
	struct dray_view view;
	int i, ret;

	assert_works(dray_view_init(&view, data, u2, 2, DIMS(2, 3), NULL));
	ret = dray_array_full(u2, 2, DIMS(2, 3), data, &arrays[0]);
	if (!ret)
		ret = dray_array_arange(u2, 0, 6, 1, &arrays[1]);
	if (!ret)
		ret = dray_array_copy(&view, DRAY_ORDER_F, &arrays[2]);
	/* After a failure the memory must not be released. */
	if (!ret)
		ret = dray_array_from_pointer(&view, release, NULL, &arrays[3]);
	for (i = 0; i < 4; i++)
		dray_array_unref(arrays[i]);
	assert_true(released == !ret);
	released = false;
	return ret;
}

static int make_strings(void)
{
	static const char *const texts[] = { "one", "two" };
	static char longer[4000];
	const char *begin, *end;
	struct dray_block *strings;
	int ret;

	ret = dray_strings_from(pool, texts, 2, &strings);
	if (ret)
		return ret;
	dray_block_unref(strings);
	ret = dray_strings_create(NULL, 2, &strings);
	if (ret)
		return ret;
	ret = dray_strings_append(strings, "one", 3);
	if (!ret)
		ret = dray_strings_extend(strings, longer, sizeof(longer));
	if (dray_strings_count(strings)) {
		assert_works(dray_strings_get(strings, 0, &begin, &end));
		assert_int_equal(end - begin, ret ? 3 : 3 + sizeof(longer));
		assert_memory_equal(begin, "one", 3);
	}
	dray_block_unref(strings);
	return ret;
}

POOL_FACT(nothing_is_left_when_a_call_fails)
{
	pool = *state;
	assert_works(dray_block_create_pooled(pool, 100, 0, &below));
	fail_each_call_of(make_memory, 2);
	fail_each_call_of(make_from_buffer, 1);
	fail_each_call_of(map_a_file, 3);
	fail_each_call_of(fill_from_the_heap, 5);
	fail_each_call_of(fill_from_a_pool, 4);
	fail_each_call_of(make_arrays, 2);
	fail_each_call_of(make_arrays_of_values, 8);
	fail_each_call_of(make_strings, 7);
	dray_block_unref(below);
}

/* The heap has room for the bytes needed, not for twice the last chunk. */
FACT(a_chunk_is_smaller_where_memory_is_short)
{
	const struct dray_block_allocator *with;
	struct dray_block *block;
	char *begin, *end;

	assert_works(dray_block_create_pod(NULL, &block));
	assert_works(dray_block_get_allocator(block, &with));
	assert_works(with->allocate(block, 2048, 1, &begin, &end));
	arm(1, ENOMEM); /* the first is the chunk's object */
	assert_works(with->allocate(block, 100, 1, &begin, &end));
	assert_true(faulted);
	disarm();
	memset(begin, 1, 100);
	assert_int_equal(dray_block_size(block), 2048 + 100);
	dray_block_unref(block);
}
