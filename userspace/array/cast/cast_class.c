// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Classes of types, and their numbers. */
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

static enum dray_class cast_class_of(char kind, uint32_t size)
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
	typed.class = cast_class_of(dray_dtype_kind(dtype), typed.size);
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

int dray_class_rank(enum dray_class class)
{
	return numbers[class].rank;
}
