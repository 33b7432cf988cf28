// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * stream executor: several operands, rings, copies by the CPU, and the way back
 * after a failure.  The host's streams are loops: an IP with its inputs as outputs.
 */
#include <dray/array/cast.h>
#include <dray/array/executor.h>
#include <dray/transfer.h>

#include <dray/array.h>

#include "streams.h"

FACTS_ON(on_host)

static const struct dray_call_cost cheap = { { 1, 1000 }, { 1, 1 } };
static const struct dray_call_cost dear = { { 1, 1000 }, { 9, 9000000 } };

#define BIG_INT16 DRAY_DTYPE('i', '>', 2)

/* A ufunc, its executor over streams of the host, and their queue. */
struct served {
	struct dray_ufunc *ufunc;
	struct dray_stream_executor_options options;
	dray_dtype dtypes[4];
	struct dray_stream *tx[2], *rx[2];
	struct dray_executor *executor;
	struct dray_call_queue *queue;
};

/* Starts with the options and dtypes of @served. */
static void serve(struct served *served, const char *name, int inputs,
		  int outputs, dray_loop *compute)
{
	const struct dray_ufunc_loop made = { .loop = compute };
	struct dray_stream_executor_options *options = &served->options;

	assert_works(dray_ufunc_create(name, inputs, outputs,
				       DRAY_IDENTITY_NONE, &served->ufunc));
	assert_works(dray_ufunc_set_loop(served->ufunc, served->dtypes, &made));
	options->ufunc = served->ufunc;
	options->dtypes = served->dtypes;
	options->tx = served->tx;
	options->rx = served->rx;
	assert_works(dray_stream_executor_create(options, &served->executor));
	assert_works(dray_executor_set_cost(served->executor, served->ufunc,
					    served->dtypes, &cheap));
	assert_works(dray_executor_set_cost(dray_cpu_executor(), served->ufunc,
					    served->dtypes, &dear));
	assert_works(dray_call_queue_create(&served->executor, 1, NULL,
					    &served->queue));
}

static void end(struct served *served)
{
	dray_call_queue_destroy(served->queue);
	dray_executor_unref(served->executor);
	assert_works(dray_executor_set_cost(dray_cpu_executor(), served->ufunc,
					    served->dtypes, NULL));
	dray_ufunc_unref(served->ufunc);
}

static struct dray_call_explanation
explain(const struct served *served, const struct dray_view *const *views,
	const struct dray_ufunc_options *options)
{
	struct dray_call_explanation plan = { .size = sizeof(plan) };

	assert_works(dray_explain_call(served->queue, served->ufunc, views,
				       views + dray_ufunc_inputs(served->ufunc),
				       options, &plan));
	return plan;
}

static int call(const struct served *served,
		const struct dray_view *const *views,
		const struct dray_ufunc_options *options)
{
	return dray_call_queue_submit(served->queue, served->ufunc, views,
				      views + dray_ufunc_inputs(served->ufunc),
				      options, NULL, NULL);
}

static int both_loop(char *const *data, const int64_t *strides, int64_t count,
		     void *context)
{
	for (int64_t i = 0; i < count; i++) {
		data[2][i * strides[2]] = data[0][i * strides[0]];
		memmove(data[3] + i * strides[3], data[1] + i * strides[1], 2);
	}
	return 0;
}

