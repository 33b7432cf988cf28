// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Sizes and times with two significant parts.  JSON and --bytes have the exact
 * values.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "quantity.h"

#define INTERVAL_LEAST 10000000ull /* ns */
#define INTERVAL_MOST 3600000000000ull

const char *quantity_size(char out[QUANTITY_ROOM], uint64_t bytes, bool exact)
{
	static const char units[] = "BKMGTPE";
	unsigned int unit = 0;
	uint64_t tenths;

	while (bytes >> (10 * unit) >= 1024)
		unit++;
	if (exact)
		snprintf(out, QUANTITY_ROOM, "%" PRIu64, bytes);
	else if (!unit)
		snprintf(out, QUANTITY_ROOM, "%" PRIu64 "B", bytes);
	else {
		/* one unit finer first: ten times an exbibyte does not fit */
		tenths = (bytes >> (10 * unit - 10)) * 10 >> 10;
		snprintf(out, QUANTITY_ROOM, "%" PRIu64 ".%" PRIu64 "%c",
			 tenths / 10, tenths % 10, units[unit]);
	}
	return out;
}

const char *quantity_time(char out[QUANTITY_ROOM], uint64_t nanoseconds)
{
	uint64_t seconds = nanoseconds / 1000000000;
	uint64_t minutes = seconds / 60;
	uint64_t hours = minutes / 60;

	if (nanoseconds < 1000000)
		snprintf(out, QUANTITY_ROOM, "%" PRIu64 "us",
			 nanoseconds / 1000);
	else if (!seconds)
		snprintf(out, QUANTITY_ROOM, "%" PRIu64 "ms",
			 nanoseconds / 1000000);
	else if (!minutes)
		snprintf(out, QUANTITY_ROOM, "%" PRIu64 "s", seconds);
	else if (!hours)
		snprintf(out, QUANTITY_ROOM, "%" PRIu64 "m%02" PRIu64 "s",
			 minutes, seconds % 60);
	else if (hours < 24)
		snprintf(out, QUANTITY_ROOM, "%" PRIu64 "h%02" PRIu64 "m",
			 hours, minutes % 60);
	else
		snprintf(out, QUANTITY_ROOM, "%" PRIu64 "d%02" PRIu64 "h",
			 hours / 24, hours % 24);
	return out;
}

int quantity_fragmentation(uint64_t free, uint64_t longest, uint64_t request)
{
	uint64_t possible = free < request ? free : request;

	if (!possible)
		return -1;
	/* a shared heap changes between the two readings */
	if (longest > possible)
		longest = possible;
	return (int)(100.0 * (double)(possible - longest) / (double)possible);
}

/* Returns the shift of a unit such as "K", "KB" or "KiB", or -1. */
static int shift_of(const char *unit)
{
	static const char letters[] = "KMGT";
	const char *found;

	if (*unit == ' ')
		unit++;
	if (!*unit || !strcmp(unit, "B"))
		return 0;
	found = strchr(letters, toupper((unsigned char)*unit));
	if (!found || (unit[1] && strcasecmp(unit + 1, "B") &&
		       strcasecmp(unit + 1, "iB")))
		return -1;
	return (int)(found - letters + 1) * 10;
}

bool parse_size(const char *text, uint64_t *bytes)
{
	const char *unit = parse_number(text, 10, bytes);
	int shift = unit ? shift_of(unit) : -1;

	if (shift < 0) {
		complain(
			"'%s' is not a size: a number of bytes, or one with K, "
			"M, G or T, as 8M",
			text);
		return false;
	}
	if (*bytes > UINT64_MAX >> shift) {
		complain("'%s' is too large: a size has at most 64 bits", text);
		return false;
	}
	*bytes <<= shift;
	return true;
}

bool parse_time(const char *text, uint64_t *nanoseconds)
{
	static const struct {
		const char *unit;
		uint64_t length; /* ns */
	} units[] = {
		{ "us", 1000 },		 { "ms", 1000000 },
		{ "", 1000000000 },	 { "s", 1000000000 },
		{ "m", 60000000000 },	 { "h", 3600000000000 },
		{ "d", 86400000000000 },
	};
	const char *unit = parse_number(text, 10, nanoseconds);
	size_t i;

	for (i = 0; unit && i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(unit, units[i].unit) != 0)
			continue;
		if (*nanoseconds > UINT64_MAX / units[i].length) {
			complain("'%s' is too long: a time has at most 584 "
				 "years",
				 text);
			return false;
		}
		*nanoseconds *= units[i].length;
		return true;
	}
	complain("'%s' is not a time: a number of seconds, or one with us, ms, "
		 "s, m, h or d, as 5m",
		 text);
	return false;
}

bool parse_interval(const char *text, uint64_t *nanoseconds)
{
	*nanoseconds = 1000000000;
	if (text && !parse_time(text, nanoseconds))
		return false;
	if (*nanoseconds >= INTERVAL_LEAST && *nanoseconds <= INTERVAL_MOST)
		return true;
	complain("an interval of %s is not between 10ms and 1h", text);
	return false;
}

bool parse_mask(const char *text, uint64_t *mask)
{
	bool address = !strncmp(text, "0x", 2);
	const char *end = parse_number(address ? text + 2 : text,
				       address ? 16 : 10, mask);

	if (end && !*end && *mask && (address || *mask <= 64)) {
		if (!address)
			*mask = UINT64_MAX >> (64 - *mask);
		return true;
	}
	complain("'%s' is not a mask: the highest address, as 0xffffffff, or "
		 "a number of bits from 1 to 64",
		 text);
	return false;
}
