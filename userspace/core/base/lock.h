/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * lock: for locks that many threads take often and hold for a short time.
 *
 * Most threads hold a pool's lock for less than a tenth of a microsecond, while
 * sleeping and waking take several: with two threads in one pool nearly all
 * time went there.  A thread that finds the lock taken therefore retries a few
 * times, ever less often, before it sleeps.
 *
 * glibc has such mutexes (PTHREAD_MUTEX_ADAPTIVE_NP).  They take longer if no
 * other thread is there, and other C libraries lack them.
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
