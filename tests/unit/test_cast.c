// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * cast: rules, common types and the loops between numbers.  test_cast_numpy.py
 * compares all pairs with NumPy; here are the answers that each rule is for, in
 * programs without NumPy and with sanitizers.
 */
#include <float.h>
#include <math.h>

#include <dray/array.h>

#include "unit.h"

#define SECONDS DRAY_DATETIME64(DRAY_UNIT_SECOND, 1)
#define DAYS DRAY_DATETIME64(DRAY_UNIT_DAY, 1)
#define SWAPPED_INT32 DRAY_DTYPE('i', DRAY_NATIVE_ORDER ^ '<' ^ '>', 4)

static void levels(dray_dtype from, dray_dtype to, enum dray_casting first)
{
	enum dray_casting casting;

	for (casting = DRAY_CASTING_NO; casting <= DRAY_CASTING_UNSAFE;
	     casting++) {
		if (dray_can_cast(from, to, casting) != (casting >= first))
			fail_msg("0x%" PRIx64 " to 0x%" PRIx64 ": %s", from, to,
				 dray_casting_name(casting));
	}
}

FACT(a_cast_is_allowed_from_its_level_on)
{
	static const struct {
		dray_dtype from, to;
		enum dray_casting level;
	} rows[] = {
		{ DRAY_INT32, DRAY_INT32, DRAY_CASTING_NO },
		{ DRAY_INT32, SWAPPED_INT32, DRAY_CASTING_EQUIV },
		{ DRAY_INT32, DRAY_INT64, DRAY_CASTING_SAFE },
		{ DRAY_INT32, DRAY_FLOAT64, DRAY_CASTING_SAFE },
		{ DRAY_INT32, DRAY_FLOAT32, DRAY_CASTING_SAME_KIND },
		{ DRAY_FLOAT64, DRAY_FLOAT32, DRAY_CASTING_SAME_KIND },
		{ DRAY_UINT32, DRAY_INT32, DRAY_CASTING_SAME_KIND },
		{ DRAY_INT32, DRAY_UINT64, DRAY_CASTING_UNSAFE },
		{ DRAY_FLOAT64, DRAY_INT64, DRAY_CASTING_UNSAFE },
		{ DRAY_COMPLEX64, DRAY_FLOAT64, DRAY_CASTING_UNSAFE },
		{ DRAY_BOOL, DRAY_COMPLEX64, DRAY_CASTING_SAFE },
		{ DRAY_BYTES(3), DRAY_UNICODE(3), DRAY_CASTING_SAFE },
		{ DRAY_UNICODE(3), DRAY_BYTES(3), DRAY_CASTING_UNSAFE },
		{ DRAY_BYTES(3), DRAY_BYTES(2), DRAY_CASTING_SAME_KIND },
		{ DRAY_INT8, DRAY_BYTES(4), DRAY_CASTING_SAFE },
		{ DRAY_INT8, DRAY_BYTES(3), DRAY_CASTING_SAME_KIND },
		{ DRAY_INT64, DRAY_BYTES(0), DRAY_CASTING_SAFE },
		{ DRAY_VOID(4), DRAY_VOID(8), DRAY_CASTING_SAFE },
		{ DRAY_INT64, DRAY_VOID(4), DRAY_CASTING_UNSAFE },
		{ DAYS, SECONDS, DRAY_CASTING_SAFE },
		{ SECONDS, DAYS, DRAY_CASTING_SAME_KIND },
		{ DRAY_DATETIME64(0, 1), DAYS, DRAY_CASTING_SAFE },
		{ DAYS, DRAY_DATETIME64(0, 1), DRAY_CASTING_UNSAFE },
		{ DRAY_TIMEDELTA64(DRAY_UNIT_MONTH, 1),
		  DRAY_TIMEDELTA64(DRAY_UNIT_DAY, 1), DRAY_CASTING_UNSAFE },
		{ DRAY_INT32, DRAY_TIMEDELTA64(0, 1), DRAY_CASTING_SAFE },
		{ DRAY_INT32, DAYS, DRAY_CASTING_UNSAFE },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		levels(rows[i].from, rows[i].to, rows[i].level);
}

FACT(no_type_casts_to_none)
{
	assert_false(dray_can_cast(0, 0, DRAY_CASTING_UNSAFE));
	assert_false(dray_can_cast(DRAY_INT8, 0, DRAY_CASTING_UNSAFE));
	assert_false(dray_can_cast(0, DRAY_INT8, DRAY_CASTING_UNSAFE));
	assert_string_equal(dray_casting_name(DRAY_CASTING_SAME_KIND),
			    "same_kind");
	assert_string_equal(dray_casting_name((enum dray_casting)9), "?");
}

FACT(types_have_the_least_common_type)
{
	static const struct {
		dray_dtype types[3];
		size_t count;
		unsigned int weak;
		dray_dtype common;
	} rows[] = {
		{ { DRAY_INT8, DRAY_UINT8 }, 2, 0, DRAY_INT16 },
		{ { DRAY_INT64, DRAY_UINT64 }, 2, 0, DRAY_FLOAT64 },
		{ { DRAY_INT16, DRAY_FLOAT16 }, 2, 0, DRAY_FLOAT32 },
		{ { DRAY_INT32, DRAY_COMPLEX64 }, 2, 0, DRAY_COMPLEX128 },
		{ { DRAY_FLOAT16, DRAY_COMPLEX64 }, 2, 0, DRAY_COMPLEX64 },
		{ { SWAPPED_INT32, SWAPPED_INT32 }, 2, 0, DRAY_INT32 },
		{ { DRAY_INT64, DRAY_BYTES(3) }, 2, 0, DRAY_BYTES(21) },
		{ { DRAY_BYTES(30), DRAY_UNICODE(3) }, 2, 0, DRAY_UNICODE(30) },
		{ { DRAY_DATETIME64(DRAY_UNIT_HOUR, 6),
		    DRAY_DATETIME64(DRAY_UNIT_HOUR, 4) },
		  2,
		  0,
		  DRAY_DATETIME64(DRAY_UNIT_HOUR, 2) },
		{ { DRAY_INT16, DRAY_UINT16, DRAY_FLOAT32 },
		  3,
		  0,
		  DRAY_FLOAT32 },
		{ { DRAY_UINT8 }, 1, DRAY_WEAK_INT, DRAY_UINT8 },
		{ { DRAY_UINT8 }, 1, DRAY_WEAK_FLOAT, DRAY_FLOAT64 },
		{ { DRAY_FLOAT16 }, 1, DRAY_WEAK_FLOAT, DRAY_FLOAT16 },
		{ { DRAY_FLOAT16 }, 1, DRAY_WEAK_COMPLEX, DRAY_COMPLEX64 },
		{ { DRAY_BOOL }, 1, DRAY_WEAK_INT, DRAY_INT64 },
		{ { 0 }, 0, DRAY_WEAK_INT | DRAY_WEAK_FLOAT, DRAY_FLOAT64 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		dray_dtype common = 0;

		assert_works(dray_result_type(rows[i].types, rows[i].count,
					      rows[i].weak, &common));
		if (common != rows[i].common)
			fail_msg("row %zu: 0x%" PRIx64, i, common);
	}
}

FACT(types_without_a_common_one_are_refused)
{
	static const struct {
		dray_dtype types[2];
		size_t count;
		unsigned int weak;
		int error;
		const char *said;
	} rows[] = {
		{ { DRAY_INT32, DAYS }, 2, 0, -EINVAL, "<i4 and <M8" },
		{ { DRAY_VOID(4), DRAY_VOID(8) }, 2, 0, -EINVAL, "|V4 and |V8" },
		{ { DRAY_BYTES(4) }, 1, DRAY_WEAK_INT, -EINVAL, "|S4" },
		{ { 0, DRAY_INT8 }, 2, 0, -EINVAL, "0, which is none" },
		{ { 0 }, 0, 0, -EINVAL, "0 types" },
		{ { DRAY_INT8 }, 65, 0, -EINVAL, "65 types" },
		{ { DRAY_INT8 }, 1, 8, -EINVAL, "0x8" },
		{ { DRAY_TIMEDELTA64(DRAY_UNIT_YEAR, 1),
		    DRAY_TIMEDELTA64(DRAY_UNIT_DAY, 1) },
		  2,
		  0,
		  -EINVAL,
		  "in Y and in D" },
		{ { DAYS, DRAY_DATETIME64(DRAY_UNIT_ATTOSECOND, 1) },
		  2,
		  0,
		  -EOVERFLOW,
		  "D and as" },
	};
	dray_dtype out;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_fails(dray_result_type(rows[i].types, rows[i].count,
					      rows[i].weak, &out),
			     rows[i].error, rows[i].said);
}

static void run(dray_dtype to, dray_dtype from, void *dst, const void *src,
		int64_t count)
{
	struct dray_cast cast;

	assert_works(dray_cast_find(to, from, &cast));
	assert_works(dray_cast_run(&cast, dst, dray_dtype_itemsize(to), src,
				   dray_dtype_itemsize(from), count));
}

FACT(float16_is_rounded_to_the_nearest_even_number)
{
	static const struct {
		double from;
		uint16_t half;
	} rows[] = {
		{ 0.0, 0 },
		{ -0.0, 0x8000 },
		{ 1.0, 0x3c00 },
		{ 1 + 0x1p-11, 0x3c00 },
		{ 1 + 0x3p-11, 0x3c02 },
		{ 1 + 0x1p-11 + 0x1p-40, 0x3c01 },
		{ 65504, 0x7bff },
		{ 65519.9999, 0x7bff },
		{ 65520, 0x7c00 },
		{ -1e300, 0xfc00 },
		{ 0x1p-24, 1 },
		{ 0x1p-25, 0 },
		{ 0x1.0001p-25, 1 },
		{ 0x3p-25, 2 },
		{ 0x1.ff8p-15, 0x3ff },
		{ 0x1.ffcp-15, 0x400 },
		{ 0x1p-14, 0x400 },
		{ INFINITY, 0x7c00 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const float single = (float)rows[i].from;
		uint16_t half;
		double back;

		run(DRAY_FLOAT16, DRAY_FLOAT64, &half, &rows[i].from, 1);
		assert_int_equal(half, rows[i].half);
		if (single == rows[i].from) {
			run(DRAY_FLOAT16, DRAY_FLOAT32, &half, &single, 1);
			assert_int_equal(half, rows[i].half);
		}
		run(DRAY_FLOAT64, DRAY_FLOAT16, &back, &half, 1);
		run(DRAY_FLOAT16, DRAY_FLOAT64, &half, &back, 1);
		assert_int_equal(half, rows[i].half);
	}
}

FACT(every_float16_survives_the_way_to_each_longer_float_and_back)
{
	static const dray_dtype types[] = { DRAY_FLOAT32, DRAY_FLOAT64,
					    DRAY_COMPLEX64, DRAY_COMPLEX128 };
	static uint16_t halves[65536], back[65536];
	static unsigned char wide[65536 * 16];
	uint32_t i;

	for (i = 0; i < 65536; i++)
		halves[i] = (uint16_t)i;
	for (size_t k = 0; k < sizeof(types) / sizeof(types[0]); k++) {
		run(types[k], DRAY_FLOAT16, wide, halves, 65536);
		run(DRAY_FLOAT16, types[k], back, wide, 65536);
		for (i = 0; i < 65536; i++) {
			/* A signalling NaN may become a quiet one. */
			if ((i & 0x7fff) <= 0x7c00)
				assert_int_equal(back[i], i);
			else
				assert_int_equal(back[i] & 0x7c00, 0x7c00);
		}
	}
}

/* All byte orders and sizes of numbers, of any two. */
static dray_dtype random_number(struct dice *dice)
{
	static const dray_dtype types[] = {
		DRAY_BOOL,	DRAY_INT8,	 DRAY_INT16,   DRAY_INT32,
		DRAY_INT64,	DRAY_UINT8,	 DRAY_UINT16,  DRAY_UINT32,
		DRAY_UINT64,	DRAY_FLOAT16,	 DRAY_FLOAT32, DRAY_FLOAT64,
		DRAY_COMPLEX64, DRAY_COMPLEX128,
	};
	dray_dtype type = types[roll(dice, sizeof(types) / sizeof(types[0]))];

	if (dray_dtype_order(type) != '|' && roll(dice, 2))
		type ^= (dray_dtype)('<' ^ '>') << 8;
	return type;
}

FACT(small_integers_are_the_same_number_in_all_types_at_all_addresses)
{
	static unsigned char first[4096], second[4096];
	struct dice dice = { 99 };

	for (int i = 0; i < 20000; i++) {
		const dray_dtype one = random_number(&dice);
		const dray_dtype other = random_number(&dice);
		const bool is_bool = one == DRAY_BOOL || other == DRAY_BOOL;
		const int64_t count = 1 + (int64_t)roll(&dice, 40);
		const int64_t gap = (int64_t)roll(&dice, 20);
		unsigned char *a = first + roll(&dice, 16);
		unsigned char *b = second + roll(&dice, 16);
		int64_t numbers[40], back[40];
		struct dray_cast cast;

		for (int k = 0; k < count; k++)
			numbers[k] = (int64_t)roll(&dice, is_bool ? 2 : 100);
		run(one, DRAY_INT64, a, numbers, count);
		assert_works(dray_cast_find(other, one, &cast));
		assert_works(dray_cast_run(&cast, b,
					   dray_dtype_itemsize(other) + gap, a,
					   dray_dtype_itemsize(one), count));
		assert_works(dray_cast_find(DRAY_INT64, other, &cast));
		assert_works(dray_cast_run(&cast, back, 8, b,
					   dray_dtype_itemsize(other) + gap,
					   count));
		assert_memory_equal(numbers, back, (size_t)count * 8);
	}
}

FACT(floats_outside_of_an_integer_are_no_fault)
{
	const double from[] = { NAN,	INFINITY, -INFINITY, 1e300, -1e300,
				0x1p63, 0x1p64,	  -0x1p63,   -1.5,  300.7 };
	static const dray_dtype types[] = { DRAY_INT8,	 DRAY_INT16,
					    DRAY_INT32,	 DRAY_INT64,
					    DRAY_UINT8,	 DRAY_UINT16,
					    DRAY_UINT32, DRAY_UINT64 };
	int64_t to[10];

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		run(types[i], DRAY_FLOAT64, to, from, 10);
	run(DRAY_INT64, DRAY_FLOAT64, to, from, 10);
	assert_int_equal(to[8], -1);
	assert_int_equal(to[9], 300);
}

FACT(units_of_time_round_down_and_keep_nat)
{
	static const int64_t days[] = { INT64_MIN, 0, -1, 365, 18262, -719528 };
	static const int64_t years[] = { INT64_MIN, 0, -1, 1, 50, -1970 };
	static const int64_t seconds[] = {
		INT64_MIN, 0, -86400, 31536000, 1577836800, -62167219200
	};
	int64_t out[6];

	run(DRAY_DATETIME64(DRAY_UNIT_YEAR, 1), DAYS, out, days, 6);
	assert_memory_equal(out, years, sizeof(out));
	run(SECONDS, DAYS, out, days, 6);
	assert_memory_equal(out, seconds, sizeof(out));
	run(DAYS, SECONDS, out, seconds, 6);
	assert_memory_equal(out, days, sizeof(out));
}

FACT(pairs_without_a_loop_are_refused)
{
	static const struct {
		dray_dtype to, from;
		int error;
		const char *said;
	} rows[] = {
		{ DRAY_INT32, DRAY_VOID(4), -EOPNOTSUPP, "|V4 do not" },
		{ DRAY_BYTES(4), DRAY_VOID(4), -EOPNOTSUPP, "to |S4" },
		{ 0, DRAY_INT8, -EINVAL, "0, which is none" },
		{ DRAY_INT8, DRAY_DTYPE('q', '<', 4), -EINVAL, "0x71" },
		{ DRAY_DATETIME64(DRAY_UNIT_ATTOSECOND, 1), DAYS, -EOVERFLOW,
		  "D and as" },
		{ DRAY_TIMEDELTA64(DRAY_UNIT_ATTOSECOND, 1),
		  DRAY_TIMEDELTA64(DRAY_UNIT_MINUTE, 1), -EOVERFLOW,
		  "m and as" },
	};
	struct dray_cast cast;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_fails(dray_cast_find(rows[i].to, rows[i].from, &cast),
			     rows[i].error, rows[i].said);
}

FACT(bytes_that_are_too_long_for_text_have_no_type_in_common_with_it)
{
	static const struct {
		uint32_t bytes;
		int wanted;
	} rows[] = {
		{ 1073741823, 0 },
		{ 1073741824, -EOVERFLOW },
		{ 2000000000, -EOVERFLOW },
		{ UINT32_MAX, -EOVERFLOW },
	};
	dray_dtype both;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		both = 0;
		assert_int_equal(dray_promote(DRAY_BYTES(rows[i].bytes),
					      DRAY_UNICODE(1), &both),
				 rows[i].wanted);
		assert_true(both ==
			    (rows[i].wanted ? 0 : DRAY_UNICODE(rows[i].bytes)));
	}
	assert_works(
		dray_promote(DRAY_BYTES(UINT32_MAX), DRAY_BYTES(1), &both));
}
