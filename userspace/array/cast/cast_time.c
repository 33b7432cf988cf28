// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Units of dates and durations: their factors, and conversions between them.
 * A value wraps if it does not fit, as NumPy's; NaT stays NaT.
 */
#include <errno.h>
#include <string.h>

#include "cast/cast.h"
#include "cast/cast_time.h"
#include "private.h"

/* Days of 400 years, after which the calendar repeats itself. */
#define CYCLE_YEARS 400
#define CYCLE_DAYS (INT64_C(400) * 365 + 97)

/*
 * The length of each unit in the next finer unit.  Years and months count only in
 * the search for a common unit of dates, as in NumPy.
 */
static const uint16_t finer[] = {
	[DRAY_UNIT_YEAR] = 1,		[DRAY_UNIT_MONTH] = 1,
	[DRAY_UNIT_WEEK] = 7,		[DRAY_UNIT_DAY] = 24,
	[DRAY_UNIT_HOUR] = 60,		[DRAY_UNIT_MINUTE] = 60,
	[DRAY_UNIT_SECOND] = 1000,	[DRAY_UNIT_MILLISECOND] = 1000,
	[DRAY_UNIT_MICROSECOND] = 1000, [DRAY_UNIT_NANOSECOND] = 1000,
	[DRAY_UNIT_PICOSECOND] = 1000,	[DRAY_UNIT_FEMTOSECOND] = 1000,
	[DRAY_UNIT_ATTOSECOND] = 1,
};

/* Returns 0 if the factor exceeds 56 bits, NumPy's limit. */
static int64_t time_factor_of(enum dray_unit coarse, enum dray_unit fine)
{
	int64_t factor = 1;

	for (; coarse < fine; coarse++) {
		if (__builtin_mul_overflow(factor, finer[coarse], &factor) ||
		    factor >> 56)
			return 0;
	}
	return factor;
}

/* The factor of units of days, of seconds or below, which are near enough. */
static int64_t near_factor(enum dray_unit coarse, enum dray_unit fine)
{
	const int64_t factor = time_factor_of(coarse, fine);

	DRAY_HOLDS(factor > 0);
	return factor;
}

static bool time_is_calendar(enum dray_unit unit)
{
	return unit == DRAY_UNIT_YEAR || unit == DRAY_UNIT_MONTH;
}

