// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Copies, queues and fences with an engine that is simulated, see
 * simulated_engine.h: every way that a submission can end.
 */
#include <fcntl.h>
#include <sys/wait.h>

#include "random_view.h"
#include "simulated_engine.h"

#define ROOM 40000

static const struct dray_dtype u1 = { 'u', '|', 0, 1 };
static struct dray_node *node;
static struct dray_pool *pool;
static struct dray_queue *queue;
static unsigned char expected[ROOM], aside[ROOM];

static int set_up(void **state)
{
	engine_reset();
	node = open_node("host:shareable");
	assert_works(dray_pool_create(node, NULL, &pool));
	assert_works(dray_queue_create(node, NULL, &queue));
	*state = queue;
	return 0;
}

static int tear_down(void **state)
{
	struct dray_pool_stats stats;

	(void)state;
	engine.outcome = 1;
	dray_queue_destroy(queue);
	assert_works(dray_pool_stats(pool, &stats, sizeof(stats)));
	assert_int_equal(stats.blocks, 0);
	assert_int_equal(stats.parked, 0);
	dray_pool_close(pool);
	dray_node_unref(node);
	return 0;
}

static uint64_t parked(void)
{
	struct dray_pool_stats stats;

	assert_works(dray_pool_stats(pool, &stats, sizeof(stats)));
	return stats.parked;
}

/* A square of bytes in a block of its own, all @value. */
static struct dray_view square(int value)
{
	struct dray_view view;
	void *block = dray_pool_alloc(pool, 64 * 64, 0);

	assert_non_null(block);
	memset(block, value, 64 * 64);
	assert_works(dray_view_init(&view, block, u1, 2, (int64_t[]){ 64, 64 },
				    NULL));
	return view;
}

/* Without every second column: rows do not become one run. */
static struct dray_view columns(const struct dray_view *view)
{
	struct dray_view out;

	assert_works(dray_view_index(
		view, (struct dray_index[]){ DRAY_ALL, DRAY_SLICE(0, 32, 1) },
		2, &out));
	return out;
}

static void discard(struct dray_view *view)
{
	dray_pool_free(pool, view->data);
}

static void random_pairs_are_described_to_the_engine(void **state)
{
	unsigned char *to = dray_pool_alloc(pool, ROOM, 0);
	unsigned char *from = dray_pool_alloc(pool, ROOM, 0);
	struct dice dice = { 314 };
	int done = 0;

	(void)state;
	for (int i = 0; i < ROOM; i++) {
		to[i] = (unsigned char)roll(&dice, 256);
		from[i] = (unsigned char)roll(&dice, 256);
	}
	while (done < rounds(3000)) {
		uint32_t itemsize = 1 + (uint32_t)roll(&dice, 16);
		int64_t shape[4], position[4] = { 0 };
		int ndim = random_shape(&dice, shape);
		struct dray_view dst, src;
		size_t count = 0;

		if (!random_view(&dice, &dst, to, ROOM, ndim, shape,
				 itemsize) ||
		    !random_view(&dice, &src, from, ROOM, ndim, shape,
				 itemsize))
			continue;
		memcpy(expected, to, ROOM);
		do {
			memcpy(aside + itemsize * count++,
			       walk_at(&src, position), itemsize);
		} while (walk_on(&src, position));
		count = 0;
		do {
			memcpy(expected + (walk_at(&dst, position) - to),
			       aside + itemsize * count++, itemsize);
		} while (walk_on(&dst, position));
		engine.calls = 0;
		assert_works(
			dray_copy(queue, &dst, &src, DRAY_COPY_ENGINE, NULL));
		assert_int_equal(engine.calls, 1);
		assert_memory_equal(to, expected, ROOM);
		done++;
	}
	dray_pool_free(pool, to);
	dray_pool_free(pool, from);
}

static void random_fills_are_described_to_the_engine(void **state)
{
	static const uint32_t sizes[] = { 1, 2, 4, 8, 16 };
	unsigned char *to = dray_pool_alloc(pool, ROOM, 0);
	struct dice dice = { 2718 };
	int done = 0;

	(void)state;
	memset(to, 0x11, ROOM);
	while (done < rounds(2000)) {
		uint32_t itemsize = sizes[roll(&dice, 5)];
		int64_t shape[4], position[4] = { 0 };
		int ndim = random_shape(&dice, shape);
		unsigned char element[16];
		struct dray_view dst;

		if (!random_view(&dice, &dst, to, ROOM, ndim, shape, itemsize))
			continue;
		for (int i = 0; i < 16; i++)
			element[i] = (unsigned char)roll(&dice, 256);
		memcpy(expected, to, ROOM);
		do {
			memcpy(expected + (walk_at(&dst, position) - to),
			       element, itemsize);
		} while (walk_on(&dst, position));
		assert_works(dray_fill(queue, &dst, element, DRAY_COPY_ENGINE,
				       NULL));
		assert_int_equal(engine.last_transfer.op, DRAY_OP_FILL);
		assert_memory_equal(to, expected, ROOM);
		done++;
	}
	dray_pool_free(pool, to);
}

