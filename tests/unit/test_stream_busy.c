// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * stream: memory of transfers in flight, closing a stream with some of them, and
 * children of fork().
 */
#include "child.h"
#include "streams.h"

FACTS_ON(on_host)

LOOP_FACT(blocks_freed_in_flight_are_parked)
{
	struct dray_view src = bytes_of(5000, 1), dst = bytes_of(5000, 2);
	struct dray_view seen = bytes_of(5000, 0);
	struct dray_event *sent = send_view(&src);

	discard(&src);
	assert_true(stats_of(loop.pool).parked >= 5000);
	dray_event_unref(recv_view(&seen));
	/* the sender's end is noticed by nobody yet, and then by a question */
	assert_int_equal(dray_event_status(sent), 1);
	assert_int_equal(stats_of(loop.pool).parked, 0);
	assert_true(all_bytes(seen.data, 1, 5000));
	dray_event_unref(sent);
	dray_event_unref(recv_view(&dst));
	discard(&dst);
	assert_true(stats_of(loop.pool).parked >= 5000);
	assert_works(dray_stream_cancel(loop.rx));
	dray_pool_trim(loop.pool);
	assert_int_equal(stats_of(loop.pool).parked, 0);
	discard(&seen);
}

LOOP_FACT(blocks_of_all_pieces_are_busy)
{
	struct dray_view a = bytes_of(5000, 1), b = bytes_of(6000, 2);
	const struct dray_view *pieces[] = { &a, &b, &a };
	struct dray_event *event;

	assert_works(dray_stream_send_pieces(loop.tx, pieces, 3, NULL, &event));
	discard(&a);
	discard(&b);
	assert_true(stats_of(loop.pool).parked >= 11000);
	assert_works(dray_event_cancel(event));
	assert_int_equal(stats_of(loop.pool).parked, 0);
	dray_event_unref(event);
}

LOOP_FACT(a_pool_that_runs_short_takes_back_what_is_done_with)
{
	struct dray_pool_options options = { .initial = 1 << 20,
					     .limit = 1 << 20 };
	struct dray_pool *pool = loop.pool, *tight;
	struct dray_view view, dst = bytes_of(400000, 0);
	void *block;

	assert_works(dray_pool_create(loop.node, &options, &tight));
	loop.pool = tight;
	view = bytes_of(700000, 1);
	dray_event_unref(send_view(&view));
	discard(&view);
	/* in flight: it never waits for a stream */
	assert_null(dray_pool_alloc(tight, 600000, 0));
	dray_event_unref(recv_view(&dst));
	assert_null(dray_pool_alloc(tight, 600000, 0));
	dray_event_unref(recv_view(&dst));
	block = dray_pool_alloc(tight, 600000, 0);
	assert_non_null(block);
	dray_pool_free(tight, block);
	dray_pool_close(tight);
	loop.pool = pool;
	discard(&dst);
}

LOOP_FACT(buffers_are_kept_until_the_end)
{
	struct dray_view src, dst = bytes_of(4096, 0);
	struct dray_location where;
	struct dray_buffer *buffer;

	assert_works(dray_buffer_alloc(loop.node, 4096, NULL, &buffer));
	memset(dray_buffer_data(buffer), 6, 4096);
	assert_works(dray_view_init(&src, dray_buffer_data(buffer), u1, 1,
				    DIMS(4096), NULL));
	dray_event_unref(send_view(&src));
	dray_buffer_unref(buffer);
	assert_works(dray_locate(src.data, &where));
	ends_with(recv_view(&dst), 4096);
	counts_of(loop.tx);
	assert_int_equal(dray_locate(src.data, &where), -ENOENT);
	assert_true(all_bytes(dst.data, 6, 4096));
	discard(&dst);
}

LOOP_FACT(closing_a_stream_ends_what_is_in_flight)
{
	struct dray_view src = bytes_of(5000, 1), dst = bytes_of(5000, 0);
	struct dray_event *sent[10], *got;
	struct dray_point point;

	for (int i = 0; i < 10; i++)
		sent[i] = send_view(&src);
	ends_with(recv_view(&dst), 5000);
	discard(&src);
	dray_stream_close(loop.tx);
	assert_int_equal(stats_of(loop.pool).parked, 0);
	assert_int_equal(dray_event_status(sent[0]), 1);
	for (int i = 1; i < 10; i++) {
		assert_fails(dray_event_wait(sent[i], -1), -ECANCELED,
			     "of tx0 ended after 0 bytes");
		assert_works(dray_event_cancel(sent[i]));
		assert_works(dray_event_point(sent[i], &point, sizeof(point)));
		assert_int_equal(point.number, i + 1);
	}
	/* the other end goes on with the next sender */
	got = recv_view(&dst);
	loop.tx = open_stream("tx0", NULL);
	src = bytes_of(5000, 3);
	ends_with(send_view(&src), 5000);
	ends_with(got, 5000);
	assert_true(all_bytes(dst.data, 3, 5000));
	for (int i = 0; i < 10; i++)
		dray_event_unref(sent[i]);
	discard(&src);
	discard(&dst);
}

static _Atomic int waiting;

static void *wait_for(void *event)
{
	atomic_fetch_add(&waiting, 1);
	return (void *)(intptr_t)dray_event_wait(event, -1);
}

LOOP_FACT(closing_a_stream_wakes_those_who_wait)
{
	struct dray_view dst = bytes_of(100, 0);
	pthread_t threads[4];
	void *status;

	for (int round = 0; round < 50; round++) {
		struct dray_event *got = recv_view(&dst);

		atomic_store(&waiting, 0);
		for (int i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, wait_for, got);
		becomes_true(atomic_load(&waiting) == 4);
		dray_stream_close(loop.rx);
		for (int i = 0; i < 4; i++) {
			pthread_join(threads[i], &status);
			assert_int_equal((intptr_t)status, -ECANCELED);
		}
		dray_event_unref(got);
		loop.rx = open_stream("rx0", NULL);
	}
	discard(&dst);
}

