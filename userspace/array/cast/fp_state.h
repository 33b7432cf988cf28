/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Floating-point errors of a thread: its loops leave them in the processor's
 * flags, and its state tells their consequences.
 */
#ifndef DRAY_BASE_FP_STATE_H
#define DRAY_BASE_FP_STATE_H

#include <dray/array/fp_state.h>

#include "cast/fp_flags.h"
#include "private.h"

#define DRAY_FP_FLAGS (FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID)

/* Clears the flags, which is slow if there are any. */
static inline void dray_fp_clear(void)
{
	if (fetestexcept(DRAY_FP_FLAGS))
		feclearexcept(DRAY_FP_FLAGS);
}

/* Returns DRAY_FP_* of the flags, of which there are some, and clears them. */
unsigned int dray_fp_take_raised(void);

/* Returns DRAY_FP_* of the flags, and clears them. */
static inline unsigned int dray_fp_take(void)
{
	return fetestexcept(DRAY_FP_FLAGS) ? dray_fp_take_raised() : 0;
}

/* Returns the errors that the thread raises: DRAY_FP_*. */
unsigned int dray_fp_raised(void);

/*
 * Does as the thread's state says with errors that a function met.  -EDOM, with a
 * sentence, if one is to be raised.
 */
int dray_fp_report(const char *name, unsigned int errors);

/* Does both, after loops of the function. */
static inline int dray_fp_check(const char *name)
{
	if (__builtin_expect(!fetestexcept(DRAY_FP_FLAGS), 1))
		return 0;
	return dray_fp_report(name, dray_fp_take());
}

/* Elements of a buffer of the thread. */
int64_t dray_fp_buffer_size(void);

#endif /* DRAY_BASE_FP_STATE_H */