LOOP_FACT(each_of_several_operands_has_a_stream)
{
	struct dray_stream *tx1 = open_stream("tx1", NULL),
			   *rx1 = open_stream("rx1", NULL);
	struct served both = {
		.dtypes = { DRAY_UINT8, DRAY_INT16, DRAY_UINT8, DRAY_INT16 },
		.tx = { loop.tx, tx1 },
		.rx = { loop.rx, rx1 },
		.options = { .tx_count = 2,
			     .rx_count = 2,
			     .frame_bytes = 64,
			     .depth = 4 },
	};
	const size_t quarter = STREAM_ROOM / 4;
	unsigned char *memory = take(loop.pool, STREAM_ROOM, 0);
	unsigned char *expected = malloc(STREAM_ROOM);
	const struct dray_view *pointers[4], *others[4];
	struct dray_view views[4], copies[4];
	struct dice dice = { 26 };
	int calls = 0;

	serve(&both, "both", 2, 2, both_loop);
	while (calls < 300) {
		int64_t shape[4];
		int ndim = random_shape(&dice, shape), o;

		for (o = 0; o < 4; o++) {
			if (!random_view(&dice, &views[o],
					 memory + (size_t)o * quarter, quarter,
					 ndim, shape, o % 2 ? 2 : 1))
				break;
			views[o].dtype = both.dtypes[o];
			copies[o] = views[o];
			copies[o].data =
				expected +
				((unsigned char *)views[o].data - memory);
			pointers[o] = &views[o];
			others[o] = &copies[o];
		}
		if (o < 4)
			continue;
		for (size_t i = 0; i < 2 * quarter; i++)
			memory[i] = (unsigned char)roll(&dice, 256);
		memcpy(expected, memory, STREAM_ROOM);
		assert_string_equal(explain(&both, pointers, NULL).executor,
				    "streams");
		assert_works(call(&both, pointers, NULL));
		assert_works(dray_ufunc_call(both.ufunc, others, others + 2,
					     NULL, NULL));
		assert_memory_equal(memory, expected, STREAM_ROOM);
		calls++;
	}
	end(&both);
	free(expected);
	dray_pool_free(loop.pool, memory);
	dray_stream_close(tx1);
	dray_stream_close(rx1);
}

/* The bytes of two inputs, one after the other: the loop gives them back so. */
static int pack_loop(char *const *data, const int64_t *strides, int64_t count,
		     void *context)
{
	for (int64_t i = 0; i < count; i++) {
		data[2][i * strides[2]] = data[0][i * strides[0]];
		data[2][i * strides[2] + 1] = data[1][i * strides[1]];
	}
	return 0;
}

LOOP_FACT(one_stream_carries_several_inputs)
{
	struct served pack = {
		.dtypes = { DRAY_UINT8, DRAY_UINT8, DRAY_UINT16 },
		.tx = { loop.tx },
		.rx = { loop.rx },
		.options = { .tx_count = 1, .rx_count = 1, .frame_bytes = 2 },
	};
	struct dray_view views[] = { bytes_of(300, 1), bytes_of(300, 2),
				     bytes_of(600, 0) };
	const struct dray_view *pointers[] = { &views[0], &views[1],
					       &views[2] };

	serve(&pack, "pack", 2, 1, pack_loop);
	views[2].dtype = DRAY_UINT16;
	views[2].shape[0] = 300;
	views[2].strides[0] = 2;
	for (size_t i = 0; i < 300; i++) {
		((unsigned char *)views[0].data)[i] = (unsigned char)i;
		((unsigned char *)views[1].data)[i] = (unsigned char)(7 * i);
	}
	assert_string_equal(explain(&pack, pointers, NULL).executor, "streams");
	assert_works(call(&pack, pointers, NULL));
	for (size_t i = 0; i < 600; i++)
		assert_int_equal(((unsigned char *)views[2].data)[i],
				 (unsigned char)(i % 2 ? 7 * (i / 2) : i / 2));
	end(&pack);
	for (size_t i = 0; i < 3; i++)
		discard(&views[i]);
}

static int same_loop(char *const *data, const int64_t *strides, int64_t count,
		     void *context)
{
	for (int64_t i = 0; i < count; i++)
		memmove(data[1] + i * strides[1], data[0] + i * strides[0], 2);
	return 0;
}

static struct served same_of(uint32_t flags)
{
	return (struct served){
		.dtypes = { DRAY_INT16, DRAY_INT16 },
		.tx = { loop.tx },
		.rx = { loop.rx },
		.options = { .tx_count = 1,
			     .rx_count = 1,
			     .frame_bytes = 64,
			     .timeout_ns = DEADLINE_NS,
			     .flags = flags },
	};
}

/* An input and an output of 500 numbers of the type of "same". */
static void make_numbers(struct dray_view views[2])
{
	for (size_t o = 0; o < 2; o++) {
		views[o] = bytes_of(1000, 0);
		views[o].dtype = DRAY_INT16;
		views[o].shape[0] = 500;
		views[o].strides[0] = 2;
	}
	for (int i = 0; i < 500; i++)
		((int16_t *)views[0].data)[i] = (int16_t)(i * 37);
}

