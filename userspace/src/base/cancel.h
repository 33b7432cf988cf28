/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * No call of the library is a cancellation point (pthread_cancel()): a thread
 * that ended inside of one would leave locks taken, and blocks and descriptors
 * to nobody.  So whichever function makes a system call that POSIX lets be one,
 * or writes to a stream, puts cancellation off for as long as it runs.  What is
 * fast makes none.
 */
#ifndef DRAY_BASE_CANCEL_H
#define DRAY_BASE_CANCEL_H

#include <pthread.h>

/* What it was before. */
static inline int dray_cancel_off(void)
{
	int before = PTHREAD_CANCEL_ENABLE;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

static inline void dray_cancel_restore(const int *before)
{
	int now;

	pthread_setcancelstate(*before, &now);
}

/* A declaration: until the end of the block around it. */
#define DRAY_NO_CANCEL                                                       \
	__attribute__((cleanup(dray_cancel_restore))) const int              \
		dray_cancel_before = dray_cancel_off()

#endif /* DRAY_BASE_CANCEL_H */
