// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Dates as ISO 8601 text, as NumPy writes and reads them: any number of digits in
 * a year, and up to 18 of a second's fraction.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

#include "cast/cast_time.h"
#include "private.h"

/* Digits of a second's fraction in units below it. */
static int digits_of(enum dray_unit unit)
{
	return unit <= DRAY_UNIT_SECOND ? 0
					: 3 * (int)(unit - DRAY_UNIT_SECOND);
}

size_t dray_date_format(int64_t value, enum dray_unit unit, int32_t multiple,
			char out[64])
{
	struct dray_date date;
	char fraction[32];
	int length;

	dray_date_split(value, unit, multiple, &date);
	length = sprintf(out, "%04" PRId64, date.year);
	if (unit >= DRAY_UNIT_MONTH)
		length += sprintf(out + length, "-%02d", date.month);
	if (unit >= DRAY_UNIT_WEEK)
		length += sprintf(out + length, "-%02d", date.day);
	if (unit >= DRAY_UNIT_HOUR)
		length += sprintf(out + length, "T%02d",
				  date.second_of_day / 3600);
	if (unit >= DRAY_UNIT_MINUTE)
		length += sprintf(out + length, ":%02d",
				  date.second_of_day / 60 % 60);
	if (unit >= DRAY_UNIT_SECOND)
		length +=
			sprintf(out + length, ":%02d", date.second_of_day % 60);
	if (unit > DRAY_UNIT_SECOND) {
		sprintf(fraction, "%018" PRId64, date.attoseconds);
		length += sprintf(out + length, ".%.*s", digits_of(unit),
				  fraction);
	}
	return (size_t)length;
}

/* A text on its way through the parser. */
struct date_reader {
	const char *text;
	const char *at;
	const char *end;
};

static bool date_is_digit(const struct date_reader *reader)
{
	return reader->at < reader->end && dray_is_digit(*reader->at);
}

static bool cast_date_accept(struct date_reader *reader, char character)
{
	if (reader->at == reader->end || *reader->at != character)
		return false;
	reader->at++;
	return true;
}

static void date_skip_spaces(struct date_reader *reader)
{
	while (reader->at < reader->end &&
	       (*reader->at == ' ' || (*reader->at >= 9 && *reader->at <= 13)))
		reader->at++;
}

static int fail_at(const struct date_reader *reader)
{
	return dray_fail(-EINVAL,
			 "'%.64s' is not a date: error at position %zu",
			 reader->text, (size_t)(reader->at - reader->text));
}

static int fail_range(const struct date_reader *reader, const char *field,
		      int32_t value, int32_t low, int32_t high)
{
	return dray_fail(-EINVAL,
			 "'%.64s' is not a date: %s %d is not %d to %d",
			 reader->text, field, value, low, high);
}

/* Reads two digits, @low to @high. */
static int read_pair(struct date_reader *reader, const char *field, int32_t low,
		     int32_t high, int32_t *out)
{
	const char *from = reader->at;

	if (reader->end - from < 2 || !date_is_digit(reader))
		return fail_at(reader);
	reader->at++;
	if (!date_is_digit(reader))
		return fail_at(reader);
	reader->at++;
	*out = (from[0] - '0') * 10 + from[1] - '0';
	if (*out < low || *out > high)
		return fail_range(reader, field, *out, low, high);
	return 0;
}

static int read_year(struct date_reader *reader, int64_t *out)
{
	const bool negative = cast_date_accept(reader, '-');

	if (!negative)
		cast_date_accept(reader, '+');
	if (!date_is_digit(reader))
		return fail_at(reader);
	for (*out = 0; date_is_digit(reader); reader->at++) {
		if (__builtin_mul_overflow(*out, 10, out) ||
		    __builtin_add_overflow(*out, *reader->at - '0', out))
			return dray_fail(
				-ERANGE,
				"the year of '%.64s' does not fit 64 bits",
				reader->text);
	}
	if (negative)
		*out = -*out;
	return 0;
}

static int32_t days_in(int64_t year, int32_t month)
{
	static const uint8_t days[] = { 31, 28, 31, 30, 31, 30,
					31, 31, 30, 31, 30, 31 };
	const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return days[month - 1] + (month == 2 && leap);
}

