// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ufunc_call: shapes, outputs, their orders and classes, and all that a call
 * refuses.
 */
#include <dray/array.h>

#include "ufunc_seen.h"

/* Halves, and the rests. */
static int halve(char *const *data, const int64_t *strides, int64_t count,
		 void *context)
{
	int64_t i;

	for (i = 0; i < count; i++) {
		const int32_t value =
			*(int32_t *)(void *)(data[0] + i * strides[0]);

		*(int32_t *)(void *)(data[1] + i * strides[1]) = value / 2;
		*(int32_t *)(void *)(data[2] + i * strides[2]) = value % 2;
	}
	return 0;
}

static struct dray_ufunc *halves;

/* Fails as a loop may. */
static int break_off(char *const *data, const int64_t *strides, int64_t count,
		     void *context)
{
	return -EIO;
}

static int set_up(void **state)
{
	make_seen();
	set_loop(mix,
		 (dray_dtype[]){ DRAY_COMPLEX64, DRAY_COMPLEX64,
				 DRAY_COMPLEX64 },
		 break_off, NULL, 0);
	assert_works(
		dray_ufunc_create("halves", 1, 2, DRAY_IDENTITY_NONE, &halves));
	set_loop(halves, (dray_dtype[]){ DRAY_INT32, DRAY_INT32, DRAY_INT32 },
		 halve, NULL, DRAY_LOOP_NO_FP_ERRORS);
	return 0;
}

static int tear_down(void **state)
{
	dray_ufunc_unref(mix);
	dray_ufunc_unref(halves);
	return 0;
}

FACTS_SHARE(set_up, tear_down)

/* Shape of up to four axes as digits; "" is none, "-" no operand. */
static const struct dray_view *shaped(struct dray_view *view, void *data,
				      dray_dtype dtype, const char *digits)
{
	int64_t shape[4];
	int i;

	if (!strcmp(digits, "-"))
		return NULL;
	for (i = 0; digits[i]; i++)
		shape[i] = digits[i] - '0';
	*view = view_of(data, dtype, i, shape, NULL);
	return view;
}

static void format_shape(const struct dray_array *array, char digits[8])
{
	int i;

	for (i = 0; i < array->ndim; i++)
		digits[i] =
			(char)('0' +
			       dray_array_axes(
				       (struct dray_array *)(uintptr_t)array)[i]
				       .size);
	digits[i] = '\0';
}

FACT(operands_are_broadcast_to_one_shape)
{
	static const struct {
		const char *a, *b, *mask, *out;
		const char *made; /* or the sentence of a refusal */
	} rows[] = {
		{ "", "", "-", "-", "" },
		{ "3", "", "-", "-", "3" },
		{ "23", "3", "-", "-", "23" },
		{ "21", "13", "-", "-", "23" },
		{ "3", "3", "23", "-", "23" },
		{ "3", "3", "1", "-", "3" },
		{ "0", "1", "-", "-", "0" },
		{ "20", "21", "-", "-", "20" },
		{ "1", "1", "-", "23", "23" },
		{ "", "", "-", "5", "5" },
		{ "3", "4", "-", "-", "broadcast" },
		{ "23", "2", "-", "-", "broadcast" },
		{ "3", "3", "4", "-", "broadcast" },
		{ "0", "2", "-", "-", "broadcast" },
		{ "23", "23", "-", "3",
		  "output operand with shape (3,) doesn't match the broadcast shape (2,3)" },
		{ "3", "3", "-", "1",
		  "output operand with shape (1,) doesn't match the broadcast shape (3,)" },
		{ "3", "3", "23", "3",
		  "output operand with shape (3,) doesn't match the broadcast shape (2,3)" },
		{ "3", "3", "-", "4", "broadcast" },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct dray_view a, b, mask, out;
		struct dray_array *made = NULL;
		struct dray_ufunc_options options = { 0 };
		const struct dray_view *to =
			shaped(&out, results, DRAY_FLOAT64, rows[i].out);
		char digits[8] = "";
		int ret;

		memset(bools, 1, sizeof(bools));
		options.where = shaped(&mask, bools, DRAY_BOOL, rows[i].mask);
		ret = dray_ufunc_call(
			mix,
			INPUTS(shaped(&a, numbers, DRAY_FLOAT64, rows[i].a),
			       shaped(&b, numbers, DRAY_FLOAT64, rows[i].b)),
			&to, &options, &made);
		if (ret) {
			assert_fails(ret, -EINVAL, rows[i].made);
			continue;
		}
		if (made)
			format_shape(made, digits);
		assert_string_equal(made ? digits : rows[i].out, rows[i].made);
		assert_true(!made != !to);
		dray_array_unref(made);
	}
}

