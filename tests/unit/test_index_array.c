// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * index_array: indices with arrays: refusals with their sentences, and
 * memory that is shared.  test_numpy_index.py compares the results with NumPy's.
 */
#include <dray/array/sorting.h>

#include <dray/array.h>

#include "unit.h"

#define i8 DRAY_INT64
#define f8 DRAY_FLOAT64
#define NOWHERE ((struct dray_index){ .kind = DRAY_INDEX_ARRAY })

static int64_t numbers[64];
static struct dray_view cube; /* 2 x 3 x 4 of numbers, 0 to 23 */

static int set_up(void **state)
{
	for (int i = 0; i < 64; i++)
		numbers[i] = i;
	assert_works(dray_view_init(&cube, numbers, i8, 3,
				    (int64_t[]){ 2, 3, 4 }, NULL));
	return 0;
}

/* A view of values in a row. */
static const struct dray_view *row(struct dray_view *view, void *data,
				   dray_dtype dtype, int64_t count)
{
	assert_works(dray_view_init(view, data, dtype, 1, &count, NULL));
	return view;
}

static int64_t outside[] = { 1, 7 };
static int64_t inside[] = { 1, 0, -1 };
static double fractions[] = { 0.5, 1 };
static bool trues[4] = { true, false, true, true };
static struct dray_view wrong, two, three, halves, four_trues, many, down,
	across;

static void make_arrays(void)
{
	row(&wrong, outside, i8, 2);
	row(&two, inside, i8, 2);
	row(&three, inside, i8, 3);
	row(&halves, fractions, f8, 2);
	row(&four_trues, trues, DRAY_BOOL, 4);
	assert_works(dray_view_init(&down, inside, i8, 2,
				    (int64_t[]){ INT64_C(1) << 32, 1 },
				    (int64_t[]){ 0, 0 }));
	assert_works(dray_view_transpose(&down, NULL, &across));
	assert_works(dray_view_init(&many, inside, i8, 62,
				    (int64_t[62]){ [0 ... 61] = 1 }, NULL));
}

FACT(wrong_indices_are_refused_and_nothing_is_written)
{
	const struct dray_index into[][3] = {
		{ DRAY_BY(&wrong), DRAY_ALL, DRAY_ALL },
		{ DRAY_ALL, DRAY_BY(&wrong), DRAY_ALL },
		{ DRAY_ALL, DRAY_ALL, DRAY_BY(&wrong) },
		{ DRAY_AT(2), DRAY_BY(&two), DRAY_ALL },
		{ DRAY_AT(-3), DRAY_BY(&two), DRAY_ALL },
		{ DRAY_BY(&two), DRAY_BY(&three), DRAY_ALL },
		{ DRAY_ALL, DRAY_BY(&four_trues), DRAY_ALL },
		{ DRAY_BY(&two), DRAY_BY(&four_trues), DRAY_BY(&two) },
		{ DRAY_BY(&halves), DRAY_ALL, DRAY_ALL },
		{ DRAY_ELLIPSIS, DRAY_BY(&two), DRAY_ELLIPSIS },
		{ DRAY_BY(&many), DRAY_NEWAXIS, DRAY_ALL },
		{ NOWHERE, DRAY_ALL, DRAY_ALL },
		{ DRAY_BY(&two), DRAY_SLICE(0, 1, 0), DRAY_ALL },
		{ DRAY_BY(&down), DRAY_BY(&across), DRAY_AT(0) },
	};
	static const struct {
		int code;
		const char *sentence;
	} wanted[] = {
		{ -ERANGE, "index 7 is out of bounds for axis 0 with size 2" },
		{ -ERANGE, "index 7 is out of bounds for axis 1 with size 3" },
		{ -ERANGE, "index 7 is out of bounds for axis 2 with size 4" },
		{ -ERANGE, "index 2 is out of bounds for axis 0 with size 2" },
		{ -ERANGE, "index -3 is out of bounds for axis 0 with size 2" },
		{ -ERANGE, "shape mismatch: indexing arrays could not be "
			   "broadcast together with shapes (2,) (3,)" },
		{ -ERANGE, "boolean index did not match indexed array along "
			   "axis 1; size of axis is 3 but size of "
			   "corresponding boolean axis is 4" },
		{ -ERANGE, "along axis 1; size of axis is 3" },
		{ -ERANGE, "must be of integer (or boolean) type, not <f8" },
		{ -ERANGE, "a single ellipsis" },
		{ -ERANGE, "indexing result would have 65" },
		{ -EINVAL, "an indexing array is NULL" },
		{ -EINVAL, "the step of the slice of axis 1 is 0" },
		{ -EOVERFLOW, "more elements than 63 bits count" },
	};
	int64_t value = -1, before[64];
	struct dray_view one;
	struct dray_array *out;

	make_arrays();
	memcpy(before, numbers, sizeof(before));
	assert_works(dray_view_init(&one, &value, i8, 0, NULL, NULL));
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		assert_fails(dray_index_get(&cube, into[i], 3, &out),
			     wanted[i].code, wanted[i].sentence);
		assert_fails(dray_index_set(&cube, into[i], 3, &one),
			     wanted[i].code, wanted[i].sentence);
		assert_memory_equal(numbers, before, sizeof(before));
	}
}

