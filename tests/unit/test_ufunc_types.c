// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ufunc_types: the loop that a call takes, by the types of its operands and the
 * types that it wants.  The results are those of NumPy 2.4, with the same lists
 * of types.
 */
#include <dray/array.h>

#include "ufunc_lists.h"

FACTS_SHARE(set_up_lists, drop_lists)

#define NO 1
#define EQUIV 2
#define SAFE 3
#define SAME 4
#define UNSAFE 5

struct expected {
	const char *name;
	const char *types; /* of inputs, and of outputs that are given */
	unsigned int weak; /* bit i: input i is */
	const char *dtype;
	const char *signature;
	uint8_t casting;
	const char *loop; /* or the sentence of a refusal */
};

/* Asks for the loop that a call has taken. */
static void check_resolved(const struct list *list, const dray_dtype *given,
			   const struct dray_ufunc_options *options)
{
	dray_dtype expected[DRAY_UFUNC_MAX_OPERANDS];
	dray_dtype found[DRAY_UFUNC_MAX_OPERANDS];
	const int count = parse(taken, expected);

	assert_works(
		dray_ufunc_resolve_types(list->ufunc, given, options, found));
	for (int o = 0; o < count; o++) {
		assert_true(dray_dtype_equal(found[o], expected[o]));
		dray_dtype_unref(found[o]);
	}
}

/* Calls on zeros, of one element each; ones for weak numbers. */
static int call(const struct expected *row)
{
	static union {
		int64_t integer;
		double real;
		double parts[2];
	} elements[DRAY_UFUNC_MAX_OPERANDS];
	const struct list *list = list_of(row->name);
	struct dray_view views[DRAY_UFUNC_MAX_OPERANDS];
	const struct dray_view *given[DRAY_UFUNC_MAX_OPERANDS] = { NULL };
	struct dray_array *made[DRAY_UFUNC_MAX_OPERANDS] = { NULL };
	dray_dtype types[DRAY_UFUNC_MAX_OPERANDS] = { 0 };
	dray_dtype wanted[DRAY_UFUNC_MAX_OPERANDS] = { 0 };
	struct dray_ufunc_options options = {
		.weak = (uint16_t)row->weak,
		.casting = row->casting,
	};
	const int count = parse(row->types, types);
	int o, ret;

	for (o = 0; o < count; o++) {
		elements[o].parts[1] = 0;
		elements[o].integer = o < list->inputs;
		if (dray_dtype_kind(types[o]) == 'f' ||
		    dray_dtype_kind(types[o]) == 'c')
			elements[o].real = 0;
		views[o] = view_of(&elements[o], types[o], 0, NULL, NULL);
		given[o] = &views[o];
	}
	if (row->dtype)
		parse(row->dtype, &options.dtype);
	if (row->signature) {
		parse(row->signature, wanted);
		options.signature = wanted;
	}
	taken = "none";
	ret = dray_ufunc_call(list->ufunc, given, given + list->inputs,
			      &options, made);
	for (o = 0; o < list->outputs; o++)
		dray_array_unref(made[o]);
	if (!ret)
		check_resolved(list, types, &options);
	return ret;
}