FACT(any_outputs_are_given_or_made)
{
	int i, k;

	for (i = 0; i < 4; i++) {
		int32_t in[3] = { 5, 8, 11 }, out[2][3] = { 0 };
		struct dray_view from =
			view_of(in, DRAY_INT32, 1, DIMS(3), NULL);
		struct dray_view views[2];
		const struct dray_view *to[2] = { NULL, NULL };
		struct dray_array *made[2] = { (void *)1, (void *)1 };

		for (k = 0; k < 2; k++) {
			views[k] =
				view_of(out[k], DRAY_INT32, 1, DIMS(3), NULL);
			if (i >> k & 1)
				to[k] = &views[k];
		}
		assert_works(
			dray_ufunc_call(halves, INPUTS(&from), to, NULL, made));
		for (k = 0; k < 2; k++) {
			static const int32_t right[2][3] = { { 2, 4, 5 },
							     { 1, 0, 1 } };

			assert_true(!made[k] == !!to[k]);
			assert_memory_equal(made[k] ? made[k]->data : out[k],
					    right[k], sizeof(right[k]));
			dray_array_unref(made[k]);
		}
	}
}

FACT(made_outputs_lie_as_numpy_lays_them)
{
	/* Strides in elements; those of the second input may be 0. */
	static const struct {
		int64_t shape[3], a[3], b[3];
		char order;
		int64_t made[3];
	} rows[] = {
		{ { 2, 3, 4 }, { 12, 4, 1 }, { 12, 4, 1 }, 0, { 12, 4, 1 } },
		{ { 2, 3, 4 }, { 1, 2, 6 }, { 1, 2, 6 }, 0, { 1, 2, 6 } },
		{ { 2, 3, 4 }, { 1, 2, 6 }, { 1, 2, 6 }, 'C', { 12, 4, 1 } },
		{ { 2, 3, 4 }, { 12, 4, 1 }, { 12, 4, 1 }, 'F', { 1, 2, 6 } },
		{ { 2, 3, 4 }, { 1, 2, 6 }, { 1, 2, 6 }, 'A', { 1, 2, 6 } },
		{ { 2, 3, 4 }, { 1, 2, 6 }, { 12, 4, 1 }, 'A', { 12, 4, 1 } },
		{ { 2, 3, 4 }, { 4, 8, 1 }, { 4, 8, 1 }, 'K', { 4, 8, 1 } },
		{ { 2, 3, 4 }, { 8, 16, 2 }, { 0, 0, 1 }, 0, { 4, 8, 1 } },
		{ { 2, 3, 4 }, { 0, 1, 3 }, { 0, 0, 0 }, 0, { 12, 1, 3 } },
		{ { 2, 3, 4 }, { -12, -4, -1 }, { 12, 4, 1 }, 0, { 12, 4, 1 } },
		{ { 2, 3, 4 }, { -1, -2, -6 }, { -1, -2, -6 }, 0, { 1, 2, 6 } },
		{ { 2, 3, 4 }, { 12, 4, 1 }, { 1, 2, 6 }, 0, { 12, 4, 1 } },
		{ { 2, 3, 4 }, { 1, 2, 6 }, { 12, 4, 1 }, 0, { 12, 4, 1 } },
	};
	size_t i;
	int k;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct dray_ufunc_options options = {
			.order = rows[i].order
		};
		int64_t strides[2][3];
		struct dray_view views[2];
		struct dray_array *made = NULL;

		for (k = 0; k < 3; k++) {
			strides[0][k] = 8 * rows[i].a[k];
			strides[1][k] = 8 * rows[i].b[k];
		}
		for (k = 0; k < 2; k++)
			views[k] = view_of(numbers + 1000, DRAY_FLOAT64, 3,
					   rows[i].shape, strides[k]);
		assert_works(dray_ufunc_call(mix, INPUTS(&views[0], &views[1]),
					     NULL, &options, &made));
		for (k = 0; k < 3; k++) {
			if (dray_array_axes(made)[k].stride !=
			    8 * rows[i].made[k])
				fail_msg("row %zu, axis %d: %" PRId64, i, k,
					 dray_array_axes(made)[k].stride / 8);
		}
		dray_array_unref(made);
	}
}

