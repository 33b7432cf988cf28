// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * copy: transfers on the real thing.  With DRAY_TEST_NODE=kernel, on a board,
 * that is its engine; on the host it is the CPU.  Pictures are copied the
 * ways of the demo, each byte is compared, those between the rows too.
 */
#include <poll.h>
#include <time.h>

#include "node.h"
#include "random_view.h"

#define WIDTH 320
#define HEIGHT 200
#define PICTURE (HEIGHT * WIDTH * 3)

static struct dray_node *node;
static struct dray_pool *pool;
static struct dray_queue *queue;
static unsigned char expected[PICTURE];
static bool has_engine;

static int set_up(void **state)
{
	struct dray_info info;

	node = open_shareable_node();
	assert_works(dray_node_info(node, &info, sizeof(info)));
	has_engine = (info.flags & DRAY_NODE_SUBMIT) && info.channel_count;
	assert_works(dray_pool_create(node, NULL, &pool));
	assert_works(dray_queue_create(node, NULL, &queue));
	print_message("# %s copies\n", has_engine ? "the engine" : "the CPU");
	return 0;
}

static int tear_down(void **state)
{
	struct dray_pool_stats stats = { .size = sizeof(stats) };

	dray_queue_destroy(queue);
	assert_works(dray_pool_stats(pool, &stats));
	assert_int_equal(stats.blocks, 0);
	dray_pool_close(pool);
	dray_node_unref(node);
	return 0;
}

/* The engine where there is one: then the CPU must not step in. */
static unsigned int by_engine(void)
{
	return has_engine ? DRAY_COPY_ENGINE : 0;
}

static struct dray_view picture(unsigned int seed)
{
	struct dice dice = { seed };
	unsigned char *bytes = dray_pool_alloc(pool, PICTURE, 0);
	struct dray_view view;

	assert_non_null(bytes);
	for (int i = 0; i < PICTURE; i++)
		bytes[i] = (unsigned char)roll(&dice, 256);
	assert_works(dray_view_init(&view, bytes, u1, 3, DIMS(HEIGHT, WIDTH, 3),
				    NULL));
	return view;
}

