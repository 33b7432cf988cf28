// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Units of time as texts: "s", "25s", and "D/24", an hour.  (Source of the
 * divisors: NumPy's convert_datetime_divisor_to_multiple().)
 */
#include <string.h>

#include "dtype/dtype_text.h"
#include "base/number.h"

#define MOST_MULTIPLE 4095

const char *const dray_unit_names[DRAY_UNIT_ATTOSECOND + 1] = {
	"generic", "Y",	 "M",  "W",  "D",  "h",	 "m",
	"s",	   "ms", "us", "ns", "ps", "fs", "as",
};

/* Smaller units that a unit is divided into, tried in order. */
static const struct {
	uint32_t count;
	enum dray_unit unit;
} parts[][3] = {
	[DRAY_UNIT_YEAR] = { { 12, DRAY_UNIT_MONTH },
			     { 52, DRAY_UNIT_WEEK },
			     { 365, DRAY_UNIT_DAY } },
	[DRAY_UNIT_MONTH] = { { 4, DRAY_UNIT_WEEK },
			      { 30, DRAY_UNIT_DAY },
			      { 720, DRAY_UNIT_HOUR } },
	[DRAY_UNIT_WEEK] = { { 7, DRAY_UNIT_DAY },
			     { 168, DRAY_UNIT_HOUR },
			     { 10080, DRAY_UNIT_MINUTE } },
	[DRAY_UNIT_DAY] = { { 24, DRAY_UNIT_HOUR },
			    { 1440, DRAY_UNIT_MINUTE },
			    { 86400, DRAY_UNIT_SECOND } },
	[DRAY_UNIT_HOUR] = { { 60, DRAY_UNIT_MINUTE },
			     { 3600, DRAY_UNIT_SECOND } },
	[DRAY_UNIT_MINUTE] = { { 60, DRAY_UNIT_SECOND },
			       { 60000, DRAY_UNIT_MILLISECOND } },
	[DRAY_UNIT_SECOND] = { { 1000, DRAY_UNIT_MILLISECOND },
			       { 1000000, DRAY_UNIT_MICROSECOND } },
	[DRAY_UNIT_MILLISECOND] = { { 1000, DRAY_UNIT_MICROSECOND },
				    { 1000000, DRAY_UNIT_NANOSECOND } },
	[DRAY_UNIT_MICROSECOND] = { { 1000, DRAY_UNIT_NANOSECOND },
				    { 1000000, DRAY_UNIT_PICOSECOND } },
	[DRAY_UNIT_NANOSECOND] = { { 1000, DRAY_UNIT_PICOSECOND },
				   { 1000000, DRAY_UNIT_FEMTOSECOND } },
	[DRAY_UNIT_PICOSECOND] = { { 1000, DRAY_UNIT_FEMTOSECOND },
				   { 1000000, DRAY_UNIT_ATTOSECOND } },
	[DRAY_UNIT_FEMTOSECOND] = { { 1000, DRAY_UNIT_ATTOSECOND } },
	[DRAY_UNIT_ATTOSECOND] = { { 0, DRAY_UNIT_GENERIC } },
};

/* Reads digits behind spaces and a plus; false without one or above 32 bits. */
static bool unit_take_number(const char **at, const char *end, uint32_t *number)
{
	bool fits;

	while (*at < end && **at == ' ')
		++*at;
	if (*at < end && **at == '+')
		++*at;
	fits = *at < end && dray_is_digit(**at);
	for (*number = 0; *at < end && dray_is_digit(**at); ++*at)
		fits = fits && !dray_mul_overflow(*number, 10u, number) &&
		       !dray_add_overflow(*number, (uint32_t)(**at - '0'),
					  number);
	return fits;
}

/* Finds the unit of a name, of which NumPy knows one with a Greek letter too. */
static bool find_unit(const char *name, size_t length, enum dray_unit *unit)
{
	int i;

	for (i = 0; i <= DRAY_UNIT_ATTOSECOND; i++) {
		*unit = (enum dray_unit)i;
		if (strlen(dray_unit_names[i]) == length &&
		    !memcmp(name, dray_unit_names[i], length))
			return true;
	}
	*unit = DRAY_UNIT_MICROSECOND;
	return length == 3 && !memcmp(name, "\xce\xbcs", 3);
}

static const char *dtype_unit_divide(enum dray_unit *unit, uint32_t *multiple,
				     uint32_t divisor)
{
	size_t i;

	if (divisor == 1)
		return NULL;
	for (i = 0; divisor && i < 3 && parts[*unit][i].count; i++) {
		if (parts[*unit][i].count % divisor)
			continue;
		if (dray_mul_overflow(*multiple,
				      parts[*unit][i].count / divisor,
				      multiple))
			*multiple = UINT32_MAX;
		*unit = parts[*unit][i].unit;
		return NULL;
	}
	return "divides its unit into parts without a unit";
}

const char *dray_unit_parse(const char *text, size_t length, dray_dtype *bits)
{
	const char *end = text + length;
	const char *slash = memchr(text, '/', length), *why = NULL;
	const char *name_end = slash ? slash : end;
	uint32_t multiple = 1, divisor = 1;
	enum dray_unit unit;

	if (text < end && strchr(" +0123456789", *text) &&
	    !unit_take_number(&text, end, &multiple))
		multiple = 0;
	if (!multiple)
		return "has a multiple of its unit outside of 1 to 4095";
	if (name_end < text ||
	    !find_unit(text, (size_t)(name_end - text), &unit))
		return "has no unit of Y, M, W, D, h, m, s, ms, us, ns, ps, fs, as";
	if (slash)
		slash++;
	if (slash && (!unit_take_number(&slash, end, &divisor) || slash < end))
		return "divides its unit by something else than a number";
	if (unit == DRAY_UNIT_GENERIC) {
		*bits = 0;
		return multiple == 1 && divisor == 1
			       ? NULL
			       : "has a multiple or a part of the generic unit";
	}
	why = dtype_unit_divide(&unit, &multiple, divisor);
	if (why)
		return why;
	if (multiple > MOST_MULTIPLE)
		return "has a multiple of its unit outside of 1 to 4095";
	*bits = (dray_dtype)(multiple << 4 | unit) << 16;
	return NULL;
}