static uint64_t divisor_of(uint64_t a, uint64_t b)
{
	while (b) {
		const uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static void cast_time_shorten(uint64_t *numerator, uint64_t *denominator)
{
	const uint64_t common = divisor_of(*numerator, *denominator);

	*numerator /= common;
	*denominator /= common;
}

static int fail_distance(enum dray_unit a, enum dray_unit b)
{
	return dray_fail(-EOVERFLOW,
			 "units %s and %s lie too far apart for 64 bits",
			 dray_unit_name(a), dray_unit_name(b));
}

const char *dray_unit_name(enum dray_unit unit)
{
	static const char *const names[] = {
		"generic", "Y",	 "M",  "W",  "D",  "h",	 "m",
		"s",	   "ms", "us", "ns", "ps", "fs", "as",
	};

	return (unsigned int)unit <= DRAY_UNIT_ATTOSECOND ? names[unit] : "?";
}

/* The coarser unit as a fraction of the finer unit; 0 if it does not fit. */
static void coarse_factors(enum dray_unit coarse, enum dray_unit fine,
			   uint64_t *numerator, uint64_t *denominator)
{
	*denominator = 1;
	if (coarse == fine) {
		*numerator = 1;
	} else if (!time_is_calendar(coarse)) {
		*numerator = (uint64_t)time_factor_of(coarse, fine);
	} else if (fine == DRAY_UNIT_MONTH) {
		*numerator = 12;
	} else {
		/* Years and months count with the mean length in a cycle. */
		*denominator = coarse == DRAY_UNIT_YEAR ? CYCLE_YEARS
							: CYCLE_YEARS * 12;
		*numerator = CYCLE_DAYS;
		if (fine == DRAY_UNIT_WEEK)
			*denominator *= 7;
		else if (__builtin_mul_overflow(*numerator,
						time_factor_of(DRAY_UNIT_DAY,
							       fine),
						numerator))
			*numerator = 0;
	}
}

int dray_time_factors(const struct dray_typed *to,
		      const struct dray_typed *from, int64_t *numerator,
		      int64_t *denominator)
{
	uint64_t up, down;

	if (from->unit == DRAY_UNIT_GENERIC || to->unit == DRAY_UNIT_GENERIC) {
		*numerator = *denominator = 1;
		return 0;
	}
	if (from->unit <= to->unit)
		coarse_factors(from->unit, to->unit, &up, &down);
	else
		coarse_factors(to->unit, from->unit, &down, &up);
	if (!up || !down)
		return fail_distance(from->unit, to->unit);
	cast_time_shorten(&up, &down);
	if (__builtin_mul_overflow(up, from->multiple, &up) ||
	    __builtin_mul_overflow(down, to->multiple, &down))
		return fail_distance(from->unit, to->unit);
	cast_time_shorten(&up, &down);
	if (up > INT64_MAX || down > INT64_MAX)
		return fail_distance(from->unit, to->unit);
	*numerator = (int64_t)up;
	*denominator = (int64_t)down;
	return 0;
}

/* Whether a year or a month meets a unit of days and less. */
static bool time_is_apart(const struct dray_typed *a,
			  const struct dray_typed *b)
{
	const enum dray_unit coarse = a->unit < b->unit ? a->unit : b->unit;
	const enum dray_unit fine = a->unit < b->unit ? b->unit : a->unit;

	return time_is_calendar(coarse) && fine > DRAY_UNIT_MONTH;
}

/* Converts multiples of two units to the finer unit; false if they do not fit. */
static bool bring_together(const struct dray_typed *a,
			   const struct dray_typed *b, int64_t *of_a,
			   int64_t *of_b)
{
	const enum dray_unit coarse = a->unit < b->unit ? a->unit : b->unit;
	const enum dray_unit fine = a->unit < b->unit ? b->unit : a->unit;
	const int64_t factor = fine == DRAY_UNIT_MONTH && coarse != fine
				       ? 12
				       : time_factor_of(coarse, fine);

	*of_a = a->multiple;
	*of_b = b->multiple;
	return factor &&
	       !__builtin_mul_overflow(a->unit == coarse ? *of_a : *of_b,
				       factor, a->unit == coarse ? of_a : of_b);
}

bool dray_time_divides(const struct dray_typed *dividend,
		       const struct dray_typed *divisor)
{
	int64_t whole, part;

	if (time_is_apart(dividend, divisor))
		return dividend->class == DRAY_CLASS_DATE;
	return bring_together(dividend, divisor, &whole, &part) &&
	       whole % part == 0;
}

static int time_fail_lengths(enum dray_unit a, enum dray_unit b)
{
	return dray_fail(
		-EINVAL,
		"durations in %s and in %s have no unit in common: years and months have no fixed length",
		dray_unit_name(a), dray_unit_name(b));
}

int dray_time_common(const struct dray_typed *a, const struct dray_typed *b,
		     dray_dtype *out)
{
	const bool dates = a->class == DRAY_CLASS_DATE;
	const enum dray_unit unit = a->unit > b->unit ? a->unit : b->unit;
	int64_t of_a, of_b;
	uint64_t multiple;

	if (a->unit == DRAY_UNIT_GENERIC) {
		multiple = (uint64_t)b->multiple;
	} else if (b->unit == DRAY_UNIT_GENERIC) {
		multiple = (uint64_t)a->multiple;
	} else {
		if (!dates && time_is_apart(a, b))
			return time_fail_lengths(a->unit, b->unit);
		if (!bring_together(a, b, &of_a, &of_b))
			return fail_distance(a->unit, b->unit);
		multiple = divisor_of((uint64_t)of_a, (uint64_t)of_b);
	}
	/* At most the multiple of the finer unit, so it fits. */
	*out = DRAY_TIME(dates ? 'M' : 'm', unit, multiple);
	return 0;
}

/* Days from the first of March of the year 0 to 1970-01-01. */
#define EPOCH 719468

/* A sum that wraps; sets *@wraps if it did. */
static int64_t cast_time_add(int64_t a, int64_t b, bool *wraps)
{
	int64_t sum;

	*wraps |= __builtin_add_overflow(a, b, &sum);
	return sum;
}

/* whole * factor + rest, rest < factor; wraps only if the result does not fit. */
static int64_t cast_time_scale(int64_t whole, int64_t factor, int64_t rest,
			       bool *wraps)
{
	int64_t product;

	if (whole < 0 && rest > 0) {
		whole++;
		rest -= factor;
	}
	*wraps |= __builtin_mul_overflow(whole, factor, &product);
	return cast_time_add(product, rest, wraps);
}

/* Days from 1970-01-01 to a day of the Gregorian calendar. */
static int64_t days_of(const struct dray_date *date, bool *wraps)
{
	/* Years begin in March: the leap day is the last day. */
	const int64_t year =
		cast_time_add(date->year, date->month <= 2 ? -1 : 0, wraps);
	const int64_t cycle = floor_div(year, CYCLE_YEARS);
	const int64_t of_cycle = floor_rest(year, CYCLE_YEARS);
	const int64_t month = (date->month + 9) % 12;
	const int64_t of_year = (153 * month + 2) / 5 + date->day - 1;
	const int64_t day =
		of_cycle * 365 + of_cycle / 4 - of_cycle / 100 + of_year;

	/* The epoch lies in the fifth cycle: rest and sum are of the same sign. */
	if (cycle > 4)
		return cast_time_scale(cycle - 5, CYCLE_DAYS,
				       day - EPOCH + 5 * CYCLE_DAYS, wraps);
	return cast_time_scale(cycle, CYCLE_DAYS, day - EPOCH, wraps);
}

static void set_days(struct dray_date *date, int64_t days)
{
	/* Less than two cycles and more. */
	const int64_t rest = floor_rest(days, CYCLE_DAYS) + EPOCH;
	const int64_t cycle = floor_div(days, CYCLE_DAYS) + rest / CYCLE_DAYS;
	const int64_t day = rest % CYCLE_DAYS;
	const int64_t year =
		(day - day / 1460 + day / 36524 - day / 146096) / 365;
	const int64_t of_year = day - (365 * year + year / 4 - year / 100);
	const int64_t month = (5 * of_year + 2) / 153;

	date->day = (int32_t)(of_year - (153 * month + 2) / 5 + 1);
	date->month = (int32_t)(month < 10 ? month + 3 : month - 9);
	date->year = year + cycle * CYCLE_YEARS + (date->month <= 2 ? 1 : 0);
}

/* Attoseconds of a second in a unit below it. */
static int64_t below_second(enum dray_unit unit)
{
	return near_factor(unit, DRAY_UNIT_ATTOSECOND);
}

#define ATTOSECONDS 1000000000000000000

void dray_date_split(int64_t value, enum dray_unit unit, int32_t multiple,
		     struct dray_date *date)
{
	int64_t seconds, days, per_second, whole = wrap_mul(value, multiple);

	DRAY_HOLDS(unit != DRAY_UNIT_GENERIC);
	*date = (struct dray_date){ .month = 1, .day = 1 };
	if (unit == DRAY_UNIT_YEAR) {
		date->year = wrap_add(whole, 1970);
		return;
	}
	if (unit == DRAY_UNIT_MONTH) {
		date->year = 1970 + floor_div(whole, 12);
		date->month = (int32_t)floor_rest(whole, 12) + 1;
		return;
	}
	if (unit <= DRAY_UNIT_DAY) {
		set_days(date,
			 unit == DRAY_UNIT_WEEK ? wrap_mul(whole, 7) : whole);
		return;
	}
	if (unit <= DRAY_UNIT_SECOND) {
		const int64_t per_day = near_factor(DRAY_UNIT_DAY, unit);

		days = floor_div(whole, per_day);
		seconds = floor_rest(whole, per_day) *
			  near_factor(unit, DRAY_UNIT_SECOND);
	} else {
		per_second = ATTOSECONDS;
		if (unit != DRAY_UNIT_ATTOSECOND)
			per_second = ATTOSECONDS / below_second(unit);
		seconds = floor_div(whole, per_second);
		date->attoseconds = floor_rest(whole, per_second) *
				    (ATTOSECONDS / per_second);
		days = floor_div(seconds, 86400);
		seconds -= days * 86400;
	}
	set_days(date, days);
	date->second_of_day = (int32_t)seconds;
}

/* The unit's value, before the multiple is divided out. */
static int64_t units_of(const struct dray_date *date, enum dray_unit unit,
			bool *wraps)
{
	int64_t days, seconds, per_second;

	DRAY_HOLDS(unit != DRAY_UNIT_GENERIC);
	if (unit == DRAY_UNIT_YEAR)
		return cast_time_add(date->year, -1970, wraps);
	if (unit == DRAY_UNIT_MONTH)
		return cast_time_scale(cast_time_add(date->year, -1970, wraps),
				       12, date->month - 1, wraps);
	days = days_of(date, wraps);
	if (unit == DRAY_UNIT_WEEK)
		return floor_div(days, 7);
	if (unit <= DRAY_UNIT_SECOND)
		return cast_time_scale(days, near_factor(DRAY_UNIT_DAY, unit),
				       date->second_of_day /
					       near_factor(unit,
							   DRAY_UNIT_SECOND),
				       wraps);
	seconds = cast_time_scale(days, 86400, date->second_of_day, wraps);
	per_second = unit == DRAY_UNIT_ATTOSECOND
			     ? ATTOSECONDS
			     : ATTOSECONDS / below_second(unit);
	return cast_time_scale(seconds, per_second,
			       date->attoseconds / (ATTOSECONDS / per_second),
			       wraps);
}

int64_t dray_date_join(const struct dray_date *date, enum dray_unit unit,
		       int32_t multiple, bool *wraps)
{
	int64_t value;

	*wraps = false;
	value = floor_div(units_of(date, unit, wraps), multiple);
	*wraps |= value == DRAY_NAT;
	return value;
}

/* A scale: multiplies and divides, towards minus infinity. */
int dray_loop_rescale(char *const *data, const int64_t *strides, int64_t count,
		      void *context)
{
	const struct dray_cast *cast = context;
	const int64_t up = cast->numerator, down = cast->denominator;
	int64_t i, value;

	for (i = 0; i < count; i++) {
		memcpy(&value, data[1] + i * strides[1], sizeof(value));
		if (value != DRAY_NAT) {
			const int64_t scaled = wrap_mul(value, up);

			value = (value < 0 ? wrap_add(scaled, 1 - down)
					   : scaled) /
				down;
		}
		memcpy(data[0] + i * strides[0], &value, sizeof(value));
	}
	return 0;
}

/* Dates to and from years and months. */
int dray_loop_calendar(char *const *data, const int64_t *strides, int64_t count,
		       void *context)
{
	const struct dray_cast *cast = context;
	const struct dray_typed to = dray_typed(cast->to);
	const struct dray_typed from = dray_typed(cast->from);
	struct dray_date date;
	int64_t i, value;
	bool wraps;

	for (i = 0; i < count; i++) {
		memcpy(&value, data[1] + i * strides[1], sizeof(value));
		if (value != DRAY_NAT) {
			dray_date_split(value, from.unit, from.multiple, &date);
			value = dray_date_join(&date, to.unit, to.multiple,
					       &wraps);
		}
		memcpy(data[0] + i * strides[0], &value, sizeof(value));
	}
	return 0;
}
