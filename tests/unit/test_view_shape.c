// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * view_shape: other axes, shapes and types over the same elements, and what is
 * refused.  test_numpy_views.py compares random ones with NumPy's.
 */
#include "node.h"

static _Alignas(16) unsigned char memory[4096];

static struct dray_view view_at(int offset, dray_dtype dtype, int ndim,
				const int64_t *shape, const int64_t *strides)
{
	struct dray_view view;

	assert_works(dray_view_init(&view, memory + offset, dtype, ndim, shape,
				    strides));
	return view;
}

#define VIEW(dtype, ndim, shape) view_at(0, dtype, ndim, shape, NULL)

static void assert_lies(const struct dray_view *view, int64_t offset, int ndim,
			const int64_t *shape, const int64_t *strides)
{
	assert_int_equal((unsigned char *)view->data - memory, offset);
	assert_int_equal(view->ndim, ndim);
	for (int i = 0; i < ndim; i++) {
		assert_int_equal(view->shape[i], shape[i]);
		assert_int_equal(view->strides[i], strides[i]);
	}
}

FACT(axes_are_exchanged_moved_dropped_and_added)
{
	struct dray_view out, view = VIEW(f4, 4, DIMS(2, 1, 3, 4));

	assert_works(dray_view_swap_axes(&view, 0, -1, &out));
	assert_lies(&out, 0, 4, DIMS(4, 1, 3, 2), DIMS(4, 48, 16, 48));
	assert_works(dray_view_move_axes(&view, (int[]){ 0, -1 },
					 (int[]){ 1, 0 }, 2, &out));
	assert_lies(&out, 0, 4, DIMS(4, 2, 1, 3), DIMS(4, 48, 48, 16));
	assert_works(dray_view_squeeze(&view, NULL, 0, &out));
	assert_lies(&out, 0, 3, DIMS(2, 3, 4), DIMS(48, 16, 4));
	assert_works(dray_view_squeeze(&view, (int[]){ -3 }, 1, &out));
	assert_int_equal(out.ndim, 3);
	assert_works(dray_view_squeeze(&view, &(int){ 0 }, 0, &out));
	assert_int_equal(out.ndim, 4);
	assert_works(dray_view_expand(&out, (int[]){ 0, -1 }, 2, &out));
	assert_lies(&out, 0, 6, DIMS(1, 2, 1, 3, 4, 1),
		    DIMS(96, 48, 48, 16, 4, 4));
	assert_works(dray_view_flip(&view, (int[]){ 2, 0 }, 2, &out));
	assert_lies(&out, 48 + 32, 4, DIMS(2, 1, 3, 4), DIMS(-48, 48, -16, 4));
	assert_works(dray_view_flip(&out, NULL, 0, &out));
	assert_lies(&out, 12, 4, DIMS(2, 1, 3, 4), DIMS(48, -48, 16, -4));
}

FACT(a_diagonal_is_the_last_axis_and_read_only)
{
	struct dray_view out, view = VIEW(f4, 3, DIMS(2, 3, 4));

	assert_works(dray_view_diagonal(&view, 1, 1, 2, &out));
	assert_lies(&out, 4, 2, DIMS(2, 3), DIMS(48, 20));
	assert_int_equal(out.flags & PERMISSIONS, DRAY_READ);
	assert_works(dray_view_diagonal(&view, -1, 1, 0, &out));
	assert_lies(&out, 16, 2, DIMS(4, 2), DIMS(4, 64));
	assert_works(dray_view_diagonal(&view, INT64_MIN, 0, 1, &out));
	assert_lies(&out, 0, 2, DIMS(4, 0), DIMS(4, 64));
}

