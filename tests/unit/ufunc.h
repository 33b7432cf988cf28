/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Ufuncs of the tests' own, with loops of simple results. */
#ifndef DRAY_TESTS_UFUNC_H
#define DRAY_TESTS_UFUNC_H

#include <fenv.h>

#include <dray/array.h>

#include "unit.h"

/* Twice the first input and the second; wraps as integers do. */
#define MIX_LOOP(name, type)                                                   \
	static inline int name(char *const *data, const int64_t *strides,      \
			       int64_t count, void *context)                   \
	{                                                                      \
		int64_t i;                                                     \
                                                                               \
		for (i = 0; i < count; i++) {                                  \
			type *to = (type *)(void *)(data[2] + i * strides[2]); \
			const type *a =                                        \
				(const type *)(void *)(data[0] +               \
						       i * strides[0]);        \
			const type *b =                                        \
				(const type *)(void *)(data[1] +               \
						       i * strides[1]);        \
                                                                               \
			*to = (type)(2 * *a + *b);                             \
		}                                                              \
		return 0;                                                      \
	}

MIX_LOOP(mix_doubles, double)
MIX_LOOP(mix_ints, uint32_t)

/* Whether the processor keeps flags of errors, which Valgrind does not. */
static inline bool flags_are_kept(void)
{
	bool kept;

	feraiseexcept(FE_INVALID);
	kept = fetestexcept(FE_INVALID);
	feclearexcept(FE_INVALID);
	return kept;
}

/* Does nothing: for tests of types. */
static inline int no_loop(char *const *data, const int64_t *strides,
			  int64_t count, void *context)
{
	return 0;
}

static inline void set_loop(struct dray_ufunc *ufunc, const dray_dtype *types,
			    dray_loop *loop, void *context, uint32_t flags)
{
	const struct dray_ufunc_loop set = { loop, context, flags };

	assert_works(dray_ufunc_set_loop(ufunc, types, &set));
}

/* A ufunc of doubles and of ints. */
static inline struct dray_ufunc *make_mix(void)
{
	struct dray_ufunc *mix = NULL;

	assert_works(dray_ufunc_create("mix", 2, 1, DRAY_IDENTITY_NONE, &mix));
	set_loop(mix, (dray_dtype[]){ DRAY_INT32, DRAY_INT32, DRAY_INT32 },
		 mix_ints, NULL, DRAY_LOOP_NO_FP_ERRORS);
	set_loop(mix,
		 (dray_dtype[]){ DRAY_FLOAT64, DRAY_FLOAT64, DRAY_FLOAT64 },
		 mix_doubles, NULL, 0);
	return mix;
}

/* A view that may be read and written. */
static inline struct dray_view view_of(void *data, dray_dtype dtype, int ndim,
				       const int64_t *shape,
				       const int64_t *strides)
{
	struct dray_view view;

	assert_works(dray_view_init(&view, data, dtype, ndim, shape, strides));
	return view;
}

#define INPUTS(...) ((const struct dray_view *const[]){ __VA_ARGS__ })

#endif /* DRAY_TESTS_UFUNC_H */