static void elements_that_are_no_pattern_are_filled_by_the_cpu(void **state)
{
	unsigned char *to = dray_pool_alloc(pool, 4096, 0);
	unsigned char element[24];
	struct dray_view dst;

	(void)state;
	for (uint32_t itemsize = 3; itemsize <= 24; itemsize += 21) {
		struct dray_dtype dtype = { 'V', '|', 0, itemsize };

		memset(to, 0, 4096);
		memset(element, (int)itemsize, sizeof(element));
		assert_works(dray_view_init(&dst, to + 8, dtype, 1,
					    (int64_t[]){ 10 }, NULL));
		assert_fails(dray_fill(queue, &dst, element, DRAY_COPY_ENGINE,
				       NULL),
			     -EOPNOTSUPP, "fills elements of 1, 2, 4, 8 or 16");
		assert_works(dray_fill(queue, &dst, element, 0, NULL));
		assert_true(
			all_bytes_are(to + 8, (int)itemsize, 10 * itemsize));
		assert_int_equal(to[7], 0);
		assert_int_equal(to[8 + 10 * itemsize], 0);
	}
	assert_int_equal(engine.calls, 0);
	assert_fails(dray_fill(queue, &dst, NULL, 0, NULL), -EINVAL,
		     "no element");
	dray_pool_free(pool, to);
}

static void a_fence_signals_when_the_engine_is_done(void **state)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_fence *fence;

	(void)state;
	assert_works(dray_copy(queue, &dst, &src, 0, &fence));
	assert_true(dray_fence_fd(fence) > 0);
	assert_int_equal(dray_fence_status(fence), 0);
	assert_fails(dray_fence_wait(fence, 20), -ETIME, "20 ms");
	assert_int_equal(*(unsigned char *)dst.data, 1);
	assert_works(dray_fence_wait(fence, -1));
	assert_int_equal(*(unsigned char *)dst.data, 2);
	assert_int_equal(dray_fence_status(fence), 1);
	assert_works(dray_fence_wait(fence, 0));
	dray_fence_unref(fence);
	discard(&dst);
	discard(&src);
}

static void blocks_freed_in_flight_are_parked_until_the_fence(void **state)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_fence *fence;
	void *other;

	(void)state;
	assert_works(dray_copy(queue, &dst, &src, 0, &fence));
	discard(&dst);
	discard(&src);
	assert_int_equal(parked(), 2 * 64 * 64);
	other = dray_pool_alloc(pool, 64 * 64, 0);
	assert_ptr_not_equal(other, dst.data);
	assert_ptr_not_equal(other, src.data);
	assert_works(dray_fence_wait(fence, -1));
	assert_int_equal(parked(), 0);
	dray_fence_unref(fence);
	dray_pool_free(pool, other);
}

static void the_next_submission_settles_fences_nobody_asked(void **state)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_view more = square(3), from = square(4);
	struct dray_fence *fence;

	(void)state;
	assert_works(dray_copy(queue, &dst, &src, 0, &fence));
	dray_fence_unref(fence);
	discard(&dst);
	discard(&src);
	assert_int_equal(parked(), 2 * 64 * 64);
	engine_finish_all();
	assert_int_equal(parked(), 2 * 64 * 64);
	assert_works(dray_copy(queue, &more, &from, 0, NULL));
	assert_int_equal(parked(), 0);
	discard(&more);
	discard(&from);
}

static void a_pool_that_runs_short_takes_back_what_is_done_with(void **state)
{
	struct dray_pool_options options = { .initial = 1 << 20,
					     .limit = 1 << 20 };
	struct dray_view dst, src;
	struct dray_fence *fence;
	struct dray_pool *tight;
	void *block;

	(void)state;
	assert_works(dray_pool_create(node, &options, &tight));
	assert_works(dray_view_init(&dst, dray_pool_alloc(tight, 400000, 0), u1,
				    1, (int64_t[]){ 400000 }, NULL));
	assert_works(dray_view_init(&src, dray_pool_alloc(tight, 400000, 0), u1,
				    1, (int64_t[]){ 400000 }, NULL));
	memset(src.data, 3, 400000);
	/* done, but nobody has noticed */
	assert_works(dray_copy(queue, &dst, &src, DRAY_COPY_ENGINE, &fence));
	dray_fence_unref(fence);
	dray_pool_free(tight, src.data);
	engine_finish_all();
	engine.waits = 0;
	block = dray_pool_alloc(tight, 500000, 0);
	assert_non_null(block);
	assert_int_equal(engine.waits, 0);
	dray_pool_free(tight, block);
	/* in flight: it is waited for before there is no memory */
	src.data = dray_pool_alloc(tight, 400000, 0);
	assert_works(dray_copy(queue, &dst, &src, DRAY_COPY_ENGINE, &fence));
	dray_fence_unref(fence);
	dray_pool_free(tight, src.data);
	engine.interrupt_poll = true;
	block = dray_pool_alloc(tight, 500000, 0);
	assert_non_null(block);
	assert_int_equal(engine.waits, 2);
	/* and there is an end to waiting */
	assert_null(dray_pool_alloc(tight, 500000, 0));
	assert_int_equal(errno, ENOMEM);
	dray_pool_free(tight, block);
	dray_pool_free(tight, dst.data);
	dray_pool_close(tight);
}

static void a_forked_child_has_queues_of_its_own(void **state)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_fence *fence;
	int status;
	pid_t child;

	(void)state;
	assert_works(dray_copy(queue, &dst, &src, 0, &fence));
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		struct dray_queue *own;
		struct dray_pool *its;
		void *block;

		engine.waits = 0;
		if (dray_queue_create(node, NULL, &own) ||
		    dray_pool_create(node, NULL, &its))
			_exit(1);
		block = dray_pool_alloc(its, 4096, 0);
		dray_pool_free(its, block);
		dray_queue_destroy(own);
		_exit(engine.waits ? 2 : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_works(dray_fence_wait(fence, -1));
	dray_fence_unref(fence);
	discard(&dst);
	discard(&src);
}