FACT(all_that_a_call_refuses_has_its_sentence)
{
	double one = 1;
	struct dray_view in = view_of(&one, DRAY_FLOAT64, 0, NULL, NULL);
	struct dray_view ints = view_of(numbers, DRAY_INT64, 0, NULL, NULL);
	struct dray_view read_only = in, write_only = in, bad = in;
	struct dray_view dates = view_of(
		numbers, DRAY_DATETIME64(DRAY_UNIT_DAY, 1), 0, NULL, NULL);
	struct dray_view frozen = in;
	const struct {
		const struct dray_view *a, *b, *out;
		struct dray_ufunc_options options;
		int error;
		const char *sentence;
	} rows[] = {
		{ &in,
		  &in,
		  &read_only,
		  { 0 },
		  -EPERM,
		  "output 0 of ufunc 'mix' is read-only" },
		{ &in,
		  &in,
		  &frozen,
		  { 0 },
		  -EPERM,
		  "output 0 of ufunc 'mix' is immutable" },
		{ &write_only,
		  &in,
		  &in,
		  { 0 },
		  -EPERM,
		  "of ufunc 'mix' may not be read" },
		{ &in,
		  &in,
		  &ints,
		  { 0 },
		  -EOPNOTSUPP,
		  "Cannot cast ufunc 'mix' output from <f8 to <i8" },
		{ &dates,
		  &in,
		  &in,
		  { 0 },
		  -EOPNOTSUPP,
		  "has no loop for the types (<M8[D], <f8)" },
		{ &in,
		  &in,
		  &in,
		  { .where = &in },
		  -EOPNOTSUPP,
		  "Cannot cast the mask of ufunc 'mix' from <f8 to bool" },
		{ &in,
		  &in,
		  &in,
		  { .where = &ints },
		  -EOPNOTSUPP,
		  "Cannot cast the mask of ufunc 'mix' from <i8 to bool" },
		{ &in,
		  &in,
		  &in,
		  { .flags = 4 },
		  -EINVAL,
		  "unknown flags of a call: 0x4" },
		{ &in,
		  &in,
		  &in,
		  { .order = 'Z' },
		  -EINVAL,
		  "order 'Z' does not exist" },
		{ &in,
		  &in,
		  &in,
		  { .casting = 6 },
		  -EINVAL,
		  "casting rule 5 does not exist, 0 to 4 do" },
		{ &bad, &in, &in, { 0 }, -EINVAL, "-1 axes" },
		{ &in, &in, &bad, { 0 }, -EINVAL, "-1 axes" },
	};
	size_t i;

	read_only.flags = DRAY_READ;
	frozen.flags = DRAY_READ | DRAY_IMMUTABLE;
	write_only.flags = DRAY_WRITE;
	bad.ndim = -1;
	forget_all();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_fails(dray_ufunc_call(mix, INPUTS(rows[i].a, rows[i].b),
					     INPUTS(rows[i].out),
					     &rows[i].options, NULL),
			     rows[i].error, rows[i].sentence);
	assert_int_equal(seen.calls, 0);
	assert_true(one == 1);
}

FACT(the_error_of_a_loop_is_the_calls_and_nothing_is_made)
{
	static const dray_dtype swapped =
		DRAY_DTYPE('c', '<' ^ '>' ^ DRAY_NATIVE_ORDER, 8);
	struct dray_array *made = NULL;
	struct dray_view in =
		view_of(numbers, DRAY_COMPLEX64, 2, DIMS(3, 4), NULL);
	struct dray_view gaps =
		view_of(numbers, DRAY_COMPLEX64, 2, DIMS(3, 4), DIMS(64, 8));
	struct dray_view other = view_of(numbers, swapped, 2, DIMS(3, 4), NULL);

	assert_int_equal(dray_ufunc_call(mix, INPUTS(&in, &in), NULL, NULL,
					 &made),
			 -EIO);
	assert_int_equal(dray_ufunc_call(mix, INPUTS(&gaps, &in), NULL, NULL,
					 &made),
			 -EIO);
	assert_int_equal(dray_ufunc_call(mix, INPUTS(&other, &in), NULL, NULL,
					 &made),
			 -EIO);
	assert_null(made);
}

/* A class that counts its outputs, and makes an array without axes of each. */
static int wrap(void *context, struct dray_ufunc *ufunc, int output,
		struct dray_array *array, struct dray_array **out)
{
	char *text = context;

	if (text[0] == '!')
		return -ECANCELED;
	snprintf(text, 32, "%s %d of %d axes", dray_ufunc_name(ufunc), output,
		 array->ndim);
	return dray_array_empty(DRAY_INT8, 0, NULL, out);
}

FACT(the_class_of_highest_priority_wraps_outputs_that_are_made)
{
	char texts[3][32] = { "", "", "" };
	const struct dray_ufunc_wrap low = { 0, wrap, texts[0] };
	const struct dray_ufunc_wrap high = { 1.5, wrap, texts[1] };
	const struct dray_ufunc_wrap same = { 1.5, wrap, texts[2] };
	const struct dray_ufunc_wrap *wraps[] = { NULL, &low };
	struct dray_ufunc_options options = { .wraps = wraps };
	struct dray_view in =
		view_of(numbers, DRAY_FLOAT64, 2, DIMS(3, 4), NULL);
	struct dray_array *made = NULL;

	assert_works(
		dray_ufunc_call(mix, INPUTS(&in, &in), NULL, &options, &made));
	assert_string_equal(texts[0], "mix 0 of 2 axes");
	assert_int_equal(made->ndim, 0);
	dray_array_unref(made);
	wraps[0] = &high;
	texts[0][0] = '\0';
	assert_works(
		dray_ufunc_call(mix, INPUTS(&in, &in), NULL, &options, &made));
	assert_string_equal(texts[0], "");
	assert_string_equal(texts[1], "mix 0 of 2 axes");
	dray_array_unref(made);
	wraps[1] = &same;
	assert_works(
		dray_ufunc_call(mix, INPUTS(&in, &in), NULL, &options, &made));
	assert_string_equal(texts[2], "");
	dray_array_unref(made);
	/* An output that was given stays. */
	texts[1][0] = '!';
	assert_works(dray_ufunc_call(mix, INPUTS(&in, &in), INPUTS(&in),
				     &options, &made));
	assert_null(made);
	assert_int_equal(dray_ufunc_call(mix, INPUTS(&in, &in), NULL, &options,
					 &made),
			 -ECANCELED);
	assert_null(made);
}
