/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The loop of the host: packets to "tx0" come back from "rx0".  Each fact
 * has both ends open and a pool, and leaves no packet, block or descriptor.
 */
#ifndef DRAY_TESTS_STREAMS_H
#define DRAY_TESTS_STREAMS_H

#include "pool.h"
#include "random_view.h"

#define STREAM_ROOM ((size_t)1 << 20)

struct loop {
	struct dray_node *node;
	struct dray_pool *pool;
	struct dray_stream *tx, *rx;
	int descriptors;
};

static struct loop loop;

static inline int count_descriptors(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 64; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static inline struct dray_stream *
open_stream(const char *name, const struct dray_stream_options *options)
{
	struct dray_stream *stream = NULL;

	assert_works(dray_stream_open(loop.node, name, options, &stream));
	return stream;
}

static inline int loop_setup(void **state)
{
	loop.descriptors = count_descriptors();
	loop.node = open_node(test_spec());
	assert_works(dray_pool_create(loop.node, NULL, &loop.pool));
	loop.tx = open_stream("tx0", NULL);
	loop.rx = open_stream("rx0", NULL);
	return 0;
}

static inline int loop_teardown(void **state)
{
	dray_stream_close(loop.tx);
	dray_stream_close(loop.rx);
	assert_int_equal(stats_of(loop.pool).blocks, 0);
	assert_int_equal(stats_of(loop.pool).parked, 0);
	dray_pool_close(loop.pool);
	dray_node_unref(loop.node);
	assert_int_equal(count_descriptors(), loop.descriptors);
	return 0;
}

#define LOOP_FACT(name) FACT_WITH(name, loop_setup, loop_teardown)

/* A block of bytes of the pool as a view. */
static inline struct dray_view bytes_of(size_t size, int value)
{
	struct dray_view view;
	void *block = take(loop.pool, size, 0);

	memset(block, value, size);
	assert_works(dray_view_init(&view, block, u1, 1, DIMS((int64_t)size),
				    NULL));
	return view;
}

static inline void discard(const struct dray_view *view)
{
	dray_pool_free(loop.pool, view->data);
}

/* Sends and receives without waiting. */
static inline struct dray_event *send_view(const struct dray_view *view)
{
	struct dray_event *event = NULL;

	assert_works(dray_stream_send(loop.tx, view, NULL, &event));
	return event;
}

static inline struct dray_event *recv_view(const struct dray_view *view)
{
	struct dray_event *event = NULL;

	assert_works(dray_stream_recv(loop.rx, view, NULL, &event));
	return event;
}

static inline struct dray_point point_of(struct dray_event *event)
{
	struct dray_point point;

	assert_works(dray_event_point(event, &point, sizeof(point)));
	return point;
}

/* Waits for an event, which moved @bytes, and drops it. */
static inline void ends_with(struct dray_event *event, uint64_t bytes)
{
	assert_works(dray_event_wait(event, DEADLINE * 1000));
	assert_int_equal(point_of(event).bytes, bytes);
	dray_event_unref(event);
}

static inline struct dray_stream_counts counts_of(struct dray_stream *stream)
{
	struct dray_stream_counts counts = { .size = sizeof(counts) };

	assert_works(dray_stream_counts(stream, &counts));
	return counts;
}

static inline bool all_bytes(const void *data, int value, size_t size)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < size; i++)
		if (bytes[i] != value)
			return false;
	return true;
}

#endif /* DRAY_TESTS_STREAMS_H */
