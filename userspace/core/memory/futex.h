/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Waits that a signal ends, which those of POSIX threads do not: a word that
 * changes, and threads that sleep until it does.
 */
#ifndef DRAY_MEMORY_FUTEX_H
#define DRAY_MEMORY_FUTEX_H

#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/futex.h>

/* As the system call has it; a long counts seconds until 2038 at least. */
struct dray_futex_time {
	long seconds;
	long nanoseconds;
};

/*
 * Sleeps while *@word is @seen, at most until @until_ns (CLOCK_MONOTONIC; ~0:
 * no limit).  Returns -1 with errno if it did not sleep or a signal came.
 */
static inline int dray_futex_wait(_Atomic uint32_t *word, uint32_t seen,
				  uint64_t until_ns)
{
	uint64_t seconds = until_ns / 1000000000;
	struct dray_futex_time until = {
		.seconds = seconds < LONG_MAX ? (long)seconds : LONG_MAX,
		.nanoseconds = (long)(until_ns % 1000000000),
	};

	return (int)syscall(SYS_futex, word,
			    FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, seen,
			    until_ns == UINT64_MAX ? NULL : &until, NULL,
			    FUTEX_BITSET_MATCH_ANY);
}

/* Wakes all that sleep at a word that changed. */
static inline void dray_futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT_MAX,
		NULL, NULL, 0);
}

/* Changes the word and wakes all. */
static inline void dray_futex_change(_Atomic uint32_t *word)
{
	atomic_fetch_add(word, 1);
	dray_futex_wake(word);
}

#endif /* DRAY_MEMORY_FUTEX_H */