LOOP_FACT(masks_and_other_types_are_copied_if_the_cpu_may)
{
	static const dray_dtype ins[] = { DRAY_INT16, BIG_INT16 };
	static const dray_dtype outs[] = { DRAY_INT16, BIG_INT16,
					   DRAY_FLOAT64 };
	const size_t part = STREAM_ROOM / 4;
	unsigned char *memory = take(loop.pool, STREAM_ROOM, 0);
	unsigned char *expected = malloc(part);
	struct served same = same_of(DRAY_PACKET_STAGE);
	struct dice dice = { 27 };
	int copies = 0;

	serve(&same, "same", 1, 1, same_loop);
	for (size_t i = 0; i < STREAM_ROOM; i++)
		memory[i] = (unsigned char)roll(&dice, 2);
	while (copies < 300) {
		dray_dtype from = ins[roll(&dice, 2)],
			   to = outs[roll(&dice, 3)];
		struct dray_view in, out, mask, other;
		const struct dray_view *views[] = { &in, &out };
		const struct dray_view *input = &in, *cpu = &other;
		struct dray_ufunc_options options = { .where = NULL };
		int64_t shape[4];
		int ndim = random_shape(&dice, shape);

		if (!random_view(&dice, &in, memory, part, ndim, shape, 2) ||
		    !random_view(&dice, &mask, memory + part, part, ndim, shape,
				 1) ||
		    !random_view(&dice, &out, memory + 2 * part, part, ndim,
				 shape, dray_dtype_itemsize(to)))
			continue;
		in.dtype = from;
		out.dtype = to;
		mask.dtype = DRAY_BOOL;
		if (roll(&dice, 2))
			options.where = &mask;
		other = out;
		memcpy(expected, memory + 2 * part, part);
		other.data = expected +
			     ((unsigned char *)out.data - (memory + 2 * part));
		assert_string_equal(explain(&same, views, &options).executor,
				    "streams");
		assert_works(call(&same, views, &options));
		assert_works(dray_ufunc_call(same.ufunc, &input, &cpu, &options,
					     NULL));
		assert_memory_equal(memory + 2 * part, expected, part);
		copies +=
			from != DRAY_INT16 || to != DRAY_INT16 || options.where;
	}
	end(&same);
	free(expected);
	dray_pool_free(loop.pool, memory);
}

#define LARGE 100000u /* bytes of an element, more than of a usual frame */

static int large_loop(char *const *data, const int64_t *strides, int64_t count,
		      void *context)
{
	for (int64_t i = 0; i < count; i++)
		memmove(data[1] + i * strides[1], data[0] + i * strides[0],
			LARGE);
	return 0;
}

LOOP_FACT(an_element_may_be_larger_than_a_frame)
{
	const dray_dtype large = DRAY_DTYPE('V', '|', LARGE);
	struct served same = same_of(0);
	struct dray_view views[] = { bytes_of(6 * LARGE, 3),
				     bytes_of(6 * LARGE, 0) };
	const struct dray_view *pointers[] = { &views[0], &views[1] };

	same.dtypes[0] = same.dtypes[1] = large;
	same.options.frame_bytes = 0;
	serve(&same, "same", 1, 1, large_loop);
	for (size_t o = 0; o < 2; o++) {
		views[o].dtype = large;
		views[o].shape[0] = 3;
		views[o].strides[0] = 2 * LARGE; /* and so not contiguous */
	}
	assert_string_equal(explain(&same, pointers, NULL).executor, "streams");
	assert_works(call(&same, pointers, NULL));
	for (size_t i = 0; i < 6; i++)
		assert_true(all_bytes((char *)views[1].data + i * LARGE,
				      i % 2 ? 0 : 3, LARGE));
	end(&same);
	discard(&views[0]);
	discard(&views[1]);
}

LOOP_FACT(without_leave_to_copy_the_reason_is_told)
{
	struct served same = same_of(0);
	struct dray_view views[2], mask = bytes_of(500, 1);
	const struct dray_view *pointers[] = { &views[0], &views[1] };
	const struct dray_ufunc_options masked = { .where = &mask };
	struct dray_call_explanation plan = { .size = sizeof(plan) };

	make_numbers(views);
	mask.dtype = DRAY_BOOL;
	serve(&same, "same", 1, 1, same_loop);
	plan = explain(&same, pointers, &masked);
	assert_string_equal(plan.executor, "cpu");
	assert_non_null(strstr(plan.reason, "no mask"));
	views[0].dtype = BIG_INT16;
	plan = explain(&same, pointers, NULL);
	assert_string_equal(plan.executor, "cpu");
	assert_non_null(strstr(plan.reason, "operand 0 is >i2"));
	end(&same);
	discard(&mask);
	discard(&views[0]);
	discard(&views[1]);
}