/* What @whole holds when @dst, a part of it, has been given @src. */
static void expect(const struct dray_view *whole, const struct dray_view *dst,
		   const struct dray_view *src)
{
	const unsigned char *base = whole->data;
	int64_t position[DRAY_MAX_NDIM] = { 0 };

	memcpy(expected, base, PICTURE);
	do {
		memcpy(expected + (walk_at(dst, position) - base),
		       walk_at(src, position), dray_dtype_itemsize(dst->dtype));
	} while (walk_on(dst, position));
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Copies with a fence, compares all of @whole. */
static void copies(const struct dray_view *whole, const struct dray_view *dst,
		   const struct dray_view *src, uint64_t descriptors)
{
	struct dray_explanation explanation = { .size = sizeof(explanation) };
	uint64_t before = now_ns(), time_ns;
	struct dray_fence *fence;

	expect(whole, dst, src);
	assert_works(dray_explain(queue, dst, src, 0, &explanation));
	assert_int_equal(explanation.descriptors, descriptors);
	assert_int_equal(explanation.engine, has_engine);
	assert_works(dray_copy(queue, dst, src, by_engine(), &fence));
	if (has_engine) {
		struct pollfd poller = { dray_fence_fd(fence), POLLIN, 0 };

		assert_int_equal(poll(&poller, 1, DEADLINE * 1000), 1);
	}
	assert_works(dray_fence_wait(fence, DEADLINE * 1000));
	assert_int_equal(dray_fence_status(fence), 1);
	assert_works(dray_fence_time(fence, &time_ns));
	if (has_engine)
		assert_in_range(time_ns, before, now_ns());
	else
		assert_int_equal(time_ns, 0);
	dray_fence_unref(fence);
	assert_memory_equal(whole->data, expected, PICTURE);
}

FACT(a_crop_is_a_descriptor_a_row)
{
	struct dray_view whole = picture(1), src = picture(2), dst;
	struct dray_index from[] = { DRAY_SLICE(50, 110, 1),
				     DRAY_SLICE(30, 200, 1) };
	struct dray_index to[] = { DRAY_SLICE(7, 67, 1),
				   DRAY_SLICE(100, 270, 1) };

	assert_works(dray_view_index(&src, from, 2, &src));
	assert_works(dray_view_index(&whole, to, 2, &dst));
	copies(&whole, &dst, &src, 60);
	dray_pool_free(pool, whole.data);
	dray_pool_free(pool, (char *)src.data - (50 * WIDTH + 30) * 3);
}

FACT(every_second_row_is_a_descriptor_each)
{
	struct dray_view whole = picture(3), src = picture(4), dst;
	void *block = src.data;

	assert_works(dray_view_index(&src, &DRAY_STEP(2), 1, &src));
	assert_works(dray_view_index(&whole, &DRAY_SLICE(0, HEIGHT / 2, 1), 1,
				     &dst));
	copies(&whole, &dst, &src, HEIGHT / 2);
	dray_pool_free(pool, whole.data);
	dray_pool_free(pool, block);
}

FACT(upside_down_is_a_descriptor_a_row)
{
	struct dray_view whole = picture(5), src = picture(6);
	void *block = src.data;

	assert_works(dray_view_index(&src, &DRAY_STEP(-1), 1, &src));
	copies(&whole, &whole, &src, HEIGHT);
	dray_pool_free(pool, whole.data);
	dray_pool_free(pool, block);
}

FACT(a_border_is_left_alone)
{
	struct dray_view whole = picture(7), src = picture(8), dst;
	struct dray_index inner[] = { DRAY_SLICE(10, HEIGHT - 10, 1),
				      DRAY_SLICE(10, WIDTH - 10, 1) };
	struct dray_index part[] = { DRAY_SLICE(0, HEIGHT - 20, 1),
				     DRAY_SLICE(0, WIDTH - 20, 1) };

	assert_works(dray_view_index(&whole, inner, 2, &dst));
	assert_works(dray_view_index(&src, part, 2, &src));
	copies(&whole, &dst, &src, HEIGHT - 20);
	dray_pool_free(pool, whole.data);
	dray_pool_free(pool, src.data);
}

FACT(a_transposed_tile_is_a_descriptor_an_element)
{
	struct dray_view whole = picture(9), src = picture(10), dst;
	struct dray_index tile[] = { DRAY_SLICE(40, 72, 1),
				     DRAY_SLICE(64, 96, 1), DRAY_AT(1) };
	struct dray_index place[] = { DRAY_SLICE(0, 32, 1),
				      DRAY_SLICE(0, 32, 1), DRAY_AT(2) };
	void *block = src.data;

	assert_works(dray_view_index(&src, tile, 3, &src));
	assert_works(dray_view_transpose(&src, NULL, &src));
	assert_works(dray_view_index(&whole, place, 3, &dst));
	copies(&whole, &dst, &src, 32 * 32);
	dray_pool_free(pool, whole.data);
	dray_pool_free(pool, block);
}

FACT(a_whole_plane_goes_to_the_cpu_by_the_threshold)
{
	struct dray_view whole = picture(11), src = picture(12), dst;
	struct dray_index first[] = { DRAY_ELLIPSIS, DRAY_AT(0) };
	struct dray_index last[] = { DRAY_ELLIPSIS, DRAY_AT(2) };
	struct dray_explanation explanation = { .size = sizeof(explanation) };
	struct dray_fence *fence;
	void *block = src.data;

	assert_works(dray_view_index(&src, first, 2, &src));
	assert_works(dray_view_index(&whole, last, 2, &dst));
	expect(&whole, &dst, &src);
	assert_works(dray_explain(queue, &dst, &src, 0, &explanation));
	assert_int_equal(explanation.descriptors, WIDTH * HEIGHT);
	assert_int_equal(explanation.engine, 0);
	if (has_engine)
		assert_non_null(strstr(
			explanation.reason,
			"64000 descriptors exceed the threshold of 8192"));
	assert_works(dray_copy(queue, &dst, &src, 0, &fence));
	assert_int_equal(dray_fence_fd(fence), -1);
	assert_int_equal(dray_fence_status(fence), 1);
	dray_fence_unref(fence);
	assert_memory_equal(whole.data, expected, PICTURE);
	dray_pool_free(pool, whole.data);
	dray_pool_free(pool, block);
}

FACT(random_pairs_are_copied_and_gaps_are_not)
{
	struct dray_view to = picture(13), from = picture(14);
	struct dice dice = { 1618 };
	int done = 0;

	while (done < (has_engine ? 60 : 500)) {
		uint32_t itemsize = 1 + (uint32_t)roll(&dice, 16);
		int64_t shape[4];
		int ndim = random_shape(&dice, shape);
		struct dray_view dst, src;

		if (!random_view(&dice, &dst, to.data, PICTURE, ndim, shape,
				 itemsize) ||
		    !random_view(&dice, &src, from.data, PICTURE, ndim, shape,
				 itemsize))
			continue;
		expect(&to, &dst, &src);
		assert_works(dray_copy(queue, &dst, &src, by_engine(), NULL));
		assert_memory_equal(to.data, expected, PICTURE);
		done++;
	}
	dray_pool_free(pool, to.data);
	dray_pool_free(pool, from.data);
}

FACT(fills_repeat_their_element)
{
	static const uint32_t sizes[] = { 1, 2, 4, 8, 16 };
	struct dray_view whole = picture(15), dst, element;
	unsigned char bytes[16];

	for (int i = 0; i < 5; i++) {
		dray_dtype dtype = DRAY_DTYPE('V', '|', sizes[i]);

		for (int k = 0; k < 16; k++)
			bytes[k] = (unsigned char)(17 * k + i);
		assert_works(dray_view_init(&dst, (char *)whole.data + 4096,
					    dtype, 2, DIMS(20, 10),
					    DIMS(32 * sizes[i], sizes[i])));
		assert_works(dray_view_init(&element, bytes, dtype, 2,
					    DIMS(20, 10), DIMS(0, 0)));
		expect(&whole, &dst, &element);
		assert_works(dray_fill(queue, &dst, bytes, by_engine(), NULL));
		assert_memory_equal(whole.data, expected, PICTURE);
	}
	dray_pool_free(pool, whole.data);
}

FACT(overlap_is_an_error_on_the_engine_and_right_without)
{
	struct dray_view whole = picture(16), dst, src, aside;
	unsigned char *kept = malloc(PICTURE);

	memcpy(kept, whole.data, PICTURE);
	assert_works(
		dray_view_index(&whole, &DRAY_SLICE(1, HEIGHT, 1), 1, &dst));
	assert_works(dray_view_index(&whole, &DRAY_SLICE(0, HEIGHT - 1, 1), 1,
				     &src));
	assert_int_equal(dray_copy(queue, &dst, &src, DRAY_COPY_ENGINE, NULL),
			 has_engine ? -EINVAL : -EOPNOTSUPP);
	assert_memory_equal(whole.data, kept, PICTURE);
	dray_view_copy(&aside, &src);
	aside.data = kept;
	expect(&whole, &dst, &aside);
	assert_works(dray_copy(queue, &dst, &src, 0, NULL));
	assert_memory_equal(whole.data, expected, PICTURE);
	free(kept);
	dray_pool_free(pool, whole.data);
}

/* One round: whether the engine was at work when all had been freed. */
static bool freed_in_flight(void)
{
	struct dray_view whole = picture(17), src = picture(18);
	struct dray_view third = picture(19);
	struct dray_index rows[] = { DRAY_ALL, DRAY_SLICE(0, WIDTH - 1, 1) };
	struct dray_pool_stats stats = { .size = sizeof(stats) };
	struct dray_fence *fence;
	bool at_work;

	assert_works(dray_view_index(&whole, rows, 2, &whole));
	assert_works(dray_view_index(&src, rows, 2, &src));
	/* enough before it that it is in flight when its blocks are freed */
	for (int i = 0; i < 4; i++) {
		assert_works(
			dray_copy(queue, &whole, &src, by_engine(), &fence));
		if (i < 3)
			dray_fence_unref(fence);
	}
	dray_pool_free(pool, whole.data);
	dray_pool_free(pool, src.data);
	assert_works(dray_free_after(third.data, fence));
	assert_works(dray_pool_stats(pool, &stats));
	at_work = dray_fence_status(fence) == 0;
	if (at_work)
		assert_true(stats.parked >= 3 * PICTURE);
	assert_works(dray_fence_wait(fence, DEADLINE * 1000));
	dray_fence_unref(fence);
	/* earlier fences are settled by the next submission */
	whole = picture(20);
	src = picture(21);
	assert_works(dray_copy(queue, &whole, &src, by_engine(), NULL));
	assert_works(dray_pool_stats(pool, &stats));
	assert_int_equal(stats.parked, 0);
	dray_pool_free(pool, whole.data);
	dray_pool_free(pool, src.data);
	return at_work;
}

/* The CPU's copies have ended when the call returns. */
FACT(blocks_freed_in_flight_are_parked)
{
	if (!has_engine) {
		print_message("skipped: this node has no engine\n");
		skip();
	}
	becomes_true(freed_in_flight());
}

FACT(the_cpu_does_not_overtake_the_engine)
{
	struct dray_view a = picture(22), b = picture(23), c = picture(24);
	struct dray_index rows[] = { DRAY_ALL, DRAY_SLICE(0, WIDTH - 1, 1) };
	struct dray_view dst, src;
	struct dray_fence *fence;

	assert_works(dray_view_index(&b, rows, 2, &dst));
	assert_works(dray_view_index(&a, rows, 2, &src));
	expect(&b, &dst, &src);
	assert_works(dray_copy(queue, &dst, &src, by_engine(), &fence));
	assert_works(dray_copy(queue, &c, &b, DRAY_COPY_CPU, NULL));
	assert_memory_equal(c.data, expected, PICTURE);
	assert_int_equal(dray_fence_status(fence), 1);
	dray_fence_unref(fence);
	dray_pool_free(pool, a.data);
	dray_pool_free(pool, b.data);
	dray_pool_free(pool, c.data);
}

FACT(several_copies_in_flight_end_in_order)
{
	struct dray_view pictures[6];
	struct dray_fence *fences[5];

	for (int i = 0; i < 6; i++)
		pictures[i] = picture(30 + (unsigned int)i);
	memcpy(expected, pictures[0].data, PICTURE);
	for (int i = 0; i < 5; i++)
		assert_works(dray_copy(queue, &pictures[i + 1], &pictures[i],
				       by_engine(), &fences[i]));
	assert_works(dray_fence_wait(fences[4], DEADLINE * 1000));
	assert_memory_equal(pictures[5].data, expected, PICTURE);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(dray_fence_status(fences[i]), 1);
		dray_fence_unref(fences[i]);
	}
	for (int i = 0; i < 6; i++)
		dray_pool_free(pool, pictures[i].data);
}

