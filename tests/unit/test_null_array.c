// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * NULL where a function needs something: blocks, arrays and transfers, as
 * test_null.c has all others.
 */
#include "null.h"

/* What is asked of a block that is none is nothing, and no failure. */
FACT(blocks)
{
	const struct dray_array_options options = { .ndim = 0 };
	const struct dray_block_allocator *allocator;
	struct dray_block *block = NULL, *none = NULL;
	struct dray_array *array = NULL;
	struct dray_buffer *buffer = NULL;
	char *begin = NULL, *end = NULL;

	assert_works(dray_buffer_alloc(node, 4096, NULL, &buffer));
	does_nothing(dray_block_free(NULL));
	does_nothing(dray_block_miscounted(NULL, 0));
	ignores(assert_null(dray_block_ref(NULL)));
	ignores(dray_block_unref(NULL));
	allows(dray_block_type_name);
	ignores(assert_null(dray_block_data(NULL)));
	ignores(assert_int_equal(dray_block_size(NULL), 0));
	ignores(assert_false(dray_block_writable(NULL)));
	refuses(dray_block_dump(NULL, stderr));
	refuses(dray_block_create_buffer(NULL, &none));
	refuses(dray_block_create_buffer(buffer, NULL));
	refuses(dray_block_create_pooled(NULL, 1, 0, &none));
	refuses(dray_block_create_pooled(pool, 1, 0, NULL));
	refuses(dray_block_create_external(NULL, 1, DRAY_READ, NULL, NULL,
					   &none));
	refuses(dray_block_create_external(&none, 1, DRAY_READ, NULL, NULL,
					   NULL));
	refuses(dray_block_create_mapped(NULL, 0, 0, DRAY_READ, &none));
	refuses(dray_block_create_mapped("/dev/null", 0, 0, DRAY_READ, NULL));
	refuses(dray_block_create_pod(pool, NULL));
	refuses(dray_block_create_zeroed(pool, NULL));
	refuses(dray_array_make(NULL, &array));
	refuses(dray_array_make(&options, NULL));
	assert_works(dray_block_create_pod(NULL, &block));
	refuses(dray_block_dump(block, NULL));
	refuses(dray_block_get_allocator(NULL, &allocator));
	refuses(dray_block_get_allocator(block, NULL));
	assert_works(dray_block_get_allocator(block, &allocator));
	refuses(allocator->allocate(NULL, 1, 0, &begin, &end));
	refuses(allocator->allocate(block, 1, 0, NULL, &end));
	refuses(allocator->resize(NULL, 1, &begin, &end));
	refuses(allocator->resize(block, 1, &begin, NULL));
	refuses(allocator->finalize(NULL));
	refuses(allocator->reset(NULL));
	dray_block_unref(block);
	dray_buffer_unref(buffer);
}

FACT(strings)
{
	struct dray_block *block = NULL;
	const char *begin, *end;

	assert_works(dray_strings_create(NULL, 2, &block));
	refuses(dray_strings_create(NULL, 2, NULL));
	refuses(dray_strings_from(NULL, NULL, 1, &block));
	refuses(dray_strings_from(NULL, &(const char *){ "a" }, 1, NULL));
	refuses(dray_strings_append(NULL, "a", 1));
	refuses(dray_strings_append(block, NULL, 1));
	refuses(dray_strings_extend(NULL, "a", 1));
	refuses(dray_strings_extend(block, NULL, 1));
	refuses(dray_strings_finish(NULL));
	ignores(assert_int_equal(dray_strings_count(NULL), 0));
	refuses(dray_strings_get(NULL, 0, &begin, &end));
	refuses(dray_strings_get(block, 0, NULL, &end));
	refuses(dray_strings_get(block, 0, &begin, NULL));
	ignores(assert_null(dray_strings_bytes(NULL)));
	dray_block_unref(block);
}