/* Neither the value nor the destination lies at equal distances. */
FACT(a_wrong_index_after_a_gap_is_found_before_the_first_copy)
{
	int64_t some[6] = { 0, 1, 0, 1, 0, 7 }, to[2][4] = { 0 };
	int64_t before[64], values[2] = { -1, -2 };
	struct dray_view indices, value, dst, line;

	row(&line, numbers, i8, 5);
	assert_works(dray_view_init(&indices, some, i8, 2, (int64_t[]){ 2, 3 },
				    NULL));
	assert_works(dray_view_init(&value, values, i8, 2, (int64_t[]){ 2, 1 },
				    NULL));
	assert_works(dray_view_init(&dst, to, i8, 2, (int64_t[]){ 2, 3 },
				    (int64_t[]){ sizeof(to[0]), 8 }));
	memcpy(before, numbers, sizeof(before));
	numbers[0] = before[0] = 9;
	assert_fails(dray_index_set(&line, &DRAY_BY(&indices), 1, &value),
		     -ERANGE, "index 7 is out of bounds");
	assert_memory_equal(numbers, before, sizeof(before));
	assert_fails(dray_index_get_into(&line, &DRAY_BY(&indices), 1, &dst),
		     -ERANGE, "index 7 is out of bounds");
	assert_int_equal(to[0][0], 0);
}

FACT(too_many_indices_are_refused)
{
	bool all[2][3] = { { true } };
	const struct dray_index index[] = { DRAY_BY(&two), DRAY_BY(&four_trues),
					    DRAY_AT(0), DRAY_AT(0) };
	struct dray_index pair[2];
	struct dray_view mask;
	struct dray_array *out;

	make_arrays();
	assert_fails(dray_index_get(&cube, index, 4, &out), -ERANGE,
		     "array is 3-dimensional, but 4 were indexed");
	assert_works(dray_view_init(&mask, all, DRAY_BOOL, 2,
				    (int64_t[]){ 2, 3 }, NULL));
	pair[0] = DRAY_BY(&mask);
	pair[1] = DRAY_BY(&mask);
	assert_fails(dray_index_get(&cube, pair, 2, &out), -ERANGE,
		     "array is 3-dimensional, but 4 were indexed");
}

FACT(values_that_do_not_fit_are_refused)
{
	const struct dray_index rows[] = { DRAY_AT(0), DRAY_BY(&three) };
	const struct dray_index plain[] = { DRAY_AT(0), DRAY_ALL };
	bool whole[24] = { true, true, true };
	struct dray_view mask;
	const struct dray_index masked[] = { DRAY_BY(&mask) };

	make_arrays();
	assert_fails(dray_index_set(&cube, rows, 2, &two), -EINVAL,
		     "shape mismatch: value array of shape (2,) could not be "
		     "broadcast to indexing result of shape (3,4)");
	assert_fails(dray_index_set(&cube, plain, 2, &two), -EINVAL,
		     "could not broadcast input array from shape (2,) into "
		     "shape (3,4)");
	assert_works(
		dray_view_init(&mask, whole, DRAY_BOOL, 3, cube.shape, NULL));
	assert_fails(dray_index_set(&cube, masked, 1, &two), -EINVAL,
		     "cannot assign 2 input values to the 3 output values");
	assert_fails(dray_index_set(&cube, masked, 1, &cube), -EINVAL,
		     "requires a 0 or 1-dimensional input, input has 3");
	assert_int_equal(numbers[5], 5);
}

