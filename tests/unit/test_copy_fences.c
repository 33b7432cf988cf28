// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Fences with an engine that is simulated: transfers that are in flight, how
 * they end, and what is kept, parked and waited for until then.
 */
#include "../selftests/step.h"
#include "cancelled.h"
#include "pool/busy.h"
#include "simulated_queue.h"

QUEUE_FACT(a_fence_signals_when_the_engine_is_done)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_fence *fence;
	uint64_t time_ns;

	assert_works(dray_copy(queue, &dst, &src, 0, &fence));
	assert_true(dray_fence_fd(fence) > 0);
	assert_int_equal(dray_fence_status(fence), 0);
	assert_fails(dray_fence_wait(fence, 20), -ETIME, "20 ms");
	assert_int_equal(*(unsigned char *)dst.data, 1);
	assert_fails(dray_fence_time(fence, &time_ns), -EINPROGRESS,
		     "not signalled");
	assert_works(dray_fence_wait(fence, -1));
	assert_works(dray_fence_time(fence, &time_ns));
	assert_int_equal(time_ns, ENGINE_TIME);
	assert_int_equal(*(unsigned char *)dst.data, 2);
	assert_int_equal(dray_fence_status(fence), 1);
	assert_works(dray_fence_wait(fence, 0));
	dray_fence_unref(fence);
	discard(&dst);
	discard(&src);
}

QUEUE_FACT(a_wait_for_a_view_ends_with_the_transfer_that_meets_it)
{
	struct dray_view dst = square(1), src = square(2), other = square(3);
	struct dray_fence *fence;
	const struct {
		const struct dray_view *view;
		unsigned int access;
		int expected;
	} cases[] = {
		{ &other, DRAY_ACCESS_WRITE, 0 },
		{ &src, DRAY_ACCESS_READ, 0 },
		{ &src, DRAY_ACCESS_WRITE, -ETIME },
		{ &dst, DRAY_ACCESS_READ, -ETIME },
		{ &dst, DRAY_ACCESS_READ | DRAY_ACCESS_WRITE, -ETIME },
	};

	assert_works(dray_copy(queue, &dst, &src, 0, &fence));
	dray_fence_unref(fence);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(dray_view_wait(cases[i].view, cases[i].access,
						20),
				 cases[i].expected);
	assert_works(dray_view_wait(&dst, DRAY_ACCESS_READ, -1));
	assert_int_equal(*(unsigned char *)dst.data, 2);
	discard(&dst);
	discard(&src);
	discard(&other);
}

QUEUE_FACT(a_wait_for_a_view_does_not_tell_that_a_transfer_failed)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_fence *fence;

	engine.outcome = -EIO;
	assert_works(dray_copy(queue, &dst, &src, 0, &fence));
	assert_works(dray_view_wait(&src, DRAY_ACCESS_WRITE, -1));
	assert_int_equal(dray_fence_status(fence), -EIO);
	dray_fence_unref(fence);
	discard(&dst);
	discard(&src);
}

static struct dray_fence *waited_for;

static int wait_shortly(void)
{
	return dray_fence_wait(waited_for, 20);
}

QUEUE_FACT(a_wait_for_a_fence_is_no_cancellation_point)
{
	struct dray_view dst = square(1), src = square(2);

	assert_works(dray_copy(queue, &dst, &src, 0, &waited_for));
	assert_int_equal(in_a_cancelled_thread(wait_shortly), -ETIME);
	assert_works(dray_fence_wait(waited_for, -1));
	dray_fence_unref(waited_for);
	discard(&dst);
	discard(&src);
}

QUEUE_FACT(blocks_freed_in_flight_are_parked_until_the_fence)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_fence *fence;
	void *other;

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

QUEUE_FACT(a_trim_settles_fences_nobody_asked)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_fence *fence;

	assert_works(dray_copy(queue, &dst, &src, 0, &fence));
	dray_fence_unref(fence);
	discard(&dst);
	discard(&src);
	dray_pool_trim(pool);
	assert_int_equal(parked(), 2 * 64 * 64);
	engine_finish_all();
	dray_pool_trim(pool);
	assert_int_equal(parked(), 0);
}

QUEUE_FACT(the_next_submission_settles_fences_nobody_asked)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_view more = square(3), from = square(4);
	struct dray_fence *fence;

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