/* Shapes and strides in bytes, of elements of 4 bytes. */
FACT(a_shape_changes_without_a_copy_or_not_at_all)
{
	static const struct {
		int ndim, new_ndim;
		enum dray_order order;
		int64_t shape[3], strides[3], new_shape[3], new_strides[3];
	} cases[] = {
		{ 2, 1, DRAY_ORDER_C, { 2, 3 }, { 12, 4 }, { -1 }, { 4 } },
		{ 1, 3, DRAY_ORDER_C, { 6 }, { 8 }, { 3, 1, -1 }, { 16, 16, 8 } },
		{ 1, 2, DRAY_ORDER_F, { 6 }, { 8 }, { 3, 2 }, { 8, 24 } },
		{ 2, 1, DRAY_ORDER_F, { 2, 3 }, { 4, 8 }, { 6 }, { 4 } },
		{ 2, 1, DRAY_ORDER_A, { 2, 3 }, { 4, 8 }, { 6 }, { 4 } },
		{ 2, 1, DRAY_ORDER_C, { 2, 3 }, { 4, 8 }, { 6 }, { 0 } },
		{ 2, 1, DRAY_ORDER_F, { 2, 3 }, { 12, 4 }, { 6 }, { 0 } },
		{ 2,
		  3,
		  DRAY_ORDER_C,
		  { 4, 3 },
		  { 0, 8 },
		  { 2, 2, 3 },
		  { 0, 0, 8 } },
		{ 2, 2, DRAY_ORDER_C, { 0, 3 }, { 7, 7 }, { 5, 0 }, { 4, 4 } },
		{ 0, 2, DRAY_ORDER_C, { 0 }, { 0 }, { 1, 1 }, { 4, 4 } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dray_view out,
			view = view_at(64, f4, cases[i].ndim, cases[i].shape,
				       cases[i].strides);
		int64_t shape[3];

		if (!cases[i].new_strides[cases[i].new_ndim - 1]) {
			assert_fails(dray_view_reshape(&view, cases[i].new_ndim,
						       cases[i].new_shape,
						       cases[i].order, &out),
				     -EAGAIN, "without a copy");
			continue;
		}
		assert_works(dray_view_reshape(&view, cases[i].new_ndim,
					       cases[i].new_shape,
					       cases[i].order, &out));
		for (int k = 0; k < out.ndim; k++)
			shape[k] = cases[i].new_shape[k] < 0
					   ? out.shape[k]
					   : cases[i].new_shape[k];
		assert_lies(&out, 64, cases[i].new_ndim, shape,
			    cases[i].new_strides);
		assert_int_equal(dray_view_size(&out), dray_view_size(&view));
	}
}

FACT(elements_without_gaps_become_one_axis)
{
	struct dray_view out, view = VIEW(f4, 3, DIMS(2, 3, 4));

	assert_works(dray_view_transpose(&view, (int[]){ 1, 0, 2 }, &view));
	assert_works(dray_view_ravel(&view, DRAY_ORDER_K, &out));
	assert_lies(&out, 0, 1, DIMS(24), DIMS(4));
	assert_fails(dray_view_ravel(&view, DRAY_ORDER_C, &out), -EAGAIN,
		     "a view of shape (3,2,4) cannot become (24,) without");
	assert_works(dray_view_flip(&view, NULL, 0, &view));
	assert_fails(dray_view_ravel(&view, DRAY_ORDER_K, &out), -EAGAIN,
		     "without a copy");
}

FACT(complex_numbers_have_parts)
{
	struct dray_view out, view = VIEW(DRAY_COMPLEX64, 1, DIMS(3));

	assert_works(dray_view_real(&view, &out));
	assert_lies(&out, 0, 1, DIMS(3), DIMS(8));
	assert_true(dray_dtype_equal(out.dtype, f4));
	assert_works(dray_view_imag(&view, &out));
	assert_lies(&out, 4, 1, DIMS(3), DIMS(8));
	assert_fails(dray_view_imag(&out, &out), -EINVAL, "kind 'f'");
	assert_works(dray_view_real(&out, &out));
	assert_lies(&out, 4, 1, DIMS(3), DIMS(8));
}

FACT(bytes_are_elements_of_another_type)
{
	struct dray_view out, view = VIEW(f4, 2, DIMS(3, 4));

	assert_works(dray_view_as_type(&view, DRAY_UINT16, &out));
	assert_lies(&out, 0, 2, DIMS(3, 8), DIMS(16, 2));
	assert_works(dray_view_as_type(&view, DRAY_COMPLEX128, &out));
	assert_lies(&out, 0, 2, DIMS(3, 1), DIMS(16, 16));
	assert_works(dray_view_as_type(&view, DRAY_VOID(0), &out));
	assert_true(out.dtype == DRAY_VOID(4));
	assert_fails(dray_view_as_type(&view, DRAY_VOID(3), &out), -EINVAL,
		     "4 bytes are not a multiple of 3");
	assert_fails(dray_view_as_type(&view, DRAY_BYTES(0), &out), -EINVAL,
		     "4 bytes are not a multiple of 0");
	assert_fails(dray_view_as_type(&view, DRAY_VOID(5), &out), -EINVAL,
		     "16 bytes, which is not a multiple of 5");
	assert_fails(dray_view_as_type(&view, DRAY_DTYPE('O', '|', 8), &out),
		     -EINVAL, "0x4f");
	assert_works(dray_view_swap_axes(&view, 0, 1, &view));
	assert_works(dray_view_as_type(&view, DRAY_INT32, &out));
	assert_fails(dray_view_as_type(&view, DRAY_UINT16, &out), -EINVAL,
		     "axis 1, the last, has gaps (a stride of 16)");
	view = VIEW(f4, 0, NULL);
	assert_fails(dray_view_as_type(&view, u1, &out), -EINVAL,
		     "without axes");
	view = VIEW(DRAY_VOID(0), 1, DIMS(INT64_MAX));
	assert_works(dray_view_as_type(&view, f4, &out));
	assert_int_equal(out.shape[0], 0);
}

FACT(a_field_is_a_view_of_its_type)
{
	struct dray_view out, view;
	dray_dtype pair = 0, dtype = 0;

	assert_works(dray_dtype_create_subarray(u2, 2, DIMS(2, 3), &pair));
	assert_works(dray_dtype_create_struct(
		(struct dray_dtype_field[]){ { "a", "first", u1, 0 },
					     { "b", NULL, pair, 4 },
					     { "c", NULL, f4, 16 } },
		3, DRAY_DTYPE_PLACED, 20, &dtype));
	view = VIEW(dtype, 1, DIMS(5));
	assert_works(dray_view_field(&view, "c", &out));
	assert_lies(&out, 16, 1, DIMS(5), DIMS(20));
	assert_true(out.dtype == f4 && out.flags & DRAY_ALIGNED);
	assert_works(dray_view_field(&view, "first", &out));
	assert_lies(&out, 0, 1, DIMS(5), DIMS(20));
	assert_works(dray_view_field(&view, "b", &out));
	assert_lies(&out, 4, 3, DIMS(5, 2, 3), DIMS(20, 6, 2));
	assert_true(out.dtype == u2);
	assert_fails(dray_view_field(&view, "d", &out), -ENOENT, "d");
	assert_fails(dray_view_field(&out, "a", &out), -ENOENT, "a");

	view = VIEW(DRAY_VOID(12), 1, DIMS(2));
	assert_works(dray_view_as_type(&view, pair, &out));
	assert_lies(&out, 0, 3, DIMS(2, 2, 3), DIMS(12, 6, 2));
	view = VIEW(f4, 1, DIMS(6));
	assert_fails(dray_view_as_type(&view, pair, &out), -EINVAL,
		     "4 bytes cannot become a sub-array of 12");
	dray_dtype_unref(dtype);
	dray_dtype_unref(pair);
}

FACT(windows_slide_over_axes_and_are_read_only)
{
	struct dray_view out, view = VIEW(f4, 2, DIMS(3, 4));

	assert_works(dray_view_windows(&view, 1, DIMS(3), (int[]){ -1 }, &out));
	assert_lies(&out, 0, 3, DIMS(3, 2, 3), DIMS(16, 4, 4));
	assert_int_equal(out.flags & PERMISSIONS, DRAY_READ);
	assert_works(dray_view_windows(&view, 2, DIMS(2, 2), NULL, &out));
	assert_lies(&out, 0, 4, DIMS(2, 3, 2, 2), DIMS(16, 4, 16, 4));
	/* One axis may have windows of windows. */
	assert_works(
		dray_view_windows(&view, 2, DIMS(2, 2), (int[]){ 1, 1 }, &out));
	assert_lies(&out, 0, 4, DIMS(3, 2, 2, 2), DIMS(16, 4, 4, 4));
	assert_fails(dray_view_windows(&view, 1, DIMS(5), (int[]){ 1 }, &out),
		     -EINVAL, "5 elements over axis 1, which has 4");
	assert_fails(dray_view_windows(&view, 1, DIMS(-1), (int[]){ 1 }, &out),
		     -EINVAL, "-1 elements over axis 1");
	assert_fails(dray_view_windows(&view, 1, DIMS(1), NULL, &out), -EINVAL,
		     "1 axes over all 2");
	assert_fails(dray_view_windows(&view, 63, DIMS(1), (int[]){ 1 }, &out),
		     -EINVAL, "63 axes over 2");
	view = VIEW(DRAY_VOID(0), 1, DIMS(INT64_MAX));
	assert_fails(dray_view_windows(&view, 1, DIMS(0), NULL, &out), -EINVAL,
		     "0 elements over axis 0");
}

FACT(strides_stay_in_the_memory)
{
	static const struct {
		int64_t offset, shape[2], strides[2];
		bool inside;
	} cases[] = {
		{ 0, { 2, 4 }, { 8, 4 }, true },
		{ 0, { 3, 4 }, { 8, 4 }, true },
		{ 0, { 4, 4 }, { 8, 4 }, false },
		{ 0, { 2, 2 }, { -4, 4 }, false },
		{ 4, { 2, 2 }, { -4, 4 }, true },
		{ 4, { 2, 2 }, { -8, 4 }, false },
		{ 28, { 1, 1 }, { 99, 99 }, true },
		{ 29, { 1, 1 }, { 99, 99 }, false },
		{ 33, { 1, 1 }, { 99, 99 }, false },
		{ 99, { 9, 0 }, { 99, 99 }, true },
		{ -4, { 1, 1 }, { 4, 4 }, false },
	};
	struct dray_view out, view = VIEW(f4, 1, DIMS(8));

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int ret;

		view.data = memory + 64 + cases[i].offset;
		ret = dray_view_as_strided(&view, 2, cases[i].shape,
					   cases[i].strides, memory + 64, 32,
					   &out);
		if (ret != (cases[i].inside ? 0 : -EINVAL))
			fail_msg("case %zu: %d, %s", i, ret, dray_last_error());
		if (!ret)
			assert_lies(&out, 64 + cases[i].offset, 2,
				    cases[i].shape, cases[i].strides);
	}
	view.data = memory;
	assert_works(dray_view_as_strided(&view, 2, DIMS(2, 4), NULL, NULL, 0,
					  &out));
	assert_lies(&out, 0, 2, DIMS(2, 4), DIMS(16, 4));
	assert_fails(
		dray_view_as_strided(&view, 1, DIMS(9), NULL, NULL, 0, &out),
		-EINVAL, "bytes 0 to 36 around offset 0 in memory of 32 bytes");
	assert_fails(dray_view_as_strided(&view, 1, DIMS(INT64_MAX), NULL, NULL,
					  0, &out),
		     -EOVERFLOW, "63 bits");
}