/* Numbers that change with each round, through each pair of operands. */
static void pass_rings(const struct served *same, struct dray_view views[4])
{
	for (int round = 0; round < 60; round++) {
		struct dray_view *pair = &views[round / 7 % 2 * 2];
		const struct dray_view *pointers[] = { &pair[0], &pair[1] };

		memset(pair[0].data, round + 1, 1000);
		assert_string_equal(explain(same, pointers, NULL).executor,
				    "streams");
		assert_works(call(same, pointers, NULL));
		assert_true(all_bytes(pair[1].data, round + 1, 1000));
	}
}

static uint64_t owned(struct dray_stream *stream)
{
	struct dray_ring_counts counts = { .size = sizeof(counts) };

	assert_works(dray_stream_ring_counts(stream, &counts));
	return counts.owned;
}

/* Few frames, more than rings have, and rows that are apart. */
static const struct {
	int64_t rows, bytes, stride;
	bool rings;
} lengths[] = {
	{ 3, 64, 64, false },	  { 4, 64, 64, true },
	{ 1025, 64, 64, true },	  { 2500, 2, 2, true },
	{ 40, 64, 128, true },	  { 1500, 66, 200, true },
	{ 2049, 64, 1000, true },
};

LOOP_FACT(a_call_of_any_length_passes_in_rings_that_go)
{
	struct served same = same_of(0);
	struct dray_ring_counts ring = { .size = sizeof(ring) };

	serve(&same, "same", 1, 1, same_loop);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		const int64_t rows = lengths[i].rows;
		const size_t size = (size_t)(rows * lengths[i].stride);
		struct dray_view views[2] = { bytes_of(size, 0),
					      bytes_of(size, 7) };
		const struct dray_view *pointers[] = { &views[0], &views[1] };
		uint64_t packets = counts_of(loop.rx).submitted;

		for (size_t k = 0; k < size; k++)
			((unsigned char *)views[0].data)[k] =
				(unsigned char)(k * 31 + k / 251);
		for (size_t o = 0; o < 2; o++) {
			views[o].dtype = DRAY_INT16;
			views[o].ndim = 2;
			views[o].shape[0] = rows;
			views[o].shape[1] = lengths[i].bytes / 2;
			views[o].strides[0] = lengths[i].stride;
			views[o].strides[1] = 2;
		}
		assert_string_equal(explain(&same, pointers, NULL).executor,
				    "streams");
		assert_works(call(&same, pointers, NULL));
		for (size_t k = 0; k < size; k++)
			if ((int64_t)k % lengths[i].stride < lengths[i].bytes)
				assert_int_equal(
					((unsigned char *)views[1].data)[k],
					((unsigned char *)views[0].data)[k]);
			else
				assert_int_equal(
					((unsigned char *)views[1].data)[k], 7);
		assert_int_equal(counts_of(loop.rx).submitted > packets,
				 !lengths[i].rings);
		assert_fails(dray_stream_ring_counts(loop.rx, &ring), -EINVAL,
			     "has no ring");
		discard(&views[0]);
		discard(&views[1]);
	}
	end(&same);
}

LOOP_FACT(a_ring_of_the_program_keeps_calls_away)
{
	struct served same = same_of(0);
	struct dray_view views[2], frames[2];
	const struct dray_view *pointers[] = { &views[0], &views[1] };
	const struct dray_view *ring[] = { &frames[0], &frames[1] };

	make_numbers(views);
	make_numbers(frames);
	serve(&same, "same", 1, 1, same_loop);
	assert_works(dray_stream_ring(loop.tx, ring, 2, 0));
	assert_fails(call(&same, pointers, NULL), -EBUSY,
		     "packets of tx0 pass in the frames of its ring");
	assert_works(dray_stream_executor_reset(same.executor));
	for (size_t i = 0; i < 2; i++) {
		struct dray_point point;

		assert_int_equal(dray_stream_acquire(loop.tx, &point, 1, 0), 1);
	}
	assert_works(dray_stream_ring(loop.tx, NULL, 0, DRAY_RING_REPLACE));
	assert_works(call(&same, pointers, NULL));
	assert_memory_equal(views[0].data, views[1].data, 1000);
	end(&same);
	for (size_t i = 0; i < 2; i++) {
		discard(&views[i]);
		discard(&frames[i]);
	}
}

