// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Arrow's formats and the types of arrays: one table in both directions, and the
 * formats that have a number or a time zone behind.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "interop/arrow.h"
#include "private.h"

#define SECONDS(kind) DRAY_TIME(kind, DRAY_UNIT_SECOND, 1)
#define MILLISECONDS(kind) DRAY_TIME(kind, DRAY_UNIT_MILLISECOND, 1)
#define MICROSECONDS(kind) DRAY_TIME(kind, DRAY_UNIT_MICROSECOND, 1)
#define NANOSECONDS(kind) DRAY_TIME(kind, DRAY_UNIT_NANOSECOND, 1)

/*
 * Of two formats of one type the first is exported.  A format that ends with a
 * colon has the name of a time zone behind.
 */
static const struct format_row {
	const char *format;
	struct dray_arrow_type type;
} rows[] = {
	{ "b", { DRAY_BOOL, DRAY_ARROW_BITS, 0 } },
	{ "c", { DRAY_INT8, DRAY_ARROW_SAME, 1 } },
	{ "s", { DRAY_INT16, DRAY_ARROW_SAME, 2 } },
	{ "i", { DRAY_INT32, DRAY_ARROW_SAME, 4 } },
	{ "l", { DRAY_INT64, DRAY_ARROW_SAME, 8 } },
	{ "C", { DRAY_UINT8, DRAY_ARROW_SAME, 1 } },
	{ "S", { DRAY_UINT16, DRAY_ARROW_SAME, 2 } },
	{ "I", { DRAY_UINT32, DRAY_ARROW_SAME, 4 } },
	{ "L", { DRAY_UINT64, DRAY_ARROW_SAME, 8 } },
	{ "e", { DRAY_FLOAT16, DRAY_ARROW_SAME, 2 } },
	{ "f", { DRAY_FLOAT32, DRAY_ARROW_SAME, 4 } },
	{ "g", { DRAY_FLOAT64, DRAY_ARROW_SAME, 8 } },
	{ "tss:", { SECONDS('M'), DRAY_ARROW_SAME, 8 } },
	{ "tsm:", { MILLISECONDS('M'), DRAY_ARROW_SAME, 8 } },
	{ "tsu:", { MICROSECONDS('M'), DRAY_ARROW_SAME, 8 } },
	{ "tsn:", { NANOSECONDS('M'), DRAY_ARROW_SAME, 8 } },
	{ "tdD", { DRAY_TIME('M', DRAY_UNIT_DAY, 1), DRAY_ARROW_HALVES, 4 } },
	{ "tdm", { MILLISECONDS('M'), DRAY_ARROW_SAME, 8 } },
	{ "tDs", { SECONDS('m'), DRAY_ARROW_SAME, 8 } },
	{ "tDm", { MILLISECONDS('m'), DRAY_ARROW_SAME, 8 } },
	{ "tDu", { MICROSECONDS('m'), DRAY_ARROW_SAME, 8 } },
	{ "tDn", { NANOSECONDS('m'), DRAY_ARROW_SAME, 8 } },
	{ "tts", { SECONDS('m'), DRAY_ARROW_HALVES, 4 } },
	{ "ttm", { MILLISECONDS('m'), DRAY_ARROW_HALVES, 4 } },
	{ "ttu", { MICROSECONDS('m'), DRAY_ARROW_SAME, 8 } },
	{ "ttn", { NANOSECONDS('m'), DRAY_ARROW_SAME, 8 } },
};