static const struct expected loops[] = {
	/* The loop of the very types. */
	{ "add", "i2 i2", .loop = "i2 i2 i2" },
	{ "add", "f4 f4", .loop = "f4 f4 f4" },
	{ "divide", "i4 i4", .loop = "i4 i4 f8" },
	{ "less", "u8 i8", .loop = "u8 i8 ?" },
	{ "ldexp", "f4 i8", .loop = "f4 i8 f4" },
	/* The first that all convert to safely. */
	{ "add", "i1 i8", .loop = "i8 i8 i8" },
	{ "add", "u1 i1", .loop = "i2 i2 i2" },
	{ "add", "u8 i8", .loop = "f8 f8 f8" },
	{ "add", "? u1", .loop = "u1 u1 u1" },
	{ "add", "i2 f2", .loop = "f4 f4 f4" },
	{ "add", "i4 f4", .loop = "f8 f8 f8" },
	{ "add", "i8 c8", .loop = "c16 c16 c16" },
	{ "divide", "i1 f2", .loop = "f2 f2 f2" },
	{ "divide", "? ?", .loop = "i1 i1 f8" },
	{ "arctan2", "i1 i1", .loop = "f2 f2 f2" },
	{ "arctan2", "i4 i4", .loop = "f8 f8 f8" },
	{ "ldexp", "f4 i1", .loop = "f4 i4 f4" },
	{ "ldexp", "f4 u4", .loop = "f4 i8 f4" },
	{ "less", "i1 u8", .loop = "i8 u8 ?" },
	{ "modf", "i2", .loop = "f4 f4 f4" },
	/* Byte order does not count. */
	{ "add", ">f8 <f8", .loop = "f8 f8 f8" },
	{ "add", ">i2 >i4", .loop = "i4 i4 i4" },
	/* Outputs do not count, if they can be cast to. */
	{ "add", "i1 i1 f8", .loop = "i1 i1 i1" },
	{ "add", "f8 f8 f4", .loop = "f8 f8 f8" },
	{ "add", "i8 i8 i1", .loop = "i8 i8 i8" },
	{ "divide", "i4 i4 f4", .loop = "i4 i4 f8" },
	{ "add", "f8 f8 i4", .casting = UNSAFE, .loop = "f8 f8 f8" },
	{ "modf", "f4 f2 f8", .loop = "f4 f4 f4" },
	/* Numbers of the program take on the type of their partners. */
	{ "add", "i1 i8", 2, .loop = "i1 i1 i1" },
	{ "add", "i8 u1", 1, .loop = "u1 u1 u1" },
	{ "add", "f4 f8", 2, .loop = "f4 f4 f4" },
	{ "add", "f2 i8", 2, .loop = "f2 f2 f2" },
	{ "add", "f4 c16", 2, .loop = "c8 c8 c8" },
	{ "add", "f8 c16", 2, .loop = "c16 c16 c16" },
	{ "add", "i4 f8", 2, .loop = "f8 f8 f8" },
	{ "add", "i1 f8", 2, .loop = "f8 f8 f8" },
	{ "add", "? i8", 2, .loop = "i8 i8 i8" },
	{ "add", "? f8", 2, .loop = "f8 f8 f8" },
	{ "add", "i8 i8", 3, .loop = "i8 i8 i8" },
	{ "add", "i8 f8", 3, .loop = "f8 f8 f8" },
	{ "add", "? ?", 3, .loop = "? ? ?" },
	{ "divide", "u1 i8", 2, .loop = "u1 u1 f8" },
	{ "divide", "f4 i8", 2, .loop = "f4 f4 f4" },
	{ "arctan2", "i1 i8", 2, .loop = "f2 f2 f2" },
	{ "arctan2", "f4 i8", 2, .loop = "f4 f4 f4" },
	{ "ldexp", "f4 i8", 2, .loop = "f4 i4 f4" },
	{ "ldexp", "f8 i4", 1, .loop = "f8 i4 f8" },
	{ "less", "u1 i8", 2, .loop = "u1 u1 ?" },
	/* The type of outputs chooses the loop. */
	{ "add", "i1 i1", .dtype = "f8", .loop = "f8 f8 f8" },
	{ "add", "f8 f8", .dtype = "f4", .loop = "f4 f4 f4" },
	{ "add", "f8 f8", .dtype = ">f4", .loop = "f4 f4 f4" },
	{ "add", "i8 i8", .dtype = "i1", .loop = "i1 i1 i1" },
	{ "add", "f8 f8", .dtype = "i4", .casting = UNSAFE,
	  .loop = "i4 i4 i4" },
	{ "divide", "i2 i2", .dtype = "f8", .loop = "i2 i2 f8" },
	{ "divide", "i2 i2", .dtype = "f4", .loop = "f4 f4 f4" },
	{ "less", "i1 i2", .dtype = "?", .loop = "i2 i2 ?" },
	{ "modf", "f8", .dtype = "f4", .loop = "f4 f4 f4" },
	{ "add", "i1 i1 f4", .dtype = "f8", .loop = "f8 f8 f8" },
	/* So does a signature, or a part of one. */
	{ "add", "i1 i1", .signature = "f4 f4 f4", .loop = "f4 f4 f4" },
	{ "add", "i1 i1", .signature = "f4 - -", .loop = "f4 f4 f4" },
	{ "add", "i1 i1", .signature = "- - f8", .loop = "f8 f8 f8" },
	{ "less", "i1 i1", .signature = "i8 i8 -", .loop = "i8 i8 ?" },
	{ "ldexp", "f4 i4", .signature = "- i8 -", .loop = "f4 i8 f4" },
	{ "modf", "f4", .signature = "- f8 -", .loop = "f8 f8 f8" },
	/* Rules. */
	{ "add", "i1 i1", .casting = NO, .loop = "i1 i1 i1" },
	{ "add", ">i2 i2", .casting = EQUIV, .loop = "i2 i2 i2" },
	{ "add", "i1 i2", .casting = SAFE, .loop = "i2 i2 i2" },
	{ "add", "f4 f4 f8", .casting = SAFE, .loop = "f4 f4 f4" },
};

