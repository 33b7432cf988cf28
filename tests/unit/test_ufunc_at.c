// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ufunc_at: results in place by index, against a model that takes the indices one after
 * the other.
 */
#include <math.h>

#include <dray/array.h>

#include "ufunc.h"

#define ROWS 7
#define COLUMNS 5
#define INDICES 40
#define CASES 3000

static const dray_dtype types[] = {
	DRAY_FLOAT64,
	DRAY_INT32,
	DRAY_UINT8,
	DRAY_FLOAT32,
	DRAY_DTYPE('f', '<' ^ '>' ^ DRAY_NATIVE_ORDER, 8),
};

#define TYPES (sizeof(types) / sizeof(types[0]))

static double get(const struct dray_view *view, int64_t at)
{
	struct dray_cast cast;
	double value;

	assert_works(dray_cast_find(DRAY_FLOAT64, view->dtype, &cast));
	assert_works(dray_cast_run(
		&cast, &value, 0,
		(char *)view->data + at * dray_dtype_itemsize(view->dtype), 0,
		1));
	return value;
}

static void put(const struct dray_view *view, int64_t at, double value)
{
	struct dray_cast cast;

	assert_works(dray_cast_find(view->dtype, DRAY_FLOAT64, &cast));
	assert_works(dray_cast_run(
		&cast,
		(char *)view->data + at * dray_dtype_itemsize(view->dtype), 0,
		&value, 0, 1));
}

static double compute(int function, double a, double b)
{
	return function == 0   ? a + b
	       : function == 1 ? a - b
	       : function == 2 ? (a > b ? a : b)
			       : 2 * a + b;
}

FACT(an_index_that_stands_several_times_counts_as_often)
{
	static const char *const names[] = { "add", "subtract", "maximum" };
	struct dray_ufunc *mix = make_mix();
	static double room[ROWS * COLUMNS], more[INDICES * COLUMNS];
	struct dice dice = { 5 };
	int64_t indices[INDICES];
	double model[ROWS * COLUMNS];
	int n, i, k;

	for (n = 0; n < CASES; n++) {
		const int function = (int)roll(&dice, 4);
		const int64_t count = (int64_t)roll(&dice, INDICES);
		const int64_t width = roll(&dice, 2) ? 1 : COLUMNS;
		const bool wide = roll(&dice, 2);
		const int64_t shape[] = { ROWS, COLUMNS };
		const int64_t values_shape[] = { count, COLUMNS };
		struct dray_view target =
			view_of(room, types[roll(&dice, TYPES)],
				width > 1 ? 2 : 1, shape, NULL);
		struct dray_view values =
			view_of(more, types[roll(&dice, TYPES)],
				wide ? target.ndim : 0, values_shape, NULL);
		struct dray_view view =
			view_of(indices, DRAY_INT64, 1, &count, NULL);

		/* Small and growing, so that no type overflows. */
		for (i = 0; i < ROWS * width; i++) {
			model[i] = (double)(60 + roll(&dice, 3));
			put(&target, i, model[i]);
		}
		for (i = 0; i < (wide ? count * width : 1); i++)
			put(&values, i,
			    function == 3 ? 0 : (double)roll(&dice, 2));
		for (i = 0; i < count; i++) {
			indices[i] = (int64_t)roll(&dice, 2 * ROWS) - ROWS;
			if (function == 3)
				indices[i] = i < ROWS ? -1 - i : 0;
		}
		if (function == 3)
			view.shape[0] = values.shape[0] =
				count < ROWS ? count : ROWS;
		if (function == 3 && !wide)
			values.ndim = 0;
		for (i = 0; i < view.shape[0]; i++) {
			const int64_t row =
				indices[i] + (indices[i] < 0 ? ROWS : 0);

			for (k = 0; k < width; k++)
				model[row * width + k] = compute(
					function, model[row * width + k],
					get(&values, wide ? i * width + k : 0));
		}
		assert_works(dray_ufunc_at(
			function == 3 ? mix : dray_ufunc_find(names[function]),
			&target, &view, &values));
		for (i = 0; i < ROWS * width; i++)
			if (get(&target, i) != model[i])
				fail_msg("case %d: element %d is %g, not %g", n,
					 i, get(&target, i), model[i]);
	}
	dray_ufunc_unref(mix);
}

