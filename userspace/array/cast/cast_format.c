// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Numbers, dates and durations as text, with NumPy's layouts.  A float is
 * written with the fewest digits that lead back to it.
 */
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cast/cast.h"
#include "cast/cast_text.h"
#include "cast/cast_time.h"
#include "private.h"

#define ROOM 160 /* two long doubles and their signs */

/* How a class of floats is written. */
struct real_format {
	int fewest; /* digits that every text of a number keeps */
	int most; /* digits that distinguish all numbers */
	long double least; /* normal number */
	long double scientific; /* from here on, an exponent is written */
};

static const struct real_format formats[] = {
	[DRAY_CLASS_FLOAT] = { FLT_DIG, FLT_DECIMAL_DIG, FLT_MIN, 1e6L },
	[DRAY_CLASS_DOUBLE] = { DBL_DIG, DBL_DECIMAL_DIG, DBL_MIN, 1e16L },
	[DRAY_CLASS_LONG] = { LDBL_DIG, LDBL_DECIMAL_DIG, LDBL_MIN, 1e16L },
	[DRAY_CLASS_HALF] = { 3, 5, 0x1p-14L, 1e3L },
};

static float widen_half(uint16_t half)
{
	float x;
	char *const data[2] = { (char *)&x, (char *)&half };

	dray_loop_half_to_float(data, (int64_t[]){ 4, 2 }, 1, NULL);
	return x;
}

static uint16_t narrow_half(double x)
{
	uint16_t half;
	char *const data[2] = { (char *)&half, (char *)&x };

	dray_loop_double_to_half(data, (int64_t[]){ 2, 8 }, 1, NULL);
	return half;
}

/* Whether a text of digits leads back to the number. */
static bool leads_back(const char *text, enum dray_class class, long double x)
{
	switch (class) {
	case DRAY_CLASS_HALF:
		return narrow_half(strtod(text, NULL)) ==
		       narrow_half((double)x);
	case DRAY_CLASS_FLOAT:
		return strtof(text, NULL) == (float)x;
	case DRAY_CLASS_DOUBLE:
		return strtod(text, NULL) == (double)x;
	default:
		return strtold(text, NULL) == x;
	}
}

/*
 * Adds 1 to the last digit of a text of digits.  Beside a power of two, numbers
 * lie closer below it than above: the next text may lead back, if the nearest
 * does not.  A carry out of the first digit is left out.
 */
static bool format_round_up(char *text)
{
	char *at = strchr(text, 'e');

	while (at-- > text) {
		if (*at == '9') {
			*at = '0';
		} else if (*at >= '0' && *at < '9') {
			(*at)++;
			return true;
		}
	}
	return false;
}

/*
 * Writes the fewest digits of a number above 0, without a point and without
 * zeros at the end; returns the exponent of the first digit.
 */
static int find_digits(long double x, enum dray_class class, char *digits)
{
	const struct real_format *format = &formats[class];
	/* Subnormal numbers need fewer digits. */
	int precision = x < format->least ? 1 : format->fewest;
	char text[64], *at;
	size_t count = 0;

	for (;; precision++) {
		snprintf(text, sizeof(text), "%.*Le", precision - 1, x);
		if (precision >= format->most || leads_back(text, class, x) ||
		    (format_round_up(text) && leads_back(text, class, x)))
			break;
	}
	for (at = text; *at != 'e'; at++) {
		if (*at >= '0' && *at <= '9') /* The point is the locale's. */
			digits[count++] = *at;
	}
	while (count > 1 && digits[count - 1] == '0')
		count--;
	digits[count] = 0;
	return atoi(at + 1);
}

static size_t write_scientific(char *out, const char *digits, int exponent)
{
	return (size_t)sprintf(out, "%c%s%se%c%02d", digits[0],
			       digits[1] ? "." : "", digits + 1,
			       exponent < 0 ? '-' : '+', abs(exponent));
}

/* @end: follows an integer, ".0" or nothing */
static size_t write_plain(char *out, const char *digits, int exponent,
			  const char *end)
{
	static const char zeros[] = "0000000000000000";
	const int count = (int)strlen(digits);

	if (exponent < 0)
		return (size_t)sprintf(out, "0.%.*s%s", -exponent - 1, zeros,
				       digits);
	if (exponent + 1 >= count)
		return (size_t)sprintf(out, "%s%.*s%s", digits,
				       exponent + 1 - count, zeros, end);
	return (size_t)sprintf(out, "%.*s.%s", exponent + 1, digits,
			       digits + exponent + 1);
}

static size_t write_real(char *out, long double x, enum dray_class class,
			 const char *end)
{
	char digits[64] = "0";
	const long double size = fabsl(x);
	size_t length = 0;
	int exponent = 0;

	if (isnan(x))
		return (size_t)sprintf(out, "nan");
	if (signbit(x))
		out[length++] = '-';
	if (isinf(x))
		return length + (size_t)sprintf(out + length, "inf");
	if (size != 0)
		exponent = find_digits(size, class, digits);
	if (size != 0 && (size >= formats[class].scientific || size < 1e-4L))
		return length +
		       write_scientific(out + length, digits, exponent);
	return length + write_plain(out + length, digits, exponent, end);
}

