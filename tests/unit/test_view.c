// SPDX-License-Identifier: Apache-2.0 OR MIT
/* view: what shape and strides say, and what is refused. */
#include "node.h"
#include "random_view.h"

static unsigned char memory[4096];

FACT(without_strides_a_view_is_in_c_order)
{
	struct dray_view view;

	assert_works(dray_view_init(&view, memory, f4, 3, DIMS(2, 3, 4), NULL));
	assert_int_equal(view.strides[0], 48);
	assert_int_equal(view.strides[1], 16);
	assert_int_equal(view.strides[2], 4);
	assert_int_equal(dray_view_size(&view), 24);
	assert_true(dray_view_is_contiguous(&view));
}

FACT(a_view_without_axes_is_one_element)
{
	struct dray_view view;
	int64_t low, high;

	assert_works(dray_view_init(&view, memory, f4, 0, NULL, NULL));
	assert_int_equal(dray_view_size(&view), 1);
	dray_view_span(&view, &low, &high);
	assert_int_equal(low, 0);
	assert_int_equal(high, 4);
}

FACT(an_empty_view_covers_nothing_and_needs_no_data)
{
	struct dray_view view;
	int64_t low = 1, high = 2;

	assert_works(dray_view_init(&view, NULL, f4, 2, DIMS(3, 0),
				    DIMS(INT64_MAX, INT64_MIN)));
	assert_int_equal(dray_view_size(&view), 0);
	dray_view_span(&view, &low, &high);
	assert_int_equal(low, high);
	assert_true(dray_view_is_contiguous(&view));
	assert_fails(dray_view_init(&view, NULL, f4, 1, DIMS(3), NULL), -EINVAL,
		     "3 elements and no data");
}

FACT(the_span_of_random_views_is_what_their_elements_cover)
{
	struct dice dice = { 20260101 };
	int done = 0;

	while (done < rounds(2000)) {
		int64_t shape[4], position[4] = { 0 }, low, high;
		intptr_t least = INTPTR_MAX, most = INTPTR_MIN;
		uint32_t itemsize = 1 + (uint32_t)roll(&dice, 5);
		int ndim = random_shape(&dice, shape);
		struct dray_view view;

		if (!random_view(&dice, &view, memory, sizeof(memory), ndim,
				 shape, itemsize))
			continue;
		do {
			intptr_t at = walk_at(&view, position) -
				      (unsigned char *)view.data;

			least = at < least ? at : least;
			most = at > most ? at : most;
		} while (walk_on(&view, position));
		dray_view_span(&view, &low, &high);
		assert_int_equal(low, least);
		assert_int_equal(high, most + itemsize);
		done++;
	}
}

FACT(a_span_that_cannot_be_measured_is_everything)
{
	struct dray_view view;
	int64_t low, high;

	assert_works(dray_view_init(&view, memory, f4, 1, DIMS(3), NULL));
	view.strides[0] = INT64_MAX;
	dray_view_span(&view, &low, &high);
	assert_true(low == INT64_MIN && high == INT64_MAX);
	view.strides[0] = 0;
	view.shape[0] = INT64_MAX;
	assert_true(dray_view_size(&view) == INT64_MAX);
}

FACT(axes_extents_and_types_out_of_range_are_refused)
{
	int64_t shape[DRAY_MAX_NDIM + 1] = { 0 };
	struct dray_view view = { .ndim = -7 };

	assert_fails(dray_view_init(&view, memory, f4, DRAY_MAX_NDIM + 1, shape,
				    NULL),
		     -EINVAL, "65 axes");
	assert_fails(dray_view_init(&view, memory, f4, -1, shape, NULL),
		     -EINVAL, "-1 axes");
	assert_fails(dray_view_init(&view, memory, f4, 2, DIMS(1, -5), NULL),
		     -EINVAL, "-5 elements");
	assert_fails(dray_view_init(&view, memory, DRAY_DTYPE('O', '|', 8), 0,
				    NULL, NULL),
		     -EINVAL, "0x4f");
	assert_int_equal(view.ndim, -7);
	assert_works(
		dray_view_init(&view, memory, f4, DRAY_MAX_NDIM, shape, NULL));
}

