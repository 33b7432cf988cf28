// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests of numbers for NaN, infinity and sign, by their bits; and of dates. */
#include "loops/form.h"
#include "loops/times.h"

#define NEVER(a) ((void)(a), 0)
#define ALWAYS(a) ((void)(a), 1)

#define INTEGER(bits)                                            \
	DRAY_UNARY(never_##bits, uint##bits##_t, uint8_t, NEVER) \
	DRAY_UNARY(always_##bits, uint##bits##_t, uint8_t, ALWAYS)

INTEGER(8)
INTEGER(16)
INTEGER(32)
INTEGER(64)

struct bits_64 {
	uint32_t re, im;
};
struct bits_128 {
	uint64_t re, im;
};

/* Bits of a float without its sign, and those of infinity. */
#define REAL(name, T, infinity)                                 \
	DRAY_INLINE T size_##name(T a)                          \
	{                                                       \
		return a & (T)((T) ~(T)0 >> 1);                 \
	}                                                       \
	DRAY_INLINE bool is_nan_##name(T a)                     \
	{                                                       \
		return size_##name(a) > infinity;               \
	}                                                       \
	DRAY_INLINE bool is_inf_##name(T a)                     \
	{                                                       \
		return size_##name(a) == infinity;              \
	}                                                       \
	DRAY_INLINE bool is_finite_##name(T a)                  \
	{                                                       \
		return size_##name(a) < infinity;               \
	}                                                       \
	DRAY_INLINE bool is_negative_##name(T a)                \
	{                                                       \
		return a >> (sizeof(T) * 8 - 1);                \
	}                                                       \
	DRAY_UNARY(nan_##name, T, uint8_t, is_nan_##name)       \
	DRAY_UNARY(inf_##name, T, uint8_t, is_inf_##name)       \
	DRAY_UNARY(finite_##name, T, uint8_t, is_finite_##name) \
	DRAY_UNARY(sign_##name, T, uint8_t, is_negative_##name)

REAL(half, uint16_t, 0x7c00)
REAL(float, uint32_t, 0x7f800000)
REAL(double, uint64_t, 0x7ff0000000000000)

#define COMPLEX(bits, part)                                             \
	DRAY_INLINE bool has_nan_##bits(struct bits_##bits a)           \
	{                                                               \
		return is_nan_##part(a.re) | is_nan_##part(a.im);       \
	}                                                               \
	DRAY_INLINE bool has_inf_##bits(struct bits_##bits a)           \
	{                                                               \
		return is_inf_##part(a.re) | is_inf_##part(a.im);       \
	}                                                               \
	DRAY_INLINE bool both_finite_##bits(struct bits_##bits a)       \
	{                                                               \
		return is_finite_##part(a.re) & is_finite_##part(a.im); \
	}                                                               \
	DRAY_UNARY(nan_complex##bits, struct bits_##bits, uint8_t,      \
		   has_nan_##bits)                                      \
	DRAY_UNARY(inf_complex##bits, struct bits_##bits, uint8_t,      \
		   has_inf_##bits)                                      \
	DRAY_UNARY(finite_complex##bits, struct bits_##bits, uint8_t,   \
		   both_finite_##bits)

COMPLEX(64, float)
COMPLEX(128, double)

#define ENTRIES(name, integers, reals, times)                    \
	static const struct dray_loop_entry name##_entries[] = { \
		DRAY_QUIET("??", integers##_8),                  \
		DRAY_QUIET("b?", integers##_8),                  \
		DRAY_QUIET("B?", integers##_8),                  \
		DRAY_QUIET("h?", integers##_16),                 \
		DRAY_QUIET("H?", integers##_16),                 \
		DRAY_QUIET("i?", integers##_32),                 \
		DRAY_QUIET("I?", integers##_32),                 \
		DRAY_QUIET("q?", integers##_64),                 \
		DRAY_QUIET("Q?", integers##_64),                 \
		DRAY_QUIET("e?", reals##_half),                  \
		DRAY_QUIET("f?", reals##_float),                 \
		DRAY_QUIET("d?", reals##_double),                \
		DRAY_QUIET("F?", reals##_complex64),             \
		DRAY_QUIET("D?", reals##_complex128),            \
		DRAY_QUIET("m?", times),                         \
		DRAY_QUIET("M?", times),                         \
	}

ENTRIES(isnan, never, nan, dray_time_is_nat);
ENTRIES(isinf, never, inf, dray_time_never);
ENTRIES(isfinite, always, finite, dray_time_is_finite);

static const struct dray_loop_entry signbit_entries[] = {
	DRAY_QUIET("e?", sign_half),
	DRAY_QUIET("f?", sign_float),
	DRAY_QUIET("d?", sign_double),
};

static const struct dray_loop_entry isnat_entries[] = {
	DRAY_QUIET("M?", dray_time_is_nat),
	DRAY_QUIET("m?", dray_time_is_nat),
};

#define DEFINITION(name, resolver)                               \
	{                                                        \
#name, 1, 1, DRAY_IDENTITY_NONE, name##_entries, \
			DRAY_COUNT(name##_entries), resolver     \
	}

static const struct dray_ufunc_definition definitions[] = {
	DEFINITION(isnan, dray_resolve_unary),
	DEFINITION(isinf, dray_resolve_unary),
	DEFINITION(isfinite, dray_resolve_unary),
	DEFINITION(isnat, dray_resolve_unary),
	DEFINITION(signbit, NULL),
};

DRAY_LOOPS_LIST(tests, definitions);
