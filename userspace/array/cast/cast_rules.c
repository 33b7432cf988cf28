// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Which casts are allowed: the first level of each pair of types.  (Source:
 * NumPy 2's can_cast(), of which the tests compare all pairs.)
 */
#include <string.h>

#include "cast/cast.h"
#include "private.h"

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
		return dray_class_rank(to->class) >= 3 && size >= from->size;
	if (dray_class_rank(to->class) >= 3)
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
	return dray_class_rank(from->class) <= dray_class_rank(to->class)
		       ? DRAY_CASTING_SAME_KIND
		       : DRAY_CASTING_UNSAFE;
}

static bool rules_is_calendar(const struct dray_typed *typed)
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
	    rules_is_calendar(from) != rules_is_calendar(to))
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
		return size_level(dray_class_characters(from->class), to->size,
				  DRAY_CASTING_SAME_KIND);
	if (to->class == DRAY_CLASS_UNICODE)
		return size_level(dray_class_characters(from->class),
				  to->size / 4, DRAY_CASTING_SAME_KIND);
	if (to->class == DRAY_CLASS_DATE || dray_class_rank(from->class) >= 3)
		return DRAY_CASTING_UNSAFE;
	return from->class == DRAY_CLASS_UINT64 ? DRAY_CASTING_SAME_KIND
						: DRAY_CASTING_SAFE;
}

static enum dray_casting cast_rules_higher(enum dray_casting a,
					   enum dray_casting b)
{
	return a > b ? a : b;
}

static enum dray_casting
structure_level(const struct dray_dtype_structure *from,
		const struct dray_dtype_structure *to)
{
	enum dray_casting level = DRAY_CASTING_NO;
	size_t i;

	if (from->count != to->count)
		return DRAY_CASTING_NEVER;
	if (from->start.object.itemsize != to->start.object.itemsize)
		level = DRAY_CASTING_EQUIV;
	for (i = 0; i < to->count; i++) {
		const struct dray_dtype_field *source = &from->fields[i];
		const struct dray_dtype_field *target = &to->fields[i];

		if (source->offset != target->offset)
			level = cast_rules_higher(level, DRAY_CASTING_EQUIV);
		if (!dray_same_text(source->name, target->name) ||
		    !dray_same_text(source->title, target->title))
			level = cast_rules_higher(level, DRAY_CASTING_SAFE);
		level = cast_rules_higher(level, dray_level(source->dtype,
							    target->dtype));
	}
	return level;
}

static bool same_axes(dray_dtype a, dray_dtype b)
{
	const int64_t *one = NULL, *other = NULL;
	const int ndim = dray_dtype_shape(a, &one);

	return ndim == dray_dtype_shape(b, &other) &&
	       !memcmp(one, other, (size_t)ndim * sizeof(*one));
}

static enum dray_casting subarray_level(dray_dtype from, dray_dtype to)
{
	const enum dray_casting base =
		dray_level(dray_dtype_base(from), dray_dtype_base(to));

	if (!dray_dtype_as_subarray(from))
		return cast_rules_higher(base, DRAY_CASTING_SAFE);
	if (dray_dtype_as_subarray(to) && same_axes(from, to))
		return base;
	return cast_rules_higher(base, DRAY_CASTING_UNSAFE);
}

enum dray_casting dray_parts_level(dray_dtype from, dray_dtype to)
{
	const struct dray_dtype_structure *source =
		dray_dtype_as_structure(from);
	const struct dray_dtype_structure *target = dray_dtype_as_structure(to);

	if (dray_dtype_equal(from, to))
		return DRAY_CASTING_NO;
	if (source && to == DRAY_VOID(0))
		return DRAY_CASTING_NO;
	if (source && target)
		return structure_level(source, target);
	if (source)
		return source->count == 1 ? DRAY_CASTING_UNSAFE
					  : DRAY_CASTING_NEVER;
	if (target)
		return DRAY_CASTING_UNSAFE;
	if (dray_dtype_as_subarray(from) || dray_dtype_as_subarray(to))
		return subarray_level(from, to);
	return dray_user_level(from, to);
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
