/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A ufunc "same", each output of which is its input, and a queue of its calls: the
 * host's streams are a loop, and so an IP that computes it.
 */
#ifndef DRAY_TESTS_SAME_H
#define DRAY_TESTS_SAME_H

#include <dray/array/executor.h>

#include <dray/array.h>

#include "streams.h"

static struct dray_ufunc *same;
static struct dray_executor *streams;
static struct dray_call_queue *queue;
/* 100 bytes of 1, and as many of 2. */
static struct dray_view in, out;

/* Copies elements of the size in its context. */
static inline int copy_loop(char *const *data, const int64_t *strides,
			    int64_t count, void *context)
{
	const size_t size = (size_t)(uintptr_t)context;

	for (int64_t i = 0; i < count; i++)
		memmove(data[1] + i * strides[1], data[0] + i * strides[0],
			size);
	return 0;
}

static const dray_dtype types[] = { DRAY_UINT8, DRAY_INT16, DRAY_FLOAT64 };

static inline void make_same(void)
{
	assert_works(
		dray_ufunc_create("same", 1, 1, DRAY_IDENTITY_NONE, &same));
	for (size_t i = 0; i < 3; i++) {
		const struct dray_ufunc_loop copy = {
			.loop = copy_loop,
			.context = (void *)(uintptr_t)dray_dtype_itemsize(
				types[i]),
		};

		assert_works(dray_ufunc_set_loop(
			same, (dray_dtype[]){ types[i], types[i] }, &copy));
	}
}

static inline struct dray_stream_executor_options options_of(dray_dtype *dtypes)
{
	return (struct dray_stream_executor_options){
		.ufunc = same,
		.dtypes = dtypes,
		.tx = &loop.tx,
		.tx_count = 1,
		.rx = &loop.rx,
		.rx_count = 1,
	};
}

static inline struct dray_executor *
make_streams(const struct dray_stream_executor_options *options)
{
	struct dray_executor *made = NULL;

	assert_works(dray_stream_executor_create(options, &made));
	return made;
}

static const struct dray_call_cost cheap = { { 1, 1000 }, { 1, 1 } };
static const struct dray_call_cost dear = { { 1, 1000 }, { 9, 9000000 } };

/* Bytes, of which the streams are known to be fast. */
static inline int queue_setup(void **state)
{
	dray_dtype dtypes[] = { DRAY_UINT8, DRAY_UINT8 };
	struct dray_stream_executor_options options;

	loop_setup(state);
	in = bytes_of(100, 1);
	out = bytes_of(100, 2);
	make_same();
	options = options_of(dtypes);
	options.flags = DRAY_PACKET_STAGE;
	options.frame_bytes = 64;
	options.timeout_ns = DEADLINE_NS;
	streams = make_streams(&options);
	assert_works(dray_executor_set_cost(streams, same, dtypes, &cheap));
	assert_works(dray_executor_set_cost(dray_cpu_executor(), same, dtypes,
					    &dear));
	assert_works(dray_call_queue_create(&streams, 1, NULL, &queue));
	return 0;
}

static inline int queue_teardown(void **state)
{
	dray_call_queue_destroy(queue);
	dray_executor_unref(streams);
	dray_executor_set_cost(dray_cpu_executor(), same,
			       (dray_dtype[]){ DRAY_UINT8, DRAY_UINT8 }, NULL);
	dray_ufunc_unref(same);
	discard(&in);
	discard(&out);
	return loop_teardown(state);
}

#define QUEUE_FACT(name) FACT_WITH(name, queue_setup, queue_teardown)

static inline int call(const struct dray_view *from, const struct dray_view *to,
		       struct dray_event **event)
{
	return dray_call_queue_submit(queue, same, &from, &to, NULL, NULL,
				      event);
}

static inline struct dray_call_explanation explain(const struct dray_view *from,
						   const struct dray_view *to)
{
	struct dray_call_explanation plan = { .size = sizeof(plan) };

	assert_works(dray_explain_call(queue, same, &from, &to, NULL, &plan));
	return plan;
}

#endif /* DRAY_TESTS_SAME_H */