static void destroying_a_queue_waits_for_what_is_in_flight(void **state)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_queue *other;
	struct dray_fence *fence;

	(void)state;
	assert_works(dray_queue_create(node, NULL, &other));
	assert_works(dray_copy(other, &dst, &src, 0, &fence));
	engine.interrupt_poll = true;
	dray_queue_destroy(other);
	assert_int_equal(*(unsigned char *)dst.data, 2);
	assert_int_equal(dray_fence_status(fence), 1);
	dray_fence_unref(fence);
	dray_queue_destroy(NULL);
	discard(&dst);
	discard(&src);
}

static void free_after_parks_a_block_until_the_fence(void **state)
{
	struct dray_view dst = square(1), src = square(2), third = square(3);
	struct dray_fence *fence;

	(void)state;
	assert_works(dray_copy(queue, &dst, &src, 0, &fence));
	assert_works(dray_free_after(third.data, fence));
	assert_int_equal(parked(), 64 * 64);
	assert_works(dray_fence_wait(fence, -1));
	assert_int_equal(parked(), 0);
	assert_works(dray_free_after(dst.data, fence));
	assert_works(dray_free_after(NULL, fence));
	assert_fails(dray_free_after(dst.data, fence), -EINVAL, "no block");
	assert_fails(dray_free_after((char *)src.data + 1, fence), -EINVAL,
		     "no block");
	assert_fails(dray_free_after(fence, fence), -EINVAL, "no block");
	assert_fails(dray_free_after(src.data, NULL), -EINVAL, "no fence");
	dray_fence_unref(fence);
	discard(&src);
}

static void a_failed_transfer_fails_its_fence_and_frees_its_blocks(void **state)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_fence *fence;

	(void)state;
	engine.outcome = -ETIMEDOUT;
	assert_works(dray_copy(queue, &dst, &src, 0, &fence));
	discard(&src);
	assert_fails(dray_fence_wait(fence, -1), -ETIMEDOUT,
		     "failed on the engine");
	assert_int_equal(dray_fence_status(fence), -ETIMEDOUT);
	assert_int_equal(parked(), 0);
	dray_fence_unref(fence);
	src = square(2);
	engine.outcome = -EIO;
	assert_int_equal(dray_copy(queue, &dst, &src, 0, NULL), -EIO);
	discard(&dst);
	discard(&src);
}

static void the_cpu_waits_for_what_it_would_overtake(void **state)
{
	struct dray_view a = square(1), b = square(2), c = square(3);
	struct dray_view d = square(4);
	struct dray_fence *fence;

	(void)state;
	/* reads what is being written */
	assert_works(dray_copy(queue, &b, &a, 0, &fence));
	assert_works(dray_copy(queue, &c, &b, DRAY_COPY_CPU, NULL));
	assert_int_equal(*(unsigned char *)c.data, 1);
	assert_int_equal(dray_fence_status(fence), 1);
	dray_fence_unref(fence);
	/* writes what is being read */
	assert_works(dray_copy(queue, &b, &c, 0, &fence));
	memset(a.data, 9, 64 * 64);
	assert_works(dray_copy(queue, &c, &a, DRAY_COPY_CPU, NULL));
	assert_int_equal(*(unsigned char *)b.data, 1);
	assert_int_equal(*(unsigned char *)c.data, 9);
	dray_fence_unref(fence);
	/* writes what is being written */
	assert_works(dray_copy(queue, &b, &a, 0, &fence));
	assert_works(dray_fill(queue, &b, "\x07", DRAY_COPY_CPU, NULL));
	assert_int_equal(dray_fence_status(fence), 1);
	assert_int_equal(*(unsigned char *)b.data, 7);
	dray_fence_unref(fence);
	/* has nothing to do with it */
	assert_works(dray_copy(queue, &b, &a, 0, &fence));
	assert_works(dray_copy(queue, &d, &c, DRAY_COPY_CPU, NULL));
	assert_int_equal(dray_fence_status(fence), 0);
	assert_fails(dray_copy(queue, &d, &b,
			       DRAY_COPY_CPU | DRAY_COPY_NONBLOCK, NULL),
		     -EAGAIN, "would have to wait");
	assert_int_equal(*(unsigned char *)d.data, 9);
	dray_fence_unref(fence);
	discard(&a);
	discard(&b);
	discard(&c);
	discard(&d);
}

static void a_fence_that_cannot_be_asked_is_an_error_not_a_loop(void **state)
{
	struct dray_view a = square(1), b = square(2), c = square(3);
	struct dray_view d = square(4), e = square(5);
	struct dray_fence *first, *second;

	(void)state;
	assert_works(dray_copy(queue, &b, &a, 0, &first));
	assert_works(dray_copy(queue, &d, &c, 0, &second));
	engine.fail_status = true;
	assert_int_equal(dray_fence_status(second), -EBADF);
	assert_int_equal(dray_fence_wait(second, -1), -EBADF);
	engine.fail_status = false;
	assert_works(dray_copy(queue, &e, &d, DRAY_COPY_CPU, NULL));
	assert_int_equal(*(unsigned char *)e.data, 3);
	dray_fence_unref(first);
	dray_fence_unref(second);
	discard(&a);
	discard(&b);
	discard(&c);
	discard(&d);
	discard(&e);
}

