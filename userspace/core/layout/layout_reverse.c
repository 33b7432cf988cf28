// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Copies rows backwards: a vector of elements is reversed at once. */
#include <string.h>

#include "layout/layout_grid.h"
#include "layout/layout_vector.h"

#ifdef WIDTH
/* Reverses the elements of a vector. */
#if WIDTH == 16
#define BACK_1(v) \
	SHUFFLE(v, v, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define BACK_2(v) SHUFFLE(v, v, 7, 6, 5, 4, 3, 2, 1, 0)
#define BACK_4(v) SHUFFLE(v, v, 3, 2, 1, 0)
#define BACK_8(v) SHUFFLE(v, v, 1, 0)
#else
#define BACK_1(v)                                                             \
	SHUFFLE(v, v, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, \
		17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define BACK_2(v) \
	SHUFFLE(v, v, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define BACK_4(v) SHUFFLE(v, v, 7, 6, 5, 4, 3, 2, 1, 0)
#define BACK_8(v) SHUFFLE(v, v, 3, 2, 1, 0)
#endif

/* @first: the last element by address.  The last vector may repeat some. */
#define DEFINE_REVERSE(size)                                                  \
	TARGET static void reverse_##size(                                    \
		unsigned char *dst, const unsigned char *first, size_t bytes) \
	{                                                                     \
		const unsigned char *end = first + (size);                    \
		dray_vector_##size vector;                                    \
		size_t at;                                                    \
                                                                              \
		for (at = 0; at < bytes; at += WIDTH) {                       \
			if (bytes - at < WIDTH)                               \
				at = bytes - WIDTH;                           \
			memcpy(&vector, end - at - WIDTH, WIDTH);             \
			vector = BACK_##size(vector);                         \
			memcpy(dst + at, &vector, WIDTH);                     \
		}                                                             \
	}

DEFINE_REVERSE(1)
DEFINE_REVERSE(2)
DEFINE_REVERSE(4)
DEFINE_REVERSE(8)

typedef void reverse_row(unsigned char *dst, const unsigned char *first,
			 size_t bytes);

static reverse_row *reverse_for(size_t size)
{
	switch (size) {
	case 1:
		return reverse_1;
	case 2:
		return reverse_2;
	case 4:
		return reverse_4;
	case 8:
		return reverse_8;
	default:
		return NULL;
	}
}

bool dray_grid_reverse(const struct dray_grid *grid)
{
	const size_t bytes = grid->columns.count * grid->run;
	reverse_row *reverse;
	size_t i;

	if (grid->columns.src != -(int64_t)grid->run || bytes < WIDTH ||
	    !IS_ABLE)
		return false;
	reverse = reverse_for(grid->run);
	for (i = 0; reverse && i < grid->rows.count; i++)
		reverse(grid->dst + (int64_t)i * grid->rows.dst,
			grid->src + (int64_t)i * grid->rows.src, bytes);
	return reverse;
}
#else
bool dray_grid_reverse(const struct dray_grid *grid)
{
	(void)grid;
	return false;
}
#endif
