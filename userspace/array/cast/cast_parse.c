// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Texts as numbers, dates and durations, by the grammars of Python's int(),
 * float() and complex(): spaces around, and single underscores between digits.
 */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cast/cast.h"
#include "cast/cast_text.h"
#include "cast/cast_time.h"
#include "private.h"

/* A text with its underscores and the spaces around it removed. */
struct number {
	char text[DRAY_TEXT_ROOM + 1];
	char *at;
};

static bool is_space(char character)
{
	return character == ' ' || (character >= 9 && character <= 13);
}

/* False if an underscore does not lie between digits. */
static bool cast_parse_strip(struct number *number, const char *text,
			     size_t length)
{
	size_t i = 0, count = 0;

	while (i < length && is_space(text[i]))
		i++;
	while (length > i && is_space(text[length - 1]))
		length--;
	for (; i < length; i++) {
		if (text[i] != '_')
			number->text[count++] = text[i];
		else if (!i || !dray_is_digit(text[i - 1]) ||
			 !dray_is_digit(text[i + 1]))
			return false;
	}
	number->text[count] = 0;
	number->at = number->text;
	return count && strlen(number->text) == count;
}

static bool skip_digits(const char **at)
{
	const char *start = *at;

	while (dray_is_digit(**at))
		(*at)++;
	return *at > start;
}

/* Returns the length of "inf", "infinity" or "nan" at @at, or 0. */
static size_t word_length(const char *at)
{
	static const char *const words[] = { "infinity", "inf", "nan" };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strncasecmp(at, words[i], strlen(words[i])))
			return strlen(words[i]);
	}
	return 0;
}

/* Returns the end of a decimal float at @at, or NULL. */
static const char *float_end(const char *at)
{
	const char *exponent;
	bool digits;

	if (*at == '+' || *at == '-')
		at++;
	if (word_length(at))
		return at + word_length(at);
	digits = skip_digits(&at);
	if (*at == '.') {
		at++;
		digits |= skip_digits(&at);
	}
	if (!digits)
		return NULL;
	if (*at == 'e' || *at == 'E') {
		exponent = at + 1;
		if (*exponent == '+' || *exponent == '-')
			exponent++;
		if (skip_digits(&exponent))
			at = exponent;
	}
	return at;
}

/* Reads a float, in the C locale for its point. */
static bool parse_read_real(struct number *number, bool is_long,
			    long double *out)
{
	const char *end = float_end(number->at);
	locale_t plain, before;

	if (!end)
		return false;
	plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
	before = plain ? uselocale(plain) : (locale_t)0;
	*out = is_long ? strtold(number->at, NULL) : strtod(number->at, NULL);
	if (plain) {
		uselocale(before);
		freelocale(plain);
	}
	number->at += end - number->at;
	return true;
}

/* Reads "j" as 1j, "+j", "-j" and a float before "j". */
static bool read_imaginary(struct number *number, long double *out)
{
	const char *digits = number->at;

	if (*digits == '+' || *digits == '-')
		digits++;
	if (*digits == 'j' || *digits == 'J') {
		*out = *number->at == '-' ? -1 : 1;
		number->at += digits - number->at;
	} else if (!parse_read_real(number, false, out)) {
		return false;
	}
	if (*number->at != 'j' && *number->at != 'J')
		return false;
	number->at++;
	return true;
}

static bool read_complex(struct number *number, long double *real,
			 long double *imaginary)
{
	size_t length = strlen(number->text);
	struct number inner;

	if (number->text[0] == '(' && number->text[length - 1] == ')') {
		if (!cast_parse_strip(&inner, number->text + 1, length - 2))
			return false;
		*number = inner;
		number->at = number->text;
	}
	*real = 0;
	if (read_imaginary(number, imaginary))
		return !*number->at;
	number->at = number->text;
	*imaginary = 0;
	if (!parse_read_real(number, false, real))
		return false;
	if (!*number->at)
		return true;
	return (*number->at == '+' || *number->at == '-') &&
	       read_imaginary(number, imaginary) && !*number->at;
}

static int fail_fit(const char *text, dray_dtype to)
{
	char name[DRAY_DTYPE_TYPESTR_SIZE];

	return dray_fail(-ERANGE, "'%.64s' does not fit type %s", text,
			 dray_dtype_text(to, name));
}

/* Writes an integer if it fits the class. */
static bool store_integer(char *dst, enum dray_class class, uint64_t size,
			  bool negative)
{
	const int64_t value = (int64_t)(negative ? -size : size);
	const uint32_t bits = 8 * dray_dtype_itemsize(dray_class_dtype(class));
	char *const data[2] = { dst, (char *)(uintptr_t)&value };
	uint64_t most;

	DRAY_HOLDS(bits && bits <= 64);
	most = UINT64_MAX >> (64 - bits);
	if (!dray_class_is_unsigned(class))
		most = most / 2 + negative;
	else if (negative && size)
		return false;
	if (size > most)
		return false;
	dray_number_loops[class][DRAY_CLASS_INT64](data, (int64_t[]){ 8, 8 }, 1,
						   NULL);
	return true;
}

