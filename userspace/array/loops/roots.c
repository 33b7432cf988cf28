// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Square roots, which the hardware rounds correctly, with its own errors.  They take so
 * long that vectors are worth it for elements with gaps, too.
 */
#include "loops/elementary_power.h"
#include "loops/half_loops.h"

#ifdef __aarch64__
#include <arm_neon.h>

/* Four vectors of each load and store; returns the elements that are done. */
#define BY_FOURS(T, vectors, load, store, root)                              \
	DRAY_INLINE int64_t by_fours_##T(const T *in, T *out, int64_t count) \
	{                                                                    \
		const int64_t step = 64 / sizeof(T);                         \
		int64_t i;                                                   \
                                                                             \
		DRAY_TURNS for (i = 0; i + step <= count; i += step)         \
		{                                                            \
			vectors at = load(in + i);                           \
                                                                             \
			at.val[0] = root(at.val[0]);                         \
			at.val[1] = root(at.val[1]);                         \
			at.val[2] = root(at.val[2]);                         \
			at.val[3] = root(at.val[3]);                         \
			store(out + i, at);                                  \
		}                                                            \
		return i;                                                    \
	}

BY_FOURS(float, float32x4x4_t, vld1q_f32_x4, vst1q_f32_x4, vsqrtq_f32)
BY_FOURS(double, float64x2x4_t, vld1q_f64_x4, vst1q_f64_x4, vsqrtq_f64)
#else
#define by_fours_float(in, out, count) 0
#define by_fours_double(in, out, count) 0
#endif

#define GATHERED 512

/* Steps of two and backwards, between which the compiler's vectors are made. */
#define ROOT(T, root)                                                     \
	DRAY_UNARY_BLOCKS(roots_##T, T, T, root)                          \
                                                                          \
	DRAY_INLINE int roots_of_##T(const T *in, int64_t step, T *out,   \
				     int64_t count)                       \
	{                                                                 \
		int64_t i;                                                \
                                                                          \
		DRAY_EACH for (i = 0; i < count; i++) out[i] =            \
			root(in[i * step]);                               \
		return 0;                                                 \
	}                                                                 \
                                                                          \
	/* Arguments are gathered where their results will be. */         \
	DRAY_INLINE int gather_##T(const T *in, int64_t step, T *out,     \
				   int64_t count)                         \
	{                                                                 \
		int64_t done, part, i;                                    \
                                                                          \
		for (done = 0; done < count; done += part, out += part) { \
			part = count - done < GATHERED ? count - done     \
						       : GATHERED;        \
			DRAY_TURNS for (i = 0; i < part; i++)             \
			{                                                 \
				DRAY_SINGLY;                              \
				out[i] = in[(done + i) * step];           \
			}                                                 \
			(void)roots_of_##T(out, 1, out, part);            \
		}                                                         \
		return 0;                                                 \
	}                                                                 \
                                                                          \
	/* Results of a block go two apart. */                            \
	DRAY_INLINE int spread_##T(const T *in, T *out, int64_t count)    \
	{                                                                 \
		int64_t done, part, i;                                    \
		T roots[DRAY_UNARY_BLOCK];                                \
                                                                          \
		for (done = 0; done < count; done += part) {              \
			part = count - done < DRAY_UNARY_BLOCK            \
				       ? count - done                     \
				       : DRAY_UNARY_BLOCK;                \
			(void)roots_of_##T(in + done, 1, roots, part);    \
			for (i = 0; i < part; i++)                        \
				out[2 * (done + i)] = roots[i];           \
		}                                                         \
		return 0;                                                 \
	}                                                                 \
                                                                          \
	DRAY_LOOP(root_##T)                                               \
	{                                                                 \
		const int64_t size = sizeof(T), step = strides[0];        \
		const T *const in = (const void *)data[0];                \
		T *const out = (void *)data[1];                           \
		int64_t i;                                                \
                                                                          \
		if (step % size || !dray_is_apart(out, in, count * step)) \
			return roots_##T(data, strides, count, context);  \
		if (step == size && strides[1] == 2 * size)               \
			return spread_##T(in, out, count);                \
		if (strides[1] != size)                                   \
			return roots_##T(data, strides, count, context);  \
		if (step == 2 * size)                                     \
			return roots_of_##T(in, 2, out, count);           \
		if (step == -size)                                        \
			return roots_of_##T(in, -1, out, count);          \
		if (step != size)                                         \
			return gather_##T(in, step / size, out, count);   \
		i = by_fours_##T(in, out, count);                         \
		return roots_of_##T(in + i, 1, out + i, count - i);       \
	}

ROOT(float, __builtin_sqrtf)
ROOT(double, __builtin_sqrt)
DRAY_HALF_OF(root_half, root_float);

static const struct dray_loop_entry sqrt_entries[] = {
	DRAY_HALF_ENTRY("ee", dray_half_unary, root_half),
	DRAY_ENTRY("ff", root_float),
	DRAY_ENTRY("dd", root_double),
	{ "FF", dray_complex_float, DRAY_NUMBER(sqrt), 0 },
	{ "DD", dray_complex_double, DRAY_NUMBER(sqrt), 0 },
};

static const struct dray_ufunc_definition definitions[] = {
	{ "sqrt", 1, 1, DRAY_IDENTITY_NONE, sqrt_entries,
	  DRAY_COUNT(sqrt_entries), NULL },
};

DRAY_LOOPS_LIST(root, definitions);

extern const struct dray_roots DRAY_LEVELLED(dray_roots_of);
const struct dray_roots DRAY_LEVELLED(dray_roots_of) = { root_float,
							 root_double };
