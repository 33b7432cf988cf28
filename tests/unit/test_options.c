// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Options and results of libdray in each size, and its version. */
#include "sizes.h"
#include "streams.h"

static struct dray_manager *manager;
static struct dray_resource *counted, *tracked;
static const struct dray_handler *checked;

static int buffer_sized(void *options)
{
	struct dray_buffer *made;
	int ret = dray_buffer_alloc(loop.node, 4096, options, &made);

	if (!ret)
		dray_buffer_unref(made);
	return ret;
}

static int pool_sized(void *options)
{
	struct dray_pool *made;
	int ret = dray_pool_create(loop.node, options, &made);

	if (!ret)
		dray_pool_close(made);
	return ret;
}

static int pool_stats_sized(void *stats)
{
	return dray_pool_stats(loop.pool, stats);
}

static int check_sized(void *numbers)
{
	return dray_check_get(checked, numbers);
}

static int sized_allocate(void *ctx, size_t size, size_t alignment,
			  uint64_t stream, void **out)
{
	return -ENOMEM;
}

static int sized_deallocate(void *ctx, void *block, size_t size,
			    uint64_t stream)
{
	return -EINVAL;
}

static int resource_sized(void *ops)
{
	struct dray_resource *made;
	int ret = dray_resource_create(ops, NULL, &made);

	if (!ret)
		dray_resource_unref(made);
	return ret;
}

static int statistics_sized(void *out)
{
	return dray_statistics_get(counted, out);
}

/* A refused structure leaves the scope, which is ended here. */
static int statistics_pop_sized(void *out)
{
	int ret;

	assert_works(dray_statistics_push(counted));
	ret = dray_statistics_pop(counted, out);
	if (ret)
		assert_works(dray_statistics_pop(counted, NULL));
	return ret;
}

static int tracking_sized(void *out)
{
	return dray_tracking_get(tracked, out);
}

static int memory_sized(void *description)
{
	struct dray_memory *made;
	int ret = dray_memory_create(manager, description, &made);

	if (!ret)
		dray_memory_unref(made);
	return ret;
}

static int manager_stats_sized(void *stats)
{
	errno = 0;
	dray_manager_stats(manager, stats);
	return -errno;
}

static int dtype_sized(void *functions)
{
	dray_dtype made;
	int ret = dray_dtype_create_user("sized", 'q', 4, 4, functions, NULL,
					 &made);

	if (!ret)
		dray_dtype_unref(made);
	return ret;
}

static int rows_sized(void *limits)
{
	static char bytes[4];
	struct dray_view view;
	struct dray_row row;
	size_t count;

	assert_works(dray_view_init(&view, bytes, DRAY_INT8, 1,
				    (const int64_t[]){ 4 }, NULL));
	return dray_view_rows(&view, limits, &row, 1, &count);
}

static int loan_sized(void *options)
{
	static char bytes[4];
	struct dray_loan *made = NULL;
	struct dray_view view;
	int ret;

	assert_works(dray_view_init(&view, bytes, DRAY_INT8, 1,
				    (const int64_t[]){ 4 }, NULL));
	ret = dray_view_lend(&view, DRAY_ACCESS_READ, 0, options, &made);
	dray_loan_end(made);
	return ret;
}

static int queue_sized(void *options)
{
	struct dray_queue *made;
	int ret = dray_queue_create(loop.node, options, &made);

	if (!ret)
		dray_queue_destroy(made);
	return ret;
}

static int explain_sized(void *out)
{
	struct dray_view view = bytes_of(16, 1), to = bytes_of(16, 2);
	struct dray_queue *made;
	int ret;

	assert_works(dray_queue_create(loop.node, NULL, &made));
	ret = dray_explain(made, &to, &view, 0, out);
	dray_queue_destroy(made);
	dray_pool_free(loop.pool, view.data);
	dray_pool_free(loop.pool, to.data);
	return ret;
}

static int stream_sized(void *options)
{
	struct dray_stream *made;
	int ret = dray_stream_open(loop.node, "tx1", options, &made);

	if (!ret)
		dray_stream_close(made);
	return ret;
}

static int packet_sized(void *options)
{
	struct dray_view view = bytes_of(16, 1), to = bytes_of(16, 2);
	struct dray_event *event;
	int ret = dray_stream_send(loop.tx, &view, options, &event);

	if (!ret) {
		assert_works(dray_stream_recv(loop.rx, &to, NULL, NULL));
		assert_works(dray_event_wait(event, -1));
		dray_event_unref(event);
	}
	dray_pool_free(loop.pool, view.data);
	dray_pool_free(loop.pool, to.data);
	return ret;
}

static int stream_explain_sized(void *out)
{
	struct dray_view view = bytes_of(16, 1);
	const struct dray_view *const views[] = { &view };
	int ret = dray_stream_explain(loop.tx, views, 1, NULL, out);

	dray_pool_free(loop.pool, view.data);
	return ret;
}

