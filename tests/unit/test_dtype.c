// SPDX-License-Identifier: Apache-2.0 OR MIT
/* dtype: typestrs to types and back. */
#include "unit.h"

FACT(typestr_becomes_a_type_and_the_same_typestr)
{
	static const struct {
		const char *typestr;
		char kind, order;
		uint32_t itemsize;
	} cases[] = {
		{ "|b1", '?', '|', 1 },
		{ "|u1", 'u', '|', 1 },
		{ "|i1", 'i', '|', 1 },
		{ "<i2", 'i', '<', 2 },
		{ ">u4", 'u', '>', 4 },
		{ "<i8", 'i', '<', 8 },
		{ "<f2", 'f', '<', 2 },
		{ "<f4", 'f', '<', 4 },
		{ ">f8", 'f', '>', 8 },
		{ "<f16", 'f', '<', 16 },
		{ "<c8", 'c', '<', 8 },
		{ "<c32", 'c', '<', 32 },
		{ "<m8", 'm', '<', 8 },
		{ ">M8", 'M', '>', 8 },
		{ "<M8[ns]", 'M', '<', 8 },
		{ ">m8[25s]", 'm', '>', 8 },
		{ "<m8[4095as]", 'm', '<', 8 },
		{ "|S0", 'S', '|', 0 },
		{ "|S17", 'S', '|', 17 },
		{ "<U5", 'U', '<', 20 },
		{ "|V12", 'V', '|', 12 },
		{ "|V4294967295", 'V', '|', 4294967295u },
		{ "<U1073741823", 'U', '<', 4294967292u },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		dray_dtype dtype;
		char back[16];

		assert_works(dray_dtype_parse(cases[i].typestr, &dtype));
		assert_int_equal(dray_dtype_kind(dtype), cases[i].kind);
		assert_int_equal(dray_dtype_order(dtype), cases[i].order);
		assert_int_equal(dray_dtype_itemsize(dtype), cases[i].itemsize);
		assert_true(dray_dtype_format(dtype, back, 16) > 0);
		assert_string_equal(back, cases[i].typestr);
	}
}

FACT(order_is_dropped_where_it_means_nothing)
{
	static const char *const cases[][2] = {
		{ "<u1", "|u1" }, { ">b1", "|b1" }, { "b1", "|b1" },
		{ "V3", "|V3" },  { "<S4", "|S4" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		dray_dtype dtype;
		char back[16];

		assert_works(dray_dtype_parse(cases[i][0], &dtype));
		assert_true(dray_dtype_format(dtype, back, 16) > 0);
		assert_string_equal(back, cases[i][1]);
	}
}

FACT(what_is_no_typestr_is_refused_and_quoted)
{
	static const char *const cases[] = {
		"",
		"<",
		"<w",
		"<f3",
		"<i16",
		"|O",
		"<O8",
		"<x4",
		"<f4 ",
		"<f4[3]",
		"<M8[]",
		"<M8[5]",
		"<M8[0s]",
		"<M8[4096s]",
		"<M8[generic/2]",
		"<M8[2generic]",
		"<M8[/2]",
		"<M8[D/]",
		"<M8[D/0]",
		"<M8[D/-24]",
		"<M8[D/23]",
		"<M8[D /24]",
		"<M8[D/24 ]",
		"<M8[D/24/2]",
		"<M8[D/4294967320]",
		"<M8[ D]",
		"<M8[-1D]",
		"<M8[3/D]",
		"<M8[/]",
		"<M8[]]",
		"<M8[as/2]",
		"<M8[s/16]",
		"<M8[4000h/30]",
		"<M8[s",
		"<M8[xs]",
		"<M8[s]s",
		"<f4[s]",
		"<float32",
		"(2,3",
		"(2 3)f4",
		"(2,x)f4",
		"(-1,)f4",
		"<(2,)>f4",
		"i4,,f4",
		",",
		"99999999999f4",
		"(99999,99999)f4",
		"<m4",
		"|b2",
		"|?1",
		"<f-4",
		"|V4294967296",
		"<U1073741824",
		"|V99999999999999999999",
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		dray_dtype dtype = 'x';

		int result = dray_dtype_parse(cases[i], &dtype);

		if (result != -EINVAL && result != -EOVERFLOW)
			fail_msg("'%s' is parsed", cases[i]);
		assert_int_equal(dtype, 'x');
		assert_true(strlen(dray_last_error()) > 10);
	}
	assert_fails(dray_dtype_parse("<M8[4096s]", &(dray_dtype){ 0 }),
		     -EINVAL, "1 to 4095");
	assert_fails(dray_dtype_parse(NULL, &(dray_dtype){ 0 }), -EINVAL,
		     "NULL");
	assert_fails(dray_dtype_parse("|O", &(dray_dtype){ 0 }), -EINVAL,
		     "objects");
}

FACT(a_type_that_no_typestr_describes_is_not_formatted)
{
	static const dray_dtype cases[] = {
		0,
		DRAY_DTYPE('O', '|', 8),
		DRAY_DTYPE('f', '<', 3),
		DRAY_DTYPE('f', '|', 4),
		DRAY_DTYPE('f', 0, 4),
		DRAY_DTYPE('u', 'x', 1),
		DRAY_DTYPE('f', '<', 4) | 7 << 16,
		DRAY_DTYPE('U', '<', 6),
		DRAY_TIME('M', 14, 1),
		DRAY_TIME('M', DRAY_UNIT_SECOND, 0),
		DRAY_TIME('M', DRAY_UNIT_SECOND, 1) & ~(7ull << 16),
		DRAY_DTYPE('\xff', '<', 4),
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char out[16] = "untouched";

		assert_int_equal(dray_dtype_format(cases[i], out, 16), -EINVAL);
		assert_string_equal(out, "untouched");
	}
}