FACT(bools_and_steps_of_all_kinds_name_elements)
{
	double room[6] = { 0, 1, 2, 3, 4, 5 }, ten = 10;
	bool truth[6] = { true, false, true, false, false, true };
	int64_t rows[] = { 1, 1, 0 };
	const struct dray_view target =
		view_of(room, DRAY_FLOAT64, 2, DIMS(2, 3), NULL);
	const struct dray_view mask =
		view_of(truth, DRAY_BOOL, 2, DIMS(2, 3), NULL);
	const struct dray_view value =
		view_of(&ten, DRAY_FLOAT64, 0, NULL, NULL);
	const struct dray_view view =
		view_of(rows, DRAY_INT64, 1, DIMS(3), NULL);
	const double masked[] = { 10, 1, 12, 3, 4, 15 };
	const double stepped[] = { 20, 1, 12, 23, 4, 15 };
	struct dray_ufunc *add = dray_ufunc_find("add");

	assert_works(dray_ufunc_at(add, &target, &mask, &value));
	assert_memory_equal(room, masked, sizeof(room));
	assert_works(dray_ufunc_at_index(
		add, &target,
		(const struct dray_index[]){ DRAY_BY(&view), DRAY_AT(0) }, 2,
		&value));
	assert_memory_equal(room, stepped, sizeof(room));
}

FACT(a_function_of_one_input_is_applied_as_often_as_it_is_named)
{
	double room[] = { 1, 2, 3 };
	int64_t numbers[] = { 0, 2, 0, 1 };
	const struct dray_view target =
		view_of(room, DRAY_FLOAT64, 1, DIMS(3), NULL);
	const struct dray_view view =
		view_of(numbers, DRAY_INT64, 1, DIMS(4), NULL);
	const double wanted[] = { 1, -2, -3 };

	assert_works(dray_ufunc_at(dray_ufunc_find("negative"), &target, &view,
				   NULL));
	assert_memory_equal(room, wanted, sizeof(room));
}

FACT(values_and_indices_in_the_target_are_read_before_it_is_written)
{
	int64_t room[] = { 1, 2, 3, 0 };
	const struct dray_view target =
		view_of(room, DRAY_INT64, 1, DIMS(4), NULL);
	const int64_t wanted[] = { 1, 3, 5, 3 };

	/* room[1] += 1, room[2] += 2, room[3] += 3, room[0] += 0 */
	assert_works(dray_ufunc_at(dray_ufunc_find("add"), &target, &target,
				   &target));
	assert_memory_equal(room, wanted, sizeof(room));
}

FACT_ON(flags_are_kept, errors_of_numbers_are_named_by_the_function, NULL, NULL)
{
	double room[] = { 1, 0, 3 };
	int64_t numbers[] = { 1 };
	struct dray_fp_state wanted = { .size = sizeof(wanted) };
	struct dray_view target = view_of(room, DRAY_FLOAT64, 1, DIMS(3), NULL);
	struct dray_view view = view_of(numbers, DRAY_INT64, 1, DIMS(1), NULL);

	dray_get_fp_state(&wanted);
	wanted.divide = DRAY_FP_RAISE;
	assert_works(dray_set_fp_state(&wanted));
	assert_fails(dray_ufunc_at(dray_ufunc_find("log"), &target, &view,
				   NULL),
		     -EDOM, "divide by zero encountered in at");
	assert_works(dray_set_fp_state(NULL));
}

