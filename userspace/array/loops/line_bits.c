// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Bits and truth of lines.  Whether all or any elements are true is known at the
 * first that is not, or is, so the line is looked at in blocks.
 */
#include "loops/line_form.h"

#define BLOCK 256 /* elements between two looks at the result */
#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define XOR(a, b) ((a) ^ (b))

#define BITS(T)                                         \
	DRAY_LINES_OF_INTEGERS(bitwise_and_##T, T, AND) \
	DRAY_LINES_OF_INTEGERS(bitwise_or_##T, T, OR)   \
	DRAY_LINES_OF_INTEGERS(bitwise_xor_##T, T, XOR)

BITS(uint8_t)
BITS(uint16_t)
BITS(uint32_t)
BITS(uint64_t)

/*
 * The bits that make an element true are those of MASK: of floating-point numbers
 * all but the sign.
 */
#define TRUTH(name, T, MASK)                                                   \
	/* Elements of a block that are not 0, counted up to one. */           \
	DRAY_INLINE bool any_##name(const char *data, int64_t stride,          \
				    int64_t count)                             \
	{                                                                      \
		const T *const dense = (const void *)data;                     \
		T bits = 0;                                                    \
		int64_t i;                                                     \
                                                                               \
		if (stride == sizeof(T))                                       \
			for (i = 0; i < count; i++)                            \
				bits = (T)(bits | dense[i]);                   \
		else                                                           \
			for (i = 0; i < count; i++)                            \
				bits = (T)(bits |                              \
					   ITEM_AT(const T, data, i, stride)); \
		return bits & (T)MASK;                                         \
	}                                                                      \
	DRAY_INLINE bool all_##name(const char *data, int64_t stride,          \
				    int64_t count)                             \
	{                                                                      \
		const T *const dense = (const void *)data;                     \
		T missing = 0;                                                 \
		int64_t i;                                                     \
                                                                               \
		if (stride == sizeof(T))                                       \
			for (i = 0; i < count; i++)                            \
				missing = (T)(missing |                        \
					      ((dense[i] & (T)MASK) == 0));    \
		else                                                           \
			for (i = 0; i < count; i++)                            \
				missing =                                      \
					(T)(missing | ((ITEM_AT(const T, data, \
								i, stride) &   \
							(T)MASK) == 0));       \
		return !missing;                                               \
	}                                                                      \
	DRAY_LINE_LOOP(logical_or_##name)                                      \
	{                                                                      \
		char *const to = result;                                       \
		bool truth = *to; /* any byte but 0 */                         \
		int64_t piece;                                                 \
                                                                               \
		for (; count && !truth;                                        \
		     count -= piece, data += piece * stride) {                 \
			piece = count < BLOCK ? count : BLOCK;                 \
			truth = any_##name(data, stride, piece);               \
		}                                                              \
		*to = truth;                                                   \
	}                                                                      \
	DRAY_LINE_LOOP(logical_and_##name)                                     \
	{                                                                      \
		char *const to = result;                                       \
		bool truth = *to; /* any byte but 0 */                         \
		int64_t piece;                                                 \
                                                                               \
		for (; count && truth;                                         \
		     count -= piece, data += piece * stride) {                 \
			piece = count < BLOCK ? count : BLOCK;                 \
			truth = all_##name(data, stride, piece);               \
		}                                                              \
		*to = truth;                                                   \
	}

TRUTH(8, uint8_t, UINT8_MAX)
TRUTH(16, uint16_t, UINT16_MAX)
TRUTH(32, uint32_t, UINT32_MAX)
TRUTH(64, uint64_t, UINT64_MAX)
TRUTH(half, uint16_t, INT16_MAX)
TRUTH(float, uint32_t, INT32_MAX)
TRUTH(double, uint64_t, INT64_MAX)

#define INTEGERS(name)                                                \
	DRAY_LINE_ENTRY(#name, DRAY_INT8, name##_uint8_t),            \
		DRAY_LINE_ENTRY(#name, DRAY_UINT8, name##_uint8_t),   \
		DRAY_LINE_ENTRY(#name, DRAY_INT16, name##_uint16_t),  \
		DRAY_LINE_ENTRY(#name, DRAY_UINT16, name##_uint16_t), \
		DRAY_LINE_ENTRY(#name, DRAY_INT32, name##_uint32_t),  \
		DRAY_LINE_ENTRY(#name, DRAY_UINT32, name##_uint32_t), \
		DRAY_LINE_ENTRY(#name, DRAY_INT64, name##_uint64_t),  \
		DRAY_LINE_ENTRY(#name, DRAY_UINT64, name##_uint64_t)

#define TRUTH_FROM(name, settled, dtype, loop)                            \
	{                                                                 \
#name, DRAY_BOOL, dtype, name##_##loop, NULL, NULL, NULL, \
			true, settled                                     \
	}

#define TRUTHS(name, settled)                                   \
	TRUTH_FROM(name, settled, DRAY_BOOL, 8),                \
		TRUTH_FROM(name, settled, DRAY_INT8, 8),        \
		TRUTH_FROM(name, settled, DRAY_UINT8, 8),       \
		TRUTH_FROM(name, settled, DRAY_INT16, 16),      \
		TRUTH_FROM(name, settled, DRAY_UINT16, 16),     \
		TRUTH_FROM(name, settled, DRAY_INT32, 32),      \
		TRUTH_FROM(name, settled, DRAY_UINT32, 32),     \
		TRUTH_FROM(name, settled, DRAY_INT64, 64),      \
		TRUTH_FROM(name, settled, DRAY_UINT64, 64),     \
		TRUTH_FROM(name, settled, DRAY_FLOAT16, half),  \
		TRUTH_FROM(name, settled, DRAY_FLOAT32, float), \
		TRUTH_FROM(name, settled, DRAY_FLOAT64, double)

static const struct dray_line lines[] = {
	INTEGERS(bitwise_and),	INTEGERS(bitwise_or),  INTEGERS(bitwise_xor),
	TRUTHS(logical_and, 0), TRUTHS(logical_or, 1),
};

DRAY_LINES_LIST(bit, lines);
