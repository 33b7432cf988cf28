// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Arrays of numbers or times in even steps.  Elements are computed in a type of
 * the machine: integers of the same size, or floats.  If the array's is another,
 * they are converted.  (Source: NumPy's PyArray_ArangeObj(), its functions to
 * fill arrays, and datetime_arange().)
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include <dray/array/cast.h>

#include "array/array.h"
#include "private.h"

/* A range of numbers, before their type is known. */
struct number_range {
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

/* @exact: counts steps of any distance exactly, as NumPy does for times only. */
static int range_of_integers(int64_t start, int64_t stop, int64_t step,
			     bool exact, struct number_range *range)
{
	uint64_t size = dray_magnitude(step);
	uint64_t distance = start < stop ? (uint64_t)stop - (uint64_t)start
					 : (uint64_t)start - (uint64_t)stop;
	bool ahead = step < 0 ? stop < start : start < stop;
	uint64_t length;

	if (!step)
		return dray_fail(-EINVAL, "the step of the range is 0");
	length = exact ? distance / size + !!(distance % size)
		       : count_steps(distance, size);
	if (length > INT64_MAX)
		return too_long();
	if (!ahead)
		length = 0;
	*range = (struct number_range){ .length = (int64_t)length,
					.first = start,
					.second = start };
	if (length > 1)
		range->second += step;
	return 0;
}

static int range_of_reals(double start, double stop, double step,
			  struct number_range *range)
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
	/* A single step may be so large that it divides to 0. */
	if (steps == 0 && distance != 0)
		length = !signbit(steps);
	*range = (struct number_range){ .length = length > 0 ? length : 0,
					.real = true,
					.real_first = start,
					.real_second = start + step };
	return 0;
}

