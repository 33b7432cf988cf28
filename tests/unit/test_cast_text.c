// SPDX-License-Identifier: Apache-2.0 OR MIT
/* cast_text: numbers and times as text, and back. */
#include <locale.h>
#include <math.h>

#include <dray/array.h>

#include "unit.h"

#define ROOM 48

static int to_text(dray_dtype from, const void *value, char text[ROOM + 1])
{
	struct dray_cast cast;

	memset(text, 0, ROOM + 1);
	assert_works(dray_cast_find(DRAY_BYTES(ROOM), from, &cast));
	return dray_cast_run(&cast, text, ROOM, value, 0, 1);
}

static int from_text(dray_dtype to, const char *text, void *value)
{
	struct dray_cast cast;

	assert_works(dray_cast_find(to, DRAY_BYTES(strlen(text)), &cast));
	return dray_cast_run(&cast, value, 0, text, 0, 1);
}

FACT(numbers_have_the_fewest_digits_that_lead_back)
{
	static const struct {
		dray_dtype type;
		double value;
		const char *text;
	} rows[] = {
		{ DRAY_FLOAT64, 0.1, "0.1" },
		{ DRAY_FLOAT64, 1, "1.0" },
		{ DRAY_FLOAT64, 1e15, "1000000000000000.0" },
		{ DRAY_FLOAT64, 1e16, "1e+16" },
		{ DRAY_FLOAT64, 0x1p53, "9007199254740992.0" },
		{ DRAY_FLOAT64, 1e-4, "0.0001" },
		{ DRAY_FLOAT64, 1e-5, "1e-05" },
		{ DRAY_FLOAT64, -1.5e-300, "-1.5e-300" },
		{ DRAY_FLOAT64, 5e-324, "5e-324" },
		{ DRAY_FLOAT64, 0x1p-24, "5.960464477539063e-08" },
		{ DRAY_FLOAT64, 1.0 / 3, "0.3333333333333333" },
		{ DRAY_FLOAT64, -0.0, "-0.0" },
		{ DRAY_FLOAT64, -INFINITY, "-inf" },
		{ DRAY_FLOAT64, NAN, "nan" },
		{ DRAY_FLOAT32, 0.1f, "0.1" },
		{ DRAY_FLOAT32, 1e6f, "1e+06" },
		{ DRAY_FLOAT32, 16777216, "1.6777216e+07" },
		{ DRAY_FLOAT16, 0x1p-6, "0.01563" },
		{ DRAY_FLOAT16, 65504, "6.55e+04" },
		{ DRAY_COMPLEX128, 2, "(2+0j)" },
		{ DRAY_COMPLEX128, 0, "0j" },
		{ DRAY_BOOL, 7, "True" },
		{ DRAY_INT8, -128, "-128" },
		{ DRAY_UINT64, 1e19, "10000000000000000000" },
		{ DRAY_TIMEDELTA64(DRAY_UNIT_DAY, 7), 2, "14 days" },
		{ DRAY_TIMEDELTA64(0, 1), 2, "2 generic time units" },
		{ DRAY_DATETIME64(DRAY_UNIT_DAY, 1), -1, "1969-12-31" },
		{ DRAY_DATETIME64(DRAY_UNIT_ATTOSECOND, 1),
		  -0x1.fffffffffffffp62,
		  "1969-12-31T23:59:50.776627963145225216" },
		{ DRAY_DATETIME64(DRAY_UNIT_MILLISECOND, 1), 1,
		  "1970-01-01T00:00:00.001" },
		{ DRAY_DATETIME64(DRAY_UNIT_YEAR, 1), -1971, "-001" },
		{ DRAY_DATETIME64(DRAY_UNIT_MINUTE, 1), 61,
		  "1970-01-01T01:01" },
		{ DRAY_DATETIME64(DRAY_UNIT_SECOND, 1), -0x1.fffffffffffffp62,
		  "-292277022657-01-27T08:46:56" },
		{ DRAY_DATETIME64(DRAY_UNIT_MILLISECOND, 1),
		  -0x1.fffffffffffffp62, "-292275055-05-16T16:47:05.216" },
		{ DRAY_DATETIME64(DRAY_UNIT_HOUR, 1), -0x1.fffffffffffffp62,
		  "-1052197288654970-05-06T08" },
		{ DRAY_DATETIME64(DRAY_UNIT_MONTH, 1), -0x1.fffffffffffffp62,
		  "-768614336404562596-09" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct dray_cast cast;
		char value[16], text[ROOM + 1];

		assert_works(dray_cast_find(rows[i].type, DRAY_FLOAT64, &cast));
		assert_works(
			dray_cast_run(&cast, value, 0, &rows[i].value, 0, 1));
		assert_works(to_text(rows[i].type, value, text));
		assert_string_equal(text, rows[i].text);
	}
}

FACT(random_floats_are_read_as_they_were_written)
{
	struct dice dice = { 7 };
	int i;

	for (i = 0; i < 20000; i++) {
		const uint64_t bits = roll(&dice, UINT64_MAX);
		double value, back;
		float single, single_back;
		char text[ROOM + 1];

		memcpy(&value, &bits, sizeof(value));
		memcpy(&single, &bits, sizeof(single));
		if (isnan(value) || isnan(single))
			continue;
		assert_works(to_text(DRAY_FLOAT64, &value, text));
		assert_works(from_text(DRAY_FLOAT64, text, &back));
		assert_memory_equal(&value, &back, sizeof(value));
		assert_works(to_text(DRAY_FLOAT32, &single, text));
		assert_works(from_text(DRAY_FLOAT32, text, &single_back));
		assert_memory_equal(&single, &single_back, sizeof(single));
	}
}

FACT(a_locale_with_a_comma_changes_nothing)
{
	double value = 1.5, back = 0;
	char text[ROOM + 1];

	/* None of them need be there; then this is as the facts above. */
	if (!setlocale(LC_NUMERIC, "de_DE.UTF-8"))
		setlocale(LC_NUMERIC, "fr_FR.UTF-8");
	assert_works(to_text(DRAY_FLOAT64, &value, text));
	assert_string_equal(text, "1.5");
	assert_works(from_text(DRAY_FLOAT64, "1.5", &back));
	assert_true(back == value);
	setlocale(LC_NUMERIC, "C");
}

FACT(texts_that_are_no_value_are_refused)
{
	static const struct {
		dray_dtype type;
		const char *text;
		int error;
		const char *said;
	} rows[] = {
		{ DRAY_INT32, "", -EINVAL, "'' is not a value of type <i4" },
		{ DRAY_INT32, "12x", -EINVAL, "'12x'" },
		{ DRAY_INT32, "1__2", -EINVAL, "'1__2'" },
		{ DRAY_INT32, "_1", -EINVAL, "'_1'" },
		{ DRAY_INT32, "0x10", -EINVAL, "'0x10'" },
		{ DRAY_INT32, "-", -EINVAL, "'-'" },
		{ DRAY_INT8, "128", -ERANGE, "'128' does not fit type |i1" },
		{ DRAY_INT8, "-129", -ERANGE, "'-129'" },
		{ DRAY_UINT8, "-1", -ERANGE, "'-1'" },
		{ DRAY_UINT64, "18446744073709551616", -ERANGE, "<u8" },
		{ DRAY_FLOAT64, "1e", -EINVAL, "'1e'" },
		{ DRAY_FLOAT64, ".", -EINVAL, "'.'" },
		{ DRAY_FLOAT64, "0x1p3", -EINVAL, "'0x1p3'" },
		{ DRAY_FLOAT64, "nan(1)", -EINVAL, "'nan(1)'" },
		{ DRAY_COMPLEX64, "1+2", -EINVAL, "'1+2'" },
		{ DRAY_COMPLEX64, "(1+2j", -EINVAL, "'(1+2j'" },
		{ DRAY_COMPLEX64, "()", -EINVAL, "'()'" },
		{ DRAY_DATETIME64(DRAY_UNIT_DAY, 1), "2020-02-30", -EINVAL,
		  "day 30 is not 1 to 29" },
		{ DRAY_DATETIME64(DRAY_UNIT_DAY, 1), "2020-13", -EINVAL,
		  "month 13 is not 1 to 12" },
		{ DRAY_DATETIME64(DRAY_UNIT_DAY, 1), "2020-1-1", -EINVAL,
		  "position 6" },
		{ DRAY_DATETIME64(DRAY_UNIT_DAY, 1), "2020-01-01T24", -EINVAL,
		  "hour 24" },
		{ DRAY_DATETIME64(DRAY_UNIT_DAY, 1), "99999999999999999999",
		  -ERANGE, "does not fit 64 bits" },
		{ DRAY_DATETIME64(0, 1), "2020", -EINVAL, "generic" },
		{ DRAY_TIMEDELTA64(DRAY_UNIT_DAY, 1), "5 days", -EINVAL,
		  "'5 days'" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char value[16];

		assert_fails(from_text(rows[i].type, rows[i].text, value),
			     rows[i].error, rows[i].said);
	}
}

FACT(a_text_beyond_all_numbers_is_refused)
{
	char text[601], value[8];

	memset(text, '1', 600);
	text[600] = 0;
	assert_fails(from_text(DRAY_FLOAT64, text, value), -EINVAL,
		     "600 characters");
}

FACT(random_texts_are_parsed_or_refused)
{
	static const char some[] = "0123456789+-.eEjJ()_ nainfTZ:x";
	static const dray_dtype types[] = {
		DRAY_BOOL,
		DRAY_INT8,
		DRAY_UINT64,
		DRAY_FLOAT16,
		DRAY_FLOAT64,
		DRAY_COMPLEX128,
		DRAY_DATETIME64(DRAY_UNIT_NANOSECOND, 1),
		DRAY_TIMEDELTA64(DRAY_UNIT_DAY, 1),
	};
	struct dice dice = { 11 };
	int i, k;

	for (i = 0; i < 50000; i++) {
		const dray_dtype type = types[roll(&dice, 8)];
		const int length = 1 + (int)roll(&dice, 12);
		char text[16] = "", value[16];

		for (k = 0; k < length; k++)
			text[k] = some[roll(&dice, sizeof(some) - 1)];
		if (from_text(type, text, value))
			assert_true(strlen(dray_last_error()) > 0);
	}
}

FACT(characters_beyond_ascii_pass_between_texts_of_one_kind_only)
{
	const uint32_t wide[] = { 'a', 0xe9 };
	const char bytes[] = { 'a', (char)0xe9 };
	uint32_t copied[3] = { 0, 0, 9 };
	struct dray_cast cast;
	char narrow[2] = "x";

	assert_works(dray_cast_find(DRAY_UNICODE(3), DRAY_UNICODE(2), &cast));
	assert_works(dray_cast_run(&cast, copied, 0, wide, 0, 1));
	assert_int_equal(copied[1], 0xe9);
	assert_int_equal(copied[2], 0);
	assert_works(dray_cast_find(DRAY_BYTES(2), DRAY_UNICODE(2), &cast));
	assert_fails(dray_cast_run(&cast, narrow, 0, wide, 0, 1), -EILSEQ,
		     "U+00E9 at position 1");
	assert_int_equal(narrow[0], 'x');
	assert_works(dray_cast_find(DRAY_UNICODE(2), DRAY_BYTES(2), &cast));
	assert_fails(dray_cast_run(&cast, copied, 0, bytes, 0, 1), -EILSEQ,
		     "U+00E9");
}

FACT(a_date_needs_room_for_all_its_characters)
{
	const int64_t day = 0;
	struct dray_cast cast;
	char text[9];

	assert_works(dray_cast_find(DRAY_BYTES(9),
				    DRAY_DATETIME64(DRAY_UNIT_DAY, 1), &cast));
	assert_fails(dray_cast_run(&cast, text, 0, &day, 0, 1), -ENOSPC,
		     "1970-01-01 does not fit 9 characters");
}

/* NumPy's wrap; the last 719,468 days became negative years. */
FACT(dates_at_the_ends_of_64_bits_are_right)
{
	static const struct {
		enum dray_unit unit;
		int64_t value;
		const char *text;
	} rows[] = {
		{ DRAY_UNIT_DAY, INT64_MAX, "25252734927768524-07-27" },
		{ DRAY_UNIT_DAY, INT64_MAX - 719467,
		  "25252734927766554-09-26" },
		{ DRAY_UNIT_DAY, INT64_MAX - 719468,
		  "25252734927766554-09-25" },
		{ DRAY_UNIT_DAY, -INT64_MAX, "-25252734927764585-06-08" },
		{ DRAY_UNIT_YEAR, INT64_MAX - 1970, "9223372036854775807" },
		{ DRAY_UNIT_SECOND, INT64_MAX, "292277026596-12-04T15:30:07" },
		{ DRAY_UNIT_SECOND, -INT64_MAX,
		  "-292277022657-01-27T08:29:53" },
		{ DRAY_UNIT_ATTOSECOND, INT64_MAX,
		  "1970-01-01T00:00:09.223372036854775807" },
	};
	static const struct {
		enum dray_unit unit;
		const char *text;
	} wrong[] = {
		{ DRAY_UNIT_DAY, "25252734927768524-07-28" },
		{ DRAY_UNIT_DAY, "-9223372036854775807-01-01" },
		{ DRAY_UNIT_DAY, "9223372036854775807-12-31" },
		{ DRAY_UNIT_MONTH, "1000000000000000000-05" },
		{ DRAY_UNIT_SECOND, "292277026596-12-04T15:30:08" },
		{ DRAY_UNIT_SECOND, "9223372036854775807-12-31T00:00:00+01" },
		{ DRAY_UNIT_YEAR, "-9223372036854775807" },
		{ DRAY_UNIT_NANOSECOND, "2262-04-11T23:47:16.854775808" },
	};
	char text[64];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const dray_dtype type = DRAY_DATETIME64(rows[i].unit, 1);
		struct dray_view date, view;
		int64_t value = rows[i].value;

		memset(text, 0, sizeof(text));
		assert_works(
			dray_view_init(&date, &value, type, 0, NULL, NULL));
		assert_works(dray_view_init(&view, text, DRAY_BYTES(60), 0,
					    NULL, NULL));
		assert_works(
			dray_view_convert(&view, &date, DRAY_CASTING_UNSAFE));
		assert_string_equal(text, rows[i].text);
		value = 0;
		assert_works(
			dray_view_convert(&date, &view, DRAY_CASTING_UNSAFE));
		assert_int_equal(value, rows[i].value);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const dray_dtype type = DRAY_DATETIME64(wrong[i].unit, 1);
		struct dray_view date, view;
		int64_t value;

		snprintf(text, sizeof(text), "%s", wrong[i].text);
		assert_works(
			dray_view_init(&date, &value, type, 0, NULL, NULL));
		assert_works(dray_view_init(&view, text, DRAY_BYTES(60), 0,
					    NULL, NULL));
		assert_int_equal(dray_view_convert(&date, &view,
						   DRAY_CASTING_UNSAFE),
				 -ERANGE);
		assert_non_null(strstr(dray_last_error(), "does not fit 64"));
	}
}
