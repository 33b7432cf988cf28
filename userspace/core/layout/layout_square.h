/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Turns blocks with vectors of WIDTH bytes; layout_turn.c includes this once for
 * each width.  NAME() makes a name for the width, TARGET is the attribute of its
 * functions, and PIECE are the bytes of each row that WRITE() writes at once.
 *
 * A vector is a piece of a line, so that a line is read once, whole.  Its lanes
 * are 16 bytes each.  A square is 16 / size such vectors: interleaving the first
 * half of them with the second, as often as halves halve, exchanges lines and rows
 * in each lane.  Vectors of several lanes hold two squares, and join their lanes.
 */

#define EDGE(size) (16 / (size)) /* lines of a square, rows of a lane */
#define LINES(size) (PIECE / (size))
#define ROWS(size) (WIDTH / (size))

/*
 * Loads and turns a square.
 * @rounds: the logarithm of the edge
 */
#define DEFINE_SQUARE(size, rounds)                                           \
	TARGET static inline void NAME(                                       \
		square_##size)(NAME(vector) *square,                          \
			       const unsigned char *src,                      \
			       const int64_t *lines)                          \
	{                                                                     \
		NAME(vector) to[EDGE(size)];                                  \
		const size_t half = EDGE(size) / 2;                           \
		int round;                                                    \
		size_t i;                                                     \
                                                                              \
		UNROLL for (i = 0; i < EDGE(size); i++)                       \
			memcpy(&square[i], src + lines[i], WIDTH);            \
		UNROLL for (round = 0; round < (rounds); round++)             \
		{                                                             \
			UNROLL for (i = 0; i < half; i++)                     \
			{                                                     \
				to[2 * i] = FIRST_##size(square[i],           \
							 square[i + half]);   \
				to[2 * i + 1] = LAST_##size(square[i],        \
							    square[i + half]); \
			}                                                     \
			UNROLL for (i = 0; i < EDGE(size); i++) square[i] =   \
				to[i];                                        \
		}                                                             \
	}

/* The last vectors of lines, and the last lines, may cover some elements again. */
#define DEFINE_TURN(size)                                                    \
	TARGET static void NAME(turn_##size)(const struct dray_tile *block)  \
	{                                                                    \
		const size_t count = block->count, rows = block->rows;       \
		const size_t pitch = block->pitch;                           \
		const int64_t ahead = block->ahead;                          \
		NAME(vector) first[EDGE(size)], second[EDGE(size)];          \
		size_t i, k, r;                                              \
                                                                             \
		for (i = 0; i < count; i += LINES(size)) {                   \
			const int64_t *lines;                                \
                                                                             \
			if (i + LINES(size) > count)                         \
				i = count - LINES(size);                     \
			lines = block->lines + i;                            \
			for (r = 0; r < rows; r += ROWS(size)) {             \
				const unsigned char *src;                    \
				unsigned char *out;                          \
                                                                             \
				if (r + ROWS(size) > rows)                   \
					r = rows - ROWS(size);               \
				src = block->src + r * (size);               \
				out = block->out + r * pitch + i * (size);   \
				NAME(square_##size)(first, src, lines);      \
				if (WIDTH > 16)                              \
					NAME(square_##size)                  \
				(second, src, lines + EDGE(size));           \
				UNROLL for (k = 0; k < EDGE(size); k++)      \
					WRITE(out + k * pitch,               \
					      EDGE(size) * pitch, k);        \
			}                                                    \
			for (k = 0; ahead && k < LINES(size); k++)           \
				block_fetch(block->src + lines[k] + ahead,    \
					   rows * (size));                   \
		}                                                            \
	}

DEFINE_SQUARE(1, 4)
DEFINE_SQUARE(2, 3)
DEFINE_SQUARE(4, 2)
DEFINE_SQUARE(8, 1)
DEFINE_SQUARE(16, 0)
DEFINE_TURN(1)
DEFINE_TURN(2)
DEFINE_TURN(4)
DEFINE_TURN(8)
DEFINE_TURN(16)

#undef DEFINE_SQUARE
#undef DEFINE_TURN
#undef EDGE
#undef LINES
#undef ROWS
#undef WIDTH
#undef PIECE
#undef NAME
#undef TARGET
#undef WRITE
#undef MM