static void a_wait_that_ends_without_a_signal_is_an_error(void **state)
{
	struct dray_view a = square(1), b = square(2), c = square(3);
	struct dray_fence *fence;

	(void)state;
	assert_works(dray_copy(queue, &b, &a, 0, &fence));
	engine.poll_lies = true;
	assert_fails(dray_fence_wait(fence, -1), -EIO, "cannot be waited for");
	assert_int_equal(dray_copy(queue, &c, &b, DRAY_COPY_CPU, NULL), -EIO);
	assert_int_equal(*(unsigned char *)c.data, 3);
	engine.poll_lies = false;
	assert_works(dray_copy(queue, &c, &b, DRAY_COPY_CPU, NULL));
	assert_int_equal(*(unsigned char *)c.data, 1);
	dray_fence_unref(fence);
	discard(&a);
	discard(&b);
	discard(&c);
}

static void buffers_are_kept_until_the_fence(void **state)
{
	struct dray_view src = square(5), dst, seen;
	struct dray_buffer *buffer, *same;
	struct dray_location location;
	struct dray_fence *fence;

	(void)state;
	assert_works(dray_buffer_alloc(node, 64 * 64, NULL, &buffer));
	assert_works(dray_buffer_import(node, dray_buffer_fd(buffer), &same));
	dray_view_copy(&dst, &src);
	dst.data = dray_buffer_data(same);
	assert_works(dray_copy(queue, &dst, &src, DRAY_COPY_ENGINE, &fence));
	dray_buffer_unref(same);
	assert_works(dray_locate(dst.data, &location));
	assert_works(dray_fence_wait(fence, -1));
	assert_int_equal(dray_locate(dst.data, &location), -ENOENT);
	dray_fence_unref(fence);
	dray_view_copy(&seen, &src);
	seen.data = dray_buffer_data(buffer);
	assert_true(all_bytes_are(seen.data, 5, 64 * 64));
	dray_buffer_unref(buffer);
	discard(&src);
}

static void a_node_that_does_not_answer_has_no_queue(void **state)
{
	struct dray_queue *other = NULL;

	(void)state;
	engine.info_error = -ENODEV;
	assert_int_equal(dray_queue_create(node, NULL, &other), -ENODEV);
	engine.info_error = 0;
	engine.channel_error = -EIO;
	assert_int_equal(dray_queue_create(node, NULL, &other), -EIO);
	assert_null(other);
}

static void a_read_only_buffer_is_no_destination(void **state)
{
	struct dray_view src = square(5), dst;
	struct dray_buffer *buffer, *sealed;
	char path[64];
	int fd;

	(void)state;
	assert_works(dray_buffer_alloc(node, 64 * 64, NULL, &buffer));
	snprintf(path, sizeof(path), "/proc/self/fd/%d",
		 dray_buffer_fd(buffer));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_works(dray_buffer_import(node, fd, &sealed));
	close(fd);
	dray_view_copy(&dst, &src);
	dst.data = dray_buffer_data(sealed);
	assert_fails(dray_copy(queue, &dst, &src, 0, NULL), -EPERM,
		     "read-only buffer");
	assert_fails(dray_fill(queue, &dst, "x", DRAY_COPY_CPU, NULL), -EPERM,
		     "read-only buffer");
	assert_works(dray_copy(queue, &src, &dst, 0, NULL));
	dray_buffer_unref(sealed);
	dray_buffer_unref(buffer);
	discard(&src);
}

static void a_signal_before_a_slot_is_free_submits_nothing(void **state)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_fence *fence = NULL;

	(void)state;
	for (int i = 0; i < 2; i++) {
		engine.errors[0] = -EINTR;
		assert_fails(dray_copy(queue, &dst, &src, 0, i ? &fence : NULL),
			     -EINTR, "nothing was submitted");
		assert_null(fence);
		assert_int_equal(*(unsigned char *)dst.data, 1);
	}
	engine.errors[0] = -EINTR;
	assert_fails(dray_fill(queue, &dst, "x", 0, &fence), -EINTR,
		     "nothing was submitted");
	assert_null(fence);
	assert_int_equal(engine.calls, 3);
	/* and the same call again does it */
	assert_works(dray_copy(queue, &dst, &src, DRAY_COPY_ENGINE, NULL));
	assert_int_equal(engine.calls, 4);
	assert_int_equal(*(unsigned char *)dst.data, 2);
	discard(&dst);
	discard(&src);
	assert_int_equal(parked(), 0);
}

static void a_signal_on_the_second_channel_keeps_the_engine(void **state)
{
	struct dray_view dst = square(1), src = square(2);

	(void)state;
	assert_works(dray_copy(queue, &dst, &src, 0, NULL));
	engine.errors[0] = -EIO;
	engine.errors[1] = -EINTR;
	engine.reason = DRAY_REASON_DEAD;
	memset(src.data, 3, 64 * 64);
	assert_fails(dray_copy(queue, &dst, &src, 0, NULL), -EINTR,
		     "nothing was submitted");
	assert_int_equal(*(unsigned char *)dst.data, 2);
	assert_works(dray_copy(queue, &dst, &src, DRAY_COPY_ENGINE, NULL));
	assert_int_equal(*(unsigned char *)dst.data, 3);
	discard(&dst);
	discard(&src);
}

static void a_signal_ends_no_wait_for_what_was_submitted(void **state)
{
	struct dray_view dst = square(1), src = square(2);

	(void)state;
	engine.interrupt_poll = true;
	assert_works(dray_copy(queue, &dst, &src, DRAY_COPY_ENGINE, NULL));
	assert_false(engine.interrupt_poll);
	assert_int_equal(engine.calls, 1);
	assert_int_equal(*(unsigned char *)dst.data, 2);
	discard(&dst);
	discard(&src);
}

