// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * sequence: recorded calls against the same calls one by one, mistakes of
 * recordings and runs, and plans.
 */
#include <math.h>

#include "random_view.h"
#include "ufunc.h"

static dray_value input(struct dray_sequence *sequence, dray_dtype dtype,
			int ndim, const int64_t *shape)
{
	dray_value value = 0;

	assert_works(dray_sequence_input(sequence, dtype, ndim, shape, &value));
	return value;
}

#define VALUES(...) ((const dray_value[]){ __VA_ARGS__ })

static dray_value call(struct dray_sequence *sequence, const char *name,
		       const dray_value *inputs)
{
	dray_value results[2] = { 0 };

	assert_works(dray_sequence_call(sequence, dray_ufunc_find(name), inputs,
					NULL, results));
	return results[0];
}

static struct dray_sequence *begin(void)
{
	struct dray_sequence *sequence = NULL;

	assert_works(dray_sequence_create(&sequence));
	return sequence;
}

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
	struct dray_sequence_plan plan;
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

/*
 * Random chains: all views lie in one piece of memory, and a model of it is made
 * by the calls one by one.
 */
#define BYTES (1 << 19)
#define CHAINS 600
#define MOST_VALUES 64
#define MOST_OPERANDS 6

static _Alignas(64) char memory[BYTES], model[BYTES];

struct trial {
	struct dice *dice;
	struct dray_sequence *sequence;
	size_t used; /* bytes of the memory */
	int ndim;
	int64_t shape[3];
	int values;
	dray_value handles[MOST_VALUES];
	struct dray_array *arrays[MOST_VALUES]; /* expected */
	int inputs;
	struct dray_view in[MOST_OPERANDS];
	bool replaced[MOST_OPERANDS]; /* by an output */
	int outputs;
	struct dray_view out[MOST_OPERANDS];
	bool given[MOST_OPERANDS];
	int of[MOST_OPERANDS]; /* value */
};

static const dray_dtype trial_types[] = {
	DRAY_FLOAT64,
	DRAY_FLOAT64,
	DRAY_FLOAT64,
	DRAY_FLOAT32,
	DRAY_INT32,
	DRAY_INT64,
	DRAY_INT16,
	DRAY_UINT8,
	DRAY_BOOL,
	DRAY_COMPLEX128,
	DRAY_DTYPE('f', '<' ^ '>' ^ DRAY_NATIVE_ORDER, 8),
};

static const char *const trial_names[] = {
	"add",	  "multiply", "subtract",    "add",  "multiply", "maximum",
	"divide", "negative", "less",	     "sqrt", "absolute", "divmod",
	"exp",	  "square",   "logical_and", "modf",
};

#define SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* Places a view in memory of its own, with any order of axes and gaps. */
static struct dray_view place(struct trial *trial, dray_dtype dtype, int ndim,
			      const int64_t *shape)
{
	const int64_t size = dray_dtype_itemsize(dtype);
	const bool packed = roll(trial->dice, 2);
	int64_t strides[3], reach = size, back = 0;
	size_t at = (trial->used + 63) / 64 * 64;
	int order[3] = { 2, 1, 0 };
	int i, axis;

	for (i = 0; i < ndim; i++)
		order[i] = ndim - 1 - i;
	if (ndim > 1 && !roll(trial->dice, 3)) {
		axis = order[0];
		order[0] = order[1];
		order[1] = axis;
	}
	for (i = 0; i < ndim; i++) {
		axis = order[i];
		strides[axis] = reach;
		if (!packed && !roll(trial->dice, 3))
			strides[axis] += size * (int64_t)roll(trial->dice, 3);
		reach = strides[axis] * shape[axis];
		if (!packed && !roll(trial->dice, 4)) {
			back += strides[axis] * (shape[axis] - 1);
			strides[axis] = -strides[axis];
		}
	}
	if (!roll(trial->dice, 10))
		at++; /* at no address of the type */
	trial->used = at + (size_t)reach + 64;
	assert_true(trial->used < BYTES);
	return view_of(memory + at + back, dtype, ndim, shape, strides);
}