FACT(permissions_are_kept)
{
	const struct dray_index index[] = { DRAY_BY(&two) };
	struct dray_view sealed, secret;
	struct dray_array *out;

	make_arrays();
	dray_view_copy(&sealed, &cube);
	sealed.flags &= ~(uint32_t)DRAY_WRITE;
	assert_fails(dray_index_set(&sealed, index, 1, &cube), -EPERM,
		     "read-only");
	sealed.flags &= ~(uint32_t)DRAY_READ;
	assert_fails(dray_index_get(&sealed, index, 1, &out), -EPERM,
		     "may not be read");
	dray_view_copy(&secret, &two);
	secret.flags &= ~(uint32_t)DRAY_READ;
	assert_fails(dray_index_get(&cube, &DRAY_BY(&secret), 1, &out), -EPERM,
		     "an indexing array may not be read");
	assert_fails(dray_index_set(&cube, index, 1, &secret), -EPERM,
		     "the value may not be read");
	assert_fails(dray_view_index(&cube, index, 1, &sealed), -EINVAL,
		     "makes a copy, not a view");
}

FACT(of_elements_named_twice_the_last_value_stays)
{
	int64_t twice[] = { 3, 3, 3, 1 }, values[] = { 70, 71, 72, 73 };
	struct dray_view index, value, line;

	row(&line, numbers, i8, 24);
	row(&index, twice, i8, 4);
	row(&value, values, i8, 4);
	assert_works(dray_index_set(&line, &DRAY_BY(&index), 1, &value));
	assert_int_equal(numbers[3], 72);
	assert_int_equal(numbers[1], 73);
	assert_works(set_up(NULL));
}

FACT(what_lies_between_fields_is_not_written)
{
	const struct dray_dtype_field field = { "x", NULL, DRAY_UINT8, 1 };
	unsigned char bytes[] = { 9, 1, 9, 9, 2, 9, 9, 3, 9, 9, 4, 9 };
	const unsigned char wanted[] = { 9, 5, 9, 9, 2, 9, 9, 5, 9, 9, 5, 9 };
	unsigned char five = 5, structures[] = { 7, 6, 7, 7, 8, 7 };
	const unsigned char last[] = { 9, 8, 9, 9, 2, 9, 9, 5, 9, 9, 6, 9 };
	int64_t ends[] = { -1, 0 };
	struct dray_view line, mask, value, index;
	dray_dtype gaps = 0;

	assert_works(dray_dtype_create_struct(&field, 1, DRAY_DTYPE_PLACED, 3,
					      &gaps));
	row(&line, bytes, gaps, 4);
	row(&mask, trues, DRAY_BOOL, 4);
	row(&value, &five, DRAY_UINT8, 1);
	assert_works(dray_index_set(&line, &DRAY_BY(&mask), 1, &value));
	assert_memory_equal(bytes, wanted, sizeof(bytes));
	row(&index, ends, i8, 2);
	row(&value, structures, gaps, 2);
	assert_works(dray_index_set(&line, &DRAY_BY(&index), 1, &value));
	assert_memory_equal(bytes, last, sizeof(bytes));
	/* As always, shapes are compared before an integer is read. */
	ends[0] = 4;
	value.shape[0] = 0;
	assert_fails(dray_index_set(&line, &DRAY_BY(&index), 1, &value),
		     -EINVAL, "value array of shape (0,)");
	dray_dtype_unref(gaps);
}

/* The indices, or the values, are the elements themselves. */
FACT(shared_memory_is_read_before_it_is_written)
{
	struct dray_view line, back;
	struct dray_index index[1];

	row(&line, numbers, i8, 24);
	assert_works(dray_view_index(&line, &DRAY_STEP(-1), 1, &back));
	for (int i = 0; i < 24; i++)
		numbers[i] = 23 - i;
	index[0] = DRAY_BY(&line);
	assert_works(dray_index_set(&line, index, 1, &back));
	for (int i = 0; i < 24; i++)
		assert_int_equal(numbers[23 - i], i);
	for (int i = 0; i < 24; i++)
		numbers[i] = (i + 1) % 24;
	assert_works(dray_index_get_into(&line, index, 1, &line));
	for (int i = 0; i < 24; i++)
		assert_int_equal(numbers[i], (i + 2) % 24);
	assert_works(dray_put(&line, &back, &line, DRAY_INDEX_RAISE));
	assert_works(set_up(NULL));
}