static struct dray_event *inherited, *ended;

/* A child has no part in the streams of its parent. */
static int be_a_child(void)
{
	struct dray_stream_counts counts = { .size = sizeof(counts) };
	struct dray_explanation said = { .size = sizeof(said) };
	struct dray_stream *own;
	struct dray_node *node;
	struct dray_pool *pool;
	struct dray_view view;
	const struct dray_view *pieces[] = { &view };
	struct dray_event *event;
	struct dray_point point;
	int64_t size = 100;
	char *block;

	STEP_EQ(-ECHILD, dray_event_status(inherited));
	STEP_EQ(-ECHILD, dray_event_wait(inherited, 0));
	STEP_EQ(-ECHILD, dray_event_cancel(inherited));
	STEP_EQ(-ECHILD, dray_event_point(inherited, &point, sizeof(point)));
	STEP_TRUE(strstr(dray_last_error(), "submitted by the parent"));
	STEP_EQ(1, dray_event_status(ended));
	STEP_EQ(-ECHILD, dray_stream_counts(loop.tx, &counts));
	STEP_EQ(-ECHILD, dray_stream_cancel(loop.tx));
	STEP_TRUE(strstr(dray_last_error(), "opened by the parent"));
	STEP_EQ(0, (int)dray_stream_ended(loop.tx));

	STEP_EQ(0, dray_node_open("host", &node));
	STEP_EQ(0, dray_pool_create(node, NULL, &pool));
	block = dray_pool_alloc(pool, 200, 0);
	STEP_TRUE(block);
	memset(block, 3, 200);
	STEP_EQ(0, dray_view_init(&view, block, u1, 1, &size, NULL));
	STEP_EQ(-ECHILD, dray_stream_send(loop.tx, &view, NULL, &event));
	STEP_EQ(-ECHILD, dray_stream_explain(loop.tx, pieces, 1, NULL, &said));
	/* streams of its own */
	STEP_EQ(0, dray_stream_open(node, "tx0", NULL, &own));
	STEP_EQ(0, dray_stream_send(own, &view, NULL, &event));
	STEP_EQ(0, dray_event_status(event));
	dray_stream_close(loop.tx);
	dray_stream_close(loop.rx);
	dray_event_unref(inherited);
	dray_event_unref(ended);
	STEP_EQ(0, dray_event_status(event));
	STEP_EQ(0, dray_stream_open(node, "rx0", NULL, &loop.rx));
	view.data = block + 100;
	STEP_EQ(0, dray_stream_recv(loop.rx, &view, NULL, NULL));
	STEP_EQ(1, dray_event_status(event));
	dray_event_unref(event);
	dray_stream_close(own);
	dray_stream_close(loop.rx);
	dray_pool_free(pool, block);
	dray_pool_close(pool);
	dray_node_unref(node);
	return 0;
}

static void check_child(pid_t (*make)(void))
{
	struct dray_view src = bytes_of(100, 1), dst = bytes_of(100, 2);
	pid_t child;

	ended = send_view(&src);
	ends_with(recv_view(&dst), 100);
	assert_int_equal(dray_event_status(ended), 1);
	inherited = send_view(&src);
	child = make();
	if (!child)
		_exit(be_a_child());
	assert_int_equal(status_of(child), 0);
	/* nothing of it is different here */
	assert_int_equal(dray_event_status(inherited), 0);
	ends_with(recv_view(&dst), 100);
	assert_true(all_bytes(dst.data, 1, 100));
	ends_with(inherited, 100);
	dray_event_unref(ended);
	discard(&src);
	discard(&dst);
}

LOOP_FACT(a_forked_child_has_streams_of_its_own)
{
	check_child(fork);
}

LOOP_FACT(so_has_a_child_of_clone)
{
	check_child(clone_without_handlers);
}

static _Atomic bool over;

static void *keep_moving(void *data)
{
	struct dray_view *views = data;
	intptr_t failed = 0;

	while (!atomic_load(&over)) {
		struct dray_event *event;

		failed += dray_stream_send(loop.tx, &views[0], NULL, &event);
		failed += dray_stream_recv(loop.rx, &views[1], NULL, NULL);
		failed += dray_event_wait(event, -1);
		dray_event_unref(event);
	}
	return (void *)failed;
}

static int open_in_child(void)
{
	struct dray_stream *stream;
	struct dray_node *node;

	STEP_EQ(0, dray_node_open("host", &node));
	STEP_EQ(0, dray_stream_open(node, "rx0", NULL, &stream));
	dray_stream_close(stream);
	dray_node_unref(node);
	return 0;
}

LOOP_FACT(a_fork_leaves_no_lock_behind)
{
	struct dray_view views[2];
	pthread_t mover;
	void *failed;

	SKIP_IF_MALLOC_STAYS_LOCKED();
	views[0] = bytes_of(100, 1);
	views[1] = bytes_of(100, 2);
	atomic_store(&over, false);
	pthread_create(&mover, NULL, keep_moving, views);
	for (int i = 0; i < rounds(200); i++) {
		pid_t child = fork();

		if (!child)
			_exit(open_in_child());
		assert_int_equal(status_of(child), 0);
	}
	atomic_store(&over, true);
	pthread_join(mover, &failed);
	assert_null(failed);
	discard(&views[0]);
	discard(&views[1]);
}
