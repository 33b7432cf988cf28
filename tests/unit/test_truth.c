// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * truth: bytes other than 0 and 1 are true in memory of type bool.  Calls and methods
 * compute from them what they compute from bytes of 0 and 1.
 */
#include <dray/array.h>

#include "ufunc.h"

#define COUNT 300 /* more than a block of a loop */
#define ROUNDS 60

static const char *const names[] = {
	"logical_and", "logical_or",	"logical_xor", "logical_not",
	"bitwise_and", "bitwise_or",	"bitwise_xor", "invert",
	"maximum",     "minimum",	"fmax",	       "fmin",
	"equal",       "not_equal",	"less",	       "less_equal",
	"greater",     "greater_equal", "add",	       "multiply",
	"divide",      "power",		"sqrt",	       "left_shift",
};

#define NAMES ((int)(sizeof(names) / sizeof(names[0])))

/* Computes from views of COUNT bools, by a ufunc or to a type. */
struct work {
	struct dray_ufunc *ufunc;
	dray_dtype dtype;
	const struct dray_view *a, *b;
	struct dray_array **out;
};

typedef int compute(const struct work *work);

#define COMPUTE(name, ...)                           \
	static int name(const struct work *work)     \
	{                                            \
		const struct dray_view *a = work->a; \
		const struct dray_view *b = work->b; \
                                                     \
		(void)a, (void)b;                    \
		return __VA_ARGS__;                  \
	}

COMPUTE(call, dray_ufunc_call(work->ufunc, INPUTS(a, b), NULL, NULL, work->out))
COMPUTE(reduce, dray_ufunc_reduce(work->ufunc, a, NULL, NULL, work->out))
COMPUTE(accumulate,
	dray_ufunc_accumulate(work->ufunc, a, 0, 0, NULL, work->out))
COMPUTE(sum, dray_sum(a, NULL, NULL, work->out))
COMPUTE(prod, dray_prod(a, NULL, NULL, work->out))
COMPUTE(min, dray_min(a, NULL, NULL, work->out))
COMPUTE(max, dray_max(a, NULL, NULL, work->out))
COMPUTE(all, dray_all(a, NULL, NULL, work->out))
COMPUTE(any, dray_any(a, NULL, NULL, work->out))
COMPUTE(count_true, dray_count_true(a, NULL, NULL, work->out))
COMPUTE(mean, dray_mean(a, NULL, NULL, work->out))
COMPUTE(std, dray_std(a, NULL, 0, NULL, work->out))
COMPUTE(cumsum, dray_cumsum(a, 0, 0, NULL, work->out))
COMPUTE(cumprod, dray_cumprod(a, 0, 0, NULL, work->out))
COMPUTE(clip, dray_clip(a, b, NULL, NULL, NULL, work->out))
COMPUTE(argmax, dray_argmax(a, 0, work->out))
COMPUTE(argmin, dray_argmin(a, 0, work->out))
COMPUTE(nonzero, dray_nonzero(a, work->out))
COMPUTE(where, dray_where(a, b, a, work->out))
COMPUTE(by_mask,
	dray_index_get(a, (struct dray_index[]){ DRAY_BY(b) }, 1, work->out))
COMPUTE(matmul, dray_matmul(a, b, NULL, work->out))

static int reduce_where(const struct work *work)
{
	bool start = true;
	const struct dray_view initial =
		view_of(&start, DRAY_BOOL, 0, NULL, NULL);

	return dray_ufunc_reduce(
		work->ufunc, work->a, NULL,
		&(struct dray_reduce_options){ .where = work->b,
					       .initial = &initial },
		work->out);
}

static int reduceat(const struct work *work)
{
	int64_t starts[] = { 0, 7, 3, 270 };
	const struct dray_view indices =
		view_of(starts, DRAY_INT64, 1, DIMS(4), NULL);

	return dray_ufunc_reduceat(work->ufunc, work->a, &indices, 0, 0, NULL,
				   work->out);
}

static int convert(const struct work *work)
{
	struct dray_view to;

	assert_works(dray_array_zeros(work->dtype, 1, DIMS(COUNT), work->out));
	return dray_view_convert(dray_array_view(*work->out, &to), work->a,
				 DRAY_CASTING_UNSAFE);
}

static int count_nonzero(const struct work *work)
{
	const int64_t count = dray_count_nonzero(work->a);

	return dray_array_full(DRAY_INT64, 0, NULL, &count, work->out);
}

