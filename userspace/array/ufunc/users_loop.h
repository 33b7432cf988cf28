/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Calls of loops, those of users among them. */
#ifndef DRAY_UFUNC_USERS_LOOP_H
#define DRAY_UFUNC_USERS_LOOP_H

#include "ufunc/ufunc.h"

/*
 * Makes an error of a user's function one of the library: a negative errno with a
 * sentence, which was forgotten before.
 */
int dray_users_result(int ret, const char *function);
/* Runs a loop with DRAY_LOOP_OF_USER. */
int dray_users_loop_run(const struct dray_ufunc_loop *loop, char *const *data,
			const int64_t *strides, int64_t count);

/* Runs a loop: all calls of loops go through here. */
static inline int dray_loop_run(const struct dray_ufunc_loop *loop,
				char *const *data, const int64_t *strides,
				int64_t count)
{
	if (__builtin_expect(!(loop->flags & DRAY_LOOP_OF_USER), 1))
		return loop->loop(data, strides, count, loop->context);
	return dray_users_loop_run(loop, data, strides, count);
}

#endif /* DRAY_UFUNC_USERS_LOOP_H */
