// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * stream: rings on the kernel back end, which a stand-in for the module answers:
 * the calls that reach it, and those that do not.
 */
#include <dray/array/executor.h>
#include <dray/transfer.h>

#include <dray/array.h>

#include "stand_in.h"

#define FRAMES 4

static struct dray_node *node;
static struct dray_stream *stream;
static struct dray_buffer *buffer;
static struct dray_view views[FRAMES];
static const struct dray_view *list[FRAMES];

static int ring_setup(void **state)
{
	with_node(state);
	dray_node_unref(*state);
	module.streams = true;
	assert_works(dray_node_open("kernel:dray7", &node));
	assert_works(dray_buffer_alloc(node, 65536, NULL, &buffer));
	for (ptrdiff_t i = 0; i < FRAMES; i++) {
		assert_works(dray_view_init(
			&views[i], (char *)dray_buffer_data(buffer) + i * 4096,
			u1, 2, DIMS(4, 8), DIMS(64, 1)));
		list[i] = &views[i];
	}
	stream = NULL;
	*state = node;
	return 0;
}

static int ring_teardown(void **state)
{
	dray_stream_close(stream);
	dray_buffer_unref(buffer);
	if (module.head)
		munmap(module.head, sizeof(*module.head));
	return without_node(state);
}

#define RING_FACT(name) FACT_WITH(name, ring_setup, ring_teardown)

static void open_ring(const char *name, uint32_t flags)
{
	assert_works(dray_stream_open(node, name, NULL, &stream));
	assert_works(dray_stream_ring(stream, list, FRAMES, flags));
}

RING_FACT(all_frames_are_given_with_one_call)
{
	open_ring("rx0", DRAY_RING_OVERWRITE);
	assert_int_equal(module.ring.count, FRAMES);
	assert_int_equal(module.ring.flags, DRAY_RING_OVERWRITE);
	for (int i = 0; i < FRAMES; i++) {
		assert_int_equal(module.transfers[i].op, DRAY_OP_RECV);
		assert_int_equal(module.transfers[i].src_fd, -1);
		assert_int_equal(module.transfers[i].dst_fd,
				 dray_buffer_fd(buffer));
		assert_int_equal(module.transfers[i].dst_offset, i * 4096);
		assert_int_equal(module.transfers[i].run, 8);
	}
	dray_stream_close(stream);
	stream = NULL;
	/* the ring's end */
	assert_int_equal(module.ring.count, 0);
}

RING_FACT(frames_may_stand_backwards)
{
	for (int i = 0; i < FRAMES; i++)
		list[i] = &views[FRAMES - 1 - i];
	open_ring("rx0", 0);
	for (int i = 0; i < FRAMES; i++)
		assert_int_equal(module.transfers[i].dst_offset,
				 (FRAMES - 1 - i) * 4096);
}

RING_FACT(frames_that_wait_cost_no_call)
{
	struct dray_ring_counts counts = { .size = sizeof(counts) };
	struct dray_point points[FRAMES];
	const uint32_t back[] = { 2, 0 };
	int before;

	open_ring("rx0", 0);
	publish_frame(1, 32, 0, 0);
	publish_frame(2, 31, -EIO, 1);
	publish_frame(3, 32, 0, 2);
	before = module.calls;
	assert_int_equal(dray_stream_acquire(stream, points, 2, -1), 2);
	assert_int_equal(points[1].number, 2);
	assert_int_equal(points[1].bytes, 31);
	assert_int_equal(points[1].status, -EIO);
	assert_int_equal(points[1].frame, 1);
	assert_int_equal(points[1].time_ns, 1002);
	assert_int_equal(dray_stream_acquire(stream, points, FRAMES, -1), 1);
	assert_works(dray_stream_ring_counts(stream, &counts));
	assert_int_equal(counts.owned, 3);
	assert_int_equal(module.calls, before);
	/* and as many as wanted go back with one */
	assert_works(dray_stream_release(stream, back, 2));
	assert_int_equal(module.calls, before + 1);
	assert_int_equal(module.release.count, 2);
	assert_int_equal(module.release.room, 0);
	assert_memory_equal(module.released, back, sizeof(back));
}