static void a_signal_ends_the_wait_before_a_copy_by_the_cpu(void **state)
{
	struct dray_view dst = square(1), src = square(2), third = square(3);
	struct dray_fence *fence;

	(void)state;
	assert_works(dray_copy(queue, &dst, &src, DRAY_COPY_ENGINE, &fence));
	engine.interrupt_poll = true;
	assert_fails(dray_copy(queue, &third, &dst, DRAY_COPY_CPU, NULL),
		     -EINTR, "waiting for fence");
	assert_int_equal(*(unsigned char *)third.data, 3);
	assert_works(dray_copy(queue, &third, &dst, DRAY_COPY_CPU, NULL));
	assert_int_equal(*(unsigned char *)third.data, 2);
	dray_fence_unref(fence);
	discard(&dst);
	discard(&src);
	discard(&third);
}

static void a_signal_ends_a_wait_which_may_be_repeated(void **state)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_fence *fence;

	(void)state;
	assert_works(dray_copy(queue, &dst, &src, 0, &fence));
	engine.interrupt_poll = true;
	assert_fails(dray_fence_wait(fence, -1), -EINTR, "waiting for fence");
	assert_works(dray_fence_wait(fence, -1));
	dray_fence_unref(fence);
	discard(&dst);
	discard(&src);
}

static void a_full_queue_is_told_and_holds_nothing(void **state)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_fence *fence = NULL;

	(void)state;
	engine.errors[0] = -EAGAIN;
	engine.reason = DRAY_REASON_BUSY;
	assert_int_equal(dray_copy(queue, &dst, &src, DRAY_COPY_NONBLOCK,
				   &fence),
			 -EAGAIN);
	assert_null(fence);
	assert_int_equal(engine.last.flags, DRAY_SUBMIT_NONBLOCK);
	assert_int_equal(*(unsigned char *)dst.data, 1);
	discard(&dst);
	discard(&src);
	assert_int_equal(parked(), 0);
}

static void what_the_engine_refuses_for_good_goes_to_the_cpu(void **state)
{
	static const uint32_t reasons[] = {
		DRAY_REASON_FOREIGN, DRAY_REASON_RUNS,	  DRAY_REASON_BYTES,
		DRAY_REASON_AXES,    DRAY_REASON_BOUNCE,  DRAY_REASON_ALIGNMENT,
		DRAY_REASON_MASK,    DRAY_REASON_CHANNEL,
	};
	struct dray_view dst = square(0), src = square(0);
	struct dray_fence *fence;

	(void)state;
	for (int i = 0; i < 8; i++) {
		engine.reason = reasons[i];
		memset(src.data, i + 1, 64 * 64);
		engine.errors[0] = -ENOSPC;
		assert_int_equal(dray_copy(queue, &dst, &src, DRAY_COPY_ENGINE,
					   NULL),
				 i < 7 ? -EOPNOTSUPP : -ENOSPC);
		assert_int_equal(*(unsigned char *)dst.data, i);
		engine.errors[0] = -ENOSPC;
		assert_works(dray_copy(queue, &dst, &src, 0, &fence));
		assert_int_equal(dray_fence_fd(fence), -1);
		assert_int_equal(dray_fence_status(fence), 1);
		assert_works(dray_fence_wait(fence, 0));
		assert_ptr_equal(dray_fence_ref(fence), fence);
		dray_fence_unref(fence);
		dray_fence_unref(fence);
		assert_int_equal(*(unsigned char *)dst.data, i + 1);
	}
	/* other errors are errors */
	engine.reason = DRAY_REASON_NONE;
	engine.errors[0] = -EIO;
	assert_int_equal(dray_copy(queue, &dst, &src, 0, NULL), -EIO);
	discard(&dst);
	discard(&src);
}

static void a_dead_channel_is_not_asked_again(void **state)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_explanation explanation;

	(void)state;
	engine.errors[0] = -ENODEV;
	engine.reason = DRAY_REASON_DEAD;
	assert_works(dray_copy(queue, &dst, &src, 0, NULL));
	assert_int_equal(*(unsigned char *)dst.data, 2);
	assert_int_equal(engine.calls, 1);
	assert_works(dray_copy(queue, &dst, &src, 0, NULL));
	assert_int_equal(engine.calls, 1);
	assert_works(dray_explain(queue, &dst, &src, 0, &explanation,
				  sizeof(explanation)));
	assert_int_equal(explanation.engine, 0);
	assert_true(explanation.reason[0]);
	discard(&dst);
	discard(&src);
}

static void another_channel_takes_over_from_a_dead_one(void **state)
{
	struct dray_queue_options options = { .channel = 2 };
	struct dray_view dst = square(1), src = square(2);
	struct dray_queue *bound;

	(void)state;
	assert_works(dray_copy(queue, &dst, &src, DRAY_COPY_ENGINE, NULL));
	engine.errors[0] = -EIO;
	engine.reason = DRAY_REASON_DEAD;
	assert_works(dray_copy(queue, &dst, &src, DRAY_COPY_ENGINE, NULL));
	assert_int_equal(engine.calls, 3);
	assert_int_equal(engine.last.channel, DRAY_CHANNEL_ANY);
	/* not for a queue that was made for one channel */
	assert_works(dray_queue_create(node, &options, &bound));
	engine.errors[0] = -EIO;
	assert_int_equal(dray_copy(bound, &dst, &src, DRAY_COPY_ENGINE, NULL),
			 -EIO);
	assert_int_equal(engine.calls, 4);
	dray_queue_destroy(bound);
	discard(&dst);
	discard(&src);
}

