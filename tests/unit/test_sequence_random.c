// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * sequence_random: random chains and transfers against their calls one by one.  All
 * views lie in one piece of memory, which a simulated engine reaches, and of which
 * the calls make a model.  Half of the sequences run on a queue of calls.
 */
#include <math.h>

#include <dray/array.h>

#include "layout/layout_threads.h"
#include "random_view.h"
#include "sequences.h"
#include "sequence/run.h"
#include "simulated_queue.h"

#define BYTES (1 << 19)
#define CHAINS 600
#define MOST_VALUES 64
#define MOST_OPERANDS 6

static char *memory, model[BYTES];
static struct dray_call_queue *calls;

/* Counts runs that go the quick way. */
static int quick;

WRAPPED(bool, dray_run_quick,
	(const struct dray_sequence *sequence,
	 const struct dray_view *const *inputs,
	 const struct dray_view *const *outputs, struct dray_array **out,
	 int *ret))
{
	bool done = __real_dray_run_quick(sequence, inputs, outputs, out, ret);

	quick += done;
	return done;
}

struct trial {
	struct dice *dice;
	struct dray_sequence *sequence;
	size_t used; /* bytes of the memory */
	bool plain; /* all views are without gaps, and of one shape */
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

/* Places a view in memory of its own, with any order of axes and gaps. */
static struct dray_view place(struct trial *trial, dray_dtype dtype, int ndim,
			      const int64_t *shape)
{
	const int64_t size = dray_dtype_itemsize(dtype);
	const bool packed = trial->plain || roll(trial->dice, 2);
	int64_t strides[3], reach = size, back = 0;
	size_t at = (trial->used + 63) / 64 * 64;
	int order[3] = { 2, 1, 0 };
	int i, axis;

	for (i = 0; i < ndim; i++)
		order[i] = ndim - 1 - i;
	if (ndim > 1 && !trial->plain && !roll(trial->dice, 3)) {
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
	if (!trial->plain && !roll(trial->dice, 10))
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
	if (!trial->plain && !roll(trial->dice, 3)) { /* stretched */
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

static void add_transfer(struct trial *trial)
{
	const int from = (int)roll(trial->dice, (uint64_t)trial->values);
	const int v = trial->values++;
	struct dray_view view;

	assert_works(dray_sequence_copy(
		trial->sequence, trial->handles[from], queue,
		roll(trial->dice, 5) ? 0 : DRAY_COPY_CPU, &trial->handles[v]));
	dray_array_view(trial->arrays[from], &view);
	assert_works(dray_array_copy(&view, DRAY_ORDER_C, &trial->arrays[v]));
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

static int run(struct trial *trial, const struct dray_view *const *in,
	       const struct dray_view *const *out, int number,
	       struct dray_array **made)
{
	const struct dray_sequence_run_options threads = { .threads = 3 };
	const struct dray_sequence_run_options *options =
		number % 2 ? &threads : NULL;
	struct dray_event *event = NULL;
	int ret;

	if (number % 4 < 2)
		return dray_sequence_run(trial->sequence, in, out, options,
					 made);
	ret = dray_sequence_submit(trial->sequence, calls, in, out, options,
				   made, &event);
	if (ret)
		return ret;
	ret = dray_event_wait(event, -1);
	dray_event_unref(event);
	return ret;
}

static void run_trial(struct trial *trial, int number,
		      struct dray_sequence_plan *sum)
{
	const struct dray_view *in[MOST_OPERANDS], *out[MOST_OPERANDS];
	struct dray_array *made[MOST_OPERANDS];
	struct dray_sequence_plan plan = { .size = sizeof(plan) };
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
	sum->transfers += plan.transfers;
	sum->arrays += plan.arrays;
	memcpy(model, memory, BYTES);
	if (run(trial, in, out, number, made))
		fail_msg("case %d: %s", number, dray_last_error());
	compare(trial, made, number);
}

static void try_one(struct dice *dice, int number,
		    struct dray_sequence_plan *sum)
{
	struct trial trial = { .dice = dice, .sequence = begin() };
	int i, steps = 1 + (int)roll(dice, 12);

	trial.ndim = (int)roll(dice, 4);
	trial.plain = !roll(dice, 3);
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
		else if (!trial.plain && !roll(dice, 12))
			add_masked(&trial);
		else if (!trial.plain && !roll(dice, 8))
			add_transfer(&trial);
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

QUEUE_FACT(random_chains_have_the_bits_of_their_calls_one_by_one)
{
	struct dray_sequence_plan sum = { 0 };
	struct dray_fp_state fp = { .size = sizeof(fp) };
	struct dice dice = { 11 };
	int i;

	dray_get_fp_state(&fp);
	fp = (struct dray_fp_state){ .buffer_size = 8192 };
	assert_works(dray_set_fp_state(&fp));
	dray_threads_share = 64; /* so that few elements are cut */
	assert_works(dray_call_queue_create(NULL, 0, NULL, &calls));
	memory = dray_pool_alloc(pool, BYTES, 0);
	assert_non_null(memory);
	memset(memory, 0, BYTES);
	for (i = 0; i < CHAINS; i++)
		try_one(&dice, i, &sum);
	assert_works(dray_set_fp_state(NULL));
	dray_call_queue_destroy(calls);
	dray_pool_free(pool, memory);
	assert_true(quick > CHAINS / 30);
	assert_true(sum.transfers > CHAINS / 10);
	assert_true(engine.calls > CHAINS / 50);
	/* Chains of several calls, some with others in between. */
	assert_true(sum.chained > 3 * CHAINS);
	assert_true(sum.chained > 2 * sum.chains);
	assert_true(sum.single > CHAINS / 20);
	assert_true(sum.arrays > CHAINS / 20);
}
