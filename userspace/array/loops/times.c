// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Loops of dates and durations, of which NaT is the least number. */
#include <math.h>

#include "cast/cast_time.h"
#include "loops/invariant.h"
#include "loops/times.h"

#define WRAP(a, op, b) ((int64_t)((uint64_t)(a)op(uint64_t)(b)))
#define IS_NAT(a) ((a) == DRAY_NAT)

/* A loop that other files name. */
#define SHARED(name, macro, ...)                                           \
	macro(shared_##name, __VA_ARGS__) int name(char *const *data,      \
						   const int64_t *strides, \
						   int64_t count,          \
						   void *context)          \
	{                                                                  \
		return shared_##name(data, strides, count, context);       \
	}
#define BINARY(name, A, B, R, op) SHARED(name, DRAY_BINARY, A, B, R, op)
#define UNARY(name, A, R, op) SHARED(name, DRAY_UNARY, A, R, op)
#define SINGLY(name, A, B, R, op) SHARED(name, DRAY_BINARY_SINGLY, A, B, R, op)

/* NaT with anything is NaT. */
#define KEEP_NAT(a, b, value) (IS_NAT(a) | IS_NAT(b) ? DRAY_NAT : (value))

#define ADD(a, b) KEEP_NAT(a, b, WRAP(a, +, b))
#define SUBTRACT(a, b) KEEP_NAT(a, b, WRAP(a, -, b))
BINARY(dray_time_add, int64_t, int64_t, int64_t, ADD)
BINARY(dray_time_subtract, int64_t, int64_t, int64_t, SUBTRACT)

#define TIMES(time, number) (IS_NAT(time) ? DRAY_NAT : WRAP(time, *, number))
#define TIMES_TURNED(number, time) TIMES(time, number)
BINARY(dray_time_times_integer, int64_t, int64_t, int64_t, TIMES)
BINARY(dray_integer_times_time, int64_t, int64_t, int64_t, TIMES_TURNED)

/* Beyond 64 bits, the processors of x86 make NaT of it; so does all of dray. */
DRAY_INLINE int64_t to_time(double value)
{
	if (!isfinite(value))
		return DRAY_NAT;
	if (!(value >= -0x1p63 && value < 0x1p63)) {
		dray_raise_invalid();
		return DRAY_NAT;
	}
	return (int64_t)value;
}

DRAY_INLINE int64_t times_float(int64_t time, double number)
{
	return IS_NAT(time) ? DRAY_NAT : to_time((double)time * number);
}

DRAY_INLINE int64_t times_time(double number, int64_t time)
{
	return times_float(time, number);
}

DRAY_INLINE int64_t by_float(int64_t time, double number)
{
	return IS_NAT(time) ? DRAY_NAT : to_time((double)time / number);
}

SINGLY(dray_time_times_float, int64_t, double, int64_t, times_float)
SINGLY(dray_float_times_time, double, int64_t, int64_t, times_time)
SINGLY(dray_time_by_float, int64_t, double, int64_t, by_float)

DRAY_INLINE double by_time(int64_t a, int64_t b)
{
	return IS_NAT(a) || IS_NAT(b) ? (double)NAN : (double)a / (double)b;
}

DRAY_INLINE int64_t floor_by_time(int64_t a, int64_t b)
{
	if (IS_NAT(a) || IS_NAT(b)) {
		dray_raise_invalid();
		return 0;
	}
	if (!b) {
		dray_raise_divide();
		return 0;
	}
	return a / b - (a % b && (a < 0) != (b < 0));
}

DRAY_INLINE int64_t rest_of(int64_t a, int64_t b)
{
	const int64_t rest = a % b;

	return rest && (a < 0) != (b < 0) ? rest + b : rest;
}

DRAY_INLINE int64_t remainder_of(int64_t a, int64_t b)
{
	if (IS_NAT(a) || IS_NAT(b))
		return DRAY_NAT;
	if (!b) {
		dray_raise_divide();
		return DRAY_NAT;
	}
	return rest_of(a, b);
}

SINGLY(dray_time_by_time, int64_t, int64_t, double, by_time)
SINGLY(dray_time_floor_by_time, int64_t, int64_t, int64_t, floor_by_time)
SINGLY(dray_time_remainder, int64_t, int64_t, int64_t, remainder_of)

