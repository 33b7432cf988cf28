/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Dates of the Gregorian calendar, in both directions without an end. */
#ifndef DRAY_CAST_CAST_TIME_H
#define DRAY_CAST_CAST_TIME_H

#include <stdbool.h>
#include <stddef.h>

#include <dray/dtype.h>

/* Not a time. */
#define DRAY_NAT INT64_MIN

struct dray_date {
	int64_t year;
	int32_t month; /* 1 to 12 */
	int32_t day; /* 1 to 31 */
	int32_t second_of_day;
	int64_t attoseconds;
};

/* The date of a value other than NaT, in a unit other than the generic one. */
void dray_date_split(int64_t value, enum dray_unit unit, int32_t multiple,
		     struct dray_date *date);
/* The value of a date, rounded down.  @wraps: it does not fit, or would be NaT */
int64_t dray_date_join(const struct dray_date *date, enum dray_unit unit,
		       int32_t multiple, bool *wraps);

/* "s", "ms", ...; "generic" */
const char *dray_unit_name(enum dray_unit unit);

/* Writes a date as ISO 8601 to the unit's precision; returns its length. */
size_t dray_date_format(int64_t value, enum dray_unit unit, int32_t multiple,
			char out[64]);
/* Parses @length characters of ISO 8601, with a sentence if it fails. */
int dray_date_parse(const char *text, size_t length, enum dray_unit unit,
		    int32_t multiple, int64_t *out);

static inline int64_t wrap_add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t wrap_mul(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a * (uint64_t)b);
}

/* Rounds down; @b is above 0. */
static inline int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/* The rest above the quotient, 0 to @b - 1. */
static inline int64_t floor_rest(int64_t a, int64_t b)
{
	return a % b + (a % b < 0 ? b : 0);
}

#endif /* DRAY_CAST_CAST_TIME_H */