/* Fills elements with small numbers, some of them special. */
static void fill(struct trial *trial, const struct dray_view *view)
{
	struct dray_array *numbers_made = NULL;
	struct dray_view whole;
	int64_t i, count = dray_view_size(view);

	assert_works(dray_array_empty(DRAY_FLOAT64, view->ndim, view->shape,
				      &numbers_made));
	dray_array_view(numbers_made, &whole);
	for (i = 0; i < count; i++)
		((double *)whole.data)[i] = (double)roll(trial->dice, 100);
	if (dray_dtype_kind(view->dtype) == 'f')
		for (i = 0; i < count; i += 1 + (int64_t)roll(trial->dice, 50))
			((double *)whole.data)[i] =
				(const double[]){ INFINITY, -0.0, -3.5,
						  1e300 }[roll(trial->dice, 4)];
	assert_works(dray_view_convert(view, &whole, DRAY_CASTING_UNSAFE));
	dray_array_unref(numbers_made);
}

static void add_input(struct trial *trial)
{
	const dray_dtype dtype =
		trial_types[roll(trial->dice, SIZE(trial_types))];
	const int i = trial->inputs++, v = trial->values++;
	int64_t shape[3];
	int ndim = trial->ndim, k;

	memcpy(shape, trial->shape, sizeof(shape));
	if (!roll(trial->dice, 3)) { /* stretched */
		ndim = (int)roll(trial->dice, (uint64_t)ndim + 1);
		memcpy(shape, trial->shape + trial->ndim - ndim,
		       (size_t)ndim * sizeof(shape[0]));
		for (k = 0; k < ndim; k++)
			if (!roll(trial->dice, 3))
				shape[k] = 1;
	}
	trial->in[i] = place(trial, dtype, ndim, shape);
	fill(trial, &trial->in[i]);
	trial->handles[v] = input(trial->sequence, dtype, ndim, shape);
	assert_works(dray_array_copy(&trial->in[i], DRAY_ORDER_C,
				     &trial->arrays[v]));
}

static void add_constant(struct trial *trial)
{
	const double value = 0.5 + (double)roll(trial->dice, 9);
	const int v = trial->values++;

	assert_works(dray_sequence_constant(trial->sequence, DRAY_FLOAT64,
					    &value, &trial->handles[v]));
	assert_works(dray_scalar_create(DRAY_FLOAT64, DRAY_FLOAT64, &value,
					&trial->arrays[v]));
}

static void add_conversion(struct trial *trial)
{
	const int from = (int)roll(trial->dice, (uint64_t)trial->values);
	const dray_dtype dtype =
		trial_types[roll(trial->dice, SIZE(trial_types))];
	const int v = trial->values;
	struct dray_view view, to;

	if (dray_sequence_convert(trial->sequence, trial->handles[from], dtype,
				  DRAY_CASTING_SAME_KIND, &trial->handles[v]))
		return;
	trial->values++;
	dray_array_view(trial->arrays[from], &view);
	assert_works(dray_array_empty(dtype, view.ndim, view.shape,
				      &trial->arrays[v]));
	dray_array_view(trial->arrays[v], &to);
	assert_works(dray_view_convert(&to, &view, DRAY_CASTING_SAME_KIND));
}

/* A bool among the values, or -1. */
static int find_mask(const struct trial *trial)
{
	struct dray_view view;
	int v;

	for (v = trial->values - 1; v >= 0; v--)
		if (dray_array_view(trial->arrays[v], &view)->dtype ==
		    DRAY_BOOL)
			return v;
	return -1;
}