/* What a thread found wrong; cmocka's asserts are for the first one only. */
static void *copy_many_times(void *argument)
{
	unsigned char seed = *(unsigned char *)argument;
	unsigned char *to = dray_pool_alloc(pool, 64 * 64, 0);
	unsigned char *from = dray_pool_alloc(pool, 64 * 64, 0);
	struct dray_view dst, src;
	const char *wrong = NULL;

	if (!to || !from ||
	    dray_view_init(&dst, to, u1, 2, DIMS(64, 60), DIMS(64, 1)) ||
	    dray_view_init(&src, from, u1, 2, DIMS(64, 60), DIMS(64, 1)))
		return "no views";
	memset(to, 0xee, 64 * 64);
	for (int i = 0; i < 25 && !wrong; i++) {
		struct dray_fence *fence, *more;

		memset(from, seed + i, 64 * 64);
		if (dray_copy(queue, &dst, &src, by_engine(), &fence) ||
		    dray_copy(queue, &dst, &src, 0, &more))
			return "a copy failed";
		dray_fence_unref(fence);
		if (dray_fence_wait(more, -1))
			wrong = "a fence failed";
		dray_fence_unref(more);
		if (to[0] != (unsigned char)(seed + i) || to[60] != 0xee ||
		    to[63 * 64 + 59] != (unsigned char)(seed + i))
			wrong = "other bytes";
	}
	dray_pool_free(pool, to);
	dray_pool_free(pool, from);
	return (void *)wrong;
}