FACT(views)
{
	const int64_t shape[] = { 2 };
	dray_dtype dtype;
	struct dray_view view, out;
	int64_t low, high;
	char text[16], data[2] = "", *volatile nowhere = NULL;
	const struct dray_dtype_functions functions = { 0 };
	size_t index;
	size_t bytes;

	refuses(dray_dtype_parse(NULL, &dtype));
	refuses(dray_dtype_parse("|u1", NULL));
	refuses(dray_dtype_format(0, text, sizeof(text)));
	refuses(dray_dtype_format(u1, nowhere, 1));
	refuses(dray_dtype_create_struct(NULL, 1, 0, 0, &dtype));
	refuses(dray_dtype_create_struct(NULL, 0, 0, 0, NULL));
	refuses(dray_dtype_create_subarray(u1, 1, NULL, &dtype));
	refuses(dray_dtype_create_subarray(0, 0, NULL, &dtype));
	refuses(dray_dtype_create_subarray(u1, 1, shape, NULL));
	refuses(dray_dtype_get_field(u1, 0, NULL));
	refuses(dray_dtype_find_field(u1, NULL, &index));
	refuses(dray_dtype_find_field(u1, "x", NULL));
	refuses(dray_dtype_from_pep3118(NULL, &dtype));
	refuses(dray_dtype_from_pep3118("b", NULL));
	refuses(dray_dtype_to_pep3118(0, text, sizeof(text)));
	refuses(dray_dtype_to_pep3118(u1, nowhere, 1));
	refuses(dray_dtype_create_user(NULL, 'p', 1, 1, &functions, NULL,
				       &dtype));
	refuses(dray_dtype_create_user("p", 'p', 1, 1, NULL, NULL, &dtype));
	refuses(dray_dtype_create_user("p", 'p', 1, 1, &functions, NULL, NULL));
	gives_nothing(dray_dtype_functions(0));
	ignores(assert_null(dray_dtype_context(0)));
	ignores(assert_null(dray_dtype_name(u1)));
	refuses(dray_dtype_with_order(0, '<', &dtype));
	refuses(dray_dtype_with_order(u1, '<', NULL));
	ignores(assert_int_equal(dray_dtype_field_count(0), 0));
	ignores(assert_int_equal(dray_dtype_base(0), 0));
	ignores(assert_int_equal(dray_dtype_shape(0, NULL), 0));
	assert_works(dray_view_init(&view, data, u1, 1, shape, NULL));
	refuses(dray_view_init(NULL, data, u1, 1, shape, NULL));
	refuses(dray_view_init(&out, data, u1, 1, NULL, NULL));
	refuses(dray_view_bytes(u1, 1, shape, NULL));
	refuses(dray_view_bytes(u1, 1, NULL, &bytes));
	does_nothing(dray_view_copy(NULL, &view));
	does_nothing(dray_view_copy(&out, NULL));
	refuses(dray_view_index(NULL, &DRAY_ALL, 1, &out));
	refuses(dray_view_index(&view, NULL, 1, &out));
	refuses(dray_view_index(&view, &DRAY_ALL, 1, NULL));
	refuses(dray_view_transpose(NULL, NULL, &out));
	refuses(dray_view_transpose(&view, NULL, NULL));
	refuses(dray_view_broadcast(NULL, 1, shape, &out));
	refuses(dray_view_broadcast(&view, 1, NULL, &out));
	refuses(dray_view_broadcast(&view, 1, shape, NULL));
	gives(0, dray_view_size(NULL));
	does_nothing(dray_view_span(NULL, &low, &high));
	does_nothing(dray_view_span(&view, NULL, &high));
	does_nothing(dray_view_span(&view, &low, NULL));
	gives(false, dray_view_is_contiguous(NULL));
	gives(false, dray_view_spans_overlap(NULL, &view));
	gives(false, dray_view_spans_overlap(&view, NULL));
	refuses(dray_view_assign(NULL, &view));
	refuses(dray_view_assign(&view, NULL));
	refuses(dray_view_sync(NULL, DRAY_SYNC_FOR_CPU, DRAY_FROM_DEVICE));
}

FACT(arrays)
{
	const int64_t shape[] = { 2 };
	char record[DRAY_ARRAY_RECORD_SIZE] = "";
	const struct dray_view *view;
	struct dray_array *array = NULL, *none;
	struct dray_view copy;
	uint64_t needed;
	char bytes[2];
	size_t size;

	assert_works(dray_array_create(pool, u1, 1, shape, &array));
	refuses(dray_array_create(NULL, u1, 1, shape, &none));
	refuses(dray_array_create(pool, u1, 1, NULL, &none));
	refuses(dray_array_create(pool, u1, 1, shape, NULL));
	refuses(dray_array_create_alone(NULL, u1, 1, shape, &none));
	refuses(dray_array_create_alone(node, u1, 1, NULL, &none));
	refuses(dray_array_create_alone(node, u1, 1, shape, NULL));
	ignores(assert_null(dray_array_ref(NULL)));
	ignores(dray_array_unref(NULL));
	gives_nothing(whole_view(NULL));
	refuses(dray_array_send(-1, NULL));
	refuses(dray_array_receive(-1, NULL, NULL));
	view = whole_view(array);
	refuses(dray_array_export(NULL, 0, record, sizeof(record), &size));
	refuses(dray_array_export(view, 0, NULL, sizeof(record), &size));
	refuses(dray_array_export(view, 0, record, sizeof(record), NULL));
	refuses(dray_array_open(NULL, sizeof(record), NULL, &none));
	refuses(dray_array_open(record, sizeof(record), NULL, NULL));
	refuses(dray_array_fetch(NULL, sizeof(record), bytes, sizeof(bytes),
				 &needed, &copy));
	refuses(dray_array_fetch(record, sizeof(record), bytes, sizeof(bytes),
				 NULL, &copy));
	refuses(dray_array_fetch(record, sizeof(record), bytes, sizeof(bytes),
				 &needed, NULL));
	dray_array_unref(array);
}

