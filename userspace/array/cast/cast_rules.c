// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Which casts are allowed: the first level of each pair of types.  (Source:
 * NumPy 2's can_cast(), of which the tests compare all pairs.)
 */
#include "cast/cast.h"
#include "private.h"

/* Numbers: [class]. */
static const struct {
	char kind;
	uint8_t rank; /* of the kind: each goes into the next */
	uint8_t size;
	uint8_t characters;
} numbers[] = {
	[DRAY_CLASS_BOOL] = { '?', 0, 1, 5 },
	[DRAY_CLASS_INT8] = { 'i', 2, 1, 4 },
	[DRAY_CLASS_INT16] = { 'i', 2, 2, 6 },
	[DRAY_CLASS_INT32] = { 'i', 2, 4, 11 },
	[DRAY_CLASS_INT64] = { 'i', 2, 8, 21 },
	[DRAY_CLASS_UINT8] = { 'u', 1, 1, 3 },
	[DRAY_CLASS_UINT16] = { 'u', 1, 2, 5 },
	[DRAY_CLASS_UINT32] = { 'u', 1, 4, 10 },
	[DRAY_CLASS_UINT64] = { 'u', 1, 8, 20 },
	[DRAY_CLASS_FLOAT] = { 'f', 3, 4, 32 },
	[DRAY_CLASS_DOUBLE] = { 'f', 3, 8, 32 },
	[DRAY_CLASS_LONG] = { 'f', 3, sizeof(long double), 48 },
	[DRAY_CLASS_HALF] = { 'f', 3, 2, 32 },
	[DRAY_CLASS_CFLOAT] = { 'c', 4, 8, 64 },
	[DRAY_CLASS_CDOUBLE] = { 'c', 4, 16, 64 },
	[DRAY_CLASS_CLONG] = { 'c', 4, 2 * sizeof(long double), 96 },
};

static enum dray_class integer_class(enum dray_class first, uint32_t size)
{
	return (enum dray_class)(first + __builtin_ctz(size));
}

static enum dray_class float_class(uint32_t size)
{
	switch (size) {
	case 2:
		return DRAY_CLASS_HALF;
	case 4:
		return DRAY_CLASS_FLOAT;
	case 8:
		return DRAY_CLASS_DOUBLE;
	default:
		return size == sizeof(long double) &&
				       LDBL_MANT_DIG > DBL_MANT_DIG
			       ? DRAY_CLASS_LONG
			       : DRAY_CLASS_OTHER;
	}
}

static enum dray_class class_of(char kind, uint32_t size)
{
	enum dray_class part;

	switch (kind) {
	case '?':
	case 'b':
		return DRAY_CLASS_BOOL;
	case 'i':
		return integer_class(DRAY_CLASS_INT8, size);
	case 'u':
		return integer_class(DRAY_CLASS_UINT8, size);
	case 'f':
		return float_class(size);
	case 'c':
		part = float_class(size / 2);
		return part == DRAY_CLASS_OTHER ? part
						: dray_class_complex(part);
	case 'M':
		return DRAY_CLASS_DATE;
	case 'm':
		return DRAY_CLASS_DURATION;
	case 'S':
		return DRAY_CLASS_BYTES;
	case 'U':
		return DRAY_CLASS_UNICODE;
	case 'V':
		return DRAY_CLASS_VOID;
	default:
		return DRAY_CLASS_OTHER;
	}
}

struct dray_typed dray_typed(dray_dtype dtype)
{
	const unsigned int unit = (unsigned int)(dtype >> 16) & 0xffff;
	struct dray_typed typed = {
		.class = DRAY_CLASS_OTHER,
		.size = dray_dtype_itemsize(dtype),
	};

	if (!dray_dtype_is_builtin(dtype))
		return typed;
	typed.class = class_of(dray_dtype_kind(dtype), typed.size);
	typed.swapped = dray_dtype_order(dtype) != DRAY_NATIVE_ORDER &&
			(typed.class == DRAY_CLASS_UNICODE ||
			 (typed.class < DRAY_CLASS_BYTES && typed.size > 1));
	typed.unit = (enum dray_unit)(unit & 15);
	typed.multiple = unit ? (int32_t)(unit >> 4) : 1;
	return typed;
}

dray_dtype dray_class_dtype(enum dray_class class)
{
	const char order =
		(char)(numbers[class].size == 1 ? '|' : DRAY_NATIVE_ORDER);

	return DRAY_DTYPE(numbers[class].kind, order, numbers[class].size);
}

uint32_t dray_class_characters(enum dray_class class)
{
	return numbers[class].characters;
}

static int rank_of(enum dray_class class)
{
	return numbers[class].rank;
}

/* Whether a float of @size bytes has all integers of @integer bytes. */
static bool float_holds(uint32_t size, uint32_t integer)
{
	return integer >= 4 ? size >= 8 : size >= 2 * integer;
}

