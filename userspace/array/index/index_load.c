// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Integers of indices: loads of every integer type, and the offsets that they
 * stand for.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "index/index.h"
#include "private.h"

/* Loads a type; memcpy() is a load that needs no alignment. */
#define DEFINE_LOAD(name, type, bits, swap)                                \
	static void load_##name(const unsigned char *data, int64_t stride, \
				size_t count, int64_t *out)                \
	{                                                                  \
		size_t i;                                                  \
                                                                           \
		for (i = 0; i < count; i++) {                              \
			bits raw;                                          \
                                                                           \
			memcpy(&raw, data, sizeof(raw));                   \
			out[i] = (int64_t)(type)swap(raw);                 \
			data += stride;                                    \
		}                                                          \
	}

#define AS_IT_IS(raw) (raw)

DEFINE_LOAD(i1, int8_t, uint8_t, AS_IT_IS)
DEFINE_LOAD(i2, int16_t, uint16_t, AS_IT_IS)
DEFINE_LOAD(i4, int32_t, uint32_t, AS_IT_IS)
DEFINE_LOAD(i8, int64_t, uint64_t, AS_IT_IS)
DEFINE_LOAD(u1, uint8_t, uint8_t, AS_IT_IS)
DEFINE_LOAD(u2, uint16_t, uint16_t, AS_IT_IS)
DEFINE_LOAD(u4, uint32_t, uint32_t, AS_IT_IS)
DEFINE_LOAD(i2_swapped, int16_t, uint16_t, __builtin_bswap16)
DEFINE_LOAD(i4_swapped, int32_t, uint32_t, __builtin_bswap32)
DEFINE_LOAD(i8_swapped, int64_t, uint64_t, __builtin_bswap64)
DEFINE_LOAD(u2_swapped, uint16_t, uint16_t, __builtin_bswap16)
DEFINE_LOAD(u4_swapped, uint32_t, uint32_t, __builtin_bswap32)

dray_index_load *dray_index_load_for(dray_dtype dtype)
{
	/* As in NumPy, uint64_t above INT64_MAX count as negative. */
	static dray_index_load *const loads[2][2][4] = {
		{ { load_i1, load_i2, load_i4, load_i8 },
		  { load_u1, load_u2, load_u4, load_i8 } },
		{ { load_i1, load_i2_swapped, load_i4_swapped,
		    load_i8_swapped },
		  { load_u1, load_u2_swapped, load_u4_swapped,
		    load_i8_swapped } },
	};
	char kind = dray_dtype_kind(dtype), order = dray_dtype_order(dtype);
	uint32_t size = dray_dtype_itemsize(dtype);
	bool swapped = order != '|' && order != DRAY_NATIVE_ORDER;

	if (!dray_dtype_is_builtin(dtype) || (kind != 'i' && kind != 'u') ||
	    !size || size > 8 || (size & (size - 1)))
		return NULL;
	return loads[swapped][kind == 'u'][__builtin_ctz(size)];
}

/* Integers that a processor compares in a step or two. */
typedef uint64_t words __attribute__((vector_size(32)));

/*
 * Sets the highest bit if an integer is outside.  With @add, an integer inside is
 * 0 to @end - 1, both below 2^63.
 */
static uint64_t find_few_outside(const int64_t *integers, size_t count,
				 uint64_t add, uint64_t end)
{
	uint64_t outside = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		uint64_t at = (uint64_t)integers[i] + add;

		outside |= at | ~(at - end);
	}
	return outside;
}

/* Does the same by vectors, which are slower to begin. */
static inline __attribute__((always_inline)) uint64_t
find_outside(const int64_t *integers, size_t count, uint64_t add, uint64_t end)
{
	words negative = { 0 }, below_end = ~negative, one, other;
	uint64_t outside;
	size_t i;

	for (i = 0; i + 8 <= count; i += 8) {
		memcpy(&one, integers + i, sizeof(one));
		memcpy(&other, integers + i + 4, sizeof(other));
		one += add;
		other += add;
		negative |= one | other;
		below_end &= (one - end) & (other - end);
	}
	outside = find_few_outside(integers + i, count - i, add, end);
	negative |= ~below_end;
	return outside | negative[0] | negative[1] | negative[2] | negative[3];
}