static int stream_counts_sized(void *counts)
{
	return dray_stream_counts(loop.tx, counts);
}

static int ring_counts_sized(void *counts)
{
	struct dray_view frames[] = { bytes_of(4096, 1), bytes_of(4096, 2) };
	const struct dray_view *const views[] = { &frames[0], &frames[1] };
	struct dray_stream *stream = open_stream("rx1", NULL);
	int ret;

	assert_works(dray_stream_ring(stream, views, 2, 0));
	ret = dray_stream_ring_counts(stream, counts);
	dray_stream_close(stream);
	dray_pool_free(loop.pool, frames[0].data);
	dray_pool_free(loop.pool, frames[1].data);
	return ret;
}

/* A machine without XRT refuses it after its size. */
static int foreign_sized(void *structure)
{
	struct dray_xrt_bo *made;
	int ret = dray_xrt_wrap(NULL, structure, &made);

	if (!ret)
		dray_xrt_bo_unref(made);
	return ret;
}

FACT_ON(on_host, options_and_results_have_any_size, loop_setup, loop_teardown)
{
	static const struct dray_resource_ops ops = {
		.name = "sized",
		.allocate = sized_allocate,
		.deallocate = sized_deallocate,
	};
	static const struct sizes_row table[] = {
		OPTIONS(dray_buffer_options, DRAY_BUFFER_OPTIONS, 64, false,
			NULL, buffer_sized),
		OPTIONS(dray_pool_options, DRAY_POOL_OPTIONS, 64, false, NULL,
			pool_sized),
		RESULT(dray_pool_stats, DRAY_POOL_STATS, 80, pool_stats_sized),
		RESULT(dray_check, DRAY_CHECK, 64, check_sized),
		OPTIONS(dray_resource_ops, DRAY_RESOURCE_OPS, 48, false, &ops,
			resource_sized),
		RESULT(dray_statistics, DRAY_STATISTICS, 56, statistics_sized),
		RESULT(dray_statistics, DRAY_STATISTICS, 56,
		       statistics_pop_sized),
		RESULT(dray_tracking, DRAY_TRACKING, 40, tracking_sized),
		OPTIONS(dray_memory_description, DRAY_MEMORY_DESCRIPTION, 72,
			false, NULL, memory_sized),
		RESULT(dray_manager_stats, DRAY_MANAGER_STATS, 72,
		       manager_stats_sized),
		OPTIONS(dray_dtype_functions, DRAY_DTYPE_FUNCTIONS, 80, false,
			NULL, dtype_sized),
		OPTIONS(dray_row_limits, DRAY_ROW_LIMITS, 56, false, NULL,
			rows_sized),
		OPTIONS(dray_loan_options, DRAY_LOAN_OPTIONS, 24, false, NULL,
			loan_sized),
		OPTIONS(dray_queue_options, DRAY_QUEUE_OPTIONS, 24, false, NULL,
			queue_sized),
		RESULT(dray_explanation, DRAY_EXPLANATION, 216, explain_sized),
		RESULT(dray_explanation, DRAY_EXPLANATION, 216,
		       stream_explain_sized),
		OPTIONS(dray_stream_options, DRAY_STREAM_OPTIONS, 24, false,
			NULL, stream_sized),
		OPTIONS(dray_packet_options, DRAY_PACKET_OPTIONS, 40, false,
			NULL, packet_sized),
		RESULT(dray_stream_counts, DRAY_STREAM_COUNTS, 72,
		       stream_counts_sized),
		RESULT(dray_ring_counts, DRAY_RING_COUNTS, 72,
		       ring_counts_sized),
		OPTIONS(dray_xrt_foreign, DRAY_XRT_FOREIGN, 64, true, NULL,
			foreign_sized),
	};
	struct dray_resource *heap;

	assert_works(dray_resource_malloc(&heap));
	assert_works(dray_resource_statistics(heap, &counted));
	assert_works(dray_resource_tracking(heap, 0, &tracked));
	assert_works(dray_manager_create(loop.node, NULL, heap, &manager));
	assert_works(
		dray_handler_check(dray_handler_default(), NULL, &checked));
	SIZES_CHECK(table);
	dray_manager_unref(manager);
	dray_resource_unref(counted);
	dray_resource_unref(tracked);
	dray_resource_unref(heap);
}

FACT(headers_and_library_have_one_version)
{
	char text[32];

	snprintf(text, sizeof(text), "%d.%d.%d", DRAY_VERSION_MAJOR,
		 DRAY_VERSION_MINOR, DRAY_VERSION_PATCH);
	assert_string_equal(text, DRAY_VERSION_TEXT);
	assert_string_equal(text, dray_version());
	assert_int_equal(DRAY_VERSION, DRAY_VERSION_MAJOR * 1000000 +
					       DRAY_VERSION_MINOR * 1000 +
					       DRAY_VERSION_PATCH);
#if DRAY_VERSION < DRAY_VERSION_NUMBER(0, 1, 0)
	fail();
#endif
}
