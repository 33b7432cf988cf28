// SPDX-License-Identifier: Apache-2.0 OR MIT
/* sequence: chains and calls between them, outputs, errors, options, threads. */
#include <dray/array.h>

#include "sequences.h"

/* a * b + b * c - a * c */
static struct dray_sequence *record_formula(int ndim, const int64_t *shape)
{
	struct dray_sequence *sequence = begin();
	const dray_value a = input(sequence, DRAY_FLOAT64, ndim, shape);
	const dray_value b = input(sequence, DRAY_FLOAT64, ndim, shape);
	const dray_value c = input(sequence, DRAY_FLOAT64, ndim, shape);
	const dray_value ab = call(sequence, "multiply", VALUES(a, b));
	const dray_value bc = call(sequence, "multiply", VALUES(b, c));
	const dray_value ac = call(sequence, "multiply", VALUES(a, c));
	const dray_value sum = call(sequence, "add", VALUES(ab, bc));
	const dray_value all = call(sequence, "subtract", VALUES(sum, ac));

	assert_works(dray_sequence_output(sequence, all));
	assert_works(dray_sequence_end(sequence));
	return sequence;
}

#define COUNT 5000

static double numbers[4][COUNT + 1];

static void fill_numbers(void)
{
	int i, k;

	for (k = 0; k < 3; k++)
		for (i = 0; i <= COUNT; i++)
			numbers[k][i] = (i % 97 + 1) * (k + 0.3);
}

static struct dray_view number_view(int k)
{
	return view_of(numbers[k], DRAY_FLOAT64, 1, DIMS(COUNT), NULL);
}

static void check_formula(const double *made)
{
	int i;

	for (i = 0; i < COUNT; i++) {
		const double a = (i % 97 + 1) * 0.3, b = (i % 97 + 1) * 1.3,
			     c = (i % 97 + 1) * 2.3;
		const double ab = a * b, bc = b * c, ac = a * c, sum = ab + bc;

		if (made[i] != sum - ac)
			fail_msg("element %d is %.17g, not %.17g", i, made[i],
				 sum - ac);
	}
}

FACT(a_formula_is_one_chain_without_arrays)
{
	struct dray_sequence *sequence = record_formula(1, DIMS(COUNT));
	struct dray_view a = number_view(0), b = number_view(1),
			 c = number_view(2), to = number_view(3);
	struct dray_sequence_plan plan = { .size = sizeof(plan) };
	int i;

	assert_works(dray_sequence_get_plan(sequence, &plan));
	assert_int_equal(plan.chains, 1);
	assert_int_equal(plan.chained, 5);
	assert_int_equal(plan.single, 0);
	assert_int_equal(plan.arrays, 0);
	assert_true(plan.block >= 64 && plan.block < COUNT);
	fill_numbers();
	for (i = 0; i < 2; i++) {
		memset(numbers[3], 0, sizeof(numbers[3]));
		assert_works(dray_sequence_run(sequence, INPUTS(&a, &b, &c),
					       INPUTS(&to), NULL, NULL));
		check_formula(numbers[3]);
	}
	dray_sequence_destroy(sequence);
}

FACT(outputs_are_made_or_written_over_inputs)
{
	struct dray_sequence *sequence = record_formula(1, DIMS(COUNT));
	struct dray_array *made = NULL;
	struct dray_view to;
	int k;

	for (k = -1; k < 3; k++) {
		struct dray_view a = number_view(0), b = number_view(1),
				 c = number_view(2);
		const struct dray_view *in[] = { &a, &b, &c };

		fill_numbers();
		assert_works(dray_sequence_run(sequence, in,
					       k < 0 ? NULL : &in[k], NULL,
					       k < 0 ? &made : NULL));
		check_formula(k < 0 ? dray_array_view(made, &to)->data
				    : in[k]->data);
	}
	dray_array_unref(made);
	/* Shifted by an element: the input is copied aside. */
	fill_numbers();
	{
		struct dray_view a = number_view(0), b = number_view(1),
				 c = number_view(2);

		to = view_of(numbers[1] + 1, DRAY_FLOAT64, 1, DIMS(COUNT),
			     NULL);
		assert_works(dray_sequence_run(sequence, INPUTS(&a, &b, &c),
					       INPUTS(&to), NULL, NULL));
		check_formula(numbers[1] + 1);
	}
	dray_sequence_destroy(sequence);
}