QUEUE_FACT(a_pool_that_runs_short_takes_back_what_is_done_with)
{
	struct dray_pool_options options = { .initial = 1 << 20,
					     .limit = 1 << 20 };
	struct dray_view dst, src;
	struct dray_fence *fence;
	struct dray_pool *tight;
	void *block;

	assert_works(dray_pool_create(node, &options, &tight));
	assert_works(dray_view_init(&dst, dray_pool_alloc(tight, 400000, 0), u1,
				    1, DIMS(400000), NULL));
	assert_works(dray_view_init(&src, dray_pool_alloc(tight, 400000, 0), u1,
				    1, DIMS(400000), NULL));
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

/* Waits for nothing of its parent's. */
static int be_a_child(struct dray_pool *tight)
{
	struct dray_queue *own;
	struct dray_pool *its;
	void *block;

	engine.waits = 0;
	/* What is parked in it is the parent's to wait for. */
	STEP_TRUE(!dray_pool_alloc(tight, 2 << 20, 0));
	STEP_EQ(ENOMEM, errno);
	STEP_EQ(0, dray_queue_create(node, NULL, &own));
	STEP_EQ(0, dray_pool_create(node, NULL, &its));
	block = dray_pool_alloc(its, 4096, 0);
	STEP_TRUE(block);
	dray_pool_free(its, block);
	dray_queue_destroy(own);
	STEP_EQ(0, engine.waits);
	return 0;
}

/* What it submits itself to its parent's queue. */
static int submit_as_a_child(struct dray_pool *tight)
{
	struct dray_pool_options options = { .initial = 1 << 20,
					     .limit = 1 << 20 };
	int64_t size = 400000;
	struct dray_view dst, src;
	struct dray_fence *fence;
	struct dray_pool *its;
	void *block;

	engine.waits = 0;
	STEP_EQ(0, dray_pool_create(node, &options, &its));
	STEP_EQ(0, dray_view_init(&dst, dray_pool_alloc(its, 400000, 0), u1, 1,
				  &size, NULL));
	STEP_EQ(0, dray_view_init(&src, dray_pool_alloc(its, 400000, 0), u1, 1,
				  &size, NULL));
	STEP_EQ(0, dray_copy(queue, &dst, &src, DRAY_COPY_ENGINE, &fence));
	dray_fence_unref(fence);
	dray_pool_free(its, src.data);
	block = dray_pool_alloc(its, 500000, 0);
	STEP_TRUE(block);
	STEP_EQ(1, engine.waits);
	return 0;
}

static void check_child(int (*be_the_child)(struct dray_pool *tight),
			pid_t (*make)(void))
{
	struct dray_pool_options options = { .initial = 1 << 20,
					     .limit = 1 << 20 };
	struct dray_view dst, src = square(2);
	struct dray_fence *fence;
	struct dray_pool *tight;
	int status;
	pid_t child;

	assert_works(dray_pool_create(node, &options, &tight));
	assert_works(dray_view_init(&dst, dray_pool_alloc(tight, 600000, 0), u1,
				    2, DIMS(64, 64), NULL));
	assert_works(dray_copy(queue, &dst, &src, DRAY_COPY_ENGINE, &fence));
	dray_pool_free(tight, dst.data);
	child = make();
	assert_true(child >= 0);
	if (!child)
		_exit(be_the_child(tight));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_works(dray_fence_wait(fence, -1));
	dray_fence_unref(fence);
	discard(&src);
	dray_pool_close(tight);
}

BRIEF(QUEUE_FACT(a_forked_child_has_queues_of_its_own),
      check_child(be_a_child, fork));

static pid_t clone_without_handlers(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

BRIEF(QUEUE_FACT(so_has_a_child_of_clone),
      check_child(be_a_child, clone_without_handlers));

QUEUE_FACT(a_child_short_of_memory_waits_for_its_own_transfers)
{
	check_child(submit_as_a_child, fork);
	check_child(submit_as_a_child, clone_without_handlers);
}

QUEUE_FACT(destroying_a_queue_waits_for_what_is_in_flight)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_queue *other;
	struct dray_fence *fence;

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

QUEUE_FACT(free_after_parks_a_block_until_the_fence)
{
	struct dray_view dst = square(1), src = square(2), third = square(3);
	struct dray_fence *fence;

	assert_works(dray_copy(queue, &dst, &src, 0, &fence));
	assert_works(dray_free_after(third.data, fence));
	assert_int_equal(parked(), 64 * 64);
	assert_works(dray_fence_wait(fence, -1));
	assert_int_equal(parked(), 0);
	assert_works(dray_free_after(dst.data, fence));
	assert_works(dray_free_after(NULL, fence));
	assert_fails(dray_free_after(dst.data, fence), -EINVAL, "not a block");
	assert_fails(dray_free_after((char *)src.data + 1, fence), -EINVAL,
		     "not a block");
	assert_fails(dray_free_after(fence, fence), -EINVAL, "not a block");
	assert_fails(dray_free_after(src.data, NULL), -EINVAL, "no fence");
	dray_fence_unref(fence);
	discard(&src);
}

QUEUE_FACT(a_failed_transfer_fails_its_fence_and_frees_its_blocks)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_fence *fence;

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

QUEUE_FACT(the_cpu_waits_for_what_it_would_overtake)
{
	struct dray_view a = square(1), b = square(2), c = square(3);
	struct dray_view d = square(4);
	struct dray_fence *fence;

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

QUEUE_FACT(a_fence_that_cannot_be_asked_is_an_error_not_a_loop)
{
	struct dray_view a = square(1), b = square(2), c = square(3);
	struct dray_view d = square(4), e = square(5);
	struct dray_fence *first, *second;

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

QUEUE_FACT(a_wait_that_ends_without_a_signal_is_an_error)
{
	struct dray_view a = square(1), b = square(2), c = square(3);
	struct dray_fence *fence;

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

QUEUE_FACT(buffers_are_kept_until_the_fence)
{
	struct dray_view src = square(5), dst, seen;
	struct dray_buffer *buffer, *same;
	struct dray_location location;
	struct dray_fence *fence;

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

QUEUE_FACT(a_signal_ends_no_wait_for_what_was_submitted)
{
	struct dray_view dst = square(1), src = square(2);

	engine.interrupt_poll = true;
	assert_works(dray_copy(queue, &dst, &src, DRAY_COPY_ENGINE, NULL));
	assert_false(engine.interrupt_poll);
	assert_int_equal(engine.calls, 1);
	assert_int_equal(*(unsigned char *)dst.data, 2);
	discard(&dst);
	discard(&src);
}

QUEUE_FACT(a_signal_ends_the_wait_before_a_copy_by_the_cpu)
{
	struct dray_view dst = square(1), src = square(2), third = square(3);
	struct dray_fence *fence;

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

QUEUE_FACT(a_signal_ends_a_wait_which_may_be_repeated)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_fence *fence;

	assert_works(dray_copy(queue, &dst, &src, 0, &fence));
	engine.interrupt_poll = true;
	assert_fails(dray_fence_wait(fence, -1), -EINTR, "waiting for fence");
	assert_works(dray_fence_wait(fence, -1));
	dray_fence_unref(fence);
	discard(&dst);
	discard(&src);
}

/* Another thread, while the queue is destroyed. */
static struct dray_view written;
static int waits;

static void *look_at_written(void *unused)
{
	waits = dray_view_wait(&written, DRAY_ACCESS_READ, 0);
	return unused;
}

static void look_meanwhile(void)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, look_at_written, NULL),
			 0);
	pthread_join(thread, NULL);
}

QUEUE_FACT(a_view_waits_for_a_queue_that_is_being_destroyed)
{
	struct dray_queue *other = NULL;
	struct dray_view src = square(7);
	struct dray_fence *fence;

	written = square(0);
	assert_works(dray_queue_create(node, NULL, &other));
	assert_works(
		dray_copy(other, &written, &src, DRAY_COPY_ENGINE, &fence));
	waits = 0;
	engine.waited = look_meanwhile;
	dray_queue_destroy(other);
	assert_null(engine.waited);
	assert_int_equal(waits, -ETIME);
	assert_int_equal(*(unsigned char *)written.data, 7);
	assert_works(dray_view_wait(&written, DRAY_ACCESS_WRITE, 0));
	dray_fence_unref(fence);
	discard(&written);
	discard(&src);
}

/* Another thread, while a submission waits for room. */
static struct dray_view third;
static int copied;

static void *work_beside(void *unused)
{
	struct dray_fence *fence = NULL;
	pid_t child;

	copied = dray_copy(queue, &third, &written,
			   DRAY_COPY_ENGINE | DRAY_COPY_NONBLOCK, &fence);
	dray_fence_unref(fence);
	waits = dray_view_wait(&written, DRAY_ACCESS_READ, 0);
	(void)parked();
	(void)dray_block_reap(false);
	child = fork();
	if (!child)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	return unused;
}

static void work_meanwhile(void)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, work_beside, NULL), 0);
	pthread_join(thread, NULL);
}

