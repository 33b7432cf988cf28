// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * index_user: elements of a user's type, and of structures of them, are sorted,
 * found and counted by the functions of their types.
 */
#include <dray/array.h>

#include "user_types.h"

#define ROWS 40
#define COLUMNS 25
#define COUNT (ROWS * COLUMNS)

static uint16_t elements[COUNT];
static float floats[COUNT];

/* Few numbers, so that many are equal; some zeros and NaN. */
static void fill(struct dice *dice)
{
	static const float values[] = { -3.5f, -0.0f, 0, 0.25f, 1, NAN };

	for (int i = 0; i < COUNT; i++) {
		floats[i] = values[roll(dice, 6)];
		store_bfloat(&elements[i], floats[i]);
	}
}

/* The same numbers as elements of both types, seen from a random side. */
static void view_both(struct dice *dice, dray_dtype dtype,
		      struct dray_view *ours, struct dray_view *theirs)
{
	const int axes[] = { 1, 0 };

	assert_works(dray_view_init(ours, elements, dtype, 2,
				    DIMS(ROWS, COLUMNS), NULL));
	assert_works(dray_view_init(theirs, floats, DRAY_FLOAT32, 2,
				    DIMS(ROWS, COLUMNS), NULL));
	if (roll(dice, 2)) {
		assert_works(dray_view_transpose(ours, axes, ours));
		assert_works(dray_view_transpose(theirs, axes, theirs));
	}
}

/* Whether two arrays of indices are equal; drops them. */
static void same_indices(struct dray_array *a, struct dray_array *b)
{
	struct dray_view one, other;

	dray_array_view(a, &one);
	dray_array_view(b, &other);
	assert_int_equal(dray_view_size(&one), dray_view_size(&other));
	assert_memory_equal(a->data, b->data,
			    (size_t)dray_view_size(&one) * sizeof(int64_t));
	dray_array_unref(a);
	dray_array_unref(b);
}

FACT(elements_are_sorted_found_and_counted_as_floats_are)
{
	dray_dtype dtype = make_bfloat();
	struct dice dice = { 99 };

	for (int trial = 0; trial < 50; trial++) {
		struct dray_array *a, *b, *many[2], *more[2];
		struct dray_view ours, theirs;
		int axis = (int)roll(&dice, 2);

		fill(&dice);
		view_both(&dice, dtype, &ours, &theirs);
		assert_works(dray_argsort(&ours, axis, &a));
		assert_works(dray_argsort(&theirs, axis, &b));
		same_indices(a, b);
		assert_works(
			dray_argmax(&ours, trial % 3 ? axis : DRAY_FLAT, &a));
		assert_works(
			dray_argmax(&theirs, trial % 3 ? axis : DRAY_FLAT, &b));
		same_indices(a, b);
		assert_int_equal(dray_count_nonzero(&ours),
				 dray_count_nonzero(&theirs));
		assert_works(dray_nonzero(&ours, many));
		assert_works(dray_nonzero(&theirs, more));
		same_indices(many[0], more[0]);
		same_indices(many[1], more[1]);
		assert_works(dray_where(&ours, &theirs, &ours, &a));
		assert_works(dray_where(&theirs, &theirs, &theirs, &b));
		assert_memory_equal(a->data, b->data, sizeof(floats));
		dray_array_unref(a);
		dray_array_unref(b);
		assert_works(dray_sort(&ours, axis));
		assert_works(dray_sort(&theirs, axis));
		for (int i = 0; i < COUNT; i++) {
			const float value = load_bfloat(&elements[i]);

			assert_true(
				value != value
					? floats[i] != floats[i]
					: value == floats[i] &&
						  signbit(value) ==
							  signbit(floats[i]));
		}
	}
	dray_dtype_unref(dtype);
}

FACT(the_smallest_goes_by_the_type_s_order_in_which_nan_is_last)
{
	static const float values[] = { NAN, 2, -1, -1, 7 };
	dray_dtype dtype = make_bfloat();
	struct dray_array *found;
	struct dray_view view;

	for (int i = 0; i < 5; i++)
		store_bfloat(&elements[i], values[i]);
	assert_works(dray_view_init(&view, elements, dtype, 1, DIMS(5), NULL));
	assert_works(dray_argmin(&view, 0, &found));
	assert_int_equal(*(int64_t *)found->data, 2);
	dray_array_unref(found);
	assert_works(dray_argmax(&view, DRAY_FLAT, &found));
	assert_int_equal(*(int64_t *)found->data, 0);
	dray_array_unref(found);
	dray_dtype_unref(dtype);
}

