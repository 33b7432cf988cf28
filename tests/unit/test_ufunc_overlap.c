// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ufunc_overlap: random operands in a piece of memory, against a model that
 * computes each element from a copy of the memory: strides of all kinds, types,
 * byte orders, addresses, masks, and overlaps.
 */
#include <dray/array.h>

#include "ufunc.h"

#define BYTES 1536
#define CASES 20000
#define MOST_AXES 4

static _Alignas(16) char memory[BYTES], before[BYTES], model[BYTES];

static const dray_dtype types[] = {
	DRAY_FLOAT64,
	DRAY_INT32,
	DRAY_INT16,
	DRAY_FLOAT32,
	DRAY_UINT8,
	DRAY_DTYPE('f', '<' ^ '>' ^ DRAY_NATIVE_ORDER, 8),
	DRAY_DTYPE('i', '<' ^ '>' ^ DRAY_NATIVE_ORDER, 4),
};

static dray_dtype roll_type(struct dice *dice)
{
	const size_t count = sizeof(types) / sizeof(types[0]);

	/* Half of them are the loops' own. */
	return roll(dice, 2) ? types[roll(dice, 2)] : types[roll(dice, count)];
}

/* Places a view with random strides in the memory; false: it does not fit. */
static bool place(struct dice *dice, struct dray_view *view, dray_dtype dtype,
		  int ndim, const int64_t *shape, bool packed)
{
	const int64_t size = dray_dtype_itemsize(dtype);
	const int64_t unit = roll(dice, 8) ? size : 1;
	int64_t low = 0, high = size, strides[MOST_AXES];
	int i, axis, order[MOST_AXES] = { 0, 1, 2, 3 };

	for (i = ndim - 1; i > 0; i--) {
		const int at = (int)roll(dice, (uint64_t)i + 1);

		axis = order[i];
		order[i] = order[at];
		order[at] = axis;
	}
	for (i = 0; i < ndim; i++) {
		const int64_t reach = high - low;

		axis = order[i];
		strides[axis] = packed || roll(dice, 2)
					? reach
					: (int64_t)roll(dice, 12) * unit;
		if (!roll(dice, 3))
			strides[axis] = -strides[axis];
		if (strides[axis] > 0)
			high += strides[axis] * (shape[axis] - 1);
		else
			low += strides[axis] * (shape[axis] - 1);
	}
	if (high - low > BYTES - 16)
		return false;
	i = (int)roll(dice, (uint64_t)(BYTES - (high - low))) & ~7;
	if (!roll(dice, 8))
		i++;
	if (i + high - low > BYTES)
		return false;
	*view = view_of(memory + i - low, dtype, ndim, shape, strides);
	return true;
}

/* The address of an element in @base instead of the memory. */
static char *element(const struct dray_view *view, const int64_t *at,
		     char *base)
{
	char *data = view->data;
	int i;

	for (i = 0; i < view->ndim; i++)
		data += at[i] * view->strides[i];
	return base + (data - memory);
}

static void convert(dray_dtype to, void *made, dray_dtype from,
		    const void *value)
{
	struct dray_cast cast;

	assert_works(dray_cast_find(to, from, &cast));
	assert_works(dray_cast_run(&cast, made, 0, value, 0, 1));
}

/* Computes an element as the loop does. */
static void compute(dray_dtype loop, const struct dray_view *inputs,
		    const struct dray_view *out, const int64_t *at)
{
	double reals[3];
	uint32_t ints[3];
	int o;

	for (o = 0; o < 2; o++)
		convert(loop, loop == DRAY_INT32 ? (void *)&ints[o] : &reals[o],
			inputs[o].dtype, element(&inputs[o], at, before));
	reals[2] = 2 * reals[0] + reals[1];
	ints[2] = 2 * ints[0] + ints[1];
	convert(out->dtype, element(out, at, model), loop,
		loop == DRAY_INT32 ? (void *)&ints[2] : &reals[2]);
}

static bool is_mask(const struct dray_view *mask, const int64_t *at)
{
	return !mask || *element(mask, at, before);
}

static void compute_all(dray_dtype loop, const struct dray_view *inputs,
			const struct dray_view *out,
			const struct dray_view *mask)
{
	int64_t at[MOST_AXES] = { 0 };
	int i;

	do {
		if (is_mask(mask, at))
			compute(loop, inputs, out, at);
		for (i = out->ndim - 1; i >= 0 && ++at[i] == out->shape[i]; i--)
			at[i] = 0;
	} while (i >= 0);
}

static bool is_int(dray_dtype dtype)
{
	const char kind = dray_dtype_kind(dtype);

	return (kind == 'i' || kind == 'u');
}

/* Fills the memory with small numbers of all types, and bools. */
static void fill_memory(struct dice *dice)
{
	size_t i;

	for (i = 0; i < BYTES; i++)
		memory[i] = (char)roll(dice, 2);
	for (i = 0; i < BYTES / 8; i++)
		if (roll(dice, 2))
			((double *)(void *)memory)[i] = (double)roll(dice, 50);
	memcpy(before, memory, BYTES);
	memcpy(model, memory, BYTES);
}