/* A lock that stays taken would end the test by its alarm. */
QUEUE_FACT(nothing_waits_for_a_submission_that_waits_for_room)
{
	struct dray_view dst, src;
	struct dray_fence *fence;

	SKIP_IF_MALLOC_STAYS_LOCKED();
	dst = square(1);
	src = square(2);
	third = square(3);
	written = square(4);
	alarm(DEADLINE);
	/* The first submission chooses the queue's channel. */
	for (int i = 0; i < 2; i++) {
		engine.full = work_meanwhile;
		assert_works(
			dray_copy(queue, &dst, &src, DRAY_COPY_ENGINE, &fence));
		assert_null(engine.full);
		assert_int_equal(copied, i ? 0 : -EAGAIN);
		assert_int_equal(waits, 0);
		assert_works(dray_fence_wait(fence, -1));
		dray_fence_unref(fence);
	}
	alarm(0);
	discard(&dst);
	discard(&src);
	discard(&third);
	discard(&written);
}

/* A child, while a thread of its parent chooses the channel. */
static int child_status;

static void fork_meanwhile(void)
{
	pid_t child = fork();
	int status = -1;

	if (!child) {
		alarm(DEADLINE);
		_exit(dray_copy(queue, &third, &written, DRAY_COPY_ENGINE,
				NULL) != 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	child_status = status;
}

QUEUE_FACT(a_child_submits_though_its_parent_waits_for_room)
{
	struct dray_view dst = square(1), src = square(2);

	written = square(4);
	third = square(3);
	engine.full = fork_meanwhile;
	assert_works(dray_copy(queue, &dst, &src, DRAY_COPY_ENGINE, NULL));
	assert_int_equal(child_status, 0);
	discard(&dst);
	discard(&src);
	discard(&third);
	discard(&written);
}