static void add_masked(struct trial *trial)
{
	const int mask = find_mask(trial), v = trial->values;
	const int a = (int)roll(trial->dice, (uint64_t)v);
	struct dray_ufunc *add = dray_ufunc_find("add");
	struct dray_sequence_options options = { 0 };
	struct dray_ufunc_options single = { 0 };
	struct dray_view view, where, to;
	dray_dtype dtype;
	int64_t shape[DRAY_MAX_NDIM];
	int ndim;

	if (mask < 0)
		return;
	options.where = trial->handles[mask];
	options.otherwise = trial->handles[a];
	if (dray_sequence_call(trial->sequence, add,
			       VALUES(trial->handles[a], trial->handles[a]),
			       &options, &trial->handles[v]))
		return;
	trial->values++;
	assert_works(dray_sequence_describe(trial->sequence, trial->handles[v],
					    &dtype, &ndim, shape));
	assert_works(dray_array_empty(dtype, ndim, shape, &trial->arrays[v]));
	dray_array_view(trial->arrays[v], &to);
	dray_array_view(trial->arrays[a], &view);
	assert_works(dray_view_convert(&to, &view, DRAY_CASTING_SAME_KIND));
	single.where = dray_array_view(trial->arrays[mask], &where);
	assert_works(dray_ufunc_call(add, INPUTS(&view, &view), INPUTS(&to),
				     &single, NULL));
}

/* Records a call and does it; neither may fail alone. */
static void add_call(struct trial *trial)
{
	const char *name = trial_names[roll(trial->dice, SIZE(trial_names))];
	struct dray_ufunc *ufunc = dray_ufunc_find(name);
	struct dray_array *made[2] = { NULL };
	const struct dray_view *in[2];
	struct dray_view views[2];
	dray_value values[2], results[2];
	int o, recorded, done;

	for (o = 0; o < dray_ufunc_inputs(ufunc); o++) {
		const uint64_t count = (uint64_t)trial->values;
		/* Later ones more often. */
		const uint64_t back = roll(trial->dice, count);
		const uint64_t v =
			count - 1 - (roll(trial->dice, 2) ? back : back / 3);

		values[o] = trial->handles[v];
		in[o] = dray_array_view(trial->arrays[v], &views[o]);
	}
	recorded = dray_sequence_call(trial->sequence, ufunc, values, NULL,
				      results);
	done = dray_ufunc_call(ufunc, in, NULL, NULL, made);
	assert_int_equal(recorded, done);
	for (o = 0; !done && o < dray_ufunc_outputs(ufunc); o++) {
		trial->handles[trial->values] = results[o];
		trial->arrays[trial->values++] = made[o];
	}
}

/* Chooses memory for an output: made, of its own, an input's, or beside it. */
static void add_output(struct trial *trial, int v)
{
	const int o = trial->outputs++;
	struct dray_view expected;
	int i;

	trial->of[o] = v;
	assert_works(dray_sequence_output(trial->sequence, trial->handles[v]));
	trial->given[o] = roll(trial->dice, 4);
	if (!trial->given[o])
		return;
	dray_array_view(trial->arrays[v], &expected);
	trial->out[o] =
		place(trial, expected.dtype, expected.ndim, expected.shape);
	if (roll(trial->dice, 2))
		return;
	for (i = 0; i < trial->inputs; i++) {
		struct dray_view *in = &trial->in[i];

		if (trial->replaced[i] || in->dtype != expected.dtype ||
		    in->ndim != expected.ndim ||
		    memcmp(in->shape, expected.shape,
			   (size_t)in->ndim * sizeof(int64_t)))
			continue;
		trial->replaced[i] = true;
		trial->out[o] = *in;
		if (!roll(trial->dice, 3))
			trial->out[o].data = (char *)in->data + 8;
		return;
	}
}

