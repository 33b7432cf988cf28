/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Turns blocks with vectors of WIDTH bytes; layout_turn.c includes this once for
 * each width.  NAME() makes a name for the width, TARGET is the attribute of its
 * functions.
 *
 * A square has 16 / size lines and rows: interleaving the first half of its
 * vectors with the second, as often as halves halve, exchanges lines and rows.  A
 * vector of 32 bytes has two such squares side by side.
 */

/* Lines and rows of a square, and lines of a vector. */
#define EDGE(size) (16 / (size))
#define WIDE(size) (WIDTH / (size))

#define VECTOR(size) NAME(vector_##size)

typedef uint8_t VECTOR(1) __attribute__((vector_size(WIDTH)));
typedef uint16_t VECTOR(2) __attribute__((vector_size(WIDTH)));
typedef uint32_t VECTOR(4) __attribute__((vector_size(WIDTH)));
typedef uint64_t VECTOR(8) __attribute__((vector_size(WIDTH)));
typedef uint64_t VECTOR(16) __attribute__((vector_size(WIDTH)));

/* Loads 16 bytes of a line, or of two lines of two squares. */
#if WIDTH == 16
#define LOAD(size, lines, i, at) memcpy(&from[i], (lines)[i] + (at), WIDTH)
#else
#define LOAD(size, lines, i, at)                                  \
	do {                                                      \
		vector_##size##_16 first, second;                 \
                                                                  \
		memcpy(&first, (lines)[i] + (at), sizeof(first)); \
		memcpy(&second, (lines)[(i) + EDGE(size)] + (at), \
		       sizeof(second));                           \
		from[i] = JOIN_##size(first, second);             \
	} while (0)
#endif

/*
 * Turns vectors at @at behind the beginnings of lines.
 * @rounds: the logarithm of the edge
 */
#define DEFINE_SQUARE(size, rounds)                                            \
	TARGET static inline void NAME(                                        \
		square_##size)(unsigned char *out, size_t pitch,               \
			       const unsigned char *const *lines, size_t at)   \
	{                                                                      \
		VECTOR(size) from[EDGE(size)], to[EDGE(size)];                 \
		const size_t half = EDGE(size) / 2;                            \
		int round;                                                     \
		size_t i;                                                      \
                                                                               \
		UNROLL for (i = 0; i < EDGE(size); i++)                        \
			LOAD(size, lines, i, at);                              \
		UNROLL for (round = 0; round < (rounds); round++)              \
		{                                                              \
			UNROLL for (i = 0; i < half; i++)                      \
			{                                                      \
				to[2 * i] = NAME(LOW_##size)(from[i],          \
							     from[i + half]);  \
				to[2 * i + 1] = NAME(                          \
					HIGH_##size)(from[i], from[i + half]); \
			}                                                      \
			UNROLL for (i = 0; i < EDGE(size); i++) from[i] =      \
				to[i];                                         \
		}                                                              \
		UNROLL for (i = 0; i < EDGE(size); i++)                        \
			memcpy(out + i * pitch, &from[i], WIDTH);              \
	}

/*
 * Turns lines from @i on.  The last square of rows may cover some elements once
 * more.
 * @FEW: UNROLL if @count is a constant
 */
#define DEFINE_TURN_LINES(name, size, count, FEW)                          \
	TARGET static inline void NAME(                                    \
		name##_##size)(const struct dray_tile *block, size_t i)   \
	{                                                                  \
		const size_t rows = (count), pitch = block->pitch;         \
		const int64_t ahead = block->ahead;                        \
		unsigned char *out = block->out + i * (size);              \
		const unsigned char *lines[WIDE(size)];                    \
		size_t at, k, r;                                           \
                                                                           \
		UNROLL for (k = 0; k < WIDE(size); k++) lines[k] =         \
			block->src + block->lines[i + k];                  \
		FEW for (r = 0; r + EDGE(size) <= rows; r += EDGE(size))   \
			NAME(square_##size)(out + r * pitch, pitch, lines, \
					    r * (size));                   \
		if (r < rows)                                              \
			NAME(square_##size)                                \
		(out + (rows - EDGE(size)) * pitch, pitch, lines,          \
		 (rows - EDGE(size)) * (size));                            \
		if (!ahead)                                                \
			return;                                            \
		FEW for (k = 0; k < WIDE(size);                            \
			 k++) for (at = 0; at < rows * (size); at += LINE) \
			__builtin_prefetch(lines[k] + ahead + at);         \
	}

/* The last square of lines may cover some elements once more. */
#define DEFINE_TURN(size)                                                    \
	DEFINE_TURN_LINES(turn_usual, size, DRAY_BLOCK_ROWS, UNROLL)         \
	DEFINE_TURN_LINES(turn_any, size, block->rows, )                     \
                                                                             \
	TARGET static void NAME(turn_##size)(const struct dray_tile *block) \
	{                                                                    \
		const size_t count = block->count;                           \
		size_t i;                                                    \
                                                                             \
		for (i = 0; i < count; i += WIDE(size)) {                    \
			if (i + WIDE(size) > count)                          \
				i = count - WIDE(size);                      \
			if (block->rows == DRAY_BLOCK_ROWS)                  \
				NAME(turn_usual_##size)(block, i);           \
			else                                                 \
				NAME(turn_any_##size)(block, i);             \
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
#undef DEFINE_TURN_LINES
#undef LOAD
#undef VECTOR
#undef EDGE
#undef WIDE