static int cast_parse_integer(const char *text, size_t length, dray_dtype to,
			      enum dray_class class, char *dst)
{
	struct number number;
	bool negative, fits = true;
	uint64_t size = 0;

	if (!cast_parse_strip(&number, text, length))
		return dray_text_fail(text, to);
	negative = *number.at == '-';
	if (negative || *number.at == '+')
		number.at++;
	if (!*number.at)
		return dray_text_fail(text, to);
	for (; *number.at; number.at++) {
		if (!dray_is_digit(*number.at))
			return dray_text_fail(text, to);
		fits = fits && !__builtin_mul_overflow(size, 10, &size) &&
		       !__builtin_add_overflow(size, *number.at - '0', &size);
	}
	if (!fits || !store_integer(dst, class, size, negative))
		return fail_fit(text, to);
	return 0;
}

/* A float by way of a double, as NumPy's; a long double without. */
static void store_real(char *dst, enum dray_class class, long double value)
{
	double narrow = (double)value;
	float narrower = (float)narrow;
	char *const data[2] = { dst, (char *)&narrow };

	switch (class) {
	case DRAY_CLASS_HALF:
		dray_loop_double_to_half(data, (int64_t[]){ 2, 8 }, 1, NULL);
		return;
	case DRAY_CLASS_FLOAT:
		memcpy(dst, &narrower, sizeof(narrower));
		return;
	case DRAY_CLASS_DOUBLE:
		memcpy(dst, &narrow, sizeof(narrow));
		return;
	default:
		dray_number_loops[DRAY_CLASS_LONG][DRAY_CLASS_LONG](
			(char *[]){ dst, (char *)&value }, (int64_t[]){ 0, 0 },
			1, NULL);
	}
}

static int parse_real(const char *text, size_t length, dray_dtype to,
		      enum dray_class class, char *dst)
{
	struct number number;
	long double real, imaginary;

	if (!cast_parse_strip(&number, text, length))
		return dray_text_fail(text, to);
	if (dray_class_is_complex(class)) {
		if (!read_complex(&number, &real, &imaginary))
			return dray_text_fail(text, to);
		class = dray_class_part(class);
		store_real(dst, class, real);
		store_real(dst + dray_dtype_itemsize(to) / 2, class, imaginary);
		return 0;
	}
	if (!parse_read_real(&number, class == DRAY_CLASS_LONG, &real) ||
	    *number.at)
		return dray_text_fail(text, to);
	store_real(dst, class, real);
	return 0;
}

static int cast_parse_time(const char *text, size_t length,
			   const struct dray_typed *typed, dray_dtype to,
			   char *dst)
{
	int64_t value = DRAY_NAT;
	int ret;

	if (typed->class == DRAY_CLASS_DATE) {
		/* As in NumPy, a zero ends a date. */
		ret = dray_date_parse(text, strlen(text), typed->unit,
				      typed->multiple, &value);
		if (ret)
			return ret;
	} else if (length && strcasecmp(text, "nat")) {
		if (is_space(text[0]) || is_space(text[length - 1]) ||
		    memchr(text, '_', length))
			return dray_text_fail(text, to);
		return cast_parse_integer(text, length, to, DRAY_CLASS_INT64,
					  dst);
	}
	memcpy(dst, &value, sizeof(value));
	return 0;
}

static int cast_parse(const char *text, size_t length,
		      const struct dray_typed *typed, dray_dtype to, char *dst)
{
	if (typed->class == DRAY_CLASS_BOOL) {
		*dst = length > 0;
		return 0;
	}
	if (length > DRAY_TEXT_ROOM)
		return dray_fail(
			-EINVAL,
			"'%.64s...' has %zu characters: no number or date has more than %d",
			text, length, DRAY_TEXT_ROOM);
	if (dray_class_is_time(typed->class))
		return cast_parse_time(text, length, typed, to, dst);
	if (dray_class_is_integer(typed->class))
		return cast_parse_integer(text, length, to, typed->class, dst);
	return parse_real(text, length, to, typed->class, dst);
}

int dray_loop_parse(char *const *data, const int64_t *strides, int64_t count,
		    void *context)
{
	const struct dray_cast *cast = context;
	const struct dray_typed to = dray_typed(cast->to);
	char text[DRAY_TEXT_ROOM + 1];
	int64_t i;
	int ret = 0;

	for (i = 0; !ret && i < count; i++) {
		size_t length = dray_text_read(cast->from,
					       data[1] + i * strides[1], text);

		ret = cast_parse(text, length, &to, cast->to,
				 data[0] + i * strides[0]);
	}
	return ret;
}
