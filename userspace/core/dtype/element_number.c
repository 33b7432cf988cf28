// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Elements that are one number: a bool, an integer, a float or a time.  Each C
 * type has its loads and its order; macros make the functions of its table.
 */
#include <errno.h>
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "base/holds.h"
#include "dtype/element.h"
#include "dtype/half.h"

/* Loads from any address, in the type's order. */
#define DEFINE_LOAD(name, type)                                           \
	static type load_##name(dray_dtype dtype, const void *element)    \
	{                                                                 \
		type value;                                               \
                                                                          \
		dray_element_load(&value, element, sizeof(value), dtype); \
		return value;                                             \
	}

DEFINE_LOAD(i1, int8_t)
DEFINE_LOAD(i2, int16_t)
DEFINE_LOAD(i4, int32_t)
DEFINE_LOAD(i8, int64_t)
DEFINE_LOAD(u1, uint8_t)
DEFINE_LOAD(u2, uint16_t)
DEFINE_LOAD(u4, uint32_t)
DEFINE_LOAD(u8, uint64_t)
DEFINE_LOAD(f4, float)
DEFINE_LOAD(f8, double)
DEFINE_LOAD(fl, long double)

/* Any byte but 0 is true. */
static bool load_b1(dray_dtype dtype, const void *element)
{
	return load_u1(dtype, element);
}

static float load_f2(dray_dtype dtype, const void *element)
{
	return dray_half_to_float(load_u2(dtype, element));
}

/* A time in the order of sorting: no time is the largest. */
static uint64_t load_time(dray_dtype dtype, const void *element)
{
	return ((uint64_t)load_i8(dtype, element) ^ (uint64_t)INT64_MIN) - 1;
}

/* Whether a value is NaN, or no time, and whether one sorts before another. */
#define NEVER(value) ((void)(value), false)
#define IS_NAN(value) ((value) != (value))
#define IS_NO_TIME(value) ((value) == UINT64_MAX)
#define BELOW(a, b) ((a) < (b))
#define REAL_BELOW(a, b) ((a) < (b) || ((b) != (b) && (a) == (a)))

#define DEFINE_ORDER(name, type, load, is_nan, below)                        \
	static int compare_##name(dray_dtype dtype, const void *a,           \
				  const void *b)                             \
	{                                                                    \
		type one = load(dtype, a), other = load(dtype, b);           \
                                                                             \
		return below(other, one) - below(one, other);                \
	}                                                                    \
                                                                             \
	static int64_t argmax_##name(dray_dtype dtype, const void *elements, \
				     int64_t stride, int64_t count)          \
	{                                                                    \
		const char *at = elements;                                   \
		type best = load(dtype, at);                                 \
		int64_t i, found = 0;                                        \
                                                                             \
		for (i = 1; i < count && !is_nan(best); i++) {               \
			type value = load(dtype, at += stride);              \
                                                                             \
			if (is_nan(value) || best < value) {                 \
				best = value;                                \
				found = i;                                   \
			}                                                    \
		}                                                            \
		return found;                                                \
	}

#define DEFINE_VALUE(name, load, scalar, member, c_type)                  \
	static bool nonzero_##name(dray_dtype dtype, const void *element) \
	{                                                                 \
		return load(dtype, element) != 0;                         \
	}                                                                 \
                                                                          \
	static int get_##name(dray_dtype dtype, const void *element,      \
			      struct dray_scalar *out)                    \
	{                                                                 \
		out->kind = scalar;                                       \
		out->member = (c_type)load(dtype, element);               \
		return 0;                                                 \
	}

