/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Vectors whose bytes can be shuffled at will: of WIDTH bytes on processors for
 * which IS_ABLE, in functions with the attribute TARGET.  No WIDTH: there are none.
 */
#ifndef DRAY_LAYOUT_LAYOUT_VECTOR_H
#define DRAY_LAYOUT_LAYOUT_VECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpu.h"

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector) /* gcc 12, clang */
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#endif
#endif

#if defined(SHUFFLE) && defined(__x86_64__)
#define WIDTH 32
#define TARGET __attribute__((target("avx2")))
#define IS_ABLE dray_cpu_has_avx2()
#elif defined(SHUFFLE) && defined(__ARM_NEON)
#define WIDTH 16
#define TARGET
#define IS_ABLE true
#endif

#ifdef WIDTH
typedef uint8_t dray_vector_1 __attribute__((vector_size(WIDTH)));
typedef uint16_t dray_vector_2 __attribute__((vector_size(WIDTH)));
typedef uint32_t dray_vector_4 __attribute__((vector_size(WIDTH)));
typedef uint64_t dray_vector_8 __attribute__((vector_size(WIDTH)));
#endif

#endif /* DRAY_LAYOUT_LAYOUT_VECTOR_H */
