// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The common type of several types: first the class, then its size or unit.  Of
 * several classes, the class that knows most (NumPy's order of type numbers)
 * meets each of the others: the common type of i2, u2 and f4 is f4, although it
 * is i4 for i2 and u2.  (Source: NumPy 2's common_dtype.c, and NEP 50.)
 */
#include <errno.h>

#include "cast/cast.h"
#include "private.h"

#define MOST_TYPES 64

/* Numbers of a program, beside the classes of types. */
enum {
	WEAK_INT = DRAY_CLASS_OTHER + 1,
	WEAK_FLOAT,
	WEAK_COMPLEX,
	UNKNOWN, /* the other class may know */
	DROPPED, /* its partner includes it */
};

/* A class or an item of the list above. */
typedef int known;

/* How much a class knows: NumPy's type numbers. */
static const uint8_t knowledge[] = {
	[DRAY_CLASS_BOOL] = 0,	   [DRAY_CLASS_INT8] = 1,
	[DRAY_CLASS_UINT8] = 2,	   [DRAY_CLASS_INT16] = 3,
	[DRAY_CLASS_UINT16] = 4,   [DRAY_CLASS_INT32] = 5,
	[DRAY_CLASS_UINT32] = 6,   [DRAY_CLASS_INT64] = 7,
	[DRAY_CLASS_UINT64] = 8,   [DRAY_CLASS_FLOAT] = 11,
	[DRAY_CLASS_DOUBLE] = 12,  [DRAY_CLASS_LONG] = 13,
	[DRAY_CLASS_CFLOAT] = 14,  [DRAY_CLASS_CDOUBLE] = 15,
	[DRAY_CLASS_CLONG] = 16,   [DRAY_CLASS_BYTES] = 18,
	[DRAY_CLASS_UNICODE] = 19, [DRAY_CLASS_VOID] = 20,
	[DRAY_CLASS_DATE] = 21,	   [DRAY_CLASS_DURATION] = 22,
	[DRAY_CLASS_HALF] = 23,	   [DRAY_CLASS_OTHER] = 24,
};

/* Floats by their precision. */
static const enum dray_class floats[] = {
	DRAY_CLASS_HALF,
	DRAY_CLASS_FLOAT,
	DRAY_CLASS_DOUBLE,
	DRAY_CLASS_LONG,
};

static int precision_of(enum dray_class float_class)
{
	return float_class == DRAY_CLASS_HALF
		       ? 0
		       : 1 + (int)(float_class - DRAY_CLASS_FLOAT);
}

/* The least precision for a number beside floats. */
static int least_precision(enum dray_class class)
{
	if (class == DRAY_CLASS_INT8 || class == DRAY_CLASS_UINT8)
		return 0;
	if (class == DRAY_CLASS_INT16 || class == DRAY_CLASS_UINT16)
		return 1;
	if (dray_class_is_integer(class))
		return 2;
	return precision_of(
		dray_class_is_complex(class) ? dray_class_part(class) : class);
}

static enum dray_class common_integer(enum dray_class a, enum dray_class b)
{
	const bool is_unsigned = dray_class_is_unsigned(a);
	enum dray_class enclosing;

	if (is_unsigned == dray_class_is_unsigned(b))
		return a > b ? a : b;
	if (is_unsigned)
		return common_integer(b, a);
	/* The signed class that includes all of the unsigned class b. */
	enclosing = (enum dray_class)(b - DRAY_CLASS_UINT8 + DRAY_CLASS_INT16);
	if (enclosing > DRAY_CLASS_INT64)
		return DRAY_CLASS_DOUBLE;
	return a > enclosing ? a : enclosing;
}

static enum dray_class common_number(enum dray_class a, enum dray_class b)
{
	int precision, other;

	if (a == b || b == DRAY_CLASS_BOOL)
		return a;
	if (a == DRAY_CLASS_BOOL)
		return b;
	if (dray_class_is_integer(a) && dray_class_is_integer(b))
		return common_integer(a, b);
	precision = least_precision(a);
	other = least_precision(b);
	if (precision < other)
		precision = other;
	if (!dray_class_is_complex(a) && !dray_class_is_complex(b))
		return floats[precision];
	return dray_class_complex(floats[precision ? precision : 1]);
}

/* A class of a type and a program's number. */
static known common_weak(known class, known weak)
{
	if (!dray_class_is_number((enum dray_class) class))
		return class == DRAY_CLASS_DURATION && weak == WEAK_INT ? class : UNKNOWN;
	if (dray_class_is_complex((enum dray_class) class))
		return class;
	if (dray_class_is_float((enum dray_class) class))
		return weak != WEAK_COMPLEX
			       ? class
			       : (known)common_number((enum dray_class) class,
						      DRAY_CLASS_CFLOAT);
	return dray_class_is_integer((enum dray_class) class) &&
			       weak == WEAK_INT
		       ? class
		       : UNKNOWN;
}

/* A program's number and any other class. */
static known weak_common(known weak, known other)
{
	static const enum dray_class alone[] = {
		DRAY_CLASS_INT64,
		DRAY_CLASS_DOUBLE,
		DRAY_CLASS_CDOUBLE,
	};

	if (other >= WEAK_INT)
		return other < weak ? weak : UNKNOWN;
	if (other == DRAY_CLASS_BOOL ||
	    (weak > WEAK_INT && dray_class_is_integer((enum dray_class)other)))
		return (known)alone[weak - WEAK_INT];
	return UNKNOWN;
}

/* The common class as far as @a knows @b. */
static known common_class(known a, known b)
{
	const enum dray_class one = (enum dray_class)a;
	const enum dray_class other = (enum dray_class)b;

	if (a == b)
		return a;
	if (a >= WEAK_INT)
		return weak_common(a, b);
	if (b >= WEAK_INT)
		return common_weak(a, b);
	if (dray_class_is_text(one))
		return dray_class_is_number(other) ||
				       (a == DRAY_CLASS_UNICODE &&
					b == DRAY_CLASS_BYTES)
			       ? a
			       : UNKNOWN;
	if (a == DRAY_CLASS_DATE && b == DRAY_CLASS_DURATION)
		return a;
	if (knowledge[b] > knowledge[a])
		return UNKNOWN;
	if (dray_class_is_number(one) && dray_class_is_number(other))
		return (known)common_number(one, other);
	return a == DRAY_CLASS_DURATION && other < DRAY_CLASS_UINT64 ? a
								     : UNKNOWN;
}

static known common_either(known a, known b)
{
	const known class = common_class(a, b);

	return class == UNKNOWN ? common_class(b, a) : class;
}

/*
 * Moves the class that knows most to the front.  Halves of the list meet from
 * both ends, as in NumPy: with three classes and more, order matters.
 */
static void cast_promote_reduce(known *classes, size_t count)
{
	size_t low;

	for (; count >= 2; count = count == 2 ? 1 : count - count / 2) {
		for (low = 0; low < count / 2; low++) {
			known *one = &classes[low];
			known *other = &classes[count - 1 - low];
			const known both = common_class(*one, *other);

			if (both == UNKNOWN) {
				const known less = *one;

				*one = *other;
				*other = less;
			} else if (both == *one) {
				*other = DROPPED;
			}
		}
	}
}

/* Returns UNKNOWN if there is no common class. */
static known common_of(known *classes, size_t count)
{
	known result = UNKNOWN, both;
	size_t i;

	if (count == 1)
		return classes[0];
	cast_promote_reduce(classes, count);
	for (i = 1; i < count; i++) {
		if (classes[i] == DROPPED)
			continue;
		both = common_class(classes[0], classes[i]);
		if (both == UNKNOWN)
			return UNKNOWN;
		result = result == UNKNOWN ? both : common_either(result, both);
		if (result == UNKNOWN)
			return UNKNOWN;
	}
	return result == UNKNOWN ? classes[0] : result;
}

static uint32_t characters_of(const struct dray_typed *typed)
{
	if (dray_class_is_number(typed->class))
		return dray_class_characters(typed->class);
	return typed->class == DRAY_CLASS_UNICODE ? typed->size / 4
						  : typed->size;
}

static int common_text(enum dray_class class, const dray_dtype *types,
		       size_t count, dray_dtype *out)
{
	uint32_t most = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct dray_typed typed = dray_typed(types[i]);
		const uint32_t characters = characters_of(&typed);

		if (most < characters)
			most = characters;
	}
	if (class == DRAY_CLASS_UNICODE && most > UINT32_MAX / 4)
		return dray_fail(
			-EOVERFLOW,
			"bytes of %u characters have no type of text: it has 32 bits of bytes, four a character",
			most);
	*out = class == DRAY_CLASS_BYTES ? DRAY_BYTES(most)
					 : DRAY_UNICODE(most);
	return 0;
}

static int common_time(enum dray_class class, const dray_dtype *types,
		       size_t count, dray_dtype *out)
{
	struct dray_typed both = { .class = class, .multiple = 1 };
	size_t i;
	int ret = 0;

	*out = DRAY_TIME(class == DRAY_CLASS_DATE ? 'M' : 'm', 0, 1);
	for (i = 0; !ret && i < count; i++) {
		struct dray_typed typed = dray_typed(types[i]);

		if (!dray_class_is_time(typed.class))
			continue;
		typed.class = class;
		ret = dray_time_common(&both, &typed, out);
		if (!ret)
			both = dray_typed(*out);
	}
	return ret;
}

/* Finds the type of a class that holds all of @types. */
static int common_type(known class, const dray_dtype *types, size_t count,
		       dray_dtype *out)
{
	switch (class) {
	case UNKNOWN:
		return dray_fail_common(types, count);
	case WEAK_INT:
		*out = DRAY_INT64;
		return 0;
	case WEAK_FLOAT:
		*out = DRAY_FLOAT64;
		return 0;
	case WEAK_COMPLEX:
		*out = DRAY_COMPLEX128;
		return 0;
	case DRAY_CLASS_BYTES:
	case DRAY_CLASS_UNICODE:
		return common_text((enum dray_class) class, types, count, out);
	case DRAY_CLASS_DATE:
	case DRAY_CLASS_DURATION:
		return common_time((enum dray_class) class, types, count, out);
	case DRAY_CLASS_VOID:
		return dray_common_equal(types, count, out);
	case DRAY_CLASS_OTHER:
		return dray_common_object(types, count, dray_promote, out);
	default:
		*out = dray_class_dtype((enum dray_class) class);
		return 0;
	}
}

static size_t add_weak(known *classes, size_t count, unsigned int weak)
{
	if (weak & DRAY_WEAK_INT)
		classes[count++] = WEAK_INT;
	if (weak & DRAY_WEAK_FLOAT)
		classes[count++] = WEAK_FLOAT;
	if (weak & DRAY_WEAK_COMPLEX)
		classes[count++] = WEAK_COMPLEX;
	return count;
}

int dray_result_type(const dray_dtype *dtypes, size_t count, unsigned int weak,
		     dray_dtype *out)
{
	known classes[MOST_TYPES + 3];
	dray_dtype normal;
	bool user = false;
	size_t i;
	int ret;

	if (!dray_given(out, __func__) ||
	    (count && !dray_given(dtypes, __func__)))
		return -EINVAL;
	if (count > MOST_TYPES || (!count && !weak))
		return dray_fail(-EINVAL,
				 "%zu types are given, 1 to %d are possible",
				 count, MOST_TYPES);
	if (weak > (DRAY_WEAK_INT | DRAY_WEAK_FLOAT | DRAY_WEAK_COMPLEX))
		return dray_fail(-EINVAL, "kinds of numbers 0x%x do not exist",
				 weak);
	for (i = 0; i < count; i++) {
		ret = dray_dtype_normalize(dtypes[i], &normal);
		if (ret)
			return ret;
		classes[i] = (known)dray_typed(dtypes[i]).class;
		user |= dray_dtype_as_user(dtypes[i]) != NULL;
	}
	if (user)
		return dray_common_user(dtypes, count, weak, dray_promote, out);
	ret = common_type(common_of(classes, add_weak(classes, count, weak)),
			  dtypes, count, &normal);
	if (!ret)
		*out = normal;
	return ret;
}

int dray_promote(dray_dtype a, dray_dtype b, dray_dtype *out)
{
	return dray_result_type((dray_dtype[]){ a, b }, 2, 0, out);
}
