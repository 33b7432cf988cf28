// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Loops of elements for the usual sizes, and one for all others.  With a constant
 * size memcpy() is a load and a store that need no alignment.
 */
#include <string.h>

#include "index/move.h"

/*
 * The loops of one size.  Elements and rows without gaps, the usual ones, have
 * loops of their own.
 */
#define FOR_EACH(i, count) _Pragma("GCC unroll 8") for (i = 0; i < (count); i++)

#define DEFINE_MOVES(name, size, known)                                        \
	static void gather_##name(unsigned char *source,                       \
				  const int64_t *offsets, unsigned char *row,  \
				  int64_t stride, size_t count, size_t bytes)  \
	{                                                                      \
		size_t i;                                                      \
                                                                               \
		(void)bytes;                                                   \
		if ((known) && stride == (int64_t)(size)) {                    \
			FOR_EACH(i, count)                                     \
			memcpy(row + i * (size), source + offsets[i], size);   \
			return;                                                \
		}                                                              \
		FOR_EACH(i, count)                                             \
		{                                                              \
			memcpy(row, source + offsets[i], size);                \
			row += stride;                                         \
		}                                                              \
	}                                                                      \
                                                                               \
	static void scatter_##name(unsigned char *source,                      \
				   const int64_t *offsets, unsigned char *row, \
				   int64_t stride, size_t count, size_t bytes) \
	{                                                                      \
		size_t i;                                                      \
                                                                               \
		(void)bytes;                                                   \
		FOR_EACH(i, count)                                             \
		{                                                              \
			memcpy(source + offsets[i], row, size);                \
			row += stride;                                         \
		}                                                              \
	}                                                                      \
                                                                               \
	static void pick_##name(unsigned char *source, int64_t step,           \
				const int64_t *at, unsigned char *row,         \
				int64_t stride, size_t count, size_t bytes)    \
	{                                                                      \
		size_t i;                                                      \
                                                                               \
		(void)bytes;                                                   \
		if ((known) && step == (int64_t)(size) &&                      \
		    stride == (int64_t)(size)) {                               \
			FOR_EACH(i, count)                                     \
			memcpy(row + i * (size),                               \
			       source + at[i] * (int64_t)(size), size);        \
			return;                                                \
		}                                                              \
		FOR_EACH(i, count)                                             \
		{                                                              \
			memcpy(row, source + at[i] * step, size);              \
			row += stride;                                         \
		}                                                              \
	}                                                                      \
                                                                               \
	static void place_##name(unsigned char *source, int64_t step,          \
				 const int64_t *at, unsigned char *row,        \
				 int64_t stride, size_t count, size_t bytes)   \
	{                                                                      \
		size_t i;                                                      \
                                                                               \
		(void)bytes;                                                   \
		if ((known) && step == (int64_t)(size) &&                      \
		    stride == (int64_t)(size)) {                               \
			FOR_EACH(i, count)                                     \
			memcpy(source + at[i] * (int64_t)(size),               \
			       row + i * (size), size);                        \
			return;                                                \
		}                                                              \
		FOR_EACH(i, count)                                             \
		{                                                              \
			memcpy(source + at[i] * step, row, size);              \
			row += stride;                                         \
		}                                                              \
	}                                                                      \
                                                                               \
	static void fetch_##name(unsigned char *source, int64_t step,          \
				 unsigned char *row, int64_t stride,           \
				 size_t count, size_t bytes)                   \
	{                                                                      \
		size_t i;                                                      \
                                                                               \
		(void)bytes;                                                   \
		if (step == (int64_t)(size) && stride == (int64_t)(size)) {    \
			memcpy(row, source, count *(size));                    \
			return;                                                \
		}                                                              \
		FOR_EACH(i, count)                                             \
		{                                                              \
			memcpy(row, source, size);                             \
			source += step;                                        \
			row += stride;                                         \
		}                                                              \
	}                                                                      \
                                                                               \
	static void store_##name(unsigned char *source, int64_t step,          \
				 unsigned char *row, int64_t stride,           \
				 size_t count, size_t bytes)                   \
	{                                                                      \
		fetch_##name(row, stride, source, step, count, bytes);         \
	}

DEFINE_MOVES(1, 1, true)
DEFINE_MOVES(2, 2, true)
DEFINE_MOVES(4, 4, true)
DEFINE_MOVES(8, 8, true)
DEFINE_MOVES(16, 16, true)
DEFINE_MOVES(any, bytes, false)

#define MOVER(name)                                                   \
	{                                                             \
		{ pick_##name, gather_##name, fetch_##name, 0 },      \
		{                                                     \
			place_##name, scatter_##name, store_##name, 0 \
		}                                                     \
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
