/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Arithmetic that cannot wrap unseen: the one place from which the library
 * takes it.
 */
#ifndef DRAY_BASE_NUMBER_H
#define DRAY_BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* True if the result does not fit; *out is useless then. */
#define dray_add_overflow(a, b, out) __builtin_add_overflow(a, b, out)
#define dray_sub_overflow(a, b, out) __builtin_sub_overflow(a, b, out)
#define dray_mul_overflow(a, b, out) __builtin_mul_overflow(a, b, out)

static inline bool dray_is_digit(char character)
{
	return character >= '0' && character <= '9';
}

static inline bool dray_is_power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

/* True if rounding up exceeds 64 bits; @alignment is a power of two. */
static inline bool dray_round_up_overflow(uint64_t n, uint64_t alignment,
					  uint64_t *out)
{
	if (dray_add_overflow(n, alignment - 1, out))
		return true;
	*out &= ~(alignment - 1);
	return false;
}

/* Returns the part of a limit that is left; 0 if more than the limit is used. */
static inline uint64_t dray_limit_left(uint64_t limit, uint64_t used)
{
	return limit > used ? limit - used : 0;
}

/* Returns a number without its sign, such as the bytes of a stride. */
static inline uint64_t dray_magnitude(int64_t number)
{
	return number < 0 ? -(uint64_t)number : (uint64_t)number;
}

/*
 * Keeps a number apart from its neighbours in memory.  Loaded at once with them, as
 * a vector, it would have to wait for stores of each that have just been made.
 */
static inline int64_t dray_alone(int64_t number)
{
	__asm__("" : "+r"(number));
	return number;
}

#endif /* DRAY_BASE_NUMBER_H */