static const struct {
	const char *name;
	compute *compute;
	dray_dtype dtype;
} ways[] = {
	/* of each ufunc */
	{ "a call", call, 0 },
	{ "reduce", reduce, 0 },
	{ "reduce with where and initial", reduce_where, 0 },
	{ "accumulate", accumulate, 0 },
	{ "reduceat", reduceat, 0 },
#define UFUNC_WAYS 5
	{ "sum", sum, 0 },
	{ "prod", prod, 0 },
	{ "min", min, 0 },
	{ "max", max, 0 },
	{ "all", all, 0 },
	{ "any", any, 0 },
	{ "count_true", count_true, 0 },
	{ "count_nonzero", count_nonzero, 0 },
	{ "mean", mean, 0 },
	{ "std", std, 0 },
	{ "cumsum", cumsum, 0 },
	{ "cumprod", cumprod, 0 },
	{ "clip", clip, 0 },
	{ "argmax", argmax, 0 },
	{ "argmin", argmin, 0 },
	{ "nonzero", nonzero, 0 },
	{ "where", where, 0 },
	{ "an index by a mask", by_mask, 0 },
	{ "matmul", matmul, 0 },
	{ "to int8", convert, DRAY_INT8 },
	{ "to uint8", convert, DRAY_UINT8 },
	{ "to int16", convert, DRAY_INT16 },
	{ "to uint32", convert, DRAY_UINT32 },
	{ "to int64", convert, DRAY_INT64 },
	{ "to float16", convert, DRAY_FLOAT16 },
	{ "to float32", convert, DRAY_FLOAT32 },
	{ "to float64", convert, DRAY_FLOAT64 },
	{ "to complex64", convert, DRAY_COMPLEX64 },
	{ "to bytes", convert, DRAY_DTYPE('S', '|', 5) },
	{ "to characters", convert, DRAY_DTYPE('U', DRAY_NATIVE_ORDER, 20) },
	{ "to times", convert, DRAY_TIMEDELTA64(DRAY_UNIT_SECOND, 1) },
	{ "to swapped integers", convert,
	  DRAY_DTYPE('i', '<' ^ '>' ^ DRAY_NATIVE_ORDER, 4) },
};

#define WAYS ((int)(sizeof(ways) / sizeof(ways[0])))

/* Mostly false, mostly true, or any. */
static void fill_bytes(struct dice *dice, unsigned char *bytes)
{
	const uint64_t kind = roll(dice, 3);
	int i;

	for (i = 0; i < COUNT; i++) {
		const unsigned char byte = (unsigned char)roll(dice, 256);
		const bool rare = !roll(dice, COUNT);

		bytes[i] = (kind == 2 ? byte & 1 : (kind == 1) != rare)
				   ? byte | 4
				   : 0;
	}
}

/* Whether results are the same: of bools, by their truth. */
static bool are_same(const struct dray_view *a, const struct dray_view *b)
{
	const unsigned char *const got = a->data, *const wanted = b->data;
	const bool truths = b->dtype == DRAY_BOOL;
	int64_t i, size = b->ndim ? b->shape[0] : 1;

	if (a->dtype != b->dtype || a->ndim != b->ndim ||
	    (a->ndim && a->shape[0] != b->shape[0]))
		return false;
	if (b->ndim > 1)
		size *= b->shape[1];
	if (!truths)
		size *= (int64_t)(b->dtype >> 32);
	for (i = 0; i < size; i++)
		if (truths ? !got[i] != !wanted[i] : got[i] != wanted[i])
			return false;
	return true;
}

/* Computes in a way from views of any bytes, and of 0 and 1. */
static int compare(int way, const char *name, struct dray_view views[2][2])
{
	struct work work = { .dtype = ways[way].dtype };
	struct dray_array *made[2] = { NULL, NULL };
	struct dray_view results[2];
	int ret[2], i;

	if (name)
		work.ufunc = dray_ufunc_find(name);
	for (i = 0; i < 2; i++) {
		work.a = &views[i][0];
		work.b = &views[i][1];
		work.out = &made[i];
		ret[i] = ways[way].compute(&work);
	}
	if (ret[0] != ret[1])
		fail_msg("%s %s: %d, not %d", name ? name : "", ways[way].name,
			 ret[0], ret[1]);
	if (!ret[0] && !are_same(dray_array_view(made[0], &results[0]),
				 dray_array_view(made[1], &results[1])))
		fail_msg("%s %s: other results", name ? name : "",
			 ways[way].name);
	dray_array_unref(made[0]);
	dray_array_unref(made[1]);
	return !ret[0];
}

FACT(any_byte_but_0_is_true)
{
	struct dice dice = { 28 };
	unsigned char bytes[2][2][COUNT]; /* any, or 0 and 1; of two inputs */
	struct dray_view views[2][2];
	int round, name, way, k, i, computed = 0;

	for (round = 0; round < ROUNDS; round++) {
		for (k = 0; k < 2; k++) {
			fill_bytes(&dice, bytes[0][k]);
			for (i = 0; i < COUNT; i++)
				bytes[1][k][i] = bytes[0][k][i] != 0;
			for (i = 0; i < 2; i++)
				views[i][k] = view_of(bytes[i][k], DRAY_BOOL, 1,
						      DIMS(COUNT), NULL);
		}
		for (way = 0; way < UFUNC_WAYS; way++)
			for (name = 0; name < NAMES; name++)
				computed += compare(way, names[name], views);
		for (; way < WAYS; way++)
			computed += compare(way, NULL, views);
	}
	assert_true(computed > 80 * ROUNDS);
}