/* By 0 there is an error only if 0 is the one divisor, as in NumPy. */
int dray_time_by_integer(char *const *data, const int64_t *strides,
			 int64_t count, void *context)
{
	char *const a = data[0], *const b = data[1], *const out = data[2];
	const int64_t step_a = strides[0], step_b = strides[1];
	const int64_t out_step = strides[2];
	int64_t i;

	(void)context;
	if (!step_b) {
		const int64_t by = *(const int64_t *)(const void *)b;
		const bool below = by < 0;
		const uint64_t size = below ? 0 - (uint64_t)by : (uint64_t)by;
		const struct dray_invariant invariant =
			dray_invariant_of(size ? size : 1);

		if (!by)
			dray_raise_divide();
		for (i = 0; i < count; i++) {
			const int64_t time =
				ITEM_AT(const int64_t, a, i, step_a);
			const uint64_t sign = -(uint64_t)(time < 0);
			const uint64_t whole = dray_divide_by(
				((uint64_t)time ^ sign) - sign, &invariant);
			const uint64_t turn = below ? ~sign : sign;

			ITEM_AT(int64_t, out, i, out_step) =
				IS_NAT(time) || !by
					? DRAY_NAT
					: (int64_t)((whole ^ turn) - turn);
		}
		return 0;
	}
	for (i = 0; i < count; i++) {
		const int64_t time = ITEM_AT(const int64_t, a, i, step_a);
		const int64_t by = ITEM_AT(const int64_t, b, i, step_b);

		ITEM_AT(int64_t, out, i, out_step) =
			IS_NAT(time) || !by ? DRAY_NAT : time / by;
	}
	return 0;
}

int dray_time_divmod(char *const *data, const int64_t *strides, int64_t count,
		     void *context)
{
	int64_t i;

	(void)context;
	for (i = 0; i < count; i++) {
		const int64_t a =
			ITEM_AT(const int64_t, data[0], i, strides[0]);
		const int64_t b =
			ITEM_AT(const int64_t, data[1], i, strides[1]);
		const bool none = IS_NAT(a) || IS_NAT(b) || !b;

		ITEM_AT(int64_t, data[2], i, strides[2]) = floor_by_time(a, b);
		ITEM_AT(int64_t, data[3], i, strides[3]) =
			none ? DRAY_NAT : rest_of(a, b);
	}
	return 0;
}

#define NEGATIVE(a) WRAP(0, -, a)
#define SAME(a) (a)
#define ABSOLUTE(a) ((a) < 0 ? WRAP(0, -, a) : (a))
/* That of NaT is -1, as in NumPy 2.4. */
#define SIGN(a) (((a) > 0) - ((a) < 0))
#define IS_FINITE(a) (!IS_NAT(a))
#define NEVER(a) ((void)(a), 0)
UNARY(dray_time_negative, int64_t, int64_t, NEGATIVE)
UNARY(dray_time_positive, int64_t, int64_t, SAME)
UNARY(dray_time_absolute, int64_t, int64_t, ABSOLUTE)
UNARY(dray_time_sign, int64_t, int64_t, SIGN)
UNARY(dray_time_is_nat, int64_t, uint8_t, IS_NAT)
UNARY(dray_time_is_finite, int64_t, uint8_t, IS_FINITE)
UNARY(dray_time_never, int64_t, uint8_t, NEVER)

/* NaT is not even itself. */
#define EQUAL(a, b) (((a) == (b)) & !IS_NAT(a))
#define NOT_EQUAL(a, b) (((a) != (b)) | IS_NAT(a))
#define LESS(a, b) (((a) < (b)) & !IS_NAT(a))
#define LESS_EQUAL(a, b) (((a) <= (b)) & !IS_NAT(a))
#define GREATER(a, b) LESS(b, a)
#define GREATER_EQUAL(a, b) LESS_EQUAL(b, a)
BINARY(dray_time_equal, int64_t, int64_t, uint8_t, EQUAL)
BINARY(dray_time_not_equal, int64_t, int64_t, uint8_t, NOT_EQUAL)
BINARY(dray_time_less, int64_t, int64_t, uint8_t, LESS)
BINARY(dray_time_less_equal, int64_t, int64_t, uint8_t, LESS_EQUAL)
BINARY(dray_time_greater, int64_t, int64_t, uint8_t, GREATER)
BINARY(dray_time_greater_equal, int64_t, int64_t, uint8_t, GREATER_EQUAL)

/* The least number is NaT already; of the others, it is left out. */
#define MORE(a, b) ((a) > (b) ? (a) : (b))
#define LESSER(a, b) ((a) < (b) ? (a) : (b))
#define MAXIMUM(a, b) KEEP_NAT(a, b, MORE(a, b))
#define MINIMUM(a, b) LESSER(a, b)
#define FMAX(a, b) MORE(a, b)
#define FMIN(a, b) (IS_NAT(a) ? (b) : IS_NAT(b) ? (a) : LESSER(a, b))
BINARY(dray_time_maximum, int64_t, int64_t, int64_t, MAXIMUM)
BINARY(dray_time_minimum, int64_t, int64_t, int64_t, MINIMUM)
BINARY(dray_time_fmax, int64_t, int64_t, int64_t, FMAX)
BINARY(dray_time_fmin, int64_t, int64_t, int64_t, FMIN)
