// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ufunc_builtin: types of builtin functions where the table alone does not choose:
 * dates and durations, truth, and quotients.  The results are NumPy's.
 */
#include <dray/array.h>

#include "ufunc.h"

struct expected {
	const char *name;
	const char *types[2];
	unsigned int weak; /* bit i: input i is */
	const char *dtype;
	uint8_t casting;
	const char *made; /* the type of the first output; NULL: refused */
};

static const struct expected rows[] = {
	{ "add", { "M8[s]", "m8[ms]" }, .made = "<M8[ms]" },
	{ "add", { "M8[s]", "i8" }, 2, .made = "<M8[s]" },
	{ "add", { "M8[s]", "M8[s]" }, .made = NULL },
	{ "subtract", { "M8[D]", "M8[s]" }, .made = "<m8[s]" },
	{ "multiply", { "m8[s]", "f8" }, 2, .made = "<m8[s]" },
	{ "divide", { "m8[s]", "i8" }, 2, .made = "<m8[s]" },
	{ "divide", { "m8", "i8" }, 2, .made = "<m8" },
	{ "divide", { "m8[s]", "m8[ms]" }, .made = "<f8" },
	{ "remainder", { "m8[s]", "i8" }, 2, .made = NULL },
	{ "divmod", { "m8[s]", "i8" }, 2, .made = NULL },
	{ "maximum", { ">m8[s]", "m8[s]" }, .made = "<m8[s]" },
	{ "maximum", { ">m8", ">m8" }, .made = "<m8" },
	{ "maximum", { "M8[s]", "i8" }, 2, .made = NULL },
	{ "less", { "m8[s]", "i8" }, 2, .made = "|b1" },
	{ "less", { "M8[s]", "i8" }, 2, .made = NULL },
	{ "less", { "M8[s]", "m8[s]" }, .made = NULL },
	{ "equal", { "m8[M]", "m8[D]" }, .made = NULL },
	{ "logical_or", { "m8[s]", "f8" }, 2, .made = "|b1" },
	{ "logical_xor", { "M8[s]", "c8" }, .made = "|b1" },
	{ "logical_and", { "i4", "f4" }, .casting = 1, .made = "|b1" },
	{ "logical_and", { "i4", "f8" }, 2, .dtype = "f4", .made = NULL },
	{ "divide", { "i1", "i1" }, .made = "<f8" },
	{ "divide", { "i8", "i8" }, 2, .dtype = "f4", .made = "<f4" },
	{ "divide", { "i8", "i8" }, 2, .dtype = "c8", .made = "<c8" },
	{ "divide", { "i8", "i8" }, 2, .dtype = "i4", .made = NULL },
	{ "power", { "?", "i8" }, 2, .made = "<i8" },
	{ "bitwise_or", { "u2", "i8" }, 2, .casting = 1, .made = "<u2" },
	{ "bitwise_or", { "u2", "i8" }, 2, .casting = 2, .made = NULL },
	{ "equal", { "i4", "i8" }, 2, .casting = 2, .made = "|b1" },
	{ "equal", { "f4", "f8" }, 2, .casting = 2, .made = NULL },
	{ "bitwise_or", { "f4", "f4" }, .made = NULL },
	{ "subtract", { "?", "?" }, .made = NULL },
	{ "subtract", { "?", "i8" }, 2, .made = "<i8" },
	{ "subtract", { "?", "i1" }, .made = "|i1" },
	{ "subtract", { "?", "?" }, .dtype = "i4", .made = "<i4" },
	{ "gcd", { "?", "?" }, .made = NULL },
	{ "lcm", { "?", "u1" }, .made = "|u1" },
	/* Of one input. */
	{ "negative", { "?", "?" }, .made = NULL },
	{ "negative", { "?", "?" }, .dtype = "i1", .made = "|i1" },
	{ "positive", { "?", "?" }, .made = NULL },
	{ "sign", { "?", "?" }, .made = NULL },
	{ "absolute", { "?", "?" }, .made = "|b1" },
	{ "isnat", { "i8", "?" }, .made = NULL },
	{ "isnat", { ">M8[s]", "?" }, .made = "|b1" },
};

/* Calls on ones, of one element each. */
static int call(const struct expected *row, struct dray_array **made)
{
	char elements[2][16] = { "", "" };
	struct dray_view views[2];
	struct dray_array *out[2] = { NULL, NULL };
	struct dray_ufunc_options options = {
		.weak = (uint16_t)row->weak,
		.casting = row->casting,
	};
	const int64_t one = 1;
	dray_dtype dtype;
	int i, ret;

	if (row->dtype)
		assert_works(dray_dtype_parse(row->dtype, &options.dtype));
	for (i = 0; i < 2; i++) {
		assert_works(dray_dtype_parse(row->types[i], &dtype));
		views[i] = view_of(elements[i], dtype, 0, NULL, NULL);
		assert_works(dray_view_put(&views[i], DRAY_INT64, &one));
	}
	ret = dray_ufunc_call(dray_ufunc_find(row->name),
			      INPUTS(&views[0], &views[1]), NULL, &options,
			      out);
	dray_array_unref(out[1]);
	*made = out[0];
	return ret;
}

FACT(builtin_functions_choose_types_as_numpy_does)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct expected *row = &rows[i];
		char text[DRAY_DTYPE_TYPESTR_SIZE] = "nothing";
		struct dray_array *made;
		const int ret = call(row, &made);

		if (made)
			dray_dtype_format(made->dtype, text, sizeof(text));
		if (ret != (row->made ? 0 : -EOPNOTSUPP) ||
		    strcmp(text, row->made ? row->made : "nothing"))
			fail_msg("%s(%s, %s): %d, makes %s, %s", row->name,
				 row->types[0], row->types[1], ret, text,
				 dray_last_error());
		dray_array_unref(made);
	}
}
