// SPDX-License-Identifier: Apache-2.0 OR MIT
/* thread: the signals of new threads. */
#include <stddef.h>

#include "base/thread.h"

void dray_signals_block(sigset_t *before)
{
	static const int causes[] = { SIGSEGV, SIGBUS,	SIGFPE, SIGILL,
				      SIGTRAP, SIGABRT, SIGSYS };
	sigset_t all;
	size_t i;

	sigfillset(&all);
	for (i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		sigdelset(&all, causes[i]);
	pthread_sigmask(SIG_BLOCK, &all, before);
}

void dray_signals_restore(const sigset_t *before)
{
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

int dray_thread_create(pthread_t *thread, const pthread_attr_t *attributes,
		       void *(*run)(void *), void *argument)
{
	sigset_t before;
	int error;

	dray_signals_block(&before);
	error = pthread_create(thread, attributes, run, argument);
	dray_signals_restore(&before);
	return error;
}