/* Masks are read as bools, so their bytes are 0 or 1. */
static void make_mask(struct dice *dice, const struct dray_view *mask)
{
	int64_t at[MOST_AXES] = { 0 };
	int i;

	do {
		*element(mask, at, memory) = (char)roll(dice, 2);
		for (i = mask->ndim - 1; i >= 0 && ++at[i] == mask->shape[i];
		     i--)
			at[i] = 0;
	} while (i >= 0);
	memcpy(before, memory, BYTES);
	memcpy(model, memory, BYTES);
}

/* Does one call and compares all the memory; false: it was none. */
static bool try_one(struct dray_ufunc *mix, struct dice *dice, int number)
{
	const int ndim = (int)roll(dice, MOST_AXES + 1);
	const bool same = !roll(dice, 4);
	struct dray_ufunc_options options = { .casting =
						      1 + DRAY_CASTING_UNSAFE };
	int64_t shape[MOST_AXES];
	struct dray_view inputs[2], out, mask;
	bool unique = false, masked;
	dray_dtype loop;
	int i;

	for (i = 0; i < ndim; i++)
		shape[i] = 1 + (int64_t)roll(dice, ndim == 1 ? 40 : 5);
	if (!place(dice, &out, roll_type(dice), ndim, shape, roll(dice, 4)))
		return false;
	for (i = 0; i < 2; i++)
		if (!place(dice, &inputs[i], same ? out.dtype : roll_type(dice),
			   ndim, shape, false))
			return false;
	if (!roll(dice, 6))
		inputs[roll(dice, 2)] = out;
	masked = !roll(dice, 3);
	if (masked && !place(dice, &mask, DRAY_BOOL, ndim, shape, false))
		return false;
	if (dray_view_is_unique(&out, DRAY_SHARE_EXACT, &unique) || !unique)
		return false;
	fill_memory(dice);
	if (masked) {
		make_mask(dice, &mask);
		options.where = &mask;
	}
	loop = is_int(inputs[0].dtype) && is_int(inputs[1].dtype)
		       ? DRAY_INT32
		       : DRAY_FLOAT64;
	compute_all(loop, inputs, &out, masked ? &mask : NULL);
	assert_works(dray_ufunc_call(mix, INPUTS(&inputs[0], &inputs[1]),
				     INPUTS(&out), &options, NULL));
	if (memcmp(memory, model, BYTES))
		fail_msg("case %d: %d axes, %s", number, ndim,
			 masked ? "masked" : "without a mask");
	return true;
}

FACT(any_operands_give_the_result_of_inputs_that_were_copied_aside)
{
	struct dray_ufunc *mix = make_mix();
	struct dray_fp_state fp = { .size = sizeof(fp) };
	struct dice dice = { 7 };
	int i, done = 0;

	dray_get_fp_state(&fp);
	fp = (struct dray_fp_state){ .buffer_size = 16 };
	assert_works(dray_set_fp_state(&fp));
	for (i = 0; i < CASES; i++) {
		if (i == CASES / 2) {
			fp.buffer_size = 8192;
			assert_works(dray_set_fp_state(&fp));
		}
		done += try_one(mix, &dice, i);
	}
	assert_true(done > CASES / 3);
	assert_works(dray_set_fp_state(NULL));
	dray_ufunc_unref(mix);
}

/* Two outputs in the same memory. */
static int split(char *const *data, const int64_t *strides, int64_t count,
		 void *context)
{
	int64_t i;

	for (i = 0; i < count; i++) {
		const double value =
			*(double *)(void *)(data[0] + i * strides[0]);

		*(double *)(void *)(data[1] + i * strides[1]) = value + 1;
		*(double *)(void *)(data[2] + i * strides[2]) = value + 2;
	}
	return 0;
}

FACT(outputs_that_overlap_read_what_was_there_before)
{
	double data[12], in[8];
	struct dray_view a = view_of(data, DRAY_FLOAT64, 1, DIMS(8), NULL);
	struct dray_view first =
		view_of(data + 2, DRAY_FLOAT64, 1, DIMS(8), NULL);
	struct dray_view second =
		view_of(data + 4, DRAY_FLOAT64, 1, DIMS(8), NULL);
	struct dray_ufunc *two = NULL;
	int i;

	assert_works(dray_ufunc_create("two", 1, 2, DRAY_IDENTITY_NONE, &two));
	set_loop(two,
		 (dray_dtype[]){ DRAY_FLOAT64, DRAY_FLOAT64, DRAY_FLOAT64 },
		 split, NULL, 0);
	for (i = 0; i < 12; i++)
		data[i] = 10 * i;
	memcpy(in, data, sizeof(in));
	assert_works(dray_ufunc_call(two, INPUTS(&a), INPUTS(&first, &second),
				     NULL, NULL));
	/* Where only one writes, it has its result. */
	for (i = 0; i < 2; i++) {
		assert_true(data[2 + i] == in[i] + 1);
		assert_true(data[10 + i] == in[6 + i] + 2);
	}
	/* Elsewhere, one of the two. */
	for (i = 2; i < 8; i++)
		assert_true(data[2 + i] == in[i] + 1 ||
			    data[2 + i] == in[i - 2] + 2);
	dray_ufunc_unref(two);
}