FACT(destinations_that_do_not_fit_are_refused)
{
	int64_t room[8];
	struct dray_view dst;

	make_arrays();
	row(&dst, room, i8, 3);
	assert_fails(dray_index_get_into(&cube, &DRAY_BY(&two), 1, &dst),
		     -EINVAL,
		     "the destination of shape (3,) does not match the result "
		     "of shape (2,3,4)");
	assert_fails(dray_take_into(&cube, &three, DRAY_FLAT, 7, &dst), -EINVAL,
		     "mode 7");
	assert_fails(dray_take_into(&cube, &three, 3, DRAY_INDEX_CLIP, &dst),
		     -EINVAL, "axis 3");
	assert_fails(dray_take_into(&cube, &four_trues, 0, DRAY_INDEX_CLIP,
				    &dst),
		     -EINVAL, "booleans");
	assert_works(dray_take_into(&cube, &three, DRAY_FLAT, DRAY_INDEX_RAISE,
				    &dst));
	assert_int_equal(room[2], 23);
}

FACT(elements_that_do_not_convert_leave_the_destination)
{
	char texts[] = "1x2";
	int64_t room[3] = { -1, -1, -1 };
	struct dray_view dst, text;

	make_arrays();
	row(&dst, room, i8, 3);
	row(&text, texts, DRAY_BYTES(1), 3);
	inside[0] = 2, inside[1] = 0, inside[2] = 1;
	assert_fails(dray_index_get_into(&text, &DRAY_BY(&three), 1, &dst),
		     -EINVAL, "'x' is not a value");
	assert_fails(dray_take_into(&text, &three, 0, DRAY_INDEX_RAISE, &dst),
		     -EINVAL, "'x' is not a value");
	assert_int_equal(room[0], -1);
	texts[1] = '3';
	assert_works(dray_index_get_into(&text, &DRAY_BY(&three), 1, &dst));
	assert_memory_equal(room, ((int64_t[]){ 2, 1, 3 }), sizeof(room));
	inside[0] = 1, inside[1] = 0, inside[2] = -1;
}

FACT(the_last_of_many_integers_is_checked_before_the_first_is_written)
{
	static int64_t at[2000];
	struct dray_view index, line, value;
	int64_t one = -1;

	at[1999] = 24;
	row(&index, at, i8, 2000);
	row(&line, numbers, i8, 24);
	assert_works(dray_view_init(&value, &one, i8, 0, NULL, NULL));
	assert_fails(dray_index_set(&line, &DRAY_BY(&index), 1, &value),
		     -ERANGE, "index 24 is out of bounds");
	assert_fails(dray_put(&line, &index, &value, DRAY_INDEX_RAISE), -ERANGE,
		     "index 24 is out of bounds");
	assert_int_equal(numbers[0], 0);
}

FACT(strides_of_an_empty_view_are_of_no_matter)
{
	int64_t huge = INT64_MAX / 16 * 8;
	struct dray_view empty;
	struct dray_array *out = NULL;

	assert_works(dray_view_init(&empty, numbers, i8, 3, DIMS(0, 2, 2),
				    DIMS(8, huge, 8 - huge)));
	assert_fails(dray_take(&empty, row(&two, inside, i8, 2), 0,
			       DRAY_INDEX_RAISE, &out),
		     -ERANGE, "index 1 is out of bounds");
	assert_null(out);
}

FACT(a_mask_has_as_many_booleans_as_elements)
{
	struct dray_view line;

	make_arrays();
	row(&line, numbers, i8, 3);
	assert_fails(dray_put_mask(&line, &four_trues, &line), -EINVAL,
		     "a mask of 4 booleans for 3 elements");
	assert_fails(dray_put_mask(&line, &line, &line), -EINVAL,
		     "not of booleans");
}

/* It is told from booleans, the coordinates of which are yet to come. */
FACT(integers_without_an_address_pick_nothing)
{
	struct dray_view nothing;
	const struct dray_index by_booleans[] = { DRAY_ALL, DRAY_ALL,
						  DRAY_BY(&four_trues) };
	const struct dray_index by_nothing[] = { DRAY_BY(&nothing), DRAY_ALL,
						 DRAY_ALL };
	struct dray_array *some = NULL, *none = NULL;
	int masked, empty;

	make_arrays();
	assert_works(
		dray_view_init(&nothing, NULL, i8, 1, (int64_t[]){ 0 }, NULL));
	/* Both plans lie at the same place on the stack. */
	masked = dray_index_get(&cube, by_booleans, 3, &some);
	empty = dray_index_get(&cube, by_nothing, 3, &none);
	assert_works(masked);
	assert_works(empty);
	assert_int_equal(dray_array_axes(some)[2].size, 3);
	assert_int_equal(dray_array_axes(none)[0].size, 0);
	dray_array_unref(some);
	dray_array_unref(none);
}

