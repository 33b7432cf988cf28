// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * lock: looking again.
 */
#include "base/lock.h"

/*
 * If two threads use one pool all the time, seven looks may find it taken each
 * time, and a sleep costs more than all of these: some ten microseconds.
 */
#define LOOKS 40
#define LONGEST 16 /* pauses before a look */

/* The processor's hint for busy loops, if it has one. */
static inline void pause_shortly(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	/* "yield" takes no time on most. */
	__asm__ volatile("isb" ::: "memory");
#else
	__asm__ volatile("" ::: "memory");
#endif
}

void dray_lock_taken(pthread_mutex_t *lock)
{
	unsigned int pauses = 1, looks, i;

	for (looks = 0; looks < LOOKS; looks++) {
		for (i = 0; i < pauses; i++)
			pause_shortly();
		if (!pthread_mutex_trylock(lock))
			return;
		if (pauses < LONGEST)
			pauses *= 2;
	}
	pthread_mutex_lock(lock);
}
