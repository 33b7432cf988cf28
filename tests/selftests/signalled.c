// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Calls that signals come into; see signalled.h.
 */
#include "process.h"
#include "signalled.h"

#define TIMES 10

/* Shared with the child. */
static volatile struct {
	int begun; /* the call follows */
	int signals; /* that have been handled */
} * seen;

static pid_t child;

static void count_signal(int number)
{
	seen->signals++;
}

static int call_and_exit(void *context)
{
	const struct signalled *signalled = context;

	seen->begun = 1;
	return -signalled->call(signalled->context);
}

static bool has_ended(void)
{
	siginfo_t info = { 0 };

	return !waitid(P_PID, (id_t)child, &info,
		       WEXITED | WNOHANG | WNOWAIT) &&
	       info.si_pid == child;
}

static bool waits_or_has_ended(void *unused)
{
	return has_ended() || (seen->begun && process_sleeps(&child));
}

static bool is_signalled_or_has_ended(void *signals)
{
	return has_ended() || seen->signals > *(int *)signals;
}

/* False where the child neither waits nor ends. */
static bool interrupt(void)
{
	int i, before;

	for (i = 0; i < TIMES; i++) {
		if (!wait_for(waits_or_has_ended, NULL))
			return false;
		if (has_ended())
			break;
		before = seen->signals;
		kill(child, SIGUSR1);
		if (!wait_for(is_signalled_or_has_ended, &before))
			return false;
	}
	return true;
}

int signalled_run(const struct signalled *signalled)
{
	struct sigaction old, action = { .sa_handler = count_signal,
					 .sa_flags = signalled->flags };
	bool interrupted = false, waited;
	int ret = -ECHILD;

	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (seen == MAP_FAILED || sigaction(SIGUSR1, &action, &old))
		return ret;
	child = process_start(call_and_exit, (void *)signalled);
	if (child > 0) {
		interrupted = interrupt();
		waited = seen->signals > 0;
		if (signalled->release(signalled->context))
			interrupted = false;
		ret = -process_wait(child);
		if (!waited)
			ret = -ETIME;
	}
	sigaction(SIGUSR1, &old, NULL);
	munmap((void *)seen, sizeof(*seen));
	return interrupted ? ret : -ECHILD;
}