/* Formats of the specification that no type is equal to, by their start. */
static const struct {
	const char *start;
	const char *name;
} others[] = {
	{ "n", "null" },
	{ "u", "text" },
	{ "U", "large text" },
	{ "z", "binary" },
	{ "Z", "large binary" },
	{ "vu", "text view" },
	{ "vz", "binary view" },
	{ "d:", "decimal" },
	{ "ti", "interval" },
	{ "+l", "list" },
	{ "+L", "large list" },
	{ "+vl", "list view" },
	{ "+vL", "large list view" },
	{ "+m", "map" },
	{ "+ud:", "dense union" },
	{ "+us:", "sparse union" },
	{ "+r", "run-end encoded" },
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

int dray_arrow_check_size(int64_t size)
{
	return size <= INT32_MAX ? 0
				 : dray_fail(-EOVERFLOW,
					     "a size of %" PRId64
					     ", for which Arrow has at most %d",
					     size, INT32_MAX);
}

static bool is_bytes(dray_dtype dtype)
{
	return dray_dtype_is_builtin(dtype) &&
	       (dray_dtype_kind(dtype) == 'S' || dray_dtype_kind(dtype) == 'V');
}

/* Finds the row of a type in the machine's byte order; NULL: there is none. */
static const struct format_row *format_find_type(dray_dtype dtype)
{
	dray_dtype native;
	size_t i;

	if (!dray_dtype_is_builtin(dtype) ||
	    dray_dtype_with_order(dtype, '=', &native))
		return NULL;
	for (i = 0; i < COUNT(rows); i++) {
		if (rows[i].type.dtype == native)
			return &rows[i];
	}
	return NULL;
}

int dray_arrow_format(dray_dtype dtype, char text[DRAY_ARROW_FORMAT_SIZE],
		      struct dray_arrow_type *out)
{
	char name[DRAY_DTYPE_TYPESTR_SIZE];
	const struct format_row *row = format_find_type(dtype);

	if (row) {
		memcpy(text, row->format, strlen(row->format) + 1);
		*out = row->type;
		return 0;
	}
	if (!is_bytes(dtype))
		return dray_fail(
			-EOPNOTSUPP,
			"Arrow has no fixed-size type for elements of %s",
			dray_dtype_text(dtype, name));
	*out = (struct dray_arrow_type){ .dtype = dtype,
					 .size = dray_dtype_itemsize(dtype) };
	snprintf(text, DRAY_ARROW_FORMAT_SIZE, "w:%" PRIu32, out->size);
	return dray_arrow_check_size(out->size);
}

/* Whether @format is that of a row; a time zone may stand behind a colon. */
static bool is_format(const char *format, const char *row)
{
	size_t length = strlen(row);

	return row[length - 1] == ':' ? !strncmp(format, row, length)
				      : !strcmp(format, row);
}

static int fail_format(const char *format)
{
	size_t i;

	for (i = 0; i < COUNT(others); i++) {
		if (is_format(format, others[i].start))
			break;
	}
	/* Intervals have a unit behind. */
	if (i == COUNT(others) && !strncmp(format, "ti", 2))
		return dray_fail(
			-EOPNOTSUPP,
			"Arrow's format \"%.20s\" (interval) has no equal type here",
			format);
	if (i < COUNT(others))
		return dray_fail(
			-EOPNOTSUPP,
			"Arrow's format \"%.20s\" (%s) has no equal type here",
			format, others[i].name);
	return dray_fail(-EINVAL,
			 "\"%.20s\" is not a format of elements in Arrow",
			 format);
}

int dray_arrow_parse_size(const char *format, const char *before, uint32_t *out)
{
	const char *digit = format + strlen(before);
	uint64_t size = 0;

	if (!*digit)
		return dray_fail(-EINVAL, "\"%.20s\" lacks a number", format);
	for (; *digit; digit++) {
		if (*digit < '0' || *digit > '9')
			return dray_fail(
				-EINVAL,
				"\"%.20s\" has no number behind \"%s\"", format,
				before);
		size = size * 10 + (uint64_t)(*digit - '0');
		if (size > INT32_MAX)
			return dray_fail(-EINVAL,
					 "\"%.20s\" has a size above %d",
					 format, INT32_MAX);
	}
	*out = (uint32_t)size;
	return 0;
}

int dray_arrow_parse(const char *format, struct dray_arrow_type *out)
{
	uint32_t size = 0;
	size_t i;
	int ret;

	for (i = 0; i < COUNT(rows); i++) {
		if (is_format(format, rows[i].format)) {
			*out = rows[i].type;
			return 0;
		}
	}
	if (strncmp(format, "w:", 2))
		return fail_format(format);
	ret = dray_arrow_parse_size(format, "w:", &size);
	if (!ret)
		*out = (struct dray_arrow_type){ .dtype = DRAY_VOID(size),
						 .size = size };
	return ret;
}
