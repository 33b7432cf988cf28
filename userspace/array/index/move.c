// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Loops of elements for the usual sizes, and one for all others.  With a constant
 * size memcpy() is a load and a store that need no alignment.
 */
#include <string.h>

#include "index/move.h"

#define ALWAYS static inline __attribute__((always_inline))
#define FOR_EACH(i, count) _Pragma("GCC unroll 8") for (i = 0; i < (count); i++)

/* Copies one element to the row, or from it. */
ALWAYS void move_one(unsigned char *element, unsigned char *row, size_t size,
		     bool scatter)
{
	if (scatter)
		memcpy(element, row, size);
	else
		memcpy(row, element, size);
}

ALWAYS void move_listed(unsigned char *source, int64_t step,
			const int64_t *numbers, unsigned char *row,
			int64_t stride, size_t count, size_t size, bool scatter)
{
	size_t i;

	FOR_EACH(i, count)
	move_one(source + numbers[i] * step, row + (int64_t)i * stride, size,
		 scatter);
}

ALWAYS void move_strided(unsigned char *source, int64_t step,
			 unsigned char *row, int64_t stride, size_t count,
			 size_t size)
{
	size_t i;

	FOR_EACH(i, count)
	move_one(source + (int64_t)i * step, row + (int64_t)i * stride, size,
		 false);
}

/* The loops of one size.  Elements without gaps, the usual ones, have their own. */
#define DEFINE_LISTED(name, size, known, scatter)                              \
	static void name(unsigned char *source, int64_t step,                  \
			 const int64_t *numbers, unsigned char *row,           \
			 int64_t stride, size_t count, size_t bytes)           \
	{                                                                      \
		const int64_t dense = (int64_t)(size);                         \
                                                                               \
		(void)bytes;                                                   \
		if (!(size)) /* Such elements may lie nowhere. */              \
			return;                                                \
		if ((known) && stride == dense && step == dense)               \
			move_listed(source, dense, numbers, row, dense, count, \
				    size, scatter);                            \
		else if ((known) && stride == dense && step == 1)              \
			move_listed(source, 1, numbers, row, dense, count,     \
				    size, scatter);                            \
		else                                                           \
			move_listed(source, step, numbers, row, stride, count, \
				    size, scatter);                            \
	}

#define DEFINE_MOVES(name, size, known)                                       \
	DEFINE_LISTED(gather_##name, size, known, false)                      \
	DEFINE_LISTED(scatter_##name, size, known, true)                      \
                                                                              \
	static void fetch_##name(unsigned char *source, int64_t step,         \
				 unsigned char *row, int64_t stride,          \
				 size_t count, size_t bytes)                  \
	{                                                                     \
		(void)bytes;                                                  \
		if (!(size))                                                  \
			return;                                               \
		if (step == (int64_t)(size) && stride == (int64_t)(size))     \
			memcpy(row, source, count *(size));                   \
		else                                                          \
			move_strided(source, step, row, stride, count, size); \
	}                                                                     \
                                                                              \
	static void store_##name(unsigned char *source, int64_t step,         \
				 unsigned char *row, int64_t stride,          \
				 size_t count, size_t bytes)                  \
	{                                                                     \
		fetch_##name(row, stride, source, step, count, bytes);        \
	}

DEFINE_MOVES(1, 1, true)
DEFINE_MOVES(2, 2, true)
DEFINE_MOVES(4, 4, true)
DEFINE_MOVES(8, 8, true)
DEFINE_MOVES(16, 16, true)
DEFINE_MOVES(any, bytes, false)

#define MOVER(name)                                     \
	{                                               \
		{ gather_##name, fetch_##name, 0 },     \
		{                                       \
			scatter_##name, store_##name, 0 \
		}                                       \
	}

struct dray_mover dray_mover_for(enum dray_index_way way, size_t size)
{
	static const struct dray_mover movers[][2] = {
		MOVER(1), MOVER(2), MOVER(4), MOVER(8), MOVER(16), MOVER(any),
	};
	struct dray_mover mover;
	int which = 5;

	if (size && size <= 16 && !(size & (size - 1)))
		which = __builtin_ctzl(size);
	mover = movers[which][way];
	mover.size = size;
	return mover;
}