/* Loops that note no errors: an element converts to their type, and back. */
FACT_ON(flags_are_kept, conversions_note_errors_also_for_quiet_loops, NULL,
	NULL)
{
	static const struct {
		const char *name;
		dray_dtype dtype;
		double value;
		const char *error; /* or NULL */
	} rows[] = {
		{ "heaviside", DRAY_INT8, 1e300, "invalid value" },
		{ "maximum", DRAY_INT16, 1e300, "invalid value" },
		{ "fmin", DRAY_FLOAT32, -1e300, "overflow" },
		{ "maximum", DRAY_FLOAT32, NAN, NULL },
		{ "heaviside", DRAY_FLOAT32, NAN, NULL },
		{ "maximum", DRAY_INT16, 7, NULL },
	};
	const struct dray_fp_state all = {
		.divide = DRAY_FP_RAISE,
		.over = DRAY_FP_RAISE,
		.under = DRAY_FP_RAISE,
		.invalid = DRAY_FP_RAISE,
		.buffer_size = 8192,
	};
	int64_t numbers[] = { 1, 0 };
	struct dray_view view = view_of(numbers, DRAY_INT64, 1, DIMS(2), NULL);
	size_t i;

	assert_works(dray_set_fp_state(&all));
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct dray_ufunc *ufunc = dray_ufunc_find(rows[i].name);
		double room[2] = { 0 }, value = rows[i].value;
		struct dray_view target =
			view_of(room, rows[i].dtype, 1, DIMS(2), NULL);
		struct dray_view values =
			view_of(&value, DRAY_FLOAT64, 0, NULL, NULL);

		if (rows[i].error)
			assert_fails(dray_ufunc_at(ufunc, &target, &view,
						   &values),
				     -EDOM, rows[i].error);
		else
			assert_works(
				dray_ufunc_at(ufunc, &target, &view, &values));
	}
	assert_works(dray_set_fp_state(NULL));
}

FACT(what_does_not_fit_is_an_error_and_changes_nothing)
{
	double room[] = { 1, 2, 3 }, before[3];
	int64_t numbers[] = { 0, 3 };
	struct dray_view target = view_of(room, DRAY_FLOAT64, 1, DIMS(3), NULL);
	struct dray_view view = view_of(numbers, DRAY_INT64, 1, DIMS(2), NULL);
	struct dray_ufunc *add = dray_ufunc_find("add");
	struct dray_ufunc *negative = dray_ufunc_find("negative");

	memcpy(before, room, sizeof(room));
	assert_fails(dray_ufunc_at(add, &target, &view, &target), -ERANGE,
		     "index 3 is not one of 3 elements");
	numbers[1] = -4;
	assert_fails(dray_ufunc_at(add, &target, &view, &target), -ERANGE,
		     "index -4");
	numbers[1] = 1;
	assert_fails(dray_ufunc_at(add, &target, &view, &target), -EINVAL,
		     "broadcast");
	assert_fails(dray_ufunc_at(add, &target, &view, NULL), -EINVAL,
		     "two inputs");
	assert_fails(dray_ufunc_at(negative, &target, &view, &target), -EINVAL,
		     "one input");
	assert_fails(dray_ufunc_at(add, &target, &target, &target), -ERANGE,
		     "");
	target.flags &= ~(uint32_t)DRAY_WRITE;
	assert_fails(dray_ufunc_at(negative, &target, &view, NULL), -EPERM,
		     "read-only");
	target = view_of(room, DRAY_FLOAT64, 0, NULL, NULL);
	assert_fails(dray_ufunc_at(negative, &target, &view, NULL), -ERANGE,
		     "without axes");
	assert_memory_equal(room, before, sizeof(room));
}

FACT(all_pairs_have_the_axes_of_both)
{
	double a[] = { 1, 2, 3 }, b[] = { 10, 20 };
	const struct dray_view first =
		view_of(a, DRAY_FLOAT64, 1, DIMS(3), NULL);
	const struct dray_view second =
		view_of(b, DRAY_FLOAT64, 1, DIMS(2), NULL);
	const double wanted[] = { 11, 21, 12, 22, 13, 23 };
	struct dray_array *array = NULL;

	assert_works(dray_ufunc_outer(dray_ufunc_find("add"), &first, &second,
				      NULL, NULL, &array));
	assert_int_equal(array->ndim, 2);
	assert_memory_equal(array->data, wanted, sizeof(wanted));
	dray_array_unref(array);
	assert_fails(dray_ufunc_outer(dray_ufunc_find("negative"), &first,
				      &second, NULL, NULL, &array),
		     -EINVAL, "only of 2");
}
