/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A thread that was asked to end, and ends at its next cancellation point. */
#ifndef DRAY_TESTS_CANCELLED_H
#define DRAY_TESTS_CANCELLED_H

#include "unit.h"

#define WAS_CANCELLED (-1000)

struct cancelled_step {
	int (*step)(void);
	int result;
};

static inline void *run_cancelled_step(void *argument)
{
	struct cancelled_step *run = argument;

	pthread_cancel(pthread_self());
	run->result = run->step();
	return NULL;
}

/* What @step returns in one, or that it never did. */
static inline int in_a_cancelled_thread(int (*step)(void))
{
	struct cancelled_step run = { .step = step, .result = WAS_CANCELLED };
	pthread_t thread;

	if (pthread_create(&thread, NULL, run_cancelled_step, &run) ||
	    pthread_join(thread, NULL))
		return WAS_CANCELLED - 1;
	return run.result;
}

#endif /* DRAY_TESTS_CANCELLED_H */
