// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * NULL where a function needs something: blocks, arrays and transfers, as
 * test_null.c has all others.
 */
#include <dray/array.h>

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
	refuses(dray_block_create_handled(NULL, 1, false, &none));
	refuses(dray_block_create_handled(dray_handler_default(), 1, false,
					  NULL));
	ignores(assert_null(dray_block_handler(NULL)));
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
	struct dray_block *block = NULL, *other = NULL;
	struct dray_string string = { NULL, NULL };
	struct dray_view view = { .dtype = DRAY_INT64, .ndim = 1 };
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
	assert_works(dray_strings_finish(block));
	refuses(dray_strings_copy(NULL, 1, &other));
	refuses(dray_strings_copy(&string, 1, NULL));
	refuses(dray_strings_slice(NULL, 0, 1, 1, &other));
	refuses(dray_strings_slice(block, 0, 1, 1, NULL));
	refuses(dray_strings_take(NULL, &view, &other));
	refuses(dray_strings_take(block, NULL, NULL));
	refuses(dray_strings_compare(NULL, block, DRAY_STRINGS_LESS, &view));
	refuses(dray_strings_compare(block, NULL, DRAY_STRINGS_LESS, &view));
	refuses(dray_strings_compare(block, block, DRAY_STRINGS_LESS, NULL));
	refuses(dray_strings_argsort(NULL, &view));
	refuses(dray_strings_argsort(block, NULL));
	dray_block_unref(block);
}

FACT(iterators)
{
	struct dray_view view = { .dtype = DRAY_UINT8, .data = &view };
	const struct dray_view *views[] = { &view };
	struct dray_iterator it;
	struct dray_multi multi;
	int64_t shape[DRAY_MAX_NDIM];
	int32_t ndim;
	int axis = 0;

	refuses(dray_iterator_init(NULL, &view));
	refuses(dray_iterator_init(&it, NULL));
	refuses(dray_iterator_init_lines(NULL, &view, &axis));
	refuses(dray_iterator_init_lines(&it, NULL, &axis));
	refuses(dray_iterator_init_lines(&it, &view, NULL));
	does_nothing(dray_iterator_copy(NULL, &it));
	does_nothing(dray_iterator_copy(&it, NULL));
	does_nothing(dray_iterator_reset(NULL));
	refuses(dray_iterator_go(NULL, shape));
	refuses(dray_iterator_go_flat(NULL, 0));
	does_nothing(dray_iterator_coordinates(NULL, shape));
	assert_works(dray_iterator_init(&it, &view));
	does_nothing(dray_iterator_coordinates(&it, NULL));
	refuses(dray_broadcast_shape(NULL, 1, &ndim, shape));
	refuses(dray_broadcast_shape(views, 1, NULL, shape));
	refuses(dray_broadcast_shape(views, 1, &ndim, NULL));
	refuses(dray_multi_init(NULL, views, 1));
	refuses(dray_multi_init(&multi, NULL, 1));
	does_nothing(dray_multi_reset(NULL));
	refuses(dray_multi_go(NULL, shape));
	refuses(dray_multi_go_flat(NULL, 0));
	view.ndim = 1;
	view.shape[0] = 1;
	assert_works(dray_iterator_init(&it, &view));
	refuses(dray_iterator_go(&it, NULL));
	assert_works(dray_multi_init(&multi, views, 1));
	refuses(dray_multi_go(&multi, NULL));
}

