/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Threads of the library's own.  Signals that are sent to the program interrupt none of
 * them.  Signals that an instruction causes arrive where it is: a program's handler sees
 * a fault of its own loop in every thread.
 */
#ifndef DRAY_BASE_THREAD_H
#define DRAY_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>

#include "base/shared.h"

/* Blocks the signals that the program is sent, also for threads made from now on. */
void dray_signals_block(sigset_t *before);
void dray_signals_restore(const sigset_t *before);

/* pthread_create() with these signals blocked.  Returns 0, or an errno above 0. */
DRAY_PRIVATE int dray_thread_create(pthread_t *thread,
				    const pthread_attr_t *attributes,
				    void *(*run)(void *), void *argument);

#endif /* DRAY_BASE_THREAD_H */