FACT(calls_of_other_shapes_run_between_chains)
{
	struct dray_sequence *sequence = begin();
	const dray_value a = input(sequence, DRAY_FLOAT64, 1, DIMS(COUNT));
	const dray_value scale = input(sequence, DRAY_INT32, 0, NULL);
	const dray_value twice = call(sequence, "add", VALUES(a, a));
	const dray_value square =
		call(sequence, "multiply", VALUES(scale, scale));
	const dray_value all =
		call(sequence, "multiply", VALUES(twice, square));
	const dray_value unused = call(sequence, "exp", VALUES(twice));
	struct dray_sequence_plan plan = { .size = sizeof(plan) };
	int32_t three = 3;
	struct dray_view in = number_view(0), to = number_view(3);
	struct dray_view number = view_of(&three, DRAY_INT32, 0, NULL, NULL);
	int i;

	assert_true(unused);
	assert_works(dray_sequence_output(sequence, all));
	assert_works(dray_sequence_end(sequence));
	assert_works(dray_sequence_get_plan(sequence, &plan));
	assert_int_equal(plan.left_out, 1);
	assert_int_equal(plan.chained, 3);
	assert_int_equal(plan.chains, 3);
	assert_int_equal(plan.arrays, 2);
	fill_numbers();
	assert_works(dray_sequence_run(sequence, INPUTS(&in, &number),
				       INPUTS(&to), NULL, NULL));
	for (i = 0; i < COUNT; i++)
		assert_true(numbers[3][i] == numbers[0][i] * 2 * 9);
	dray_sequence_destroy(sequence);
}

FACT(options_of_calls_are_those_of_calls_one_by_one)
{
	static const dray_dtype signature[] = { DRAY_FLOAT64, 0, 0 };
	const struct {
		struct dray_sequence_options options;
		dray_dtype result;
		unsigned int single;
	} cases[] = {
		{ { 0 }, DRAY_FLOAT64, 0 },
		{ { .dtype = DRAY_FLOAT32 }, DRAY_FLOAT32, 0 },
		{ { .signature = signature }, DRAY_FLOAT64, 0 },
		{ { .weak = 2 }, DRAY_FLOAT32, 1 },
		{ { .flags = DRAY_UFUNC_FAST }, DRAY_FLOAT64, 0 },
	};
	struct dray_ufunc *power = dray_ufunc_find("power");
	float in[] = { 1, 2.5f, 3 };
	double two = 2.25;
	struct dray_view a = view_of(in, DRAY_FLOAT32, 1, DIMS(3), NULL),
			 b = view_of(&two, DRAY_FLOAT64, 0, NULL, NULL), to[2];
	size_t i;

	for (i = 0; i < SIZE(cases); i++) {
		const struct dray_sequence_options *options = &cases[i].options;
		const struct dray_ufunc_options single = {
			.dtype = options->dtype,
			.signature = options->signature,
			.weak = options->weak,
			.flags = options->flags,
		};
		struct dray_sequence *sequence = begin();
		const dray_value x = input(sequence, DRAY_FLOAT32, 1, DIMS(3));
		const dray_value y = input(sequence, DRAY_FLOAT64, 0, NULL);
		struct dray_array *made[2] = { NULL };
		struct dray_sequence_plan plan = { .size = sizeof(plan) };
		dray_value made_of;

		assert_works(dray_sequence_call(sequence, power, VALUES(x, y),
						options, &made_of));
		assert_works(dray_sequence_output(sequence, made_of));
		assert_works(dray_sequence_end(sequence));
		assert_works(dray_sequence_get_plan(sequence, &plan));
		assert_int_equal(plan.single, cases[i].single);
		assert_works(dray_sequence_run(sequence, INPUTS(&a, &b), NULL,
					       NULL, &made[0]));
		assert_works(dray_ufunc_call(power, INPUTS(&a, &b), NULL,
					     &single, &made[1]));
		dray_array_view(made[0], &to[0]);
		dray_array_view(made[1], &to[1]);
		assert_true(to[0].dtype == cases[i].result);
		assert_true(to[1].dtype == cases[i].result);
		assert_memory_equal(to[0].data, to[1].data,
				    3 * dray_dtype_itemsize(to[0].dtype));
		dray_array_unref(made[0]);
		dray_array_unref(made[1]);
		dray_sequence_destroy(sequence);
	}
}

static int fails_below_zero(char *const *data, const int64_t *strides,
			    int64_t count, void *context)
{
	int64_t i;

	for (i = 0; i < count; i++) {
		const double in = *(double *)(void *)(data[0] + i * strides[0]);

		if (in < 0)
			return -EDOM;
		*(double *)(void *)(data[1] + i * strides[1]) = in;
	}
	return 0;
}

