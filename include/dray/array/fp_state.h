/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * fp_state: errors of floating-point numbers, and integers that are divided by 0.
 *
 * Loops of universal functions and of conversions leave them in the flags of the
 * processor.  A call looks at them after its loops and does as the thread wants.
 * Flags that were set before the call are lost.
 *
 *	struct dray_fp_state before = { 0 }, state;
 *
 *	dray_get_fp_state(&before);
 *	state = before;
 *	state.divide = DRAY_FP_RAISE;
 *	ret = dray_set_fp_state(&state);
 *	if (ret)
 *		return ret;
 *	// a division by 0 fails with -EDOM now
 *	ret = dray_set_fp_state(&before);
 */
#ifndef DRAY_FP_STATE_H
#define DRAY_FP_STATE_H

#include <stdint.h>

#include <dray/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A reaction to an error.  -EINVAL for an unknown value. */
enum dray_fp_action {
	DRAY_FP_IGNORE,
	DRAY_FP_WARN,	/* as CALL; without a function, prints it once */
	DRAY_FP_RAISE,	/* the call fails with -EDOM */
	DRAY_FP_CALL,	/* calls the function; if it is NULL, ignores it */
	DRAY_FP_PRINT,	/* prints it on the standard error stream */
};

/* Errors, and sets of them. */
#define DRAY_FP_DIVIDE 1u	/* a finite number by 0 */
#define DRAY_FP_OVER 2u		/* a result too large for its type */
#define DRAY_FP_UNDER 4u	/* a number too close to 0 */
#define DRAY_FP_INVALID 8u	/* a result that is not a number */

/** The state of a thread.  A new thread warns of all but underflow. */
struct dray_fp_state {
	size_t size;		/* of this structure; 0: the first version's */
	uint8_t divide, over, under, invalid;	/* enum dray_fp_action */
	/* elements of a buffer of an operand that is converted, 16 and up */
	int64_t buffer_size;
	/*
	 * For CALL and WARN, once for each error, DRAY_FP_*: @sentence is such as
	 * "divide by zero encountered in divide", @errors all that are set
	 */
	void (*call)(void *context, const char *sentence, unsigned int error,
		     unsigned int errors);
	void *context;
};

/**
 * Reads the state of the calling thread.  If the size of @out is wrong, leaves a sentence
 * and errno.
 */
DRAY_API void dray_get_fp_state(struct dray_fp_state *out);

/**
 * Sets it.
 *
 * @state: copied; NULL: the state of a new thread
 *
 * Errors: -EINVAL (an action that does not exist, a buffer size that is not 16
 * to 16777216).
 */
DRAY_API int dray_set_fp_state(const struct dray_fp_state *state);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_FP_STATE_H */
