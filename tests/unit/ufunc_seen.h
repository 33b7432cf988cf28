/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A ufunc of doubles that notes the pieces in which its loop is called. */
#ifndef DRAY_TESTS_UFUNC_SEEN_H
#define DRAY_TESTS_UFUNC_SEEN_H

#include <dray/array.h>

#include "ufunc.h"

/* Calls of a loop, and the elements of each. */
static struct {
	int calls;
	int64_t elements, most;
	bool misplaced; /* an element was not aligned */
} seen;

static inline int see(char *const *data, const int64_t *strides, int64_t count,
		      void *context)
{
	int o;

	seen.calls++;
	seen.elements += count;
	if (count > seen.most)
		seen.most = count;
	for (o = 0; o < 3; o++)
		if ((uintptr_t)data[o] % 8 || (count > 1 && strides[o] % 8))
			seen.misplaced = true;
	return mix_doubles(data, strides, count, context);
}

static struct dray_ufunc *mix;

static double numbers[4096], results[4096];
__attribute__((unused)) static bool bools[4096];

static inline void forget_all(void)
{
	int i;

	for (i = 0; i < 4096; i++) {
		numbers[i] = i;
		results[i] = -1;
	}
	memset(&seen, 0, sizeof(seen));
}

/* Makes the ufunc. */
static inline void make_seen(void)
{
	assert_works(dray_ufunc_create("mix", 2, 1, DRAY_IDENTITY_NONE, &mix));
	set_loop(mix,
		 (dray_dtype[]){ DRAY_FLOAT64, DRAY_FLOAT64, DRAY_FLOAT64 },
		 see, NULL, 0);
}

#endif /* DRAY_TESTS_UFUNC_SEEN_H */
