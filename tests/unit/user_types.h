/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Two types of a user's own, with all their functions: bfloat16, the upper half of
 * a float, and Q15, an int16_t that counts 1/32768.
 */
#ifndef DRAY_TESTS_USER_TYPES_H
#define DRAY_TESTS_USER_TYPES_H

#include <math.h>

#include <dray/array.h>

#include "unit.h"

/* Bits are read and written at any address. */
static float load_bfloat(const void *at)
{
	uint16_t upper;
	uint32_t bits;
	float value;

	memcpy(&upper, at, sizeof(upper));
	bits = (uint32_t)upper << 16;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

static void store_bfloat(void *at, float value)
{
	uint32_t bits;
	uint16_t upper;

	memcpy(&bits, &value, sizeof(bits));
	if (value != value)
		bits |= 1u << 22;
	else
		bits += 0x7fff + (bits >> 16 & 1);
	upper = (uint16_t)(bits >> 16);
	memcpy(at, &upper, sizeof(upper));
}

static float load_q15(const void *at)
{
	int16_t value;

	memcpy(&value, at, sizeof(value));
	return (float)value / 32768;
}

#define LOOP(name, body)                                                       \
	static int name(char *const *data, const int64_t *strides,             \
			int64_t count, void *context)                          \
	{                                                                      \
		for (int64_t i = 0; i < count; i++) {                          \
			char *to = data[0] + i * strides[0];                   \
			const char *from = data[1] + i * strides[1];           \
                                                                               \
			body;                                                  \
		}                                                              \
		return 0;                                                      \
	}

LOOP(bfloat_to_float, {
	const float value = load_bfloat(from);

	memcpy(to, &value, sizeof(value));
})
LOOP(float_to_bfloat, {
	float value;

	memcpy(&value, from, sizeof(value));
	store_bfloat(to, value);
})
LOOP(byte_to_bfloat, store_bfloat(to, (float)*(const uint8_t *)from))
LOOP(bfloat_to_date, {
	const int64_t value = (int64_t)load_bfloat(from);

	memcpy(to, &value, sizeof(value));
})
LOOP(bfloat_to_text, {
	char text[64];

	snprintf(text, sizeof(text), "%gb", (double)load_bfloat(from));
	strncpy(to, text, *(const uint32_t *)context);
})
LOOP(q15_to_float, {
	const float value = load_q15(from);

	memcpy(to, &value, sizeof(value));
})
LOOP(q15_to_bfloat, store_bfloat(to, load_q15(from)))
LOOP(float_to_q15, {
	float value;
	int16_t fraction;

	memcpy(&value, from, sizeof(value));
	if (!(value >= -1 && value < 1)) {
		errno = ERANGE;
		return -ERANGE;
	}
	fraction = (int16_t)(value * 32768);
	memcpy(to, &fraction, sizeof(fraction));
})

/* A conversion of a type, which is 'B' or 'q' beside a builtin one. */
struct conversion {
	char from_kind;
	char to_kind;
	uint32_t size; /* bytes of the builtin type; 0: any */
	dray_loop *loop;
	int level;
};

static const struct conversion conversions[] = {
	{ 'B', 'f', 4, bfloat_to_float, DRAY_CASTING_SAFE },
	{ 'f', 'B', 4, float_to_bfloat, DRAY_CASTING_SAME_KIND },
	{ 'u', 'B', 1, byte_to_bfloat, DRAY_CASTING_SAFE },
	{ 'B', 'M', 8, bfloat_to_date, 0 },
	{ 'B', 'S', 0, bfloat_to_text, DRAY_CASTING_SAME_KIND },
	{ 'q', 'f', 4, q15_to_float, DRAY_CASTING_SAFE },
	{ 'f', 'q', 4, float_to_q15, DRAY_CASTING_UNSAFE },
	{ 'q', 'B', 0, q15_to_bfloat, DRAY_CASTING_SAME_KIND },
};

/* Of a text, which the loop has to cut. */
static uint32_t room_for_text;

static int user_cast(dray_dtype from, dray_dtype to, dray_loop **loop,
		     void **context)
{
	const dray_dtype builtin = dray_dtype_is_builtin(from) ? from : to;

	for (size_t i = 0; i < sizeof(conversions) / sizeof(conversions[0]);
	     i++) {
		const struct conversion *row = &conversions[i];

		if (row->from_kind != dray_dtype_kind(from) ||
		    row->to_kind != dray_dtype_kind(to) ||
		    (row->size && row->size != dray_dtype_itemsize(builtin)))
			continue;
		assert_false(dray_dtype_flags(builtin) & DRAY_DTYPE_SWAPPED);
		room_for_text = dray_dtype_itemsize(to);
		*loop = row->loop;
		*context = &room_for_text;
		return row->level;
	}
	return -EOPNOTSUPP;
}

static bool bfloat_nonzero(dray_dtype dtype, const void *element)
{
	return load_bfloat(element) != 0;
}

/* NaN come last. */
static int bfloat_compare(dray_dtype dtype, const void *a, const void *b)
{
	const float one = load_bfloat(a), other = load_bfloat(b);

	if (one != one || other != other)
		return (one != one) - (other != other);
	return (one > other) - (one < other);
}

static int q15_compare(dray_dtype dtype, const void *a, const void *b)
{
	const float one = load_q15(a), other = load_q15(b);

	return (one > other) - (one < other);
}

static dray_dtype make_type(const char *name, char kind,
			    const struct dray_dtype_functions *functions)
{
	dray_dtype dtype = 0;

	assert_works(dray_dtype_create_user(name, kind, 2, 2, functions, NULL,
					    &dtype));
	return dtype;
}

static dray_dtype make_bfloat(void)
{
	static const struct dray_dtype_functions functions = {
		.size = sizeof(functions),
		.nonzero = bfloat_nonzero,
		.compare = bfloat_compare,
		.cast = user_cast,
	};

	return make_type("bfloat16", 'B', &functions);
}

__attribute__((unused)) static dray_dtype make_q15(void)
{
	/* Both types know how a Q15 converts; its own table is asked first. */
	static const struct dray_dtype_functions functions = {
		.size = sizeof(functions),
		.compare = q15_compare,
		.cast = user_cast,
	};

	return make_type("q15", 'q', &functions);
}

#endif /* DRAY_TESTS_USER_TYPES_H */