FACT(nditers)
{
	struct dray_view view = { .dtype = DRAY_UINT8, .data = &view };
	const struct dray_view *views[] = { &view };
	struct dray_nditer *iter = NULL, *copy;
	int64_t numbers[DRAY_MAX_NDIM];

	refuses(dray_nditer_create(NULL, 1, NULL, &iter));
	refuses(dray_nditer_create(views, 1, NULL, NULL));
	assert_works(dray_nditer_create(views, 1, NULL, &iter));
	refuses(dray_nditer_copy(NULL, &copy));
	refuses(dray_nditer_copy(iter, NULL));
	ignores(assert_int_equal(dray_nditer_destroy(NULL), 0));
	refuses(dray_nditer_finish(NULL));
	gives(false, dray_nditer_next(NULL));
	gives_nothing(dray_nditer_step(NULL));
	refuses(dray_nditer_error(NULL));
	gives_nothing(dray_nditer_data(NULL));
	gives_nothing(dray_nditer_strides(NULL));
	gives_nothing(dray_nditer_count(NULL));
	gives(0, dray_nditer_size(NULL));
	gives(0, dray_nditer_position(NULL));
	gives(-1, dray_nditer_index(NULL));
	gives(0, dray_nditer_ndim(NULL));
	gives(0, dray_nditer_operands(NULL));
	gives(0, dray_nditer_flags(NULL));
	gives(0, dray_nditer_buffer_size(NULL));
	does_nothing(dray_nditer_shape(NULL, numbers));
	does_nothing(dray_nditer_shape(iter, NULL));
	refuses(dray_nditer_axis_strides(NULL, 0, numbers));
	refuses(dray_nditer_axis_strides(iter, 0, NULL));
	refuses(dray_nditer_multi_index(NULL, numbers));
	refuses(dray_nditer_multi_index(iter, NULL));
	refuses(dray_nditer_operand(NULL, 0, &view));
	refuses(dray_nditer_operand(iter, 0, NULL));
	refuses(dray_nditer_operand(iter, 1, &view));
	gives_nothing(dray_nditer_array(NULL, 0));
	gives(0, dray_nditer_dtype(NULL, 0));
	gives(0, dray_nditer_dtype(iter, -1));
	gives(false, dray_nditer_needs_buffers(NULL));
	gives(false, dray_nditer_is_first_visit(NULL, 0));
	refuses(dray_nditer_reset(NULL));
	refuses(dray_nditer_reset_data(NULL, &(char *){ NULL }));
	refuses(dray_nditer_reset_data(iter, NULL));
	refuses(dray_nditer_reset_range(NULL, 0, 1));
	does_nothing(dray_nditer_range(NULL, numbers, numbers));
	does_nothing(dray_nditer_range(iter, NULL, numbers));
	does_nothing(dray_nditer_range(iter, numbers, NULL));
	refuses(dray_nditer_go(NULL, numbers));
	refuses(dray_nditer_go_index(NULL, 0));
	refuses(dray_nditer_go_position(NULL, 0));
	refuses(dray_nditer_remove_axis(NULL, 0));
	refuses(dray_nditer_remove_multi_index(NULL));
	refuses(dray_nditer_enable_external_loop(NULL));
	assert_works(dray_nditer_destroy(iter));
}

