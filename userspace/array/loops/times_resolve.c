// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Units of dates and durations: the loop and the types of its operands.  Two
 * units meet in the largest one that both are multiples of; a number beside a
 * duration is a factor, or counts its units.
 */
#include <errno.h>
#include <string.h>

#include "private.h"
#include "cast/cast.h"
#include "loops/times.h"

#define UNIT_MASK 0xffff0000u

static bool resolve_is_integer(dray_dtype dtype)
{
	const char kind = dray_dtype_kind(dtype);

	return kind == 'i' || kind == 'u';
}

/* A unit in common; none at all is an error of types. */
static int times_resolve_promote(dray_dtype a, dray_dtype b, dray_dtype *out)
{
	const int ret = dray_promote(a, b, out);

	return ret == -EINVAL ? -EOPNOTSUPP : ret;
}

/* The kind of time with the unit of another. */
static dray_dtype time_of(char kind, dray_dtype unit)
{
	return DRAY_TIME(kind, 0, 0) | (unit & UNIT_MASK);
}

static int fail_types(const struct dray_ufunc_definition *definition,
		      const dray_dtype *given)
{
	char a[32], b[32];

	dray_dtype_format(given[0], a, sizeof(a));
	dray_dtype_format(given[1], b, sizeof(b));
	return dray_fail(-EOPNOTSUPP, "%s has no loop for %s and %s",
			 definition->name, a, b);
}

static char resolve_letter_of(dray_dtype dtype)
{
	if (dray_dtype_is_time(dtype))
		return dray_dtype_kind(dtype);
	return dtype == DRAY_FLOAT64 ? 'd' : dtype == DRAY_BOOL ? '?' : 'q';
}

/* The entry of the types, which are the result. */
static int entry_of(const struct dray_ufunc_definition *definition,
		    const dray_dtype *types)
{
	const int count = definition->inputs + definition->outputs;
	size_t i;
	int o;

	for (i = 0; i < definition->count; i++) {
		for (o = 0; o < count; o++)
			if (definition->loops[i].types[o] !=
			    resolve_letter_of(types[o]))
				break;
		if (o == count)
			return (int)i;
	}
	return fail_types(definition, types);
}

static int times_resolve_choose(const struct dray_ufunc_definition *definition,
				dray_dtype *out, dray_dtype a, dray_dtype b,
				dray_dtype c)
{
	out[0] = a;
	out[1] = b;
	out[2] = c;
	return entry_of(definition, out);
}

static bool has_time(const dray_dtype *given)
{
	return dray_dtype_is_time(given[0]) || dray_dtype_is_time(given[1]);
}

/* A number beside a time counts durations of its unit. */
static bool as_times(const dray_dtype *given, dray_dtype *times)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (dray_dtype_is_time(given[i]))
			times[i] = time_of(dray_dtype_kind(given[i]), given[i]);
		else if (resolve_is_integer(given[i]) || given[i] == DRAY_BOOL)
			times[i] = time_of('m', given[1 - i]);
		else
			return false;
	}
	return true;
}

int dray_resolve_add(const struct dray_ufunc_definition *definition,
		     const dray_dtype *given, dray_dtype *out)
{
	dray_dtype times[2], unit;
	char a, b;
	int ret;

	if (!has_time(given))
		return -ENOENT;
	if (!as_times(given, times))
		return fail_types(definition, given);
	a = dray_dtype_kind(times[0]);
	b = dray_dtype_kind(times[1]);
	if (a == 'M' && b == 'M')
		return fail_types(definition, given);
	ret = times_resolve_promote(times[0], times[1], &unit);
	if (ret)
		return ret;
	return times_resolve_choose(definition, out, time_of(a, unit),
				    time_of(b, unit),
				    time_of(a == b ? 'm' : 'M', unit));
}

int dray_resolve_subtract(const struct dray_ufunc_definition *definition,
			  const dray_dtype *given, dray_dtype *out)
{
	dray_dtype times[2], unit;
	char a, b;
	int ret;

	if (!has_time(given))
		return dray_resolve_no_bools(definition, given, out);
	if (!as_times(given, times))
		return fail_types(definition, given);
	a = dray_dtype_kind(times[0]);
	b = dray_dtype_kind(times[1]);
	if (b == 'M' && (a != 'M' || !dray_dtype_is_time(given[0])))
		return fail_types(definition, given);
	ret = times_resolve_promote(times[0], times[1], &unit);
	if (ret)
		return ret;
	return times_resolve_choose(definition, out, time_of(a, unit),
				    time_of(b, unit),
				    time_of(a == b ? 'm' : 'M', unit));
}

/* The type that a number beside a duration becomes; 0: none. */
static dray_dtype resolve_factor_of(dray_dtype dtype)
{
	if (resolve_is_integer(dtype))
		return DRAY_INT64;
	return dray_dtype_kind(dtype) == 'f' ? DRAY_FLOAT64 : 0;
}