LOOP_FACT(rings_take_calls_with_their_own_operands)
{
	struct dray_view views[6];
	const struct dray_view *pointers[] = { &views[0], &views[1], &views[2],
					       &views[3] };
	const struct dray_view *strangers[] = { &views[4], &views[5] };
	struct served same = same_of(0);
	struct dray_call_explanation plan = { .size = sizeof(plan) };

	for (size_t i = 0; i < 6; i += 2)
		make_numbers(&views[i]);
	same.options.ring = pointers;
	same.options.ring_count = 2;
	serve(&same, "same", 1, 1, same_loop);
	pass_rings(&same, views);
	plan = explain(&same, strangers, NULL);
	assert_string_equal(plan.executor, "cpu");
	assert_non_null(strstr(plan.reason, "no ring has"));
	/* 1000 bytes are 16 frames of 64, the last one shorter. */
	assert_int_equal(owned(loop.tx), 32);
	assert_int_equal(owned(loop.rx), 32);
	end(&same);
	/* Their memory is the rings' until the streams are closed. */
	for (size_t i = 0; i < 6; i++)
		discard(&views[i]);
	dray_stream_close(loop.tx);
	dray_stream_close(loop.rx);
	loop.tx = loop.rx = NULL;
}

LOOP_FACT(rings_that_fail_have_all_frames_back)
{
	struct dray_stream *rx1 = open_stream("rx1", NULL);
	struct served same = same_of(0);
	struct dray_view views[2];
	const struct dray_view *pointers[] = { &views[0], &views[1] };
	const struct dray_view *out = &views[1];
	struct dray_event *event;

	make_numbers(views);
	same.rx[0] = rx1;
	same.options.timeout_ns = 20000000;
	same.options.ring = pointers;
	same.options.ring_count = 1;
	serve(&same, "same", 1, 1, same_loop);
	for (int round = 0; round < 2; round++) {
		assert_works(dray_call_queue_submit(same.queue, same.ufunc,
						    pointers, &out, NULL, NULL,
						    &event));
		/* Not -EBUSY, though the engine has the frames. */
		assert_works(
			dray_view_wait(out, DRAY_ACCESS_READ, DEADLINE * 1000));
		assert_fails(dray_event_wait(event, DEADLINE * 1000),
			     -ETIMEDOUT, "no frame 0 of same within 20 ms");
		dray_event_unref(event);
		assert_int_equal(owned(loop.tx), 16);
		assert_int_equal(owned(rx1), 16);
		assert_string_equal(explain(&same, pointers, NULL).executor,
				    "cpu");
		assert_works(dray_stream_executor_reset(same.executor));
	}
	end(&same);
	dray_stream_close(rx1);
	dray_stream_close(loop.tx);
	loop.tx = NULL;
	discard(&views[0]);
	discard(&views[1]);
}

/* A reset that succeeds from the second time on. */
static int resets;

static int reset(void *context)
{
	assert_ptr_equal(context, &resets);
	return ++resets < 2 ? -EIO : 0;
}

LOOP_FACT(an_executor_is_used_again_after_a_reset)
{
	struct dray_stream *rx1 = open_stream("rx1", NULL);
	struct served same = same_of(0);
	struct dray_view views[2];
	const struct dray_view *pointers[] = { &views[0], &views[1] };

	resets = 0;
	make_numbers(views);
	same.rx[0] = rx1;
	same.options.timeout_ns = 20000000;
	same.options.reset = reset;
	same.options.context = &resets;
	serve(&same, "same", 1, 1, same_loop);
	assert_fails(call(&same, pointers, NULL), -ETIMEDOUT,
		     "no frame 0 of same within 20 ms");
	assert_int_equal(resets, 1);
	assert_string_equal(explain(&same, pointers, NULL).executor, "cpu");
	assert_non_null(
		strstr(explain(&same, pointers, NULL).reason, "not reset"));
	assert_works(dray_stream_executor_reset(same.executor));
	assert_int_equal(resets, 2);
	assert_string_equal(explain(&same, pointers, NULL).executor, "streams");
	/* This one is reset by the call that fails. */
	assert_fails(call(&same, pointers, NULL), -ETIMEDOUT,
		     "no frame 0 of same within 20 ms");
	assert_int_equal(resets, 3);
	assert_string_equal(explain(&same, pointers, NULL).executor, "streams");
	assert_fails(dray_stream_executor_reset(dray_cpu_executor()), -EINVAL,
		     "cpu is not an executor of streams");
	end(&same);
	dray_stream_close(rx1);
	discard(&views[0]);
	discard(&views[1]);
}