/* Gives elements that are no number the same bits. */
static void level(const struct dray_view *view)
{
	int64_t at[DRAY_MAX_NDIM] = { 0 };
	const char kind = dray_dtype_kind(view->dtype);
	struct dray_view one;
	double parts[2];

	if (kind != 'f' && kind != 'c')
		return;
	do {
		one = view_of(walk_at(view, at), view->dtype, 0, NULL, NULL);
		assert_works(dray_view_get(&one, DRAY_COMPLEX128, parts));
		if (isnan(parts[0]) || isnan(parts[1]))
			memset(one.data, 0x77,
			       dray_dtype_itemsize(view->dtype));
	} while (walk_on(view, at));
}

static void compare(struct trial *trial, struct dray_array **made, int number)
{
	struct dray_view expected, to, got;
	struct dray_array *copy = NULL;
	int o;

	for (o = 0; o < trial->outputs; o++) {
		dray_array_view(trial->arrays[trial->of[o]], &expected);
		if (trial->given[o]) {
			to = trial->out[o];
			level(&to);
			to.data = model + ((char *)to.data - memory);
			assert_works(dray_view_assign(&to, &expected));
			level(&to);
			assert_null(made[o]);
			continue;
		}
		assert_works(dray_array_copy(&expected, DRAY_ORDER_C, &copy));
		dray_array_view(copy, &expected);
		level(&expected);
		dray_array_view(made[o], &got);
		level(&got);
		if (memcmp(got.data, expected.data,
			   (size_t)dray_view_size(&got) *
				   dray_dtype_itemsize(got.dtype)))
			fail_msg("case %d: output %d differs", number, o);
		dray_array_unref(copy);
		dray_array_unref(made[o]);
	}
	if (memcmp(memory, model, BYTES))
		fail_msg("case %d: memory differs", number);
}

static void run_trial(struct trial *trial, int number,
		      struct dray_sequence_plan *sum)
{
	const struct dray_sequence_run_options threads = { .threads = 3 };
	const struct dray_view *in[MOST_OPERANDS], *out[MOST_OPERANDS];
	struct dray_array *made[MOST_OPERANDS];
	struct dray_sequence_plan plan;
	int i;

	for (i = 0; i < trial->inputs; i++)
		in[i] = &trial->in[i];
	for (i = 0; i < trial->outputs; i++)
		out[i] = trial->given[i] ? &trial->out[i] : NULL;
	assert_works(dray_sequence_end(trial->sequence));
	assert_works(dray_sequence_get_plan(trial->sequence, &plan));
	sum->chains += plan.chains;
	sum->chained += plan.chained;
	sum->single += plan.single;
	sum->arrays += plan.arrays;
	memcpy(model, memory, BYTES);
	if (dray_sequence_run(trial->sequence, in, out,
			      number % 2 ? &threads : NULL, made))
		fail_msg("case %d: %s", number, dray_last_error());
	compare(trial, made, number);
}

static void try_one(struct dice *dice, int number,
		    struct dray_sequence_plan *sum)
{
	struct trial trial = { .dice = dice, .sequence = begin() };
	int i, steps = 1 + (int)roll(dice, 12);

	trial.ndim = (int)roll(dice, 4);
	for (i = 0; i < trial.ndim; i++)
		trial.shape[i] =
			1 + (int64_t)roll(dice, trial.ndim == 1	  ? 1500
						: trial.ndim == 2 ? 40
								  : 12);
	for (i = 1 + (int)roll(dice, 4); i > 0; i--)
		add_input(&trial);
	if (!roll(dice, 3))
		add_constant(&trial);
	while (steps-- > 0) {
		if (!roll(dice, 8))
			add_conversion(&trial);
		else if (!roll(dice, 12))
			add_masked(&trial);
		else
			add_call(&trial);
	}
	add_output(&trial, trial.values - 1);
	for (i = (int)roll(dice, 4); i > 0; i--)
		add_output(&trial, (int)roll(dice, (uint64_t)trial.values));
	run_trial(&trial, number, sum);
	for (i = 0; i < trial.values; i++)
		dray_array_unref(trial.arrays[i]);
	dray_sequence_destroy(trial.sequence);
}