static void a_queue_stays_on_its_channel(void **state)
{
	struct dray_queue_options options = { .channel = 1 };
	struct dray_view dst = square(1), src = square(2);
	struct dray_queue *first;

	(void)state;
	assert_works(dray_copy(queue, &dst, &src, 0, NULL));
	assert_int_equal(engine.last.channel, DRAY_CHANNEL_ANY);
	assert_works(dray_copy(queue, &dst, &src, 0, NULL));
	assert_int_equal(engine.last.channel, 1);
	assert_works(dray_queue_create(node, &options, &first));
	assert_works(dray_copy(first, &dst, &src, 0, NULL));
	assert_int_equal(engine.last.channel, 0);
	dray_queue_destroy(first);
	discard(&dst);
	discard(&src);
}

/* Explains a copy that has to go to the CPU, with this in the sentence. */
static void explain_cpu(struct dray_queue *asked, const struct dray_view *dst,
			const struct dray_view *src, const char *part)
{
	struct dray_explanation explanation;

	assert_works(dray_explain(asked, dst, src, 0, &explanation,
				  sizeof(explanation)));
	assert_int_equal(explanation.engine, 0);
	if (!strstr(explanation.reason, part))
		fail_msg("'%s' does not say '%s'", explanation.reason, part);
}

static void limits_are_explained(void **state)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_view to = columns(&dst), from = columns(&src);
	struct {
		struct dray_explanation known;
		uint64_t later; /* of a newer header */
	} newer = { .later = 7 };
	struct dray_explanation explanation;
	struct dray_queue *other;

	(void)state;
	assert_works(dray_explain(queue, &to, &from, 0, &newer.known,
				  sizeof(newer)));
	assert_int_equal(newer.later, 0);
	assert_int_equal(newer.known.descriptors, 64);
	assert_works(dray_explain(queue, &to, &from, 0, &explanation,
				  sizeof(explanation)));
	assert_int_equal(explanation.engine, 1);
	assert_int_equal(explanation.elements, 2048);
	assert_int_equal(explanation.bytes, 2048);
	assert_int_equal(explanation.run, 32);
	assert_int_equal(explanation.descriptors, 64);
	assert_int_equal(explanation.axes, 1);
	assert_int_equal(explanation.threshold, 8192);
	assert_non_null(strstr(explanation.reason, "64 descriptors"));

	assert_works(dray_queue_create(
		node, &(struct dray_queue_options){ .max_descriptors = 63 },
		&other));
	explain_cpu(other, &to, &from,
		    "64 descriptors exceed the threshold of 63");
	assert_works(dray_copy(other, &to, &from, 0, NULL));
	assert_int_equal(engine.calls, 0);
	assert_works(dray_copy(other, &to, &from, DRAY_COPY_ENGINE, NULL));
	assert_int_equal(engine.calls, 1);
	dray_queue_destroy(other);

	engine.max_runs = 63;
	assert_works(dray_queue_create(node, NULL, &other));
	explain_cpu(other, &to, &from, "64 descriptors, one call takes 63");
	assert_fails(dray_copy(other, &to, &from, DRAY_COPY_ENGINE, NULL),
		     -EOPNOTSUPP, "one call takes 63");
	dray_queue_destroy(other);

	engine.max_runs = 64;
	engine.max_bytes = 2047;
	assert_works(dray_queue_create(node, NULL, &other));
	explain_cpu(other, &to, &from, "2048 bytes, one call moves 2047");
	dray_queue_destroy(other);

	engine.max_bytes = 2048;
	engine.channel.max_segment = 31;
	assert_works(dray_queue_create(node, NULL, &other));
	explain_cpu(other, &to, &from, "128 descriptors, one call takes 64");
	dray_queue_destroy(other);

	engine.max_bytes = 1 << 20;
	engine.channel.max_segment = 0;
	engine.channel.alignment = 64;
	assert_works(dray_queue_create(node, NULL, &other));
	explain_cpu(other, &to, &from, "multiples of 64 bytes");
	assert_works(dray_explain(other, &dst, &src, 0, &explanation,
				  sizeof(explanation)));
	assert_int_equal(explanation.engine, 1);
	dray_queue_destroy(other);
	discard(&dst);
	discard(&src);
}

static void what_a_channel_can_is_known_when_it_is_open(void **state)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_view to = columns(&dst), from = columns(&src);

	(void)state;
	engine.channel.alignment = 64;
	engine.channel.flags |= DRAY_CHANNEL_OPEN;
	assert_works(dray_copy(queue, &to, &from, 0, NULL));
	assert_int_equal(engine.calls, 1);
	assert_works(dray_copy(queue, &to, &from, 0, NULL));
	assert_int_equal(engine.calls, 1);
	explain_cpu(queue, &to, &from, "multiples of 64 bytes");
	discard(&dst);
	discard(&src);
}

static void channels_that_do_not_copy_are_no_engine(void **state)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_queue *other;

	(void)state;
	engine.channel.flags = DRAY_CHANNEL_COPY | DRAY_CHANNEL_DEAD;
	assert_works(dray_queue_create(node, NULL, &other));
	explain_cpu(other, &dst, &src, "none of the 2 channels");
	dray_queue_destroy(other);
	engine.channel.flags = DRAY_CHANNEL_OPEN | DRAY_CHANNEL_FILL;
	assert_works(dray_queue_create(node, NULL, &other));
	explain_cpu(other, &dst, &src, "none of the 2 channels");
	dray_queue_destroy(other);
	/* not open yet: not known, so it is tried */
	engine.channel.flags = 0;
	assert_works(dray_queue_create(node, NULL, &other));
	assert_works(dray_copy(other, &dst, &src, DRAY_COPY_ENGINE, NULL));
	dray_queue_destroy(other);
	discard(&dst);
	discard(&src);
}