FACT(transfers)
{
	const int64_t shape[] = { 2 };
	struct dray_explanation explanation;
	const size_t size = sizeof(explanation);
	struct dray_queue *queue = NULL;
	struct dray_view view;
	uint64_t time_ns;
	char data[2] = "";

	assert_works(dray_view_init(&view, data, u1, 1, shape, NULL));
	refuses(dray_queue_create(NULL, NULL, &queue));
	refuses(dray_queue_create(node, NULL, NULL));
	assert_works(dray_queue_create(node, NULL, &queue));
	ignores(dray_queue_destroy(NULL));
	refuses(dray_copy(NULL, &view, &view, 0, NULL));
	refuses(dray_copy(queue, NULL, &view, 0, NULL));
	refuses(dray_copy(queue, &view, NULL, 0, NULL));
	refuses(dray_fill(NULL, &view, data, 0, NULL));
	refuses(dray_fill(queue, NULL, data, 0, NULL));
	refuses(dray_fill(queue, &view, NULL, 0, NULL));
	refuses(dray_explain(NULL, &view, &view, 0, &explanation, size));
	refuses(dray_explain(queue, NULL, &view, 0, &explanation, size));
	refuses(dray_explain(queue, &view, NULL, 0, &explanation, size));
	refuses(dray_explain(queue, &view, &view, 0, NULL, size));
	refuses(dray_fence_wait(NULL, 0));
	refuses(dray_fence_status(NULL));
	refuses(dray_view_wait(NULL, DRAY_ACCESS_READ, 0));
	refuses(dray_fence_time(NULL, &time_ns));
	gives(-1, dray_fence_fd(NULL));
	ignores(assert_null(dray_fence_ref(NULL)));
	ignores(dray_fence_unref(NULL));
	dray_queue_destroy(queue);
}

FACT_ON(on_host, streams, NULL, NULL)
{
	const int64_t shape[] = { 2 };
	struct dray_explanation explanation;
	struct dray_stream_counts counts;
	struct dray_stream *stream = NULL;
	struct dray_event *event = NULL;
	struct dray_ring_counts ring;
	struct dray_point point;
	struct dray_view view;
	const struct dray_view *views[] = { &view };
	uint32_t frame = 0;
	char data[2] = "";

	assert_works(dray_view_init(&view, data, u1, 1, shape, NULL));
	refuses(dray_stream_open(NULL, "tx0", NULL, &stream));
	refuses(dray_stream_open(node, NULL, NULL, &stream));
	refuses(dray_stream_open(node, "tx0", NULL, NULL));
	assert_works(dray_stream_open(node, "tx0", NULL, &stream));
	refuses(dray_stream_send(NULL, &view, NULL, &event));
	refuses(dray_stream_send(stream, NULL, NULL, &event));
	refuses(dray_stream_recv(NULL, &view, NULL, &event));
	refuses(dray_stream_recv(stream, NULL, NULL, &event));
	refuses(dray_stream_send_pieces(NULL, views, 1, NULL, &event));
	refuses(dray_stream_send_pieces(stream, NULL, 1, NULL, &event));
	refuses(dray_stream_show(NULL, &view, NULL, &event));
	refuses(dray_stream_show(stream, NULL, NULL, &event));
	refuses(dray_stream_recv_pieces(NULL, views, 1, NULL, &event));
	refuses(dray_stream_recv_pieces(stream, NULL, 1, NULL, &event));
	refuses(dray_stream_explain(NULL, views, 1, NULL, &explanation,
				    sizeof(explanation)));
	refuses(dray_stream_explain(stream, NULL, 1, NULL, &explanation,
				    sizeof(explanation)));
	refuses(dray_stream_explain(stream, views, 1, NULL, NULL,
				    sizeof(explanation)));
	gives(-1, dray_stream_fd(NULL));
	gives(0, dray_stream_ended(NULL));
	refuses(dray_stream_counts(NULL, &counts, sizeof(counts)));
	refuses(dray_stream_counts(stream, NULL, sizeof(counts)));
	refuses(dray_stream_cancel(NULL));
	refuses(dray_stream_ring(NULL, views, 2, 0));
	refuses(dray_stream_ring(stream, NULL, 2, 0));
	refuses(dray_stream_acquire(NULL, &point, 1, 0));
	refuses(dray_stream_acquire(stream, NULL, 1, 0));
	refuses(dray_stream_release(NULL, &frame, 1));
	refuses(dray_stream_release(stream, NULL, 1));
	refuses(dray_stream_exchange(NULL, &frame, 1, &point, 1, 0));
	refuses(dray_stream_exchange(stream, NULL, 1, &point, 1, 0));
	refuses(dray_stream_exchange(stream, &frame, 1, NULL, 1, 0));
	refuses(dray_stream_ring_counts(NULL, &ring, sizeof(ring)));
	refuses(dray_stream_ring_counts(stream, NULL, sizeof(ring)));
	refuses(dray_event_wait(NULL, 0));
	refuses(dray_event_status(NULL));
	refuses(dray_event_point(NULL, &point, sizeof(point)));
	refuses(dray_event_cancel(NULL));
	ignores(assert_null(dray_event_ref(NULL)));
	ignores(dray_event_unref(NULL));
	ignores(dray_stream_close(NULL));
	dray_stream_close(stream);
}

FACTS_SHARE(set_up, tear_down)