FACT(an_index_of_nothing_is_a_copy)
{
	struct dray_array *out = NULL;
	struct dray_view copy;

	assert_works(dray_index_get(&cube, NULL, 0, &out));
	dray_array_view(out, &copy);
	assert_ptr_not_equal(copy.data, cube.data);
	assert_memory_equal(copy.data, cube.data, 24 * sizeof(int64_t));
	dray_array_unref(out);
}

/* A view that is filled by hand may have such elements; no array has. */
FACT(elements_that_are_arrays_become_axes_of_a_result)
{
	int16_t data[12], room[6];
	struct dray_view view, dst, part;
	struct dray_array *out;
	dray_dtype pair;

	make_arrays();
	for (int i = 0; i < 12; i++)
		data[i] = (int16_t)i;
	assert_works(dray_dtype_parse("(2,)<i2", &pair));
	row(&view, data, DRAY_INT32, 6);
	view.dtype = pair;
	row(&dst, room, DRAY_INT32, 3);
	dst.dtype = pair;
	row(&part, data, DRAY_BOOL, 6);
	assert_works(dray_index_get(&view, &DRAY_BY(&three), 1, &out));
	assert_int_equal(out->ndim, 2);
	assert_memory_equal(out->data, ((int16_t[]){ 2, 3, 0, 1, 10, 11 }), 12);
	dray_array_unref(out);
	assert_works(dray_take(&view, &three, 0, DRAY_INDEX_RAISE, &out));
	assert_memory_equal(out->data, ((int16_t[]){ 2, 3, 0, 1, 10, 11 }), 12);
	dray_array_unref(out);
	assert_works(dray_index_get_into(&view, &DRAY_BY(&three), 1, &dst));
	assert_memory_equal(room, ((int16_t[]){ 2, 3, 0, 1, 10, 11 }), 12);
	assert_works(dray_where(&part, &view, &view, &out));
	assert_int_equal(out->ndim, 2);
	assert_memory_equal(out->data, data, sizeof(data));
	dray_array_unref(out);
	/* Another type, and memory that is shared. */
	view.shape[0] = 3;
	assert_works(dray_index_get_into(&view, &DRAY_BY(&three), 1, &view));
	assert_memory_equal(data, ((int16_t[]){ 2, 3, 0, 1, 4, 5 }), 12);
	dray_dtype_unref(pair);
}

/* Extents and strides that are not to be multiplied, and lines not to be walked. */
FACT(views_without_bytes_may_have_any_extents_and_strides)
{
	static const struct {
		dray_dtype dtype;
		int64_t shape[3], strides[3];
	} cases[] = {
		{ i8, { 3, INT64_MAX, 0 }, { 0, 0, 8 } },
		{ i8, { INT64_C(1) << 40, 2, 0 }, { 8, INT64_MIN, 8 } },
		{ i8, { 4, 0, 1 }, { INT64_MAX, 8, INT64_MIN } },
		{ DRAY_BYTES(0), { 2, 2, 1 }, { INT64_MAX / 4, 2, INT64_MIN } },
	};

	make_arrays();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct dray_index index[] = { DRAY_BY(&three), DRAY_ALL,
						    DRAY_BY(&three) };
		bool empty = cases[i].dtype == i8, shared;
		struct dray_array *out = NULL;
		struct dray_view view;

		assert_works(dray_view_init(&view, numbers, cases[i].dtype, 3,
					    cases[i].shape, cases[i].strides));
		assert_int_equal(dray_count_nonzero(&view), 0);
		assert_works(dray_sort(&view, 2));
		assert_true(dray_index_get(&view, index, 3, &out) < 0);
		assert_null(out);
		assert_true(dray_index_get_into(&view, index, 3, &view) < 0);
		assert_works(dray_view_shares_memory(
			&view, &cube, DRAY_SHARE_EXACT, &shared));
		assert_false(shared);
		if (empty)
			continue;
		assert_works(dray_index_get(&view, &DRAY_BY(&two), 1, &out));
		dray_array_unref(out);
	}
}

FACTS_SHARE(set_up, NULL)