static void memory_that_the_engine_cannot_have_is_explained(void **state)
{
	static unsigned char ordinary[64 * 64];
	struct dray_view dst = square(1), src = square(2), outside, over;
	struct dray_node *private_node;
	struct dray_pool *private_pool;

	(void)state;
	dray_view_copy(&outside, &src);
	outside.data = ordinary;
	explain_cpu(queue, &dst, &outside, "source lies outside");
	explain_cpu(queue, &outside, &src, "destination lies outside");
	assert_fails(dray_copy(queue, &dst, &outside, DRAY_COPY_ENGINE, NULL),
		     -EOPNOTSUPP, "source lies outside");
	ordinary[5] = 55;
	assert_works(dray_copy(queue, &dst, &outside, 0, NULL));
	assert_int_equal(((unsigned char *)dst.data)[5], 55);

	dray_view_copy(&over, &src);
	over.shape[0] = 60;
	over.data = (char *)over.data + 64 * 8;
	outside.shape[0] = 60;
	explain_cpu(queue, &outside, &over, "destination lies outside");
	dray_view_copy(&outside, &dst);
	outside.shape[0] = 60;
	explain_cpu(queue, &outside, &over, "source leaves its block");

	assert_works(dray_node_open("host", &private_node));
	assert_works(dray_pool_create(private_node, NULL, &private_pool));
	dray_view_copy(&outside, &src);
	outside.data = dray_pool_alloc(private_pool, 64 * 64, 0);
	explain_cpu(queue, &dst, &outside, "source is private memory");
	dray_pool_free(private_pool, outside.data);
	dray_pool_close(private_pool);
	dray_node_unref(private_node);
	assert_int_equal(engine.calls, 0);
	discard(&dst);
	discard(&src);
}

static void memory_of_another_node_is_not_the_engines(void **state)
{
	struct dray_node *other = open_node("host:shareable");
	struct dray_view dst = square(1), src = square(2), there;
	struct dray_pool *its;

	(void)state;
	assert_works(dray_pool_create(other, NULL, &its));
	dray_view_copy(&there, &src);
	there.data = dray_pool_alloc(its, 64 * 64, 0);
	memset(there.data, 3, 64 * 64);
	/* another handle of the same node */
	assert_works(dray_copy(queue, &dst, &there, DRAY_COPY_ENGINE, NULL));
	assert_int_equal(*(unsigned char *)dst.data, 3);
	engine.renamed = other;
	explain_cpu(queue, &dst, &there,
		    "source is memory of dray9, the queue is one of host");
	engine.info_error = -EIO;
	explain_cpu(queue, &dst, &there, "source is of another node");
	engine.info_error = 0;
	assert_works(dray_copy(queue, &there, &src, 0, NULL));
	assert_int_equal(engine.calls, 1);
	assert_int_equal(*(unsigned char *)there.data, 2);
	dray_pool_free(its, there.data);
	dray_pool_close(its);
	dray_node_unref(other);
	discard(&dst);
	discard(&src);
}

static void overlap_is_for_the_cpu_and_an_error_on_the_engine(void **state)
{
	struct dray_view view = square(0), dst, src;
	unsigned char *bytes = view.data;

	(void)state;
	for (int i = 0; i < 64 * 64; i++)
		bytes[i] = (unsigned char)(i / 64);
	assert_works(dray_view_index(&view, &DRAY_SLICE(1, 64, 1), 1, &dst));
	assert_works(dray_view_index(&view, &DRAY_SLICE(0, 63, 1), 1, &src));
	assert_fails(dray_copy(queue, &dst, &src, DRAY_COPY_ENGINE, NULL),
		     -EINVAL, "overlap");
	explain_cpu(queue, &dst, &src, "overlap");
	assert_works(dray_copy(queue, &dst, &src, 0, NULL));
	for (int i = 64; i < 64 * 64; i++)
		assert_int_equal(bytes[i], i / 64 - 1);
	assert_int_equal(engine.calls, 0);
	discard(&view);
}

static void destinations_that_share_bytes_are_refused(void **state)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_explanation explanation;

	(void)state;
	dst.strides[0] = 32;
	assert_fails(dray_copy(queue, &dst, &src, 0, NULL), -EINVAL,
		     "share bytes");
	assert_fails(dray_explain(queue, &dst, &src, 0, &explanation,
				  sizeof(explanation)),
		     -EINVAL, "share bytes");
	dst.strides[0] = 0;
	assert_fails(dray_copy(queue, &dst, &src, 0, NULL), -EINVAL,
		     "stride of 0");
	/* 0 4 8 and 6 10 14: apart, but no engine's axes */
	dst.shape[0] = src.shape[0] = 2;
	dst.shape[1] = src.shape[1] = 3;
	dst.strides[0] = 6;
	dst.strides[1] = 4;
	explain_cpu(queue, &dst, &src, "interleave");
	assert_works(dray_copy(queue, &dst, &src, 0, NULL));
	assert_int_equal(engine.calls, 0);
	assert_int_equal(((unsigned char *)dst.data)[14], 2);
	discard(&dst);
	discard(&src);
}