FACT(structures_go_by_their_fields)
{
	struct dray_dtype_field fields[] = { { "x", NULL, DRAY_UINT16, 0 },
					     { "y", NULL, 0, 0 } };
	dray_dtype bfloat = make_bfloat(), record;
	/* (1, 2), (0, 1), (1, -1), (0, 0) */
	uint16_t pairs[] = { 1, 0x4000, 0, 0x3f80, 1, 0xbf80, 0, 0 };
	static const int64_t order[] = { 3, 1, 2, 0 };
	struct dray_array *found[1];
	struct dray_view view;

	fields[1].dtype = bfloat;
	assert_works(dray_dtype_create_struct(fields, 2, 0, 0, &record));
	dray_dtype_unref(bfloat);
	assert_works(dray_view_init(&view, pairs, record, 1, DIMS(4), NULL));
	assert_works(dray_argsort(&view, 0, found));
	assert_memory_equal(found[0]->data, order, sizeof(order));
	dray_array_unref(found[0]);
	assert_int_equal(dray_count_nonzero(&view), 3);
	assert_works(dray_nonzero(&view, found));
	assert_memory_equal(found[0]->data, ((int64_t[]){ 0, 1, 2 }), 24);
	dray_array_unref(found[0]);
	assert_fails(dray_argmin(&view, 0, found), -EOPNOTSUPP,
		     "no largest or smallest element");
	assert_fails(dray_where(&view, &view, &view, found), -EOPNOTSUPP,
		     "do not convert to |b1");
	assert_works(dray_sort(&view, -1));
	assert_memory_equal(
		pairs, ((uint16_t[]){ 0, 0, 0, 0x3f80, 1, 0xbf80, 1, 0x4000 }),
		sizeof(pairs));
	dray_dtype_unref(record);
}

FACT(the_condition_of_a_choice_may_be_a_structure_of_one_field)
{
	static const uint16_t conditions[] = { 0, 3, 0 };
	struct dray_view condition, ones, zeros;
	int32_t numbers[] = { 1, 0 };
	struct dray_array *chosen;
	dray_dtype record;

	assert_works(dray_dtype_parse("[('x', '<u2')]", &record));
	assert_works(dray_view_init(&condition, (void *)(uintptr_t)conditions,
				    record, 1, DIMS(3), NULL));
	assert_works(dray_view_init(&ones, numbers, DRAY_INT32, 0, NULL, NULL));
	assert_works(
		dray_view_init(&zeros, numbers + 1, DRAY_INT32, 0, NULL, NULL));
	assert_works(dray_where(&condition, &ones, &zeros, &chosen));
	assert_memory_equal(chosen->data, ((int32_t[]){ 0, 1, 0 }), 12);
	dray_array_unref(chosen);
	dray_dtype_unref(record);
}

/* The fields of these are written one by one. */
FACT(values_of_structures_with_gaps_have_the_shapes_of_others)
{
	static const struct {
		int ndim;
		int64_t shape[2];
		bool masked;
		const char *said; /* NULL: they are written */
	} rows[] = {
		{ 2, { 1, 2 }, true, "0 or 1-dimensional input" },
		{ 1, { 3 }, true, "cannot assign 3 input values to the 2" },
		{ 1, { 2 }, true, NULL },
		{ 1, { 2 }, false, "value array of shape (2,)" },
		{ 2, { 1, 3 }, false, NULL },
	};
	uint8_t bytes[12] = { 0 }, truths[] = { 1, 0, 1 }, values[] = "\7\7\7";
	int64_t places[] = { 2, 1, 0 };
	struct dray_view view, mask, list, value;
	dray_dtype record;

	assert_works(dray_dtype_parse("{'names': ['x'], 'formats': ['u1'], "
				      "'offsets': [1], 'itemsize': 4}",
				      &record));
	assert_works(dray_view_init(&view, bytes, record, 1, DIMS(3), NULL));
	assert_works(
		dray_view_init(&mask, truths, DRAY_BOOL, 1, DIMS(3), NULL));
	assert_works(
		dray_view_init(&list, places, DRAY_INT64, 1, DIMS(3), NULL));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct dray_index index = { .kind = DRAY_INDEX_ARRAY,
						  .array = rows[i].masked
								   ? &mask
								   : &list };

		memset(bytes, 9, sizeof(bytes));
		assert_works(dray_view_init(&value, values, DRAY_UINT8,
					    rows[i].ndim, rows[i].shape, NULL));
		if (rows[i].said)
			assert_fails(dray_index_set(&view, &index, 1, &value),
				     -EINVAL, rows[i].said);
		else
			assert_works(dray_index_set(&view, &index, 1, &value));
		assert_int_equal(bytes[1], rows[i].said ? 9 : 7);
		assert_int_equal(bytes[2], 9);
	}
	dray_dtype_unref(record);
}
