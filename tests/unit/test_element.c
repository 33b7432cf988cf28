// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * element: values that become elements, or do not.  test_element_numpy.py
 * compares the functions of all types with NumPy's.
 */
#include "unit.h"

#define YES ((struct dray_scalar){ DRAY_SCALAR_BOOLEAN, { true } })
#define TEXT \
	((struct dray_scalar){ DRAY_SCALAR_BYTES, { .bytes = { "abc", 3 } } })
#define INTEGER(n) \
	((struct dray_scalar){ DRAY_SCALAR_SIGNED, { .integer = (n) } })
#define NATURAL(n) \
	((struct dray_scalar){ DRAY_SCALAR_UNSIGNED, { .natural = (n) } })
#define NUMBER(n) ((struct dray_scalar){ DRAY_SCALAR_REAL, { .real = (n) } })
#define PAIR(n, i) \
	((struct dray_scalar){ DRAY_SCALAR_COMPLEX, { .parts = { n, i } } })

FACT(values_are_stored_or_refused)
{
	static const struct {
		const char *type;
		struct dray_scalar value;
		int ret;
		char bytes[16];
	} cases[] = {
		{ "i1", INTEGER(-128), 0, "\x80" },
		{ "i1", INTEGER(-129), -ERANGE, "" },
		{ "i1", NATURAL(127), 0, "\x7f" },
		{ "i1", NATURAL(128), -ERANGE, "" },
		{ "u1", INTEGER(-1), -ERANGE, "" },
		{ "u1", NUMBER(255.9), 0, "\xff" },
		{ "u1", NUMBER(256), -ERANGE, "" },
		{ "u1", NUMBER(-0.5), 0, "" },
		{ "i1", NUMBER(-1.5), 0, "\xff" },
		{ "i1", NUMBER(__builtin_nan("")), -EINVAL, "" },
		{ "i8", NUMBER(__builtin_inf()), -ERANGE, "" },
		{ "u8", NUMBER(0x1p64), -ERANGE, "" },
		{ ">u8", NATURAL(UINT64_MAX - 1), 0,
		  "\xff\xff\xff\xff\xff\xff\xff\xfe" },
		{ "i8", INTEGER(INT64_MIN), 0, "\0\0\0\0\0\0\0\x80" },
		{ ">i2", YES, 0, "\0\1" },
		{ "?", NUMBER(0.5), 0, "\1" },
		{ "?", PAIR(0, 1), 0, "\1" },
		{ "?", INTEGER(0), 0, "" },
		{ ">f4", NUMBER(1.5), 0, "\x3f\xc0" },
		{ "<f4", PAIR(1, 1), -EINVAL, "" },
		{ "<f2", NUMBER(1e9), 0, "\0\x7c" },
		{ "<c8", INTEGER(1), 0, "\0\0\x80\x3f" },
		{ ">c8", PAIR(0, 1), 0, "\0\0\0\0\x3f\x80" },
		{ "i4", TEXT, -EINVAL, "" },
		{ "f4", TEXT, -EINVAL, "" },
		{ "<M8[s]", INTEGER(258), 0, "\2\1" },
		{ "<M8[s]", NUMBER(1), -EINVAL, "" },
		{ "S5", TEXT, 0, "abc" },
		{ "S2", TEXT, 0, "ab" },
		{ "V4", TEXT, 0, "abc" },
		{ "S2", YES, -EINVAL, "" },
		{ "S1,S2", TEXT, 0, "abc" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct dray_dtype_functions *functions;
		char element[16] = "";
		dray_dtype dtype;
		int ret;

		assert_works(dray_dtype_parse(cases[i].type, &dtype));
		functions = dray_dtype_functions(dtype);
		ret = functions->set(dtype, element, &cases[i].value);
		if (ret != cases[i].ret ||
		    memcmp(element, cases[i].bytes, sizeof(element)))
			fail_msg("case %zu of %s: %d, %s", i, cases[i].type,
				 ret, dray_last_error());
		dray_dtype_unref(dtype);
	}
}

FACT(text_has_no_zeros_at_its_end)
{
	static const struct {
		const char *type;
		char element[8];
		size_t size;
	} cases[] = {
		{ "S5", "ab\0c", 4 }, { "S5", "", 0 }, { "<U2", "a", 4 },
		{ "<U2", "", 0 },     { "V5", "", 5 }, { "i1,i2", "", 3 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dray_scalar value;
		dray_dtype dtype;

		assert_works(dray_dtype_parse(cases[i].type, &dtype));
		assert_works(dray_dtype_functions(dtype)->get(
			dtype, cases[i].element, &value));
		assert_int_equal(value.kind, DRAY_SCALAR_BYTES);
		assert_int_equal(value.bytes.size, cases[i].size);
		assert_ptr_equal(value.bytes.data, cases[i].element);
		dray_dtype_unref(dtype);
	}
}

FACT(long_doubles_of_other_machines_are_only_copied)
{
	/* 12 or 16 bytes, of which this machine has at most one. */
	dray_dtype dtype =
		DRAY_DTYPE('f', '<', sizeof(long double) == 16 ? 12 : 16);
	const struct dray_dtype_functions *functions =
		dray_dtype_functions(dtype);
	char from[16] = "abcdefghijklmno", to[16] = "";
	struct dray_scalar value;

	assert_fails(functions->get(dtype, from, &value), -EOPNOTSUPP,
		     "long double");
	assert_fails(functions->set(dtype, from, &YES), -EOPNOTSUPP,
		     "long double");
	functions->copyswap(dtype, to, 0, from, 0, 1, true);
	assert_int_equal(to[0], from[dray_dtype_itemsize(dtype) - 1]);
	functions->copyswap(dtype, to, 0, to, 0, 1, true);
	assert_memory_equal(to, from, dray_dtype_itemsize(dtype));
}

FACT(a_word_without_a_type_has_no_functions)
{
	assert_null(dray_dtype_functions(0));
	assert_int_equal(errno, EINVAL);
	assert_null(dray_dtype_functions(DRAY_DTYPE('f', '<', 3)));
}