static int read_fraction(struct date_reader *reader, int64_t *out)
{
	int64_t unit = 1000000000000000000;

	if (!date_is_digit(reader))
		return fail_at(reader);
	for (; date_is_digit(reader); reader->at++) {
		unit /= 10; /* Digits beyond the 18th are dropped. */
		*out += unit * (*reader->at - '0');
	}
	return 0;
}

/* Reads "hh", "hh:mm", "hh:mm:ss" or "hh:mm:ss.fraction". */
static int read_time(struct date_reader *reader, struct dray_date *date)
{
	int32_t hour, minute = 0, second = 0;
	int ret;

	ret = read_pair(reader, "hour", 0, 23, &hour);
	if (!ret && cast_date_accept(reader, ':')) {
		ret = read_pair(reader, "minute", 0, 59, &minute);
		if (!ret && cast_date_accept(reader, ':')) {
			ret = read_pair(reader, "second", 0, 59, &second);
			if (!ret && cast_date_accept(reader, '.'))
				ret = read_fraction(reader, &date->attoseconds);
		}
	}
	if (!ret)
		date->second_of_day = hour * 3600 + minute * 60 + second;
	return ret;
}

/* Reads "Z", "+hh", "+hhmm" or "+hh:mm", in seconds. */
static int read_zone(struct date_reader *reader, int64_t *out)
{
	int32_t hours, minutes = 0;
	bool west;
	int ret;

	if (cast_date_accept(reader, 'Z'))
		return 0;
	west = cast_date_accept(reader, '-');
	if (!west && !cast_date_accept(reader, '+'))
		return 0;
	ret = read_pair(reader, "hour of the zone", 0, 23, &hours);
	if (!ret && (cast_date_accept(reader, ':') || date_is_digit(reader)))
		ret = read_pair(reader, "minute of the zone", 0, 59, &minutes);
	if (!ret)
		*out = (west ? -60 : 60) * (hours * (int64_t)60 + minutes);
	return ret;
}

static int read_date(struct date_reader *reader, struct dray_date *date)
{
	int ret = read_year(reader, &date->year);

	if (ret || !cast_date_accept(reader, '-'))
		return ret;
	ret = read_pair(reader, "month", 1, 12, &date->month);
	if (ret || !cast_date_accept(reader, '-'))
		return ret;
	ret = read_pair(reader, "day", 1, 31, &date->day);
	if (!ret && date->day > days_in(date->year, date->month))
		ret = fail_range(reader, "day", date->day, 1,
				 days_in(date->year, date->month));
	if (ret ||
	    (!cast_date_accept(reader, 'T') && !cast_date_accept(reader, ' ')))
		return ret;
	if (reader->at == reader->end && reader->at[-1] == ' ')
		return 0;
	return read_time(reader, date);
}

/* Moves a date of a zone to the one of Greenwich; false: it is too far away. */
static bool cast_date_move(struct dray_date *date, int64_t zone)
{
	const int64_t attoseconds = date->attoseconds;
	bool wraps;
	int64_t seconds = dray_date_join(date, DRAY_UNIT_SECOND, 1, &wraps);

	if (wraps || __builtin_sub_overflow(seconds, zone, &seconds))
		return false;
	dray_date_split(seconds, DRAY_UNIT_SECOND, 1, date);
	date->attoseconds = attoseconds;
	return true;
}

int dray_date_parse(const char *text, size_t length, enum dray_unit unit,
		    int32_t multiple, int64_t *out)
{
	struct date_reader reader = { text, text, text + length };
	struct dray_date date = { .month = 1, .day = 1 };
	int64_t zone = 0;
	bool wraps;
	int ret;

	if (!length || (length == 3 && !strcasecmp(text, "nat"))) {
		*out = DRAY_NAT;
		return 0;
	}
	if (unit == DRAY_UNIT_GENERIC)
		return dray_fail(
			-EINVAL,
			"'%.64s' needs a date of another unit than the generic one",
			text);
	date_skip_spaces(&reader);
	ret = read_date(&reader, &date);
	if (!ret)
		ret = read_zone(&reader, &zone);
	if (ret)
		return ret;
	date_skip_spaces(&reader);
	if (reader.at != reader.end)
		return fail_at(&reader);
	wraps = zone && !cast_date_move(&date, zone);
	if (!wraps)
		*out = dray_date_join(&date, unit, multiple, &wraps);
	return wraps ? dray_fail(-ERANGE,
				 "the date '%.64s' does not fit 64 bits of %s",
				 text, dray_unit_name(unit))
		     : 0;
}