RING_FACT(frames_that_may_be_overwritten_are_exchanged_with_one_call)
{
	struct dray_point points[FRAMES];
	uint32_t frame = 3;
	int before;

	open_ring("rx0", DRAY_RING_OVERWRITE);
	before = module.calls;
	/* nothing has come: the module need not be asked */
	assert_int_equal(dray_stream_acquire(stream, points, 4, 0), -ETIME);
	assert_int_equal(module.calls, before);
	publish_frame(1, 32, 0, 0);
	publish_frame(2, 32, 0, 3);
	module.acquired[0] = (struct dray_point){ .number = 2, .frame = 3 };
	module.acquired_count = 1;
	assert_int_equal(dray_stream_acquire(stream, points, 4, -1), 1);
	assert_int_equal(points[0].frame, 3);
	assert_int_equal(module.calls, before + 1);
	assert_int_equal(module.release.room, 4);
	assert_int_equal(dray_stream_acquire(stream, points, 4, 0), -ETIME);
	assert_int_equal(module.calls, before + 1);
	publish_frame(3, 32, 0, 1);
	module.acquired[0] = (struct dray_point){ .number = 3, .frame = 1 };
	module.acquired_count = 1;
	assert_int_equal(dray_stream_exchange(stream, &frame, 1, points, 1, -1),
			 1);
	assert_int_equal(points[0].frame, 1);
	assert_int_equal(module.calls, before + 2);
	assert_int_equal(module.release.count, 1);
	assert_int_equal(module.released[0], 3);
	/* there was no room for more, so there may be more */
	module.acquired_count = 0;
	publish_frame(4, 32, 0, 2);
	assert_int_equal(dray_stream_acquire(stream, points, 1, 0), -ETIME);
	assert_int_equal(module.releases, 3);
}

static const struct {
	unsigned long call;
	int error;
	uint32_t reason;
	uint64_t limit;
	const char *part;
} failures[] = {
	{ DRAY_IOC_RING, EINVAL, DRAY_REASON_RANGE, 65536,
	  "RING of 4 frames on channel 2 of dray7: part of it is outside the buffer of 65536 bytes (frame 2)" },
	{ DRAY_IOC_RING, ENOMEM, DRAY_REASON_MEMLOCK, 8192,
	  "(ulimit -l) is 8192 bytes" },
	{ DRAY_IOC_RING, EBUSY, 0, 0, "Device or resource busy" },
	{ DRAY_IOC_RING, ENODEV, 0, 0, "No such device" },
};

RING_FACT(a_ring_that_the_module_refuses_says_why)
{
	assert_works(dray_stream_open(node, "rx0", NULL, &stream));
	for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
		fail_with(failures[i].call, failures[i].error,
			  failures[i].reason, failures[i].limit);
		assert_fails(dray_stream_ring(stream, list, FRAMES, 0),
			     -failures[i].error, failures[i].part);
	}
	module.failing = 0;
	assert_works(dray_stream_ring(stream, list, FRAMES, 0));
}

RING_FACT(frames_that_are_refused_leave_the_old_ring)
{
	struct dray_ring_counts counts = { .size = sizeof(counts) };
	struct dray_point points[FRAMES];

	open_ring("tx0", 0);
	assert_int_equal(dray_stream_acquire(stream, points, FRAMES, 0),
			 FRAMES);
	fail_with(DRAY_IOC_RING, EBUSY, 0, 0);
	assert_fails(dray_stream_ring(stream, list, 2, DRAY_RING_REPLACE),
		     -EBUSY, "RING of 2 frames");
	assert_fails(dray_stream_ring(stream, NULL, 0, DRAY_RING_REPLACE),
		     -EBUSY, "RING of 0 frames");
	assert_works(dray_stream_ring_counts(stream, &counts));
	assert_int_equal(counts.owned, FRAMES);
	module.failing = 0;
	assert_works(dray_stream_ring(stream, list, 2, DRAY_RING_REPLACE));
	assert_int_equal(module.ring.flags, DRAY_RING_REPLACE);
	assert_int_equal(module.ring.count, 2);
}

RING_FACT(a_frame_that_was_not_released_stays_the_callers)
{
	struct dray_ring_counts counts = { .size = sizeof(counts) };
	struct dray_point point;
	uint32_t frame = 1;

	open_ring("rx0", 0);
	publish_frame(1, 32, 0, 1);
	assert_int_equal(dray_stream_acquire(stream, &point, 1, -1), 1);
	fail_with(DRAY_IOC_RELEASE, ENODEV, 0, 0);
	assert_fails(dray_stream_release(stream, &frame, 1), -ENODEV,
		     "RELEASE on channel 2 of dray7");
	assert_works(dray_stream_ring_counts(stream, &counts));
	assert_int_equal(counts.owned, 1);
	module.failing = 0;
	assert_works(dray_stream_release(stream, &frame, 1));
}

