// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * reduce: reductions, running results and segments of random views, against a
 * model that takes each element from a copy of the memory, in C order.  Inputs,
 * outputs and masks lie in one piece of memory and overlap.  (Source:
 * numpy#8036.)
 */
#include <dray/array.h>

#include "random_view.h"
#include "ufunc.h"

#define BYTES 2048
#define CASES 12000
#define MOST_AXES 4

static _Alignas(16) unsigned char memory[BYTES], before[BYTES];

static const dray_dtype types[] = {
	DRAY_FLOAT64,
	DRAY_INT32,
	DRAY_FLOAT32,
	DRAY_UINT8,
	DRAY_INT16,
	DRAY_DTYPE('f', '<' ^ '>' ^ DRAY_NATIVE_ORDER, 8),
	DRAY_DTYPE('i', '<' ^ '>' ^ DRAY_NATIVE_ORDER, 4),
};

static dray_dtype roll_type(struct dice *dice)
{
	return types[roll(dice, 2)
			     ? 0
			     : roll(dice, sizeof(types) / sizeof(types[0]))];
}

/* Their results are exact: all numbers here are small integers. */
static double sum(double a, double b)
{
	return a + b;
}

static double difference(double a, double b)
{
	return a - b;
}

static double greatest(double a, double b)
{
	return a > b ? a : b;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

static double mixed(double a, double b)
{
	return 2 * a + b;
}

static const struct function {
	const char *name;
	double (*compute)(double a, double b);
	bool has_identity; /* 0 */
	bool ordered; /* one axis at a time */
} functions[] = {
	{ "add", sum, true, false },
	{ "subtract", difference, false, true },
	{ "maximum", greatest, false, false },
	{ "minimum", least, false, false },
	{ "mix", mixed, false, true },
};

#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

static struct dray_ufunc *ufuncs[FUNCTIONS];
static struct dray_ufunc *mix;

static int set_up(void **state)
{
	size_t i;

	mix = make_mix();
	for (i = 0; i < FUNCTIONS; i++)
		ufuncs[i] = strcmp(functions[i].name, "mix")
				    ? dray_ufunc_find(functions[i].name)
				    : mix;
	return 0;
}

static int tear_down(void **state)
{
	dray_ufunc_unref(mix);
	return 0;
}

FACTS_SHARE(set_up, tear_down)

/* Reads an element as it was before the call. */
static double value_at(const struct dray_view *view, const int64_t *at)
{
	const unsigned char *data = before + (walk_at(view, at) - memory);
	struct dray_cast cast;
	double value;

	assert_works(dray_cast_find(DRAY_FLOAT64, view->dtype, &cast));
	assert_works(dray_cast_run(&cast, &value, 0, data, 0, 1));
	return value;
}

/* One case: the input, its axes that are reduced, and the model's results. */
struct test {
	struct dice dice;
	const struct function *function;
	struct dray_ufunc *ufunc;
	struct dray_view in, out, mask;
	bool masked, keeps, given, starts;
	double initial;
	int axes[MOST_AXES], axes_count;
	struct dray_view model; /* of doubles, in C order */
	double numbers[4096];
	bool is_set[4096];
};

static bool place(struct test *test, struct dray_view *view, dray_dtype dtype,
		  int ndim, const int64_t *shape)
{
	const uint32_t size = dray_dtype_itemsize(dtype);

	do {
		if (!random_view(&test->dice, view, memory, BYTES, ndim, shape,
				 size))
			return false;
	} while (dray_view_alignment(view) % size && roll(&test->dice, 8));
	view->dtype = dtype;
	view->flags |= DRAY_READ | DRAY_WRITE;
	return true;
}

/* Fills the memory with elements of the input, and bools of the mask. */
static void fill(struct test *test)
{
	int64_t at[MOST_AXES] = { 0 };
	size_t i;

	for (i = 0; i < BYTES; i++)
		memory[i] = (unsigned char)roll(&test->dice, 2);
	do {
		const int64_t value = (int64_t)roll(&test->dice, 9);
		struct dray_cast cast;

		assert_works(dray_cast_find(test->in.dtype, DRAY_INT64, &cast));
		assert_works(dray_cast_run(&cast, walk_at(&test->in, at), 0,
					   &value, 0, 1));
	} while (walk_on(&test->in, at));
	memset(at, 0, sizeof(at));
	while (test->masked) {
		*walk_at(&test->mask, at) = (unsigned char)roll(&test->dice, 2);
		if (!walk_on(&test->mask, at))
			break;
	}
	memcpy(before, memory, BYTES);
}

static bool is_reduced(const struct test *test, int axis)
{
	int i;

	for (i = 0; i < test->axes_count; i++)
		if (test->axes[i] == axis ||
		    test->axes[i] + test->in.ndim == axis)
			return true;
	return false;
}

static void make_model(struct test *test)
{
	int64_t shape[MOST_AXES];
	int i, ndim = 0;

	for (i = 0; i < test->in.ndim; i++) {
		if (!is_reduced(test, i))
			shape[ndim++] = test->in.shape[i];
		else if (test->keeps)
			shape[ndim++] = 1;
	}
	test->model = view_of(test->numbers, DRAY_FLOAT64, ndim, shape, NULL);
	memset(test->is_set, 0, sizeof(test->is_set));
	for (i = 0; i < 4096; i++)
		test->numbers[i] = test->initial;
}

/* Adds elements to the model. */
static void add_all(struct test *test)
{
	int64_t at[MOST_AXES] = { 0 };

	do {
		int64_t to[MOST_AXES];
		int i, axes = 0;
		double *number, value;
		bool *is_set;

		for (i = 0; i < test->in.ndim; i++) {
			if (!is_reduced(test, i))
				to[axes++] = at[i];
			else if (test->keeps)
				to[axes++] = 0;
		}
		if (test->masked && value_at(&test->mask, at) == 0)
			continue;
		number = (double *)(void *)walk_at(&test->model, to);
		is_set = &test->is_set[number - test->numbers];
		value = value_at(&test->in, at);
		*number = test->starts && !*is_set
				  ? value
				  : test->function->compute(*number, value);
		*is_set = true;
	} while (walk_on(&test->in, at));
}

/* Compares elements with the model's. */
static void compare(const struct test *test, const struct dray_view *made,
		    int number, const char *method)
{
	int64_t at[MOST_AXES] = { 0 };

	int i;

	assert_int_equal(made->ndim, test->model.ndim);
	for (i = 0; i < made->ndim; i++)
		assert_int_equal(made->shape[i], test->model.shape[i]);
	if (!dray_view_size(made))
		return;
	do {
		struct dray_cast cast;
		double wanted;
		char expected[16];

		wanted = *(double *)(void *)walk_at(&test->model, at);
		assert_works(dray_cast_find(made->dtype, DRAY_FLOAT64, &cast));
		assert_works(dray_cast_run(&cast, expected, 0, &wanted, 0, 1));
		if (memcmp(expected, walk_at(made, at),
			   dray_dtype_itemsize(made->dtype)))
			fail_msg(
				"case %d, %s.%s of %d axes, %d reduced: not %g",
				number, test->function->name, method,
				test->in.ndim, test->axes_count, wanted);
	} while (walk_on(made, at));
}

/* Rolls an input; false: it does not fit the memory. */
static bool roll_input(struct test *test, int number)
{
	const size_t which = roll(&test->dice, FUNCTIONS);
	int64_t shape[MOST_AXES];
	int i, ndim = (int)roll(&test->dice, MOST_AXES + 1);

	test->function = &functions[which];
	test->ufunc = ufuncs[which];
	for (i = 0; i < ndim; i++)
		shape[i] = 1 + (int64_t)roll(&test->dice, ndim == 1 ? 60 : 6);
	test->masked = false;
	test->initial = 0;
	return place(test, &test->in, roll_type(&test->dice), ndim, shape);
}

static bool roll_axes(struct test *test)
{
	const int ndim = test->in.ndim;
	int i, at, axis;

	test->axes_count = (int)roll(&test->dice, (uint64_t)ndim + 1);
	if (test->function->ordered && test->axes_count > 1)
		test->axes_count = 1;
	for (i = 0; i < ndim; i++)
		test->axes[i] = i;
	for (i = ndim - 1; i > 0; i--) {
		at = (int)roll(&test->dice, (uint64_t)i + 1);
		axis = test->axes[i];
		test->axes[i] = test->axes[at];
		test->axes[at] = axis;
	}
	for (i = 0; i < ndim; i++)
		test->axes[i] -= roll(&test->dice, 2) ? ndim : 0;
	return true;
}

/* Gives an output in the memory, of any type, or none. */
static bool roll_output(struct test *test)
{
	bool unique = false;

	test->given = roll(&test->dice, 2);
	if (!test->given)
		return true;
	return place(test, &test->out, roll_type(&test->dice), test->model.ndim,
		     test->model.shape) &&
	       !dray_view_is_unique(&test->out, DRAY_SHARE_EXACT, &unique) &&
	       unique;
}

static bool try_reduce(struct test *test, int number)
{
	struct dray_reduce_options options = { .dtype = DRAY_FLOAT64 };
	struct dray_array *array = NULL;
	struct dray_view initial, made;

	if (!roll_input(test, number) || !roll_axes(test))
		return false;
	test->keeps = roll(&test->dice, 2);
	test->starts = !test->function->has_identity;
	if (!roll(&test->dice, 3)) {
		test->initial = (double)roll(&test->dice, 9);
		test->starts = false;
		initial = view_of(&test->initial, DRAY_FLOAT64, 0, NULL, NULL);
		options.initial = &initial;
	}
	if (!test->starts && !roll(&test->dice, 2)) {
		test->masked = true;
		if (!place(test, &test->mask, DRAY_BOOL, test->in.ndim,
			   test->in.shape))
			return false;
		options.where = &test->mask;
	}
	make_model(test);
	if (!roll_output(test))
		return false;
	fill(test);
	add_all(test);
	options.axes = test->axes;
	options.axes_count = test->axes_count;
	options.flags = test->keeps ? DRAY_REDUCE_KEEPDIMS : 0;
	assert_works(dray_ufunc_reduce(test->ufunc, &test->in,
				       test->given ? &test->out : NULL,
				       &options, &array));
	compare(test, test->given ? &test->out : dray_array_view(array, &made),
		number, "reduce");
	assert_true(test->given == !array);
	dray_array_unref(array);
	return true;
}

/* Running results: the model is a reduction of each part of the axis. */
static bool try_accumulate(struct test *test, int number)
{
	struct dray_array *array = NULL;
	struct dray_view made;
	int64_t at[MOST_AXES] = { 0 };
	int axis;

	if (!roll_input(test, number) || !test->in.ndim)
		return false;
	axis = (int)roll(&test->dice, (uint64_t)test->in.ndim);
	test->axes_count = 0;
	test->keeps = false;
	make_model(test);
	if (!roll_output(test))
		return false;
	if (!roll(&test->dice, 4)) {
		test->given = true;
		test->out = test->in;
	}
	fill(test);
	do {
		const double *last = NULL;
		double *to;

		if (at[axis]) {
			at[axis]--;
			last = (double *)(void *)walk_at(&test->model, at);
			at[axis]++;
		}
		to = (double *)(void *)walk_at(&test->model, at);
		*to = value_at(&test->in, at);
		if (last)
			*to = test->function->compute(*last, *to);
	} while (walk_on(&test->in, at));
	assert_works(dray_ufunc_accumulate(
		test->ufunc, &test->in, axis - test->in.ndim, DRAY_FLOAT64,
		test->given ? &test->out : NULL, &array));
	compare(test, test->given ? &test->out : dray_array_view(array, &made),
		number, "accumulate");
	dray_array_unref(array);
	return true;
}

/* Computes one element of segments: from @at on, along the axis. */
static double reduce_segment(const struct test *test, int64_t *at, int axis,
			     int64_t start, int64_t end)
{
	double value;

	at[axis] = start;
	value = value_at(&test->in, at);
	for (at[axis]++; at[axis] < end; at[axis]++)
		value = test->function->compute(value, value_at(&test->in, at));
	return value;
}

static bool try_reduceat(struct test *test, int number)
{
	int64_t indices[8], at[MOST_AXES] = { 0 }, from[MOST_AXES], k;
	const int64_t count = 1 + (int64_t)roll(&test->dice, 8);
	struct dray_array *array = NULL;
	struct dray_view made, view;
	int64_t extent;
	int axis;

	if (!roll_input(test, number) || !test->in.ndim)
		return false;
	axis = (int)roll(&test->dice, (uint64_t)test->in.ndim);
	extent = test->in.shape[axis];
	for (k = 0; k < count; k++)
		indices[k] = (int64_t)roll(&test->dice, (uint64_t)extent);
	view = view_of(indices, DRAY_INT64, 1, &count, NULL);
	test->axes_count = 0;
	test->keeps = false;
	test->in.shape[axis] = count;
	make_model(test);
	test->in.shape[axis] = extent;
	if (!roll_output(test))
		return false;
	fill(test);
	do {
		memcpy(from, at, sizeof(from));
		k = at[axis];
		*(double *)(void *)walk_at(&test->model, at) =
			reduce_segment(test, from, axis, indices[k],
				       k + 1 < count ? indices[k + 1] : extent);
	} while (walk_on(&test->model, at));
	assert_works(dray_ufunc_reduceat(
		test->ufunc, &test->in, &view, axis, DRAY_FLOAT64,
		test->given ? &test->out : NULL, &array));
	compare(test, test->given ? &test->out : dray_array_view(array, &made),
		number, "reduceat");
	dray_array_unref(array);
	return true;
}

static void try_all(bool (*try)(struct test *test, int number))
{
	struct dray_fp_state fp = { .size = sizeof(fp) };
	struct test *test = calloc(1, sizeof(*test));
	int i, done = 0;

	assert_non_null(test);
	test->dice = (struct dice){ 11 };
	dray_get_fp_state(&fp);
	fp.buffer_size = 16;
	assert_works(dray_set_fp_state(&fp));
	for (i = 0; i < CASES; i++) {
		if (i == CASES / 2)
			assert_works(dray_set_fp_state(NULL));
		done += try(test, i);
	}
	assert_true(done > CASES / 4);
	free(test);
}

FACT(any_reduction_gives_the_result_of_inputs_that_were_copied_aside)
{
	try_all(try_reduce);
}

FACT(any_running_result_gives_that_of_inputs_that_were_copied_aside)
{
	try_all(try_accumulate);
}

FACT(any_segments_give_the_result_of_inputs_that_were_copied_aside)
{
	try_all(try_reduceat);
}