LOOP_FACT(an_executor_that_is_dropped_ends_its_calls)
{
	struct served same = same_of(0);
	struct dray_view views[2];
	const struct dray_view *pointers[] = { &views[0], &views[1] };
	const struct dray_view *out = &views[1];
	struct dray_event *events[20];

	make_numbers(views);
	serve(&same, "same", 1, 1, same_loop);
	for (size_t i = 0; i < 20; i++)
		assert_works(dray_call_queue_submit(same.queue, same.ufunc,
						    pointers, &out, NULL, NULL,
						    &events[i]));
	dray_executor_unref(dray_executor_ref(same.executor));
	end(&same);
	for (size_t i = 0; i < 20; i++) {
		assert_works(dray_event_wait(events[i], 0));
		dray_event_unref(events[i]);
	}
	assert_memory_equal(views[0].data, views[1].data, 1000);
	dray_stream_close(loop.tx);
	dray_stream_close(loop.rx);
	loop.tx = loop.rx = NULL;
	assert_false(dray_transfers_in_flight());
	discard(&views[0]);
	discard(&views[1]);
}

/* Waits for the output of calls until it is told to stop; other results than 0 fail. */
static atomic_bool looks_on;

static void *look_on(void *view)
{
	intptr_t failed = 0;

	while (!failed && atomic_load(&looks_on))
		failed = dray_view_wait(view, DRAY_ACCESS_READ, -1);
	return (void *)failed;
}

LOOP_FACT(a_view_waits_for_a_call_and_not_for_its_rings)
{
	struct served same = same_of(0);
	struct dray_view views[2];
	const struct dray_view *pointers[] = { &views[0], &views[1] };
	const struct dray_view *out = &views[1];
	pthread_t thread;
	void *failed;

	make_numbers(views);
	serve(&same, "same", 1, 1, same_loop);
	atomic_store(&looks_on, true);
	assert_int_equal(pthread_create(&thread, NULL, look_on, &views[1]), 0);
	for (int i = 0; i < 3000; i++)
		assert_works(dray_call_queue_submit(same.queue, same.ufunc,
						    pointers, &out, NULL, NULL,
						    NULL));
	atomic_store(&looks_on, false);
	pthread_join(thread, &failed);
	assert_null(failed);
	end(&same);
	discard(&views[0]);
	discard(&views[1]);
}

LOOP_FACT(bad_rings_are_refused)
{
	struct dray_view views[4], other;
	const struct dray_view *pointers[] = { &views[0], &views[1], &views[0],
					       &views[1] };
	struct served same = same_of(0);
	struct dray_executor *executor = NULL;

	make_numbers(&views[0]);
	assert_works(dray_ufunc_create("same", 1, 1, DRAY_IDENTITY_NONE,
				       &same.ufunc));
	same.options.ufunc = same.ufunc;
	same.options.dtypes = same.dtypes;
	same.options.tx = same.tx;
	same.options.rx = same.rx;
	same.options.ring = pointers;
	same.options.ring_count = 1;
	other = views[1];
	other.shape[0] = 400;
	pointers[1] = &other;
	assert_fails(dray_stream_executor_create(&same.options, &executor),
		     -EINVAL, "operand 1 of ring 0 has another type");
	other = views[1];
	other.dtype = DRAY_UINT16;
	assert_fails(dray_stream_executor_create(&same.options, &executor),
		     -EINVAL, "operand 1 of ring 0 has another type");
	pointers[1] = &views[1];
	same.options.frame_bytes = 1 << 20;
	assert_fails(dray_stream_executor_create(&same.options, &executor),
		     -EINVAL, "a ring has 2 to");
	same.options.frame_bytes = 64;
	same.options.ring = NULL;
	assert_fails(dray_stream_executor_create(&same.options, &executor),
		     -EINVAL, "NULL");
	dray_ufunc_unref(same.ufunc);
	discard(&views[0]);
	discard(&views[1]);
}