#if defined(__x86_64__)
static __attribute__((target("avx2"))) uint64_t
find_outside_avx2(const int64_t *integers, size_t count, uint64_t add,
		  uint64_t end)
{
	return find_outside(integers, count, add, end);
}
#else
#define find_outside_avx2 find_outside
#endif

bool dray_index_are_inside(const int64_t *integers, size_t count, int64_t below,
			   int64_t extent)
{
	const uint64_t add = (uint64_t)below, end = add + (uint64_t)extent;
	size_t i;

	/* Only axes of a stride of 0 are that long. */
	for (i = 0; extent > INT64_MAX / 2 && i < count; i++) {
		if (integers[i] < -below || integers[i] >= extent)
			return false;
	}
	if (i)
		return true;
	if (count < 32)
		return !(find_few_outside(integers, count, add, end) >> 63);
	if (dray_cpu_has_avx2())
		return !(find_outside_avx2(integers, count, add, end) >> 63);
	return !(find_outside(integers, count, add, end) >> 63);
}

static void index_load_wrap(int64_t *integers, size_t count, int64_t extent)
{
	size_t i;

	for (i = 0; i < count; i++) {
		int64_t at = integers[i];

		if (at < 0 || at >= extent) {
			at %= extent;
			at += at < 0 ? extent : 0;
		}
		integers[i] = at;
	}
}

static void index_load_clip(int64_t *integers, size_t count, int64_t extent)
{
	size_t i;

	for (i = 0; i < count; i++) {
		int64_t at = integers[i] < 0 ? 0 : integers[i];

		integers[i] = at < extent ? at : extent - 1;
	}
}

bool dray_index_read(const struct dray_index_array *array,
		     enum dray_index_mode mode, const unsigned char *data,
		     int64_t step, size_t count, int64_t *out, bool *natural)
{
	const int64_t extent = array->extent;

	if (array->plain && step == sizeof(int64_t))
		memcpy(out, data, count * sizeof(*out));
	else
		array->load(data, step, count, out);
	dray_index_copied();
	if (!extent)
		return false;
	*natural = dray_index_are_inside(out, count, 0, extent);
	if (*natural)
		return true;
	if (mode == DRAY_INDEX_RAISE)
		return dray_index_are_inside(out, count, extent, extent);
	if (mode == DRAY_INDEX_WRAP)
		index_load_wrap(out, count, extent);
	else
		index_load_clip(out, count, extent);
	*natural = true;
	return true;
}

/*
 * The offset of an element by its number in C order.  Elements without bytes may be any
 * distance apart, so the sum may wrap.
 */
static int64_t index_load_unravel(const struct dray_view *view, int64_t number)
{
	uint64_t offset = 0;
	int i;

	for (i = view->ndim - 1; i >= 0; i--) {
		offset += (uint64_t)(number % view->shape[i]) *
			  (uint64_t)view->strides[i];
		number /= view->shape[i];
	}
	return (int64_t)offset;
}

void dray_index_add(const struct dray_index_array *array,
		    const int64_t *integers, size_t count, bool first,
		    int64_t *offsets)
{
	const int64_t extent = array->extent, stride = array->stride;
	size_t i;

	for (i = 0; i < count; i++) {
		int64_t at = integers[i] + (extent & integers[i] >> 63);

		/* Elements without bytes may be any distance apart. */
		at = array->flat ? index_load_unravel(array->flat, at)
				 : (int64_t)((uint64_t)at * (uint64_t)stride);
		offsets[i] =
			first ? at
			      : (int64_t)((uint64_t)offsets[i] + (uint64_t)at);
	}
}

int dray_index_fail_bounds(const struct dray_index_array *array,
			   const int64_t *integers, size_t count)
{
	int64_t at = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		at = integers[i];
		if (at < -array->extent || at >= array->extent)
			break;
	}
	if (array->flat)
		return dray_fail(-ERANGE,
				 "index %" PRId64
				 " is out of bounds for size %" PRId64,
				 at, array->extent);
	return dray_fail(-ERANGE,
			 "index %" PRId64
			 " is out of bounds for axis %d with size %" PRId64,
			 at, array->axis, array->extent);
}