FACT(shapes_are_broadcast_together)
{
	const int64_t *shapes[] = { DIMS(3, 1), DIMS(4), DIMS(2, 1, 1) };
	int64_t shape[3] = { 0 };
	int ndim = -1;

	assert_works(dray_broadcast_shapes(3, (int[]){ 2, 1, 3 }, shapes, &ndim,
					   shape));
	assert_int_equal(ndim, 3);
	assert_memory_equal(shape, DIMS(2, 3, 4), sizeof(shape));
	assert_works(dray_broadcast_shapes(0, NULL, NULL, &ndim, shape));
	assert_int_equal(ndim, 0);
	shapes[1] = DIMS(4, 4);
	assert_fails(dray_broadcast_shapes(2, (int[]){ 2, 2 }, shapes, &ndim,
					   shape),
		     -EINVAL,
		     "shape 0, (3,1), and shape 1, (4,4), cannot be broadcast");
	assert_fails(dray_broadcast_shapes(1, (int[]){ 65 }, shapes, &ndim,
					   shape),
		     -EINVAL, "65 axes");
}

FACT(lists_of_axes_are_checked)
{
	struct dray_view out, view = VIEW(f4, 3, DIMS(2, 3, 4));
	int64_t ones[DRAY_MAX_NDIM];
	struct dray_view full;

	for (int i = 0; i < DRAY_MAX_NDIM; i++)
		ones[i] = 1;
	full = VIEW(f4, DRAY_MAX_NDIM, ones);
#define REFUSED(call, part) assert_fails(call, -EINVAL, part)
	REFUSED(dray_view_swap_axes(&view, 3, 0, &out),
		"axis 3 is not one of 3 axes");
	REFUSED(dray_view_swap_axes(&view, 0, -4, &out),
		"axis -4 is not one of 3 axes");
	REFUSED(dray_view_move_axes(&view, (int[]){ 0, -3 }, (int[]){ 0, 1 }, 2,
				    &out),
		"the list of axes to move names axis 0 twice");
	REFUSED(dray_view_move_axes(&view, (int[]){ 0, 1 }, (int[]){ 2, 2 }, 2,
				    &out),
		"the list of destinations names axis 2 twice");
	REFUSED(dray_view_move_axes(&view, NULL, (int[]){ 2 }, 1, &out),
		"no list");
	REFUSED(dray_view_squeeze(&view, (int[]){ 1 }, 1, &out),
		"axis 1 has 3 elements");
	REFUSED(dray_view_squeeze(&view, (int[]){ 1 }, -1, &out), "-1 axes");
	REFUSED(dray_view_flip(&view, (int[]){ 1, 5 }, 2, &out), "axis 5");
	REFUSED(dray_view_expand(&view, (int[]){ 4 }, 1, &out),
		"axis 4 is not one of 4 axes");
	REFUSED(dray_view_expand(&full, (int[]){ 0 }, 1, &out),
		"1 axes cannot be added to 64");
	REFUSED(dray_view_diagonal(&view, 0, 1, -2, &out), "axis 1 is named");
	REFUSED(dray_view_diagonal(&view, 0, 1, 3, &out), "axis 3");
	view.ndim = 1;
	REFUSED(dray_view_diagonal(&view, 0, 0, 0, &out), "the view has 1");
}

