/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Makes short cuts of a function of two elements of one type. */
#ifndef DRAY_LOOPS_LINE_FORM_H
#define DRAY_LOOPS_LINE_FORM_H

#include "loops/form.h"
#include "loops/line.h"

/* The list at the end of a file, named by its level. */
#define DRAY_LINES_LIST(name, lines)                                 \
	const struct dray_line_list DRAY_PASTE(dray_##name##_lines,  \
					       DRAY_LOOPS_LEVEL) = { \
		lines, sizeof(lines) / sizeof((lines)[0])            \
	}

#define DRAY_LINE_LOOP(name)                                             \
	static void name(void *result, const char *data, int64_t stride, \
			 int64_t count)

/* Elements of type F, one after the other. */
#define DRAY_LINE_SINGLY(name, T, F, op)                                      \
	DRAY_LINE_LOOP(name)                                                  \
	{                                                                     \
		T so_far = *(T *)result;                                      \
		int64_t i;                                                    \
                                                                              \
		for (i = 0; i < count; i++)                                   \
			so_far = (T)op(so_far,                                \
				       (T)ITEM_AT(const F, data, i, stride)); \
		*(T *)result = so_far;                                        \
	}

/* Elements side by side in any order, which the compiler makes vectors of. */
#define DRAY_LINE_INTEGERS(name, T, op)                            \
	DRAY_LINE_SINGLY(name##_apart, T, T, op)                   \
	DRAY_LINE_LOOP(name)                                       \
	{                                                          \
		const T *const dense = (const void *)data;         \
		T so_far = *(T *)result;                           \
		int64_t i;                                         \
                                                                   \
		if (stride != sizeof(T)) {                         \
			name##_apart(result, data, stride, count); \
			return;                                    \
		}                                                  \
		for (i = 0; i < count; i++)                        \
			so_far = (T)op(so_far, dense[i]);          \
		*(T *)result = so_far;                             \
	}

#define DRAY_LINE_RUNNING(name, T, op)                                     \
	static void name(char *to, int64_t to_stride, const char *data,    \
			 int64_t stride, int64_t count)                    \
	{                                                                  \
		T so_far = *(T *)(void *)to;                               \
		int64_t i;                                                 \
                                                                           \
		for (i = 0; i < count; i++) {                              \
			so_far = (T)op(so_far,                             \
				       ITEM_AT(const T, data, i, stride)); \
			ITEM_AT(T, to, i + 1, to_stride) = so_far;         \
		}                                                          \
	}

#define DRAY_LINE_PLACING(name, T, op)                                         \
	DRAY_INLINE void name##_by(char *target, int64_t stride,               \
				   const int64_t *indices, int64_t count,      \
				   const char *values, int64_t values_stride)  \
	{                                                                      \
		int64_t i;                                                     \
                                                                               \
		for (i = 0; i < count; i++) {                                  \
			T *const at = (void *)(target + indices[i] * stride);  \
                                                                               \
			*at = (T)op(*at, ITEM_AT(const T, values, i,           \
						 values_stride));              \
		}                                                              \
	}                                                                      \
	static void name(char *target, int64_t stride, const int64_t *indices, \
			 int64_t count, const char *values,                    \
			 int64_t values_stride)                                \
	{                                                                      \
		if (stride == sizeof(T))                                       \
			name##_by(target, sizeof(T), indices, count, values,   \
				  values_stride);                              \
		else                                                           \
			name##_by(target, stride, indices, count, values,      \
				  values_stride);                              \
	}

#define DRAY_LINE_ROWS_OF(name, T, op)                                   \
	static void name(void *result, const char *rows, int64_t stride, \
			 int64_t count)                                  \
	{                                                                \
		const T *const a = (const void *)rows;                   \
		const T *const b = (const void *)(rows + stride);        \
		const T *const c = (const void *)(rows + 2 * stride);    \
		const T *const d = (const void *)(rows + 3 * stride);    \
		T *const to = result;                                    \
		int64_t i;                                               \
                                                                         \
		DRAY_EACH for (i = 0; i < count; i++)                    \
		{                                                        \
			T so_far = (T)op(to[i], a[i]);                   \
                                                                         \
			so_far = (T)op(so_far, b[i]);                    \
			so_far = (T)op(so_far, c[i]);                    \
			to[i] = (T)op(so_far, d[i]);                     \
		}                                                        \
	}

/* NAME_running, NAME_placing and NAME_rows. */
#define DRAY_LINES_BESIDES(name, T, op)          \
	DRAY_LINE_RUNNING(name##_running, T, op) \
	DRAY_LINE_PLACING(name##_placing, T, op) \
	DRAY_LINE_ROWS_OF(name##_rows, T, op)

/* And NAME_line. */
#define DRAY_LINES_OF_INTEGERS(name, T, op)    \
	DRAY_LINE_INTEGERS(name##_line, T, op) \
	DRAY_LINES_BESIDES(name, T, op)

#define DRAY_LINES_SINGLY(name, T, op)          \
	DRAY_LINE_SINGLY(name##_line, T, T, op) \
	DRAY_LINES_BESIDES(name, T, op)

#define DRAY_LINE_ENTRY(ufunc, dtype, name)                       \
	{                                                         \
		ufunc, dtype, dtype, name##_line, name##_running, \
			name##_placing, name##_rows, false, 0     \
	}

/* Lines only, of elements of any type. */
#define DRAY_LINE_FROM(ufunc, dtype, from, loop)                     \
	{                                                            \
		ufunc, dtype, from, loop, NULL, NULL, NULL, false, 0 \
	}

#endif /* DRAY_LOOPS_LINE_FORM_H */
