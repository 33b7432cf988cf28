// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * lock: looking again.
 */
#include "base/lock.h"

/* Pauses before the last look; all of them take a few microseconds. */
#define LONGEST 64

/* What the processor has for loops that wait; some have nothing. */
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
	unsigned int pauses, i;

	for (pauses = 1; pauses <= LONGEST; pauses *= 2) {
		for (i = 0; i < pauses; i++)
			pause_shortly();
		if (!pthread_mutex_trylock(lock))
			return;
	}
	pthread_mutex_lock(lock);
}