int dray_resolve_multiply(const struct dray_ufunc_definition *definition,
			  const dray_dtype *given, dray_dtype *out)
{
	const int time = dray_dtype_kind(given[0]) == 'm' ? 0 : 1;
	dray_dtype number, duration;

	if (!has_time(given))
		return -ENOENT;
	number = given[1 - time] == DRAY_BOOL
			 ? DRAY_INT64
			 : resolve_factor_of(given[1 - time]);
	if (dray_dtype_kind(given[time]) != 'm' || !number)
		return fail_types(definition, given);
	duration = time_of('m', given[time]);
	return time ? times_resolve_choose(definition, out, number, duration,
					   duration)
		    : times_resolve_choose(definition, out, duration, number,
					   duration);
}

static bool is_floor(const struct dray_ufunc_definition *definition)
{
	return !strcmp(definition->name, "floor_divide");
}

int dray_resolve_divide(const struct dray_ufunc_definition *definition,
			const dray_dtype *given, dray_dtype *out)
{
	dray_dtype unit, number;
	int ret;

	if (!has_time(given)) {
		/* Quotients of integers are doubles, even those of small ones. */
		if (is_floor(definition) ||
		    !(resolve_is_integer(given[0]) || given[0] == DRAY_BOOL) ||
		    !(resolve_is_integer(given[1]) || given[1] == DRAY_BOOL))
			return -ENOENT;
		out[0] = out[1] = out[2] = DRAY_FLOAT64;
		for (ret = 0; strcmp(definition->loops[ret].types, "ddd");)
			ret++;
		return ret;
	}
	if (dray_dtype_kind(given[0]) != 'm')
		return fail_types(definition, given);
	if (dray_dtype_kind(given[1]) == 'm') {
		ret = times_resolve_promote(given[0], given[1], &unit);
		return ret ? ret
			   : times_resolve_choose(definition, out, unit, unit,
						  is_floor(definition)
							  ? DRAY_INT64
							  : DRAY_FLOAT64);
	}
	number = resolve_factor_of(given[1]);
	unit = time_of('m', given[0]);
	return number ? times_resolve_choose(definition, out, unit, number,
					     unit)
		      : fail_types(definition, given);
}

int dray_resolve_remainder(const struct dray_ufunc_definition *definition,
			   const dray_dtype *given, dray_dtype *out)
{
	dray_dtype unit;
	int ret;

	if (!has_time(given))
		return -ENOENT;
	if (dray_dtype_kind(given[0]) != 'm' ||
	    dray_dtype_kind(given[1]) != 'm')
		return fail_types(definition, given);
	ret = times_resolve_promote(given[0], given[1], &unit);
	if (ret)
		return ret;
	out[3] = unit;
	return times_resolve_choose(definition, out, unit, unit,
				    definition->outputs == 2 ? DRAY_INT64
							     : unit);
}

int dray_resolve_common(const struct dray_ufunc_definition *definition,
			const dray_dtype *given, dray_dtype *out)
{
	const bool truth = definition->loops[0].types[2] == '?' &&
			   definition->loops[1].types[2] == '?';
	dray_dtype unit;
	int ret;

	if (!has_time(given))
		return -ENOENT;
	if (dray_dtype_is_time(given[0]) && dray_dtype_is_time(given[1]) &&
	    dray_dtype_kind(given[0]) != dray_dtype_kind(given[1]))
		return fail_types(definition, given);
	ret = times_resolve_promote(given[0], given[1], &unit);
	if (ret)
		return ret;
	if (!dray_dtype_is_time(unit))
		return fail_types(definition, given);
	return times_resolve_choose(definition, out, unit, unit,
				    truth ? DRAY_BOOL : unit);
}

int dray_resolve_unary(const struct dray_ufunc_definition *definition,
		       const dray_dtype *given, dray_dtype *out)
{
	const char *last = definition->loops[definition->count - 1].types;

	if (!dray_dtype_is_time(given[0]))
		return -ENOENT;
	out[0] = time_of(dray_dtype_kind(given[0]), given[0]);
	out[1] = last[1] == '?' ? DRAY_BOOL : out[0];
	return entry_of(definition, out);
}

int dray_resolve_signed(const struct dray_ufunc_definition *definition,
			const dray_dtype *given, dray_dtype *out)
{
	return dray_dtype_is_time(given[0])
		       ? dray_resolve_unary(definition, given, out)
		       : dray_resolve_no_bools(definition, given, out);
}

int dray_resolve_is_nat(const struct dray_ufunc_definition *definition,
			const dray_dtype *given, dray_dtype *out)
{
	char type[32];

	if (dray_dtype_is_time(given[0]))
		return dray_resolve_unary(definition, given, out);
	dray_dtype_format(given[0], type, sizeof(type));
	return dray_fail(-EOPNOTSUPP, "%s is only for times, not for %s",
			 definition->name, type);
}
