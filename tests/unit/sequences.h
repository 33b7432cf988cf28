/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Recording, for tests in which it works. */
#ifndef DRAY_TESTS_SEQUENCES_H
#define DRAY_TESTS_SEQUENCES_H

#include <dray/array.h>

#include "ufunc.h"

#define SIZE(array) (sizeof(array) / sizeof((array)[0]))

static inline dray_value input(struct dray_sequence *sequence, dray_dtype dtype,
			       int ndim, const int64_t *shape)
{
	dray_value value = 0;

	assert_works(dray_sequence_input(sequence, dtype, ndim, shape, &value));
	return value;
}

#define VALUES(...) ((const dray_value[]){ __VA_ARGS__ })

static inline dray_value call(struct dray_sequence *sequence, const char *name,
			      const dray_value *inputs)
{
	dray_value results[2] = { 0 };

	assert_works(dray_sequence_call(sequence, dray_ufunc_find(name), inputs,
					NULL, results));
	return results[0];
}

static inline struct dray_sequence *begin(void)
{
	struct dray_sequence *sequence = NULL;

	assert_works(dray_sequence_create(&sequence));
	return sequence;
}

#endif /* DRAY_TESTS_SEQUENCES_H */