FACT(views)
{
	const int64_t shape[] = { 2 };
	dray_dtype dtype;
	struct dray_view view, out;
	const int64_t *extents = shape;
	int64_t low, high, extent;
	const int axes[] = { 0 };
	bool fact;
	int ndim;
	char text[16], data[2] = "", *volatile nowhere = NULL;
	const struct dray_dtype_functions functions = { 0 };
	size_t index;
	size_t bytes;

	assert_false(dray_dtype_equal(0, u1));
	ignores(assert_int_equal(dray_dtype_alignment(0), 1));
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
	refuses(dray_view_swap_axes(NULL, 0, 0, &out));
	refuses(dray_view_swap_axes(&view, 0, 0, NULL));
	refuses(dray_view_move_axes(NULL, axes, axes, 1, &out));
	refuses(dray_view_move_axes(&view, NULL, axes, 1, &out));
	refuses(dray_view_move_axes(&view, axes, NULL, 1, &out));
	refuses(dray_view_move_axes(&view, axes, axes, 1, NULL));
	refuses(dray_view_squeeze(NULL, NULL, 0, &out));
	refuses(dray_view_squeeze(&view, NULL, 0, NULL));
	refuses(dray_view_expand(NULL, axes, 1, &out));
	refuses(dray_view_expand(&view, NULL, 1, &out));
	refuses(dray_view_expand(&view, axes, 1, NULL));
	refuses(dray_view_flip(NULL, NULL, 0, &out));
	refuses(dray_view_flip(&view, NULL, 0, NULL));
	refuses(dray_view_diagonal(NULL, 0, 0, 1, &out));
	refuses(dray_view_diagonal(&view, 0, 0, 1, NULL));
	refuses(dray_view_reshape(NULL, 1, shape, DRAY_ORDER_C, &out));
	refuses(dray_view_reshape(&view, 1, NULL, DRAY_ORDER_C, &out));
	refuses(dray_view_reshape(&view, 1, shape, DRAY_ORDER_C, NULL));
	refuses(dray_view_ravel(NULL, DRAY_ORDER_C, &out));
	refuses(dray_view_ravel(&view, DRAY_ORDER_C, NULL));
	refuses(dray_broadcast_shapes(1, NULL, &extents, &ndim, &extent));
	refuses(dray_broadcast_shapes(1, axes, NULL, &ndim, &extent));
	refuses(dray_broadcast_shapes(1, axes, &extents, NULL, &extent));
	refuses(dray_broadcast_shapes(1, axes, &extents, &ndim, NULL));
	refuses(dray_view_real(NULL, &out));
	refuses(dray_view_real(&view, NULL));
	refuses(dray_view_imag(NULL, &out));
	refuses(dray_view_imag(&view, NULL));
	refuses(dray_view_as_type(NULL, u1, &out));
	refuses(dray_view_as_type(&view, u1, NULL));
	refuses(dray_view_field(NULL, "a", &out));
	refuses(dray_view_field(&view, NULL, &out));
	refuses(dray_view_field(&view, "a", NULL));
	refuses(dray_view_windows(NULL, 1, shape, NULL, &out));
	refuses(dray_view_windows(&view, 1, NULL, NULL, &out));
	refuses(dray_view_windows(&view, 1, shape, NULL, NULL));
	refuses(dray_view_as_strided(NULL, 1, shape, NULL, NULL, 0, &out));
	refuses(dray_view_as_strided(&view, 1, NULL, NULL, NULL, 0, &out));
	refuses(dray_view_as_strided(&view, 1, shape, NULL, NULL, 0, NULL));
	refuses(dray_view_shares_memory(NULL, &view, 0, &fact));
	refuses(dray_view_shares_memory(&view, NULL, 0, &fact));
	refuses(dray_view_shares_memory(&view, &view, 0, NULL));
	refuses(dray_view_is_unique(NULL, 0, &fact));
	refuses(dray_view_is_unique(&view, 0, NULL));
	gives(1, dray_view_alignment(NULL));
	gives(false, dray_view_is_contiguous_in(NULL, DRAY_ORDER_C));
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

FACT(casts)
{
	struct dray_array *scalar;
	struct dray_cast cast;
	struct dray_view view;
	dray_dtype dtype;
	char value = 1;

	assert_works(dray_view_init(&view, &value, u1, 0, NULL, NULL));
	refuses(dray_promote(u1, u1, NULL));
	refuses(dray_promote(0, u1, &dtype));
	refuses(dray_result_type(NULL, 1, 0, &dtype));
	refuses(dray_result_type(&u1, 1, 0, NULL));
	refuses(dray_cast_find(0, u1, &cast));
	refuses(dray_cast_find(u1, u1, NULL));
	refuses(dray_view_convert(NULL, &view, DRAY_CASTING_NO));
	refuses(dray_view_convert(&view, NULL, DRAY_CASTING_NO));
	refuses(dray_view_convert_threads(NULL, &view, DRAY_CASTING_NO, 2));
	refuses(dray_view_convert_threads(&view, NULL, DRAY_CASTING_NO, 2));
	refuses(dray_view_fill(NULL, u1, &value));
	refuses(dray_view_fill(&view, u1, NULL));
	refuses(dray_view_get(NULL, u1, &value));
	refuses(dray_view_get(&view, u1, NULL));
	refuses(dray_view_put(NULL, u1, &value));
	refuses(dray_view_put(&view, u1, NULL));
	refuses(dray_scalar_create(u1, u1, NULL, &scalar));
	refuses(dray_scalar_create(u1, u1, &value, NULL));
	allows(dray_dtype_is_packed);
	assert_false(dray_can_cast(0, u1, DRAY_CASTING_SAFE));
	allows(dray_casting_name);
}

FACT(indices)
{
	const int64_t shape[] = { 2 };
	int64_t data[2] = { 0 }, out_shape[DRAY_MAX_NDIM];
	struct dray_index by;
	struct dray_array *out;
	struct dray_view view;
	int ndim;

	assert_works(dray_view_init(&view, data, DRAY_INT64, 1, shape, NULL));
	by = DRAY_BY(&view);
	refuses(dray_index_shape(NULL, &by, 1, &ndim, out_shape));
	refuses(dray_index_shape(&view, NULL, 1, &ndim, out_shape));
	refuses(dray_index_shape(&view, &by, 1, NULL, out_shape));
	refuses(dray_index_shape(&view, &by, 1, &ndim, NULL));
	refuses(dray_index_get(NULL, &by, 1, &out));
	refuses(dray_index_get(&view, NULL, 1, &out));
	refuses(dray_index_get(&view, &by, 1, NULL));
	refuses(dray_index_get_into(NULL, &by, 1, &view));
	refuses(dray_index_get_into(&view, NULL, 1, &view));
	refuses(dray_index_get_into(&view, &by, 1, NULL));
	refuses(dray_index_set(NULL, &by, 1, &view));
	refuses(dray_index_set(&view, NULL, 1, &view));
	refuses(dray_index_set(&view, &by, 1, NULL));
	refuses(dray_take(NULL, &view, 0, DRAY_INDEX_RAISE, &out));
	refuses(dray_take(&view, NULL, 0, DRAY_INDEX_RAISE, &out));
	refuses(dray_take(&view, &view, 0, DRAY_INDEX_RAISE, NULL));
	refuses(dray_take_into(NULL, &view, 0, DRAY_INDEX_RAISE, &view));
	refuses(dray_take_into(&view, NULL, 0, DRAY_INDEX_RAISE, &view));
	refuses(dray_take_into(&view, &view, 0, DRAY_INDEX_RAISE, NULL));
	refuses(dray_put(NULL, &view, &view, DRAY_INDEX_RAISE));
	refuses(dray_put(&view, NULL, &view, DRAY_INDEX_RAISE));
	refuses(dray_put(&view, &view, NULL, DRAY_INDEX_RAISE));
	refuses(dray_put_mask(NULL, &view, &view));
	refuses(dray_put_mask(&view, NULL, &view));
	refuses(dray_put_mask(&view, &view, NULL));
	refuses(dray_where(NULL, &view, &view, &out));
	refuses(dray_where(&view, NULL, &view, &out));
	refuses(dray_where(&view, &view, NULL, &out));
	refuses(dray_where(&view, &view, &view, NULL));
	refuses((int)dray_count_nonzero(NULL));
	refuses(dray_nonzero(NULL, &out));
	refuses(dray_nonzero(&view, NULL));
	refuses(dray_sort(NULL, 0));
	refuses(dray_argsort(NULL, 0, &out));
	refuses(dray_argsort(&view, 0, NULL));
	refuses(dray_argmax(NULL, 0, &out));
	refuses(dray_argmax(&view, 0, NULL));
	refuses(dray_argmin(NULL, 0, &out));
	refuses(dray_argmin(&view, 0, NULL));
}

FACT(arrays)
{
	const int64_t shape[] = { 2 };
	char record[DRAY_VIEW_RECORD_SIZE] = "";
	struct dray_array *array = NULL, *none;
	char bytes[2];

	assert_works(dray_array_create(pool, u1, 1, shape, &array));
	refuses(dray_array_create(NULL, u1, 1, shape, &none));
	refuses(dray_array_create(pool, u1, 1, NULL, &none));
	refuses(dray_array_create(pool, u1, 1, shape, NULL));
	refuses(dray_array_empty(u1, 1, NULL, &none));
	refuses(dray_array_empty(u1, 1, shape, NULL));
	refuses(dray_array_zeros(u1, 1, NULL, &none));
	refuses(dray_array_zeros(u1, 1, shape, NULL));
	refuses(dray_array_over(NULL, &array->block, &none));
	refuses(dray_array_over(whole_view(array), NULL, &none));
	refuses(dray_array_over(whole_view(array), &array->block, NULL));
	gives_nothing(dray_array_view(array, NULL));
	gives_nothing(dray_array_handler(NULL));
	refuses(dray_view_print(NULL, stdout));
	refuses(dray_view_print(whole_view(array), NULL));
	refuses(dray_array_create_alone(NULL, u1, 1, shape, &none));
	refuses(dray_array_create_alone(node, u1, 1, NULL, &none));
	refuses(dray_array_create_alone(node, u1, 1, shape, NULL));
	refuses(dray_array_full(u1, 1, shape, NULL, &none));
	refuses(dray_array_full(u1, 1, shape, bytes, NULL));
	refuses(dray_array_arange(u1, 0, 1, 1, NULL));
	refuses(dray_array_arange_real(u1, 0, 1, 1, NULL));
	refuses(dray_array_like(NULL, 0, DRAY_ORDER_C, &none));
	refuses(dray_array_like(whole_view(array), 0, DRAY_ORDER_C, NULL));
	refuses(dray_array_copy(NULL, DRAY_ORDER_C, &none));
	refuses(dray_array_copy(whole_view(array), DRAY_ORDER_C, NULL));
	refuses(dray_array_from_pointer(NULL, NULL, NULL, &none));
	refuses(dray_array_from_pointer(whole_view(array), NULL, NULL, NULL));
	refuses(dray_array_from_buffer(NULL, 0, u1, 1, shape, NULL, &none));
	refuses(dray_array_set_write_back(NULL, array));
	refuses(dray_array_set_write_back(array, NULL));
	refuses(dray_array_write_back(NULL));
	does_nothing(dray_array_discard(NULL));
	ignores(assert_null(dray_array_ref(NULL)));
	ignores(dray_array_unref(NULL));
	gives_nothing(whole_view(NULL));
	refuses(dray_array_receive(-1, NULL, NULL));
	refuses(dray_array_open(NULL, sizeof(record), NULL, &none));
	refuses(dray_array_open(record, sizeof(record), NULL, NULL));
	dray_array_unref(array);
}

FACT(files)
{
	const char *const names[] = { NULL };
	const struct dray_view *const views[] = { NULL };
	struct dray_array *array = NULL;
	struct dray_npz *npz = NULL;
	struct dray_view view;

	assert_works(dray_view_init(&view, &array, u1, 0, NULL, NULL));
	refuses(dray_npy_save(NULL, &view, 0));
	refuses(dray_npy_save("/nowhere.npy", NULL, 0));
	refuses(dray_npy_load(NULL, NULL, &array));
	refuses(dray_npy_load("/nowhere.npy", NULL, NULL));
	refuses(dray_npy_map(NULL, DRAY_READ, &array));
	refuses(dray_npy_map("/nowhere.npy", DRAY_READ, NULL));
	if (dray_npz_open("/nowhere.npz", &npz) == -EOPNOTSUPP)
		return;
	refuses(dray_npz_open(NULL, &npz));
	refuses(dray_npz_open("/nowhere.npz", NULL));
	ignores(dray_npz_close(NULL));
	gives(0, dray_npz_count(NULL));
	gives_nothing(dray_npz_name(NULL, 0));
	refuses(dray_npz_load(NULL, "a", &array));
	refuses(dray_npz_save(NULL, names, views, 0, 0));
	refuses(dray_npz_save("/nowhere.npz", NULL, views, 1, 0));
	refuses(dray_npz_save("/nowhere.npz", names, NULL, 1, 0));
	refuses(dray_npz_save("/nowhere.npz", names, views, 1, 0));
}

FACT(transfers)
{
	const int64_t shape[] = { 2 };
	struct dray_explanation explanation = { .size = sizeof(explanation) };
	struct dray_queue *queue = NULL;
	struct dray_view view;
	uint64_t time_ns;
	char data[2] = "";

	assert_works(dray_view_init(&view, data, u1, 1, shape, NULL));
	allows(dray_transfers_in_flight);
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
	refuses(dray_explain(NULL, &view, &view, 0, &explanation));
	refuses(dray_explain(queue, NULL, &view, 0, &explanation));
	refuses(dray_explain(queue, &view, NULL, 0, &explanation));
	refuses(dray_explain(queue, &view, &view, 0, NULL));
	refuses(dray_fence_wait(NULL, 0));
	refuses(dray_fence_status(NULL));
	refuses(dray_view_wait(NULL, DRAY_ACCESS_READ, 0));
	refuses(dray_fence_time(NULL, &time_ns));
	gives(-1, dray_fence_fd(NULL));
	ignores(assert_null(dray_fence_ref(NULL)));
	ignores(dray_fence_unref(NULL));
	dray_queue_destroy(queue);
}

FACT(loans)
{
	const int64_t shape[] = { 2 };
	struct dray_buffer *buffer = NULL;
	struct dray_loan *loan;
	struct dray_view view;
	char data[2] = "";

	assert_works(dray_view_init(&view, data, u1, 1, shape, NULL));
	assert_works(dray_buffer_alloc(node, 4096, NULL, &buffer));
	refuses(dray_view_lend(NULL, DRAY_ACCESS_READ, 0, NULL, &loan));
	refuses(dray_view_lend(&view, DRAY_ACCESS_READ, 0, NULL, NULL));
	refuses(dray_buffer_lend(NULL, 0, 1, DRAY_ACCESS_READ, 0, NULL, &loan));
	refuses(dray_buffer_lend(buffer, 0, 1, DRAY_ACCESS_READ, 0, NULL,
				 NULL));
	ignores(dray_loan_end(NULL));
	dray_buffer_unref(buffer);
}

FACT_ON(on_host, streams, NULL, NULL)
{
	const int64_t shape[] = { 2 };
	struct dray_explanation explanation = { .size = sizeof(explanation) };
	struct dray_stream_counts counts = { .size = sizeof(counts) };
	struct dray_stream *stream = NULL;
	struct dray_event *event = NULL;
	struct dray_ring_counts ring = { .size = sizeof(ring) };
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
	refuses(dray_stream_explain(NULL, views, 1, NULL, &explanation));
	refuses(dray_stream_explain(stream, NULL, 1, NULL, &explanation));
	refuses(dray_stream_explain(stream, views, 1, NULL, NULL));
	gives(-1, dray_stream_fd(NULL));
	gives(0, dray_stream_ended(NULL));
	refuses(dray_stream_counts(NULL, &counts));
	refuses(dray_stream_counts(stream, NULL));
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
	refuses(dray_stream_ring_counts(NULL, &ring));
	refuses(dray_stream_ring_counts(stream, NULL));
	refuses(dray_event_wait(NULL, 0));
	refuses(dray_event_status(NULL));
	gives(-1, dray_event_fd(NULL));
	refuses(dray_event_on_end(NULL, NULL, NULL));
	refuses(dray_event_point(NULL, &point, sizeof(point)));
	refuses(dray_event_cancel(NULL));
	ignores(assert_null(dray_event_ref(NULL)));
	ignores(dray_event_unref(NULL));
	ignores(dray_stream_close(NULL));
	dray_stream_close(stream);
}

FACTS_SHARE(set_up, tear_down)

FACT(interop)
{
	struct dray_view view = { .dtype = u1, .data = &view };
	struct dray_row row;
	struct iovec entry;
	enum dray_memory_kind kind;
	size_t count;

	refuses(dray_view_rows(NULL, NULL, &row, 1, &count));
	refuses(dray_view_rows(&view, NULL, NULL, 1, &count));
	refuses(dray_view_rows(&view, NULL, &row, 1, NULL));
	refuses(dray_view_iovec(NULL, 0, &entry, 1, &count));
	refuses(dray_view_iovec(&view, 0, NULL, 1, &count));
	refuses(dray_view_iovec(&view, 0, &entry, 1, NULL));
	allows(dray_address_kind);
	allows(dray_memory_kind_name);
	refuses(dray_view_kind(NULL, NULL, &kind));
	refuses(dray_view_kind(&view, NULL, NULL));
}