FACT(random_chains_have_the_bits_of_their_calls_one_by_one)
{
	struct dray_sequence_plan sum = { 0 };
	struct dray_fp_state fp;
	struct dice dice = { 11 };
	int i;

	dray_get_fp_state(&fp);
	fp = (struct dray_fp_state){ .buffer_size = 8192 };
	assert_works(dray_set_fp_state(&fp));
	for (i = 0; i < CHAINS; i++)
		try_one(&dice, i, &sum);
	assert_works(dray_set_fp_state(NULL));
	/* Chains of several calls, some with others in between. */
	assert_true(sum.chained > 3 * CHAINS);
	assert_true(sum.chained > 2 * sum.chains);
	assert_true(sum.single > CHAINS / 20);
	assert_true(sum.arrays > CHAINS / 20);
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
	struct dray_sequence_plan plan;
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

static char said[4][64];
static unsigned int sayings;

static void listen_to(void *context, const char *sentence, unsigned int errors)
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
	struct dray_sequence *sequence = record_errors();
	struct dray_fp_state fp = { .divide = DRAY_FP_CALL,
				    .invalid = DRAY_FP_CALL,
				    .buffer_size = 8192,
				    .call = listen_to };
	struct dray_view a = number_view(0), b = number_view(1);
	struct dray_array *made[2];

	if (!flags_are_kept())
		skip();
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

FACT(mistakes_of_a_recording_are_met_where_they_are_made)
{
	struct dray_sequence *sequence = begin(), *other = begin();
	const dray_value a = input(sequence, DRAY_FLOAT64, 1, DIMS(3));
	const dray_value b = input(sequence, DRAY_FLOAT64, 1, DIMS(4));
	const dray_value foreign = input(other, DRAY_FLOAT64, 1, DIMS(3));
	struct dray_ufunc *add = dray_ufunc_find("add");
	struct dray_sequence_options options = { 0 };
	struct dray_sequence_plan plan;
	struct dray_array *made = NULL;
	dray_value out = 0;

	assert_fails(dray_sequence_input(sequence, 0, 0, NULL, &out), -EINVAL,
		     "type");
	assert_fails(dray_sequence_input(sequence, DRAY_FLOAT64, 1, DIMS(-1),
					 &out),
		     -EINVAL, "-1");
	assert_fails(dray_sequence_call(sequence, add, VALUES(a, foreign), NULL,
					&out),
		     -EINVAL, "a value is not of this sequence");
	assert_fails(dray_sequence_call(sequence, add, VALUES(a, 0), NULL,
					&out),
		     -EINVAL, "a value is none");
	assert_fails(dray_sequence_call(sequence, add, VALUES(a, a + 7), NULL,
					&out),
		     -EINVAL, "a value is not of this sequence");
	assert_fails(dray_sequence_call(sequence, add, VALUES(a, b), NULL,
					&out),
		     -EINVAL, "broadcast");
	assert_fails(dray_sequence_call(sequence, dray_ufunc_find("invert"),
					VALUES(a), NULL, &out),
		     -EOPNOTSUPP, "no loop for the types");
	options.where = a;
	assert_fails(dray_sequence_call(sequence, add, VALUES(a, a), &options,
					&out),
		     -EOPNOTSUPP, "mask");
	options = (struct dray_sequence_options){ .otherwise = a };
	assert_fails(dray_sequence_call(sequence, add, VALUES(a, a), &options,
					&out),
		     -EINVAL, "need a mask");
	options = (struct dray_sequence_options){ .flags = 1u << 30 };
	assert_fails(dray_sequence_call(sequence, add, VALUES(a, a), &options,
					&out),
		     -EINVAL, "unknown flags");
	options = (struct dray_sequence_options){ .weak = 1 };
	assert_fails(dray_sequence_call(sequence, add, VALUES(a, a), &options,
					&out),
		     -EINVAL, "a number of the program");
	assert_fails(dray_sequence_convert(sequence, a, DRAY_INT32,
					   DRAY_CASTING_SAFE, &out),
		     -EINVAL, "Cannot cast");
	assert_fails(dray_sequence_convert(sequence, a, DRAY_INT32,
					   (enum dray_casting)9, &out),
		     -EINVAL, "casting rule 9");
	assert_fails(dray_sequence_output(sequence, foreign), -EINVAL,
		     "a value is not of this sequence");
	assert_fails(dray_sequence_run(sequence, NULL, NULL, NULL, &made),
		     -EINVAL, "");
	assert_fails(dray_sequence_get_plan(sequence, &plan), -EINVAL,
		     "before its end");
	assert_fails(dray_sequence_end(sequence), -EINVAL, "no output");
	assert_int_equal(out, 0);
	assert_works(dray_sequence_output(sequence, a));
	assert_works(dray_sequence_end(sequence));
	assert_fails(dray_sequence_end(sequence), -EBUSY, "has ended");
	assert_fails(dray_sequence_output(sequence, a), -EBUSY, "has ended");
	dray_sequence_destroy(other);
	dray_sequence_destroy(sequence);
}

FACT(runs_take_the_layout_that_was_recorded)
{
	struct dray_sequence *sequence = begin();
	const dray_value in = input(sequence, DRAY_FLOAT64, 1, DIMS(3));
	struct dray_view right = view_of(numbers, DRAY_FLOAT64, 1, DIMS(3),
					 NULL),
			 longer = view_of(numbers, DRAY_FLOAT64, 1, DIMS(4),
					  NULL),
			 typed = view_of(numbers, DRAY_INT64, 1, DIMS(3), NULL),
			 locked = right, hidden = right,
			 near = view_of(numbers[0] + 1, DRAY_FLOAT64, 1,
					DIMS(3), NULL),
			 once = view_of(numbers, DRAY_FLOAT64, 1, DIMS(3),
					DIMS(0));
	const struct dray_sequence_run_options bad = { .flags = 4 };
	struct dray_array *made[2] = { NULL };

	locked.flags &= ~(uint32_t)DRAY_WRITE;
	hidden.flags &= ~(uint32_t)DRAY_READ;
	assert_works(dray_sequence_output(sequence, call(sequence, "negative",
							 VALUES(in))));
	assert_works(dray_sequence_output(sequence, in));
	assert_fails(dray_sequence_run(sequence, INPUTS(&right), NULL, NULL,
				       made),
		     -EINVAL, "has not ended");
	assert_works(dray_sequence_end(sequence));

#define REFUSES(code, part, in, first, second)                             \
	assert_fails(dray_sequence_run(sequence, INPUTS(in),               \
				       INPUTS(first, second), NULL, made), \
		     code, part)
	REFUSES(-EINVAL, "input 0 of a sequence is recorded with shape (3,)",
		&longer, NULL, NULL);
	REFUSES(-EINVAL, "input 0 of a sequence is recorded with type", &typed,
		NULL, NULL);
	REFUSES(-EPERM, "may not be read", &hidden, NULL, NULL);
	REFUSES(-EPERM, "", &right, &locked, NULL);
	REFUSES(-EINVAL, "output 1 of a sequence is recorded with shape",
		&right, NULL, &longer);
	REFUSES(-EINVAL, "outputs 0 and 1 of a sequence share memory", &right,
		&right, &near);
	REFUSES(-EINVAL, "", &right, &once, NULL);
	assert_fails(dray_sequence_run(sequence, INPUTS(&right), NULL, &bad,
				       made),
		     -EINVAL, "unknown flags");
	assert_null(made[0]);
	assert_works(
		dray_sequence_run(sequence, INPUTS(&right), NULL, NULL, made));
	dray_array_unref(made[0]);
	dray_array_unref(made[1]);
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
