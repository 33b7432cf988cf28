/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * lock: for locks that many threads take all the time and nobody holds for long.
 *
 * Most hold a pool's lock for less than a tenth of a microsecond, and a sleep and
 * being woken is several: with two threads in one pool nearly all the time went
 * there.  So who finds the lock taken looks a few more times, ever less often,
 * and only then sleeps.
 *
 * glibc has mutexes that do so (PTHREAD_MUTEX_ADAPTIVE_NP).  They take longer where
 * nobody else is there, and other C libraries have none.
 */
#ifndef DRAY_BASE_LOCK_H
#define DRAY_BASE_LOCK_H

#include <pthread.h>

/* Waits for a lock that is taken. */
void dray_lock_taken(pthread_mutex_t *lock);

static inline void dray_lock(pthread_mutex_t *lock)
{
	if (__builtin_expect(pthread_mutex_trylock(lock), 0))
		dray_lock_taken(lock);
}

#endif /* DRAY_BASE_LOCK_H */