static const struct expected refusals[] = {
	{ "add", "f8 f8 i8",
	  .loop = "Cannot cast ufunc 'add' output from <f8 to <i8 with casting rule 'same_kind'" },
	{ "add", "c8 c8 f4",
	  .loop = "Cannot cast ufunc 'add' output from <c8 to <f4" },
	{ "add", "i8 i8 i4", .casting = SAFE,
	  .loop = "Cannot cast ufunc 'add' output from <i8 to <i4 with casting rule 'safe'" },
	{ "add", "i1 i2", .casting = EQUIV,
	  .loop = "Cannot cast ufunc 'add' input 0 from |i1 to <i2 with casting rule 'equiv'" },
	{ "add", ">i2 i2", .casting = NO,
	  .loop = "Cannot cast ufunc 'add' input 0 from >i2 to <i2 with casting rule 'no'" },
	{ "add", "f8 f8", .dtype = "i4",
	  .loop = "Cannot cast ufunc 'add' input 0 from <f8 to <i4" },
	{ "add", "i4 f8", .signature = "i4 i4 i4",
	  .loop = "Cannot cast ufunc 'add' input 1 from <f8 to <i4" },
	{ "modf", "f8 f4 i4",
	  .loop = "Cannot cast ufunc 'modf' output 1 from <f8 to <i4" },
	{ "add", "f8 S3",
	  .loop = "ufunc 'add' has no loop for the types (<f8, |S3)" },
	{ "add", "U1 i1",
	  .loop = "ufunc 'add' has no loop for the types (<U1, |i1)" },
	{ "add", "V4 V4",
	  .loop = "ufunc 'add' has no loop for the types (|V4, |V4)" },
	{ "arctan2", "c8 f4",
	  .loop = "ufunc 'arctan2' has no loop for the types (<c8, <f4)" },
	{ "ldexp", "f8 f8", .loop = "has no loop for the types (<f8, <f8)" },
	{ "ldexp", "f8 u8", .loop = "has no loop for the types (<f8, <u8)" },
	{ "ldexp", "f4 f8", 2, .loop = "has no loop for the types" },
	{ "arctan2", "f4 f4", .dtype = "i4",
	  .loop = "No loop of ufunc 'arctan2' matches the signature" },
	{ "less", "i1 i1", .dtype = "f4",
	  .loop = "No loop of ufunc 'less' matches the signature" },
	{ "add", "f4 f4", .signature = "f4 f8 -",
	  .loop = "No loop of ufunc 'add' matches the signature" },
	{ "ldexp", "f8 i8", .dtype = "f4",
	  .loop = "No loop of ufunc 'ldexp' matches the signature" },
};

FACT(a_call_takes_the_loop_that_numpy_takes)
{
	size_t i;

	for (i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
		const struct expected *row = &loops[i];

		if (call(row) || strcmp(taken, row->loop))
			fail_msg("%s(%s) takes %s, not %s: %s", row->name,
				 row->types, taken, row->loop,
				 dray_last_error());
	}
}

FACT(a_call_without_a_loop_is_refused_with_a_sentence)
{
	size_t i;

	for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const struct expected *row = &refusals[i];
		const int ret = call(row);

		if (ret != -EOPNOTSUPP || strcmp(taken, "none") ||
		    !strstr(dray_last_error(), row->loop))
			fail_msg("%s(%s): %d, takes %s, says '%s', not '%s'",
				 row->name, row->types, ret, taken,
				 dray_last_error(), row->loop);
	}
}