static bool number_fits(const struct dray_typed *from,
			const struct dray_typed *to)
{
	const bool complex = dray_class_is_complex(to->class);
	const uint32_t size = complex ? to->size / 2 : to->size;

	if (from->class == DRAY_CLASS_BOOL)
		return true;
	if (to->class == DRAY_CLASS_BOOL)
		return false;
	if (dray_class_is_complex(from->class))
		return complex && size >= from->size / 2;
	if (dray_class_is_float(from->class))
		return rank_of(to->class) >= 3 && size >= from->size;
	if (rank_of(to->class) >= 3)
		return float_holds(size, from->size);
	if (dray_class_is_unsigned(from->class) ==
	    dray_class_is_unsigned(to->class))
		return size >= from->size;
	return dray_class_is_unsigned(from->class) && size > from->size;
}

static enum dray_casting number_level(const struct dray_typed *from,
				      const struct dray_typed *to)
{
	if (number_fits(from, to))
		return DRAY_CASTING_SAFE;
	return rank_of(from->class) <= rank_of(to->class)
		       ? DRAY_CASTING_SAME_KIND
		       : DRAY_CASTING_UNSAFE;
}

static bool is_calendar(const struct dray_typed *typed)
{
	return typed->unit == DRAY_UNIT_YEAR || typed->unit == DRAY_UNIT_MONTH;
}

static enum dray_casting time_level(const struct dray_typed *from,
				    const struct dray_typed *to)
{
	if (from->unit == to->unit && from->multiple == to->multiple)
		return from->swapped == to->swapped ? DRAY_CASTING_NO
						    : DRAY_CASTING_EQUIV;
	if (from->unit == DRAY_UNIT_GENERIC)
		return DRAY_CASTING_SAFE;
	if (to->unit == DRAY_UNIT_GENERIC)
		return DRAY_CASTING_UNSAFE;
	if (from->class == DRAY_CLASS_DURATION &&
	    is_calendar(from) != is_calendar(to))
		return DRAY_CASTING_UNSAFE;
	return from->unit <= to->unit && dray_time_divides(from, to)
		       ? DRAY_CASTING_SAFE
		       : DRAY_CASTING_SAME_KIND;
}

/* @needed and @room in the same units; 0 is any room that it takes. */
static enum dray_casting size_level(uint32_t needed, uint32_t room,
				    enum dray_casting if_short)
{
	return !room || needed <= room ? DRAY_CASTING_SAFE : if_short;
}

static enum dray_casting same_class_level(const struct dray_typed *from,
					  const struct dray_typed *to)
{
	const enum dray_casting equal = from->swapped == to->swapped
						? DRAY_CASTING_NO
						: DRAY_CASTING_EQUIV;

	if (dray_class_is_time(from->class))
		return time_level(from, to);
	if (from->class < DRAY_CLASS_BYTES || !to->size ||
	    from->size == to->size)
		return equal;
	return size_level(from->size, to->size, DRAY_CASTING_SAME_KIND);
}

enum dray_casting dray_cast_level(const struct dray_typed *from,
				  const struct dray_typed *to)
{
	if (from->class == to->class)
		return same_class_level(from, to);
	if (from->class == DRAY_CLASS_VOID)
		return DRAY_CASTING_UNSAFE;
	if (to->class == DRAY_CLASS_VOID)
		return size_level(from->size, to->size, DRAY_CASTING_UNSAFE);
	if (from->class == DRAY_CLASS_BYTES && to->class == DRAY_CLASS_UNICODE)
		return size_level(from->size, to->size / 4,
				  DRAY_CASTING_SAME_KIND);
	if (!dray_class_is_number(from->class))
		return DRAY_CASTING_UNSAFE;
	if (dray_class_is_number(to->class))
		return number_level(from, to);
	if (to->class == DRAY_CLASS_BYTES)
		return size_level(numbers[from->class].characters, to->size,
				  DRAY_CASTING_SAME_KIND);
	if (to->class == DRAY_CLASS_UNICODE)
		return size_level(numbers[from->class].characters, to->size / 4,
				  DRAY_CASTING_SAME_KIND);
	if (to->class == DRAY_CLASS_DATE || rank_of(from->class) >= 3)
		return DRAY_CASTING_UNSAFE;
	return from->class == DRAY_CLASS_UINT64 ? DRAY_CASTING_SAME_KIND
						: DRAY_CASTING_SAFE;
}

enum dray_casting dray_level(dray_dtype from, dray_dtype to)
{
	const struct dray_typed source = dray_typed(from);
	const struct dray_typed target = dray_typed(to);

	if (source.class == DRAY_CLASS_OTHER ||
	    target.class == DRAY_CLASS_OTHER)
		return dray_parts_level(from, to);
	return dray_cast_level(&source, &target);
}

bool dray_can_cast(dray_dtype from, dray_dtype to, enum dray_casting casting)
{
	dray_dtype normal;

	if (from == to && from)
		return true;
	if (dray_dtype_normalize(from, &normal) ||
	    dray_dtype_normalize(to, &normal))
		return false;
	return casting <= DRAY_CASTING_UNSAFE &&
	       dray_level(from, to) <= casting;
}

const char *dray_casting_name(enum dray_casting casting)
{
	static const char *const names[] = { "no", "equiv", "safe", "same_kind",
					     "unsafe" };

	return (unsigned int)casting < 5 ? names[casting] : "?";
}
