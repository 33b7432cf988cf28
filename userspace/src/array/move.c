// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Loops of elements for the usual sizes, and one for all others.  With a constant
 * size memcpy() is a load and a store that need no alignment.
 */
#include <string.h>

#include "array/move.h"

/*
 * The four loops of one size.  A row without gaps, the usual one, has loops of
 * its own.
 */
#define DEFINE_MOVES(name, size, dense)                                        \
	static void gather_##name(unsigned char *source,                       \
				  const int64_t *offsets, unsigned char *row,  \
				  int64_t stride, size_t count, size_t bytes)  \
	{                                                                      \
		size_t i;                                                      \
                                                                               \
		(void)bytes;                                                   \
		if ((dense) && stride == (int64_t)(size)) {                    \
			for (i = 0; i < count; i++)                            \
				memcpy(row + i * (size), source + offsets[i],  \
				       size);                                  \
			return;                                                \
		}                                                              \
		for (i = 0; i < count; i++) {                                  \
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
		for (i = 0; i < count; i++) {                                  \
			memcpy(source + offsets[i], row, size);                \
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
		for (i = 0; i < count; i++) {                                  \
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

#define MOVER(name)                                  \
	{                                            \
		{ gather_##name, fetch_##name },     \
		{                                    \
			scatter_##name, store_##name \
		}                                    \
	}

static const struct {
	dray_move_listed *listed;
	dray_move_strided *strided;
} movers[][2] = {
	MOVER(1), MOVER(2), MOVER(4), MOVER(8), MOVER(16), MOVER(any),
};

struct dray_mover dray_mover_for(enum dray_index_way way, size_t size)
{
	int which = 5;

	if (size && size <= 16 && !(size & (size - 1)))
		which = __builtin_ctzl(size);
	return (struct dray_mover){ movers[which][way].listed,
				    movers[which][way].strided, size };
}