FACT(what_does_not_fit_63_bits_is_an_overflow)
{
	static const struct {
		int64_t shape[2], strides[2];
	} cases[] = {
		{ { INT64_MAX, 2 }, { 1, 1 } },
		{ { 2, 2 }, { INT64_MAX, INT64_MAX } },
		{ { 2, 2 }, { INT64_MIN, 1 } },
		{ { 2, 2 }, { INT64_MIN / 2, INT64_MAX / 2 } },
		{ { 3, 1 }, { INT64_MAX / 2 + 1, 1 } },
		{ { INT64_MAX / 4, 4 }, { 0, 0 } },
	};
	struct dray_view view;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_fails(dray_view_init(&view, memory, f4, 2,
					    cases[i].shape, cases[i].strides),
			     -EOVERFLOW, "63 bits");
	assert_fails(dray_view_init(&view, memory, f4, 2,
				    DIMS(INT64_MAX / 2, 3), NULL),
		     -EOVERFLOW, "63 bits");
	assert_works(dray_view_init(&view, memory, f4, 2, DIMS(1, 1),
				    DIMS(INT64_MAX, INT64_MIN)));
}

FACT(what_leaves_the_address_space_is_an_overflow)
{
	struct dray_view view;

	assert_fails(dray_view_init(&view, (void *)(UINTPTR_MAX - 100), u1, 1,
				    DIMS(200), NULL),
		     -EOVERFLOW, "address space");
	assert_fails(dray_view_init(&view, (void *)100, u1, 1, DIMS(200),
				    DIMS(-1)),
		     -EOVERFLOW, "address space");
}

FACT(transposing_moves_axes_and_leaves_the_data)
{
	struct dray_view view, out;

	assert_works(dray_view_init(&view, memory, f4, 3, DIMS(2, 3, 4), NULL));
	assert_works(dray_view_transpose(&view, (int[]){ 1, -1, 0 }, &out));
	assert_ptr_equal(out.data, memory);
	assert_int_equal(out.shape[0], 3);
	assert_int_equal(out.shape[1], 4);
	assert_int_equal(out.shape[2], 2);
	assert_int_equal(out.strides[0], 16);
	assert_int_equal(out.strides[1], 4);
	assert_int_equal(out.strides[2], 48);
	assert_works(dray_view_transpose(&view, NULL, &view));
	assert_int_equal(view.shape[0], 4);
	assert_int_equal(view.strides[0], 4);
	assert_false(dray_view_is_contiguous(&view));
}

FACT(a_transpose_names_each_axis_once)
{
	struct dray_view view, out;

	assert_works(dray_view_init(&view, memory, f4, 2, DIMS(2, 3), NULL));
	assert_fails(dray_view_transpose(&view, (int[]){ 0, 2 }, &out), -EINVAL,
		     "axis 2");
	assert_fails(dray_view_transpose(&view, (int[]){ -3, 0 }, &out),
		     -EINVAL, "axis -3");
	assert_fails(dray_view_transpose(&view, (int[]){ 1, -1 }, &out),
		     -EINVAL, "twice");
}

FACT(broadcasting_repeats_axes_with_a_stride_of_0)
{
	struct dray_view view;

	assert_works(dray_view_init(&view, memory, f4, 2, DIMS(3, 1), NULL));
	assert_works(dray_view_broadcast(&view, 3, DIMS(5, 3, 4), &view));
	assert_int_equal(view.ndim, 3);
	assert_int_equal(view.strides[0], 0);
	assert_int_equal(view.strides[1], 4);
	assert_int_equal(view.strides[2], 0);
	assert_int_equal(dray_view_size(&view), 60);
}

FACT(views_of_impossible_axes_are_not_read)
{
	static const int32_t wrong[] = { -1, INT32_MIN, 65, INT32_MAX };
	int64_t shape[DRAY_MAX_NDIM] = { 0 };
	struct dray_view view, out;

	for (int i = 0; i < 4; i++) {
		assert_works(
			dray_view_init(&view, memory, f4, 1, DIMS(2), NULL));
		view.ndim = wrong[i];
		assert_fails(dray_view_transpose(&view, NULL, &out), -EINVAL,
			     "0 to 64 are possible");
		assert_fails(dray_view_broadcast(&view, 64, shape, &out),
			     -EINVAL, "0 to 64 are possible");
	}
	view.ndim = 1;
	view.shape[0] = -2;
	assert_fails(dray_view_transpose(&view, NULL, &out), -EINVAL,
		     "-2 elements");
	assert_fails(dray_view_broadcast(&view, 1, DIMS(2), &out), -EINVAL,
		     "-2 elements");
}