#define DEFINE_SIGNED(name, type)                           \
	DEFINE_ORDER(name, type, load_##name, NEVER, BELOW) \
	DEFINE_VALUE(name, load_##name, DRAY_SCALAR_SIGNED, integer, int64_t)
#define DEFINE_UNSIGNED(name, type)                         \
	DEFINE_ORDER(name, type, load_##name, NEVER, BELOW) \
	DEFINE_VALUE(name, load_##name, DRAY_SCALAR_UNSIGNED, natural, uint64_t)
#define DEFINE_REAL(name, type)                                   \
	DEFINE_ORDER(name, type, load_##name, IS_NAN, REAL_BELOW) \
	DEFINE_VALUE(name, load_##name, DRAY_SCALAR_REAL, real, double)

DEFINE_SIGNED(i1, int8_t)
DEFINE_SIGNED(i2, int16_t)
DEFINE_SIGNED(i4, int32_t)
DEFINE_SIGNED(i8, int64_t)
DEFINE_UNSIGNED(u1, uint8_t)
DEFINE_UNSIGNED(u2, uint16_t)
DEFINE_UNSIGNED(u4, uint32_t)
DEFINE_UNSIGNED(u8, uint64_t)
DEFINE_REAL(f2, float)
DEFINE_REAL(f4, float)
DEFINE_REAL(f8, double)
DEFINE_REAL(fl, long double)
DEFINE_ORDER(b1, bool, load_b1, NEVER, BELOW)
DEFINE_VALUE(b1, load_b1, DRAY_SCALAR_BOOLEAN, boolean, bool)
DEFINE_ORDER(time, uint64_t, load_time, IS_NO_TIME, BELOW)

/* Writes the sign and the magnitude of a value, cut off to an integer. */
static int cut_off(dray_dtype dtype, const struct dray_scalar *value,
		   bool *negative, uint64_t *magnitude)
{
	double real = 0;
	int ret;

	*negative = false;
	if (value->kind == DRAY_SCALAR_SIGNED) {
		*negative = value->integer < 0;
		*magnitude = *negative ? -(uint64_t)value->integer
				       : (uint64_t)value->integer;
		return 0;
	}
	if (value->kind == DRAY_SCALAR_UNSIGNED) {
		*magnitude = value->natural;
		return 0;
	}
	ret = dray_element_real(dtype, value, &real);
	if (ret)
		return ret;
	if (real != real)
		return dray_element_refuse(-EINVAL, dtype,
					   "NaN is not an integer");
	if (!(fabs(real) < 0x1p64))
		return dray_element_refuse(-ERANGE, dtype,
					   "the value does not fit");
	*magnitude = (uint64_t)fabs(real);
	*negative = real < 0 && *magnitude;
	return 0;
}

/* Stores the low bytes of @bits. */
static void element_number_store(dray_dtype dtype, void *element, uint64_t bits)
{
	uint32_t size = dray_dtype_itemsize(dtype);
	const char *at = (const char *)&bits;

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	at += sizeof(bits) - size;
#endif
	dray_element_load(element, at, size, dtype);
}

static int set_integer(dray_dtype dtype, void *element,
		       const struct dray_scalar *value)
{
	unsigned int bits = 8 * dray_dtype_itemsize(dtype);
	uint64_t magnitude = 0, most;
	bool negative = false;
	int ret = cut_off(dtype, value, &negative, &magnitude);

	if (ret)
		return ret;
	DRAY_HOLDS(bits && bits <= 64);
	most = UINT64_MAX >> (64 - bits);
	if (dray_dtype_kind(dtype) == 'i')
		most = negative ? most / 2 + 1 : most / 2;
	else if (negative)
		most = 0;
	if (magnitude > most)
		return dray_element_refuse(-ERANGE, dtype,
					   "the value does not fit");
	element_number_store(dtype, element, negative ? -magnitude : magnitude);
	return 0;
}

/* Times are stored as they are, and only from integers. */
static int set_time(dray_dtype dtype, void *element,
		    const struct dray_scalar *value)
{
	if (value->kind != DRAY_SCALAR_SIGNED)
		return dray_element_refuse(-EINVAL, dtype,
					   "the value is not a signed integer");
	element_number_store(dtype, element, (uint64_t)value->integer);
	return 0;
}

static int set_bool(dray_dtype dtype, void *element,
		    const struct dray_scalar *value)
{
	double real = 0;
	int ret = 0;

	if (value->kind == DRAY_SCALAR_COMPLEX)
		real = value->parts.real != 0 || value->parts.imaginary != 0;
	else
		ret = dray_element_real(dtype, value, &real);
	if (!ret)
		*(char *)element = real != 0;
	return ret;
}

static int set_real(dray_dtype dtype, void *element,
		    const struct dray_scalar *value)
{
	double real = 0;
	long double longer;
	float shorter;
	int ret = dray_element_real(dtype, value, &real);

	if (ret)
		return ret;
	switch (dray_dtype_itemsize(dtype)) {
	case 2:
		/* As the conversion to a float notes it. */
		if (dray_half_overflows_double(real))
			feraiseexcept(FE_OVERFLOW);
		element_number_store(dtype, element,
				     dray_half_from_double(real));
		break;
	case 4:
		shorter = (float)real;
		dray_element_load(element, &shorter, sizeof(shorter), dtype);
		break;
	case 8:
		dray_element_load(element, &real, sizeof(real), dtype);
		break;
	default:
		memset(&longer, 0, sizeof(longer)); /* and its padding */
		longer = (long double)real;
		dray_element_load(element, &longer, sizeof(longer), dtype);
	}
	return 0;
}

#define TABLE(kind, bytes, setter, value, order)                               \
	{                                                                      \
		kind, bytes,                                                   \
		{                                                              \
			.size = sizeof(struct dray_dtype_functions),           \
			.get = get_##value, .set = setter,                     \
			.copyswap = dray_element_copyswap,                     \
			.nonzero = nonzero_##value,                            \
			.compare = compare_##order, .fill = dray_element_fill, \
			.argmax = argmax_##order,                              \
		}                                                              \
	}

static const struct number_table {
	char kind;
	uint8_t size;
	struct dray_dtype_functions functions;
} tables[] = {
	TABLE('?', 1, set_bool, b1, b1),
	TABLE('i', 1, set_integer, i1, i1),
	TABLE('i', 2, set_integer, i2, i2),
	TABLE('i', 4, set_integer, i4, i4),
	TABLE('i', 8, set_integer, i8, i8),
	TABLE('u', 1, set_integer, u1, u1),
	TABLE('u', 2, set_integer, u2, u2),
	TABLE('u', 4, set_integer, u4, u4),
	TABLE('u', 8, set_integer, u8, u8),
	TABLE('f', 2, set_real, f2, f2),
	TABLE('f', 4, set_real, f4, f4),
	TABLE('f', 8, set_real, f8, f8),
	TABLE('f', sizeof(long double), set_real, fl, fl),
	TABLE('m', 8, set_time, i8, time),
	TABLE('M', 8, set_time, i8, time),
};

const struct dray_dtype_functions *dray_element_number(char kind, uint32_t size)
{
	size_t i;

	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		if (tables[i].kind == kind && tables[i].size == size)
			return &tables[i].functions;
	}
	return NULL;
}