FACT(threads_share_a_queue)
{
	unsigned char seeds[4] = { 0, 50, 100, 150 };
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL,
						copy_many_times, &seeds[i]),
				 0);
	for (int i = 0; i < 4; i++) {
		void *wrong;

		assert_int_equal(pthread_join(threads[i], &wrong), 0);
		if (wrong)
			fail_msg("thread %d: %s", i, (const char *)wrong);
	}
}

FACT(imported_buffers_are_copied_too)
{
	struct dray_view src = picture(40);
	struct dray_buffer *buffer, *imported;
	struct dray_view dst, seen;
	struct dray_fence *fence;

	assert_works(dray_buffer_alloc(node, 1 << 18, NULL, &buffer));
	assert_works(
		dray_buffer_import(node, dray_buffer_fd(buffer), &imported));
	dray_view_copy(&dst, &src);
	dst.data = dray_buffer_data(imported);
	dray_view_copy(&seen, &src);
	seen.data = dray_buffer_data(buffer);
	assert_works(dray_copy(queue, &dst, &src, by_engine(), &fence));
	dray_buffer_unref(imported); /* the fence keeps it */
	assert_works(dray_fence_wait(fence, DEADLINE * 1000));
	dray_fence_unref(fence);
	assert_memory_equal(seen.data, src.data, PICTURE);
	dray_buffer_unref(buffer);
	dray_pool_free(pool, src.data);
}

FACTS_SHARE(set_up, tear_down)