FACT(shapes_of_other_sizes_are_refused)
{
	struct dray_view out, view = VIEW(f4, 1, DIMS(6));

#define RESHAPE(...)                                            \
	dray_view_reshape(&view, sizeof(DIMS(__VA_ARGS__)) / 8, \
			  DIMS(__VA_ARGS__), DRAY_ORDER_C, &out)
	REFUSED(RESHAPE(4), "cannot reshape array of size 6 into shape (4,)");
	REFUSED(RESHAPE(4, -1), "of size 6 into shape (4,-1)");
	REFUSED(RESHAPE(0, -1), "of size 6 into shape (0,-1)");
	REFUSED(RESHAPE(INT64_MAX, 3), "into shape (9223372036854775807,3)");
	REFUSED(RESHAPE(-1, 2, -1), "axes 0 and 2 are both unknown");
	REFUSED(dray_view_reshape(&view, 1, DIMS(6), DRAY_ORDER_K, &out),
		"order 2 is not permitted");
	REFUSED(dray_view_ravel(&view, 3, &out), "3 is not an order");
	REFUSED(dray_view_reshape(&view, 65, DIMS(6), DRAY_ORDER_C, &out),
		"65 axes");
	/* Long shapes are cut short. */
	REFUSED(RESHAPE(INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX,
			INT64_MAX, INT64_MAX, INT64_MAX),
		",...)");
	view = view_at(0, f4, 3, DIMS(INT64_MAX, 0, 3), DIMS(1, 1, 1));
	assert_fails(RESHAPE(INT64_MAX, INT64_MAX, 0), -EINVAL, "cannot");
	assert_fails(RESHAPE(INT64_MAX, 0), -EOVERFLOW, "63 bits");
}
