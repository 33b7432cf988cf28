/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * No call of the library is a cancellation point (pthread_cancel()).  If a
 * thread ended inside one, locks would stay taken, and blocks and descriptors
 * would leak.  A function therefore disables cancellation if it writes to a
 * stream or makes a system call that POSIX lets be a cancellation point.  A
 * pending request acts after it returns.  Fast paths make no such call.
 */
#ifndef DRAY_BASE_CANCEL_H
#define DRAY_BASE_CANCEL_H

#include <pthread.h>

/* Disables cancellation; returns the state before. */
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
	__attribute__((cleanup(dray_cancel_restore), unused)) const int      \
		dray_cancel_before = dray_cancel_off()

#endif /* DRAY_BASE_CANCEL_H */