RING_FACT(a_wait_for_a_frame_is_one_of_the_modules)
{
	const uint32_t frames[] = { 1, 0, 2 };
	struct dray_point point;

	open_ring("tx0", 0);
	for (int i = 0; i < FRAMES; i++)
		assert_int_equal(dray_stream_acquire(stream, &point, 1, 0), 1);
	assert_works(dray_stream_release(stream, &point.frame, 1));
	assert_fails(dray_stream_acquire(stream, &point, 1, 5), -ETIME,
		     "no frame of tx0 within 5 ms");
	assert_int_equal(module.waits, 1);
	/* a release that waits is one call, too */
	assert_int_equal(dray_stream_exchange(stream, frames, 2, &point, 1, 5),
			 -ETIME);
	assert_int_equal(module.waits, 1);
	assert_int_equal(module.releases, 2);
	assert_int_equal(module.release.count, 2);
	assert_int_equal(module.release.number, 1);
	assert_true(module.release.until_ns > 0);
	/* or none, if a frame is there */
	publish_frame(1, 32, 0, 3);
	assert_int_equal(
		dray_stream_exchange(stream, frames + 2, 1, &point, 1, 5), 1);
	assert_int_equal(module.release.until_ns, 0);
	fail_with(DRAY_IOC_WAIT, ENODEV, 0, 0);
	assert_fails(dray_stream_acquire(stream, &point, 1, -1), -ENODEV,
		     "No such device");
	module.failing = 0;
}

RING_FACT(an_engine_that_keeps_frames_ends_the_call_and_has_their_memory)
{
	static const struct dray_call_cost cheap = { { 1, 2 }, { 1, 1 } };
	static const struct dray_call_cost dear = { { 1, 2 }, { 9000, 9000 } };
	struct dray_ufunc *invert = dray_ufunc_find("invert");
	const dray_dtype types[] = { DRAY_UINT8, DRAY_UINT8 };
	struct dray_stream *tx;
	struct dray_stream_executor_options options = {
		.ufunc = invert,
		.dtypes = types,
		.tx = &tx,
		.tx_count = 1,
		.rx = &stream,
		.rx_count = 1,
		.frame_bytes = 64,
		.timeout_ns = 20000000,
	};
	const struct dray_view *in = &views[0], *out = &views[1];
	struct dray_executor *executor;
	struct dray_call_queue *queue;
	struct dray_event *event;

	for (int i = 0; i < FRAMES; i++)
		assert_works(dray_view_init(&views[i], views[i].data, u1, 1,
					    DIMS(256), NULL));
	assert_works(dray_stream_open(node, "tx0", NULL, &tx));
	assert_works(dray_stream_open(node, "rx0", NULL, &stream));
	assert_works(dray_stream_executor_create(&options, &executor));
	assert_works(dray_executor_set_cost(executor, invert, types, &cheap));
	assert_works(dray_executor_set_cost(dray_cpu_executor(), invert, types,
					    &dear));
	assert_works(dray_call_queue_create(&executor, 1, NULL, &queue));
	module.keeps_frames = true;
	assert_works(dray_call_queue_submit(queue, invert, &in, &out, NULL,
					    NULL, &event));
	assert_fails(dray_event_wait(event, -1), -ETIMEDOUT,
		     "no frame 0 of invert within 20 ms; ");
	assert_non_null(strstr(dray_last_error(), " keeps 4 frames"));
	dray_event_unref(event);
	assert_in_range(module.cancels, 2, 900);
	/* their memory is in use, and the input may be read */
	assert_fails(dray_view_wait(out, DRAY_ACCESS_READ, -1), -EBUSY,
		     " of rx0, which was not acquired");
	assert_fails(dray_view_wait(in, DRAY_ACCESS_WRITE, -1), -EBUSY,
		     " of tx0, which was not acquired");
	assert_works(dray_view_wait(in, DRAY_ACCESS_READ, -1));
	/* neither do other calls wait for the engine */
	assert_works(dray_stream_executor_reset(executor));
	in = &views[2];
	out = &views[3];
	assert_fails(dray_call_queue_submit(queue, invert, &in, &out, NULL,
					    NULL, NULL),
		     -EBUSY, "close the stream");
	dray_call_queue_destroy(queue);
	dray_executor_unref(executor);
	dray_stream_close(tx);
	dray_stream_close(stream);
	stream = NULL;
	for (int i = 0; i < FRAMES; i++)
		assert_works(dray_view_wait(&views[i], DRAY_ACCESS_WRITE, -1));
	assert_works(dray_executor_set_cost(dray_cpu_executor(), invert, types,
					    NULL));
}
