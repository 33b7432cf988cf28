// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * New arrays with given elements: all the same, or in even steps.  (Source of
 * the latter: NumPy's PyArray_ArangeObj() and its fill functions.)
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "array/array.h"
#include "dtype/dtype.h"
#include "view/view.h"
#include "base/error.h"
#include "base/number.h"

int dray_array_full(dray_dtype dtype, int ndim, const int64_t *shape,
		    const void *value, struct dray_array **out)
{
	struct dray_view all, one;
	struct dray_array *array;
	int i, ret;

	if (!dray_given(value, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_array_empty(dtype, ndim, shape, &array);
	if (ret)
		return ret;
	dray_view_copy(&one, dray_array_view(array, &all));
	one.data = (void *)value;
	one.flags = DRAY_READ;
	/* The axes of a sub-array lie behind them. */
	for (i = 0; i < ndim; i++)
		one.strides[i] = 0;
	ret = dray_view_assign(&all, &one);
	if (ret)
		dray_array_unref(array);
	else
		*out = array;
	return ret;
}

/* A range of numbers, before their type is known. */
struct range {
	int64_t length;
	bool real; /* of doubles, else of integers */
	int64_t first, second;
	double real_first, real_second;
};

/*
 * Rounds the quotient up as NumPy does, which divides to the nearest double
 * first: a remainder that is too small for it is lost.  @b is above 0.
 */
static uint64_t count_steps(uint64_t a, uint64_t b)
{
	uint64_t whole = a / b, rest = a % b;
	int lost;

	if (!rest || !whole || whole >> 53)
		return whole + !!rest;
	/* The double of @whole ends at 2^-lost; rest / b may be half of that. */
	lost = __builtin_clzll(whole) - 11;
	if (rest <= (b - 1) >> (lost + 1))
		return whole;
	if (rest == b >> (lost + 1) && !(b << (63 - lost)) &&
	    (lost || !(whole & 1)))
		return whole;
	return whole + 1;
}

static int too_long(void)
{
	return dray_fail(-EOVERFLOW, "the range has more than 63 bits count");
}

static int range_of_integers(int64_t start, int64_t stop, int64_t step,
			     struct range *range)
{
	uint64_t distance = step < 0 ? (uint64_t)start - (uint64_t)stop
				     : (uint64_t)stop - (uint64_t)start;
	uint64_t length = 0;

	if (!step)
		return dray_fail(-EINVAL, "the step of the range is 0");
	if (step < 0 ? stop < start : start < stop)
		length = count_steps(distance, step < 0 ? -(uint64_t)step
							: (uint64_t)step);
	if (length > INT64_MAX)
		return too_long();
	*range = (struct range){ .length = (int64_t)length,
				 .first = start,
				 .second = start };
	if (length > 1)
		range->second += step;
	return 0;
}

static int range_of_reals(double start, double stop, double step,
			  struct range *range)
{
	double distance = stop - start;
	int64_t length;
	double steps;

	if (step == 0)
		return dray_fail(-EINVAL, "the step of the range is 0");
	steps = distance / step;
	if (isnan(steps))
		return dray_fail(-EINVAL,
				 "from %g to %g by %g is not a number of steps",
				 start, stop, step);
	if (!(steps > -0x1p63 && steps < 0x1p63))
		return too_long();
	length = (int64_t)steps;
	length += (double)length < steps;
	/* One step may be so large that it divides to 0. */
	if (steps == 0 && distance != 0)
		length = !signbit(steps);
	*range = (struct range){ .length = length > 0 ? length : 0,
				 .real = true,
				 .real_first = start,
				 .real_second = start + step };
	return 0;
}

/* Checks a number of a range of integers of @bits bits.  -ERANGE. */
static int check_integer(int64_t value, bool is_signed, uint32_t bits)
{
	int64_t rest = bits < 64 ? value >> (bits - is_signed) : value >> 63;

	/* Bits above those of the type: none, or all of a negative number. */
	if (rest == 0 || (is_signed && rest == -1))
		return 0;
	return dray_fail(-ERANGE,
			 "%" PRId64 " is out of bounds for integers of %u bits",
			 value, bits);
}

static int to_integer(double value, int64_t *out)
{
	if (!(value >= -0x1p63 && value < 0x1p63))
		return dray_fail(-ERANGE, "%g is out of bounds for integers",
				 value);
	*out = (int64_t)value;
	return 0;
}

/* Makes the first two numbers of a range integers of a size.  -ERANGE. */
static int make_integers(struct range *range, bool is_signed, uint32_t bits)
{
	bool two = range->length > 1;
	int ret = 0;

	if (range->real)
		ret = to_integer(range->real_first, &range->first);
	if (!ret && range->real && two)
		ret = to_integer(range->real_second, &range->second);
	if (!ret)
		ret = check_integer(range->first, is_signed, bits);
	if (!ret && two)
		ret = check_integer(range->second, is_signed, bits);
	return ret;
}

#define FILL(type, first, delta, number)                               \
	do {                                                           \
		type *to = data;                                       \
		int64_t i;                                             \
                                                                       \
		for (i = 0; i < count; i++)                            \
			to[i] = (type)((first) + (number)i * (delta)); \
	} while (0)

/* Integers wrap as in C: the low bits are the same, signed or not. */
static void fill_integers(const struct range *range, uint32_t itemsize,
			  void *data, int64_t count)
{
	uint64_t first = (uint64_t)range->first;
	uint64_t delta = (uint64_t)range->second - first;

	switch (itemsize) {
	case 1:
		FILL(uint8_t, first, delta, uint64_t);
		break;
	case 2:
		FILL(uint16_t, first, delta, uint64_t);
		break;
	case 4:
		FILL(uint32_t, first, delta, uint64_t);
		break;
	default:
		FILL(uint64_t, first, delta, uint64_t);
	}
}

/* The first two are as given: the difference between them is rounded. */
static void fill_floats(float first, float second, float *data, int64_t count)
{
	float delta = second - first;

	FILL(float, first, delta, float);
	if (count > 0)
		data[0] = first;
	if (count > 1)
		data[1] = second;
}

static void fill_doubles(double first, double second, double *data,
			 int64_t count)
{
	double delta = second - first;

	FILL(double, first, delta, double);
	if (count > 0)
		data[0] = first;
	if (count > 1)
		data[1] = second;
}

static void fill_reals(const struct range *range, uint32_t itemsize, void *data,
		       int64_t count)
{
	double first = range->real ? range->real_first : (double)range->first;
	double second =
		range->real ? range->real_second : (double)range->second;

	if (itemsize == 4)
		fill_floats((float)first, (float)second, data, count);
	else
		fill_doubles(first, second, data, count);
}

static void swap_bytes(unsigned char *data, uint32_t itemsize, int64_t count)
{
	uint32_t i;

	for (; count > 0; count--, data += itemsize) {
		for (i = 0; i < itemsize / 2; i++) {
			unsigned char byte = data[i];

			data[i] = data[itemsize - 1 - i];
			data[itemsize - 1 - i] = byte;
		}
	}
}

static int make_range(dray_dtype dtype, struct range *range,
		      struct dray_array **out)
{
	uint32_t itemsize = dray_dtype_itemsize(dtype);
	char kind = dray_dtype_kind(dtype), order;
	bool is_real = kind == 'f' && (itemsize == 4 || itemsize == 8);
	struct dray_array *array;
	int ret = dray_dtype_check(dtype, &dtype);

	if (ret)
		return ret;
	if (!dray_dtype_is_builtin(dtype) ||
	    (kind != 'i' && kind != 'u' && !is_real))
		return dray_fail(
			-EINVAL,
			"a range is of integers or of floats of 4 or 8 bytes, not of kind '%c' of %u bytes",
			kind, itemsize);
	if (!is_real && range->length)
		ret = make_integers(range, kind == 'i', 8 * itemsize);
	if (!ret)
		ret = dray_array_empty(dtype, 1, &range->length, &array);
	if (ret)
		return ret;
	if (is_real)
		fill_reals(range, itemsize, array->data, range->length);
	else
		fill_integers(range, itemsize, array->data, range->length);
	order = dray_dtype_order(array->dtype);
	if (order != '|' && order != DRAY_NATIVE_ORDER)
		swap_bytes(array->data, itemsize, range->length);
	*out = array;
	return 0;
}

int dray_array_arange(dray_dtype dtype, int64_t start, int64_t stop,
		      int64_t step, struct dray_array **out)
{
	struct range range;
	int ret;

	if (!dray_given(out, __func__))
		return -EINVAL;
	ret = range_of_integers(start, stop, step, &range);
	return ret ? ret : make_range(dtype ? dtype : DRAY_INT64, &range, out);
}

int dray_array_arange_real(dray_dtype dtype, double start, double stop,
			   double step, struct dray_array **out)
{
	struct range range;
	int ret;

	if (!dray_given(out, __func__))
		return -EINVAL;
	ret = range_of_reals(start, stop, step, &range);
	return ret ? ret
		   : make_range(dtype ? dtype : DRAY_FLOAT64, &range, out);
}