FACT(what_cannot_be_broadcast_is_refused)
{
	struct dray_view view, out;

	assert_works(dray_view_init(&view, memory, f4, 2, DIMS(3, 2), NULL));
	assert_fails(dray_view_broadcast(&view, 2, DIMS(3, 4), &out), -EINVAL,
		     "axis 1 of 2");
	assert_fails(dray_view_broadcast(&view, 1, DIMS(2), &out), -EINVAL,
		     "2 axes cannot be broadcast to 1");
	assert_fails(dray_view_broadcast(&view, 65, DIMS(2), &out), -EINVAL,
		     "65 axes");
	assert_fails(dray_view_broadcast(&view, 4, DIMS(INT64_MAX, 2, 3, 2),
					 &out),
		     -EOVERFLOW, "63 bits");
}

FACT(unit_axes_do_not_break_contiguity_and_gaps_do)
{
	struct dray_view view;

	assert_works(dray_view_init(&view, memory, f4, 3, DIMS(2, 1, 3),
				    DIMS(12, 999, 4)));
	assert_true(dray_view_is_contiguous(&view));
	view.strides[0] = 16;
	assert_false(dray_view_is_contiguous(&view));
}

FACT(a_copy_of_a_view_leaves_alone_axes_that_it_has_not)
{
	struct dray_view view, out;

	memset(&view, 0x11, sizeof(view));
	memset(&out, 0x55, sizeof(out));
	assert_works(dray_view_init(&view, memory, f4, 2, DIMS(2, 3), NULL));
	dray_view_copy(&out, &view);
	assert_ptr_equal(out.data, memory);
	assert_int_equal(out.ndim, 2);
	assert_int_equal(dray_dtype_itemsize(out.dtype), 4);
	assert_memory_equal(out.shape, view.shape, 2 * sizeof(int64_t));
	assert_memory_equal(out.strides, view.strides, 2 * sizeof(int64_t));
	assert_true(all_bytes_are(&out.shape[2], 0x55,
				  sizeof(out.shape) - 2 * sizeof(int64_t)));
	assert_true(all_bytes_are(&out.strides[2], 0x55,
				  sizeof(out.strides) - 2 * sizeof(int64_t)));
	/* Of none at all. */
	memset(&out, 0x55, sizeof(out));
	view.ndim = 0;
	dray_view_copy(&out, &view);
	assert_int_equal(out.ndim, 0);
	assert_true(all_bytes_are(out.shape, 0x55, sizeof(out.shape)));
	assert_true(all_bytes_are(out.strides, 0x55, sizeof(out.strides)));
}

FACT(spans_that_touch_do_not_overlap)
{
	struct dray_view a, b;

	assert_works(dray_view_init(&a, memory, u1, 1, DIMS(10), NULL));
	assert_works(dray_view_init(&b, memory + 10, u1, 1, DIMS(10), NULL));
	assert_false(dray_view_spans_overlap(&a, &b));
	b.data = memory + 9;
	assert_true(dray_view_spans_overlap(&a, &b));
	assert_true(dray_view_spans_overlap(&b, &a));
	b.shape[0] = 0;
	assert_false(dray_view_spans_overlap(&a, &b));
	b.shape[0] = INT64_MAX;
	b.strides[0] = INT64_MAX;
	assert_true(dray_view_spans_overlap(&a, &b));
}

FACT(the_bytes_of_a_shape_are_known_without_data)
{
	size_t bytes = 1;

	assert_works(dray_view_bytes(f4, 3, DIMS(2, 3, 4), &bytes));
	assert_int_equal(bytes, 96);
	assert_works(dray_view_bytes(f4, 0, NULL, &bytes));
	assert_int_equal(bytes, 4);
	assert_works(dray_view_bytes(f4, 2, DIMS(3, 0), &bytes));
	assert_int_equal(bytes, 0);
	/* More than any memory. */
	assert_works(dray_view_bytes(u1, 1, DIMS(PTRDIFF_MAX), &bytes));
	assert_int_equal(bytes, PTRDIFF_MAX);
	assert_fails(dray_view_bytes(f4, 1, DIMS(-1), &bytes), -EINVAL,
		     "-1 elements");
	assert_fails(dray_view_bytes(DRAY_DTYPE('O', '|', 8), 0, NULL, &bytes),
		     -EINVAL, "0x4f");
	assert_fails(dray_view_bytes(f4, 1, DIMS(INT64_MAX), &bytes),
		     -EOVERFLOW, "63 bits");
	assert_int_equal(bytes, PTRDIFF_MAX);
#if SIZE_MAX < INT64_MAX
	assert_fails(dray_view_bytes(f4, 1, DIMS(SIZE_MAX), &bytes), -EOVERFLOW,
		     "the limit of " SIZE_MAX_TEXT);
#endif
}