FACT(a_loop_of_the_program_fails_its_run)
{
	struct dray_sequence *sequence = begin();
	const dray_value in = input(sequence, DRAY_FLOAT64, 1, DIMS(COUNT));
	struct dray_view a = number_view(0);
	struct dray_ufunc *picky = NULL;
	struct dray_array *made = NULL;
	dray_value out;

	assert_works(
		dray_ufunc_create("picky", 1, 1, DRAY_IDENTITY_NONE, &picky));
	set_loop(picky, (dray_dtype[]){ DRAY_FLOAT64, DRAY_FLOAT64 },
		 fails_below_zero, NULL, DRAY_LOOP_SINGLE_THREAD);
	assert_works(
		dray_sequence_call(sequence, picky, VALUES(in), NULL, &out));
	dray_ufunc_unref(picky);
	assert_works(dray_sequence_output(sequence, out));
	assert_works(dray_sequence_end(sequence));
	fill_numbers();
	assert_works(
		dray_sequence_run(sequence, INPUTS(&a), NULL, NULL, &made));
	dray_array_unref(made);
	numbers[0][COUNT - 1] = -9;
	assert_int_equal(dray_sequence_run(sequence, INPUTS(&a), NULL, NULL,
					   &made),
			 -EDOM);
	assert_null(made);
	dray_sequence_destroy(sequence);
}

static char said[4][64];
static unsigned int sayings;

static void listen_to(void *context, const char *sentence, unsigned int error,
		      unsigned int errors)
{
	if (sayings < SIZE(said))
		snprintf(said[sayings++], sizeof(said[0]), "%s", sentence);
}

/* log(a) and b / b: the late call has its error in an early block. */
static struct dray_sequence *record_errors(void)
{
	struct dray_sequence *sequence = begin();
	const dray_value a = input(sequence, DRAY_FLOAT64, 1, DIMS(COUNT));
	const dray_value b = input(sequence, DRAY_FLOAT64, 1, DIMS(COUNT));
	const dray_value log = call(sequence, "log", VALUES(a));
	const dray_value all = call(sequence, "divide", VALUES(b, b));

	assert_works(dray_sequence_output(sequence, log));
	assert_works(dray_sequence_output(sequence, all));
	assert_works(dray_sequence_end(sequence));
	return sequence;
}

FACT(errors_are_reported_once_for_each_call_in_their_order)
{
	struct dray_sequence *sequence;
	struct dray_fp_state fp = { .divide = DRAY_FP_CALL,
				    .invalid = DRAY_FP_CALL,
				    .buffer_size = 8192,
				    .call = listen_to };
	struct dray_view a = number_view(0), b = number_view(1);
	struct dray_array *made[2];

	if (!flags_are_kept())
		skip();
	sequence = record_errors();
	fill_numbers();
	numbers[1][0] = 0; /* in the first block */
	numbers[0][COUNT - 1] = -1; /* in the last one */
	assert_works(dray_set_fp_state(&fp));
	sayings = 0;
	assert_works(
		dray_sequence_run(sequence, INPUTS(&a, &b), NULL, NULL, made));
	dray_array_unref(made[0]);
	dray_array_unref(made[1]);
	assert_int_equal(sayings, 2);
	assert_string_equal(said[0], "invalid value encountered in log");
	assert_string_equal(said[1], "invalid value encountered in divide");
	fp.invalid = DRAY_FP_RAISE;
	assert_works(dray_set_fp_state(&fp));
	assert_fails(dray_sequence_run(sequence, INPUTS(&a, &b), NULL, NULL,
				       made),
		     -EDOM, "invalid value encountered in log");
	assert_null(made[0]);
	/* Nothing is left for a run without errors. */
	fill_numbers();
	assert_works(
		dray_sequence_run(sequence, INPUTS(&a, &b), NULL, NULL, made));
	dray_array_unref(made[0]);
	dray_array_unref(made[1]);
	assert_works(dray_set_fp_state(NULL));
	dray_sequence_destroy(sequence);
}

static void *run_many(void *context)
{
	struct dray_sequence *sequence = context;
	struct dray_view a = number_view(0), b = number_view(1),
			 c = number_view(2), to;
	struct dray_array *made = NULL;
	int i;

	for (i = 0; i < 50; i++) {
		assert_works(dray_sequence_run(sequence, INPUTS(&a, &b, &c),
					       NULL, NULL, &made));
		check_formula(dray_array_view(made, &to)->data);
		dray_array_unref(made);
	}
	return NULL;
}

FACT(threads_run_one_sequence_at_once)
{
	struct dray_sequence *sequence = record_formula(1, DIMS(COUNT));
	pthread_t others[3];
	size_t i;

	fill_numbers();
	for (i = 0; i < SIZE(others); i++)
		assert_int_equal(pthread_create(&others[i], NULL, run_many,
						sequence),
				 0);
	for (i = 0; i < SIZE(others); i++)
		pthread_join(others[i], NULL);
	dray_sequence_destroy(sequence);
}