FACT(types_that_are_none_are_refused)
{
	dray_dtype bad[3] = { 0, 99, 0 };
	double element = 0;
	struct dray_view view = view_of(&element, DRAY_FLOAT64, 0, NULL, NULL);
	struct dray_ufunc_options options = { .dtype = 99 };
	struct dray_ufunc *add = list_of("add")->ufunc;

	assert_int_equal(dray_ufunc_call(add, INPUTS(&view, &view),
					 INPUTS(&view), &options, NULL),
			 -EINVAL);
	options.dtype = 0;
	options.signature = bad;
	assert_int_equal(dray_ufunc_call(add, INPUTS(&view, &view),
					 INPUTS(&view), &options, NULL),
			 -EINVAL);
}

static int call_weak(const char *name, dray_dtype dtype, dray_dtype of,
		     int64_t number)
{
	int64_t element = 0;
	struct dray_array *made = NULL;
	struct dray_view in = view_of(&element, dtype, 0, NULL, NULL);
	struct dray_view weak = view_of(&number, of, 0, NULL, NULL);
	const struct dray_ufunc_options options = { .weak = 2 };
	int ret;

	ret = dray_ufunc_call(list_of(name)->ufunc, INPUTS(&in, &weak), NULL,
			      &options, &made);
	dray_array_unref(made);
	return ret;
}

FACT(an_integer_of_the_program_fits_its_partner)
{
	static const struct {
		dray_dtype dtype, of;
		int64_t number;
		const char *refused; /* NULL: it fits */
	} rows[] = {
		{ DRAY_INT8, DRAY_INT64, 127, NULL },
		{ DRAY_INT8, DRAY_INT64, -128, NULL },
		{ DRAY_INT8, DRAY_INT64, 128, "128 out of bounds for |i1" },
		{ DRAY_INT8, DRAY_INT64, -129, "-129 out of bounds for |i1" },
		{ DRAY_UINT8, DRAY_INT64, 255, NULL },
		{ DRAY_UINT8, DRAY_INT64, 300, "300 out of bounds for |u1" },
		{ DRAY_UINT8, DRAY_INT64, -1, "-1 out of bounds for |u1" },
		{ DRAY_UINT32, DRAY_INT64, 4294967295, NULL },
		{ DRAY_UINT32, DRAY_INT64, 4294967296, "out of bounds" },
		{ DRAY_INT64, DRAY_INT64, INT64_MIN, NULL },
		{ DRAY_UINT64, DRAY_INT64, INT64_MAX, NULL },
		{ DRAY_UINT64, DRAY_INT64, -1, "-1 out of bounds for <u8" },
		{ DRAY_INT64, DRAY_UINT64, INT64_MAX, NULL },
		{ DRAY_INT64, DRAY_UINT64, -1,
		  "18446744073709551615 out of bounds for <i8" },
		{ DRAY_INT8, DRAY_UINT64, -128,
		  "18446744073709551488 out of bounds for |i1" },
		{ DRAY_FLOAT32, DRAY_INT64, INT64_MAX, NULL },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].refused)
			assert_fails(call_weak("add", rows[i].dtype, rows[i].of,
					       rows[i].number),
				     -EOVERFLOW, rows[i].refused);
		else
			assert_works(call_weak("add", rows[i].dtype, rows[i].of,
					       rows[i].number));
	}
}

FACT(a_comparison_with_an_integer_that_does_not_fit_takes_another_loop)
{
	assert_works(call_weak("less", DRAY_UINT8, DRAY_INT64, 300));
	assert_string_equal(taken, "i8 i8 ?");
	assert_works(call_weak("less", DRAY_UINT64, DRAY_INT64, -1));
	assert_string_equal(taken, "u8 i8 ?");
	assert_works(call_weak("less", DRAY_UINT8, DRAY_INT64, 200));
	assert_string_equal(taken, "u1 u1 ?");
}

FACT(a_number_of_the_program_is_one_element)
{
	double elements[2] = { 0 };
	struct dray_view view = view_of(elements, f4, 1, DIMS(2), NULL);
	const struct dray_ufunc_options options = { .weak = 2 };
	struct dray_view out = view;

	assert_fails(dray_ufunc_call(list_of("add")->ufunc,
				     INPUTS(&view, &view), INPUTS(&out),
				     &options, NULL),
		     -EINVAL, "is one element, and input 1 has 2");
}