/* Checks a number of a range of integers of @bits bits.  -ERANGE. */
static int check_integer(int64_t value, bool is_signed, uint32_t bits)
{
	int64_t rest = bits < 64 ? value >> (bits - is_signed) : value >> 63;

	/* Bits above the type's width: none, or all of a negative number. */
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

/* Cuts off the first two numbers, and checks that @bits hold them.  -ERANGE. */
static int make_integers(struct number_range *range, bool is_signed,
			 uint32_t bits)
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

/*
 * Writes elements from number @begin on, of a range that starts with the two at
 * @pair.  These are written as passed: their difference may be rounded.
 */
typedef void fill_function(const void *pair, void *data, int64_t begin,
			   int64_t count);

/* Integers wrap as in C: the low bits are the same, signed or not. */
#define FILL(name, type, number)                                              \
	static void name(const void *pair, void *data, int64_t begin,         \
			 int64_t count)                                       \
	{                                                                     \
		const type *given = pair;                                     \
		number first = given[0], delta = (type)(given[1] - given[0]); \
		type *to = data;                                              \
		int64_t i;                                                    \
                                                                              \
		for (i = 0; i < count; i++)                                   \
			to[i] = (type)(first + (number)(begin + i) * delta);  \
		for (i = begin; i < 2 && i < begin + count; i++)              \
			to[i - begin] = given[i];                             \
	}

FILL(fill_1, uint8_t, uint64_t)
FILL(fill_2, uint16_t, uint64_t)
FILL(fill_4, uint32_t, uint64_t)
FILL(fill_8, uint64_t, uint64_t)
FILL(fill_float, float, float)
FILL(fill_double, double, double)
FILL(fill_long, long double, long double)

/* The type in which elements are computed. */
struct range_steps {
	dray_dtype dtype;
	fill_function *fill;
	bool real;
};

#define NATIVE(kind, size) \
	DRAY_DTYPE(kind, (size) == 1 ? '|' : DRAY_NATIVE_ORDER, size)

static struct range_steps steps_of_integers(char kind, uint32_t size)
{
	fill_function *fill = size == 1	  ? fill_1
			      : size == 2 ? fill_2
			      : size == 4 ? fill_4
					  : fill_8;

	return (struct range_steps){ NATIVE(kind, size), fill, false };
}

static struct range_steps steps_of_reals(uint32_t size)
{
	if (size > sizeof(double))
		return (struct range_steps){ NATIVE('f', size), fill_long,
					     true };
	if (size == sizeof(double))
		return (struct range_steps){ DRAY_FLOAT64, fill_double, true };
	return (struct range_steps){ DRAY_FLOAT32, fill_float, true };
}

static int find_steps(dray_dtype dtype, struct range_steps *out)
{
	uint32_t size = dray_dtype_itemsize(dtype);
	char kind = dray_dtype_kind(dtype);

	if (!dray_dtype_is_builtin(dtype))
		kind = 0;
	if (kind == 'i' || kind == 'u')
		*out = steps_of_integers(kind, size);
	else if (dray_dtype_is_time(dtype))
		*out = steps_of_integers('i', size);
	else if (kind == 'f')
		*out = steps_of_reals(size);
	else if (kind == 'c')
		*out = steps_of_reals(size / 2);
	else if (kind == '?')
		*out = steps_of_reals(sizeof(double));
	else
		return dray_fail(
			-EINVAL,
			"a range is of numbers or times, not of kind '%c' of %u bytes",
			dray_dtype_kind(dtype), size);
	return 0;
}

/* Checks a range with its type.  -EINVAL, -ERANGE. */
static int range_check_type(dray_dtype dtype, struct number_range *range)
{
	char kind = dray_dtype_kind(dtype);

	if (kind == '?' && range->length > 2)
		return dray_fail(-EINVAL,
				 "a range of bools has at most 2, not %" PRId64,
				 range->length);
	if (dray_dtype_is_time(dtype) && range->real)
		return dray_fail(
			-EINVAL,
			"a range of times is of integers, in their unit");
	if ((kind == 'i' || kind == 'u') && range->length)
		return make_integers(range, kind == 'i',
				     8 * dray_dtype_itemsize(dtype));
	return 0;
}

static int array_range_convert(dray_dtype to, void *data, dray_dtype from,
			       const void *source, int64_t count)
{
	struct dray_cast cast;
	int ret = dray_cast_find(to, from, &cast);

	return ret ? ret
		   : dray_cast_run(&cast, data, dray_dtype_itemsize(to), source,
				   dray_dtype_itemsize(from), count);
}

/* Converts the first two numbers to the array's type, then to the steps' type. */
static int make_pair(const struct number_range *range, dray_dtype dtype,
		     const struct range_steps *steps, void *pair)
{
	const double reals[] = {
		range->real ? range->real_first : (double)range->first,
		range->real ? range->real_second : (double)range->second,
	};
	const int64_t integers[] = { range->first, range->second };
	_Alignas(long double) char given[4 * sizeof(long double)];
	/* As in NumPy, the longest floats hold all bits of integers. */
	bool whole = steps->fill == fill_long && dray_dtype_kind(dtype) == 'f';
	bool real = steps->real && (range->real || !whole);
	int ret;

	ret = real ? array_range_convert(dtype, given, DRAY_FLOAT64, reals, 2)
		   : array_range_convert(dtype, given, DRAY_INT64, integers, 2);
	return ret ? ret
		   : array_range_convert(steps->dtype, pair, dtype, given, 2);
}

#define PART 256 /* elements that are converted at once */

/* Fills an array of another type than the steps'. */
static int fill_converted(const struct range_steps *steps, const void *pair,
			  struct dray_array *array, int64_t length)
{
	_Alignas(long double) char part[PART * sizeof(long double)];
	uint32_t itemsize = dray_dtype_itemsize(array->dtype);
	char *to = array->data;
	int64_t begin, count;
	int ret = 0;

	for (begin = 0; !ret && begin < length; begin += count) {
		count = length - begin < PART ? length - begin : PART;
		steps->fill(pair, part, begin, count);
		ret = array_range_convert(array->dtype, to + begin * itemsize,
					  steps->dtype, part, count);
	}
	return ret;
}

static int make_range(dray_dtype dtype, struct number_range *range,
		      struct dray_array **out)
{
	_Alignas(long double) char pair[2 * sizeof(long double)];
	struct dray_array *array;
	struct range_steps steps;
	int ret;

	ret = dray_dtype_check(dtype, &dtype);
	if (!ret)
		ret = find_steps(dtype, &steps);
	if (!ret)
		ret = range_check_type(dtype, range);
	if (!ret)
		ret = make_pair(range, dtype, &steps, pair);
	if (!ret)
		ret = dray_array_empty(dtype, 1, &range->length, &array);
	if (ret)
		return ret;
	if (steps.dtype == dtype)
		steps.fill(pair, array->data, 0, range->length);
	else
		ret = fill_converted(&steps, pair, array, range->length);
	if (ret)
		dray_array_unref(array);
	else
		*out = array;
	return ret;
}

int dray_array_arange(dray_dtype dtype, int64_t start, int64_t stop,
		      int64_t step, struct dray_array **out)
{
	bool time = dray_dtype_is_time(dtype);
	struct number_range range;
	int ret;

	if (!dray_given(out, __func__))
		return -EINVAL;
	if (time &&
	    (start == INT64_MIN || stop == INT64_MIN || step == INT64_MIN))
		return dray_fail(-EINVAL, "a range of times has no NaT");
	ret = range_of_integers(start, stop, step, time, &range);
	return ret ? ret : make_range(dtype ? dtype : DRAY_INT64, &range, out);
}

int dray_array_arange_real(dray_dtype dtype, double start, double stop,
			   double step, struct dray_array **out)
{
	struct number_range range;
	int ret;

	if (!dray_given(out, __func__))
		return -EINVAL;
	ret = range_of_reals(start, stop, step, &range);
	return ret ? ret
		   : make_range(dtype ? dtype : DRAY_FLOAT64, &range, out);
}