static size_t write_complex(char *out, long double real, long double imaginary,
			    enum dray_class part)
{
	size_t length = 0;

	if (real == 0 && !signbit(real)) {
		length = write_real(out, imaginary, part, "");
		out[length++] = 'j';
		return length;
	}
	out[length++] = '(';
	length += write_real(out + length, real, part, "");
	if (isnan(imaginary) || !signbit(imaginary))
		out[length++] = '+';
	length += write_real(out + length, imaginary, part, "");
	out[length++] = 'j';
	out[length++] = ')';
	return length;
}

/* Numbers in the machine's byte order, at any address. */
#define READ(type, src)                           \
	({                                        \
		type read;                        \
		memcpy(&read, src, sizeof(read)); \
		read;                             \
	})

static long double format_read_real(const char *src, enum dray_class class)
{
	switch (class) {
	case DRAY_CLASS_HALF:
		return widen_half(READ(uint16_t, src));
	case DRAY_CLASS_FLOAT:
		return READ(float, src);
	case DRAY_CLASS_DOUBLE:
		return READ(double, src);
	default:
		return READ(long double, src);
	}
}

static size_t write_integer(char *out, const char *src, enum dray_class class)
{
	int64_t value = 0;
	char *const data[2] = { (char *)&value, (char *)(uintptr_t)src };

	if (class == DRAY_CLASS_BOOL)
		return (size_t)sprintf(out, "%s", *src ? "True" : "False");
	dray_number_loops[DRAY_CLASS_INT64][class](data, (int64_t[]){ 8, 8 }, 1,
						   NULL);
	if (dray_class_is_unsigned(class))
		return (size_t)sprintf(out, "%" PRIu64, (uint64_t)value);
	return (size_t)sprintf(out, "%" PRId64, value);
}

static size_t write_duration(char *out, int64_t value,
			     const struct dray_typed *typed)
{
	static const char *const names[] = {
		"generic time units",
		"years",
		"months",
		"weeks",
		"days",
		"hours",
		"minutes",
		"seconds",
		"milliseconds",
		"microseconds",
		"nanoseconds",
		"picoseconds",
		"femtoseconds",
		"attoseconds",
	};

	return (size_t)sprintf(out, "%" PRId64 " %s",
			       wrap_mul(value, typed->multiple),
			       names[typed->unit]);
}

static int format_time(char *out, const char *src,
		       const struct dray_typed *typed, size_t *length)
{
	const int64_t value = READ(int64_t, src);

	if (value == DRAY_NAT) {
		*length = (size_t)sprintf(out, "NaT");
		return 0;
	}
	if (typed->class == DRAY_CLASS_DURATION) {
		*length = write_duration(out, value, typed);
		return 0;
	}
	if (typed->unit == DRAY_UNIT_GENERIC)
		return dray_fail(
			-EINVAL,
			"date %" PRId64
			" of the generic unit is not a date: it needs a unit",
			value);
	*length = dray_date_format(value, typed->unit, typed->multiple, out);
	return 0;
}

static int fail_room(const char *text, size_t room)
{
	return dray_fail(-ENOSPC, "date %s does not fit %zu character%s", text,
			 room, dray_plural(room));
}

static int format_times(char *const *data, const int64_t *strides,
			int64_t count, void *context)
{
	const struct dray_cast *cast = context;
	const struct dray_typed from = dray_typed(cast->from);
	const size_t room = dray_text_room(cast->to);
	char text[ROOM];
	size_t length = 0;
	int64_t i;
	int ret;

	for (i = 0; i < count; i++) {
		ret = format_time(text, data[1] + i * strides[1], &from,
				  &length);
		if (ret)
			return ret;
		if (from.class == DRAY_CLASS_DATE && length > room)
			return fail_room(text, room);
		dray_text_write(cast->to, data[0] + i * strides[0], text,
				length);
	}
	return 0;
}

static int format_numbers(char *const *data, const int64_t *strides,
			  int64_t count, void *context)
{
	const struct dray_cast *cast = context;
	const enum dray_class class = dray_typed(cast->from).class;
	char text[ROOM];
	size_t length = 0;
	int64_t i;

	for (i = 0; i < count; i++) {
		const char *src = data[1] + i * strides[1];

		if (dray_class_is_complex(class)) {
			const enum dray_class part = dray_class_part(class);
			const size_t size = dray_dtype_itemsize(cast->from) / 2;

			length = write_complex(
				text, format_read_real(src, part),
				format_read_real(src + size, part), part);
		} else if (dray_class_is_float(class)) {
			length = write_real(text, format_read_real(src, class),
					    class, ".0");
		} else {
			length = write_integer(text, src, class);
		}
		dray_text_write(cast->to, data[0] + i * strides[0], text,
				length);
	}
	return 0;
}

dray_loop *dray_format_loop(enum dray_class from)
{
	return dray_class_is_time(from) ? format_times : format_numbers;
}