static void flags_and_arguments_are_checked(void **state)
{
	struct dray_queue_options options = { .flags = 1 };
	struct dray_view dst = square(1), src = square(2);
	struct dray_queue *other = NULL;

	(void)state;
	assert_fails(dray_copy(queue, &dst, &src, 16, NULL), -EINVAL,
		     "flags 0x10");
	assert_fails(dray_copy(queue, &dst, &src,
			       DRAY_COPY_ENGINE | DRAY_COPY_CPU, NULL),
		     -EINVAL, "engine only");
	src.shape[0] = 63;
	assert_fails(dray_copy(queue, &dst, &src, 0, NULL), -EINVAL, "axis 0");
	src.shape[0] = 64;
	dst.flags = DRAY_VIEW_READONLY;
	assert_fails(dray_copy(queue, &dst, &src, 0, NULL), -EPERM,
		     "read-only");
	assert_fails(dray_fill(queue, &dst, "x", 0, NULL), -EPERM, "read-only");
	assert_fails(dray_fill(queue, NULL, "x", 0, NULL), -EINVAL, "NULL");
	dst.flags = 0;
	assert_fails(dray_queue_create(node, &options, &other), -EINVAL,
		     "flags 0x1");
	options = (struct dray_queue_options){ .channel = 3 };
	assert_fails(dray_queue_create(node, &options, &other), -EINVAL,
		     "no channel 2");
	assert_null(other);
	assert_works(dray_copy(queue, &dst, &src, DRAY_COPY_NO_SYNC, NULL));
	assert_int_equal(engine.last.flags, DRAY_SUBMIT_NO_SYNC);
	discard(&dst);
	discard(&src);
}

static void nothing_is_copied_without_a_call(void **state)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_fence *fence;

	(void)state;
	dst.shape[1] = src.shape[1] = 0;
	assert_works(dray_copy(queue, &dst, &src, 0, &fence));
	assert_int_equal(dray_fence_status(fence), 1);
	dray_fence_unref(fence);
	explain_cpu(queue, &dst, &src, "nothing");
	assert_int_equal(engine.calls, 0);
	discard(&dst);
	discard(&src);
}

static void the_environment_sets_the_threshold(void **state)
{
	static const char *const wrong[] = {
		"x", "-1", "0", "1x", " 1", "99999999999999999999"
	};
	struct dray_view dst = square(1), src = square(2);
	struct dray_explanation explanation;
	struct dray_queue *other = NULL;

	(void)state;
	assert_int_equal(setenv("DRAY_MAX_DESCRIPTORS", "17", 1), 0);
	assert_works(dray_queue_create(node, NULL, &other));
	assert_works(dray_explain(other, &dst, &src, 0, &explanation,
				  sizeof(explanation)));
	assert_int_equal(explanation.threshold, 17);
	dray_queue_destroy(other);
	assert_works(dray_queue_create(
		node, &(struct dray_queue_options){ .max_descriptors = 5 },
		&other));
	assert_works(dray_explain(other, &dst, &src, 0, &explanation,
				  offsetof(struct dray_explanation, axes)));
	assert_int_equal(explanation.threshold, 5);
	dray_queue_destroy(other);
	other = NULL;
	for (int i = 0; i < 6; i++) {
		assert_int_equal(setenv("DRAY_MAX_DESCRIPTORS", wrong[i], 1),
				 0);
		assert_fails(dray_queue_create(node, NULL, &other), -EINVAL,
			     wrong[i]);
	}
	assert_null(other);
	unsetenv("DRAY_MAX_DESCRIPTORS");
	discard(&dst);
	discard(&src);
}

#define FACT(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FACT(random_pairs_are_described_to_the_engine),
		FACT(random_fills_are_described_to_the_engine),
		FACT(elements_that_are_no_pattern_are_filled_by_the_cpu),
		FACT(a_fence_signals_when_the_engine_is_done),
		FACT(blocks_freed_in_flight_are_parked_until_the_fence),
		FACT(the_next_submission_settles_fences_nobody_asked),
		FACT(a_pool_that_runs_short_takes_back_what_is_done_with),
		FACT(a_forked_child_has_queues_of_its_own),
		FACT(destroying_a_queue_waits_for_what_is_in_flight),
		FACT(free_after_parks_a_block_until_the_fence),
		FACT(a_failed_transfer_fails_its_fence_and_frees_its_blocks),
		FACT(the_cpu_waits_for_what_it_would_overtake),
		FACT(a_fence_that_cannot_be_asked_is_an_error_not_a_loop),
		FACT(a_wait_that_ends_without_a_signal_is_an_error),
		FACT(buffers_are_kept_until_the_fence),
		FACT(a_node_that_does_not_answer_has_no_queue),
		FACT(a_read_only_buffer_is_no_destination),
		FACT(a_signal_before_a_slot_is_free_submits_nothing),
		FACT(a_signal_on_the_second_channel_keeps_the_engine),
		FACT(a_signal_ends_no_wait_for_what_was_submitted),
		FACT(a_signal_ends_the_wait_before_a_copy_by_the_cpu),
		FACT(a_signal_ends_a_wait_which_may_be_repeated),
		FACT(a_full_queue_is_told_and_holds_nothing),
		FACT(what_the_engine_refuses_for_good_goes_to_the_cpu),
		FACT(a_dead_channel_is_not_asked_again),
		FACT(another_channel_takes_over_from_a_dead_one),
		FACT(a_queue_stays_on_its_channel),
		FACT(limits_are_explained),
		FACT(what_a_channel_can_is_known_when_it_is_open),
		FACT(channels_that_do_not_copy_are_no_engine),
		FACT(memory_that_the_engine_cannot_have_is_explained),
		FACT(memory_of_another_node_is_not_the_engines),
		FACT(overlap_is_for_the_cpu_and_an_error_on_the_engine),
		FACT(destinations_that_share_bytes_are_refused),
		FACT(flags_and_arguments_are_checked),
		FACT(nothing_is_copied_without_a_call),
		FACT(the_environment_sets_the_threshold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
