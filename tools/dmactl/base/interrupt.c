// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Signals, as a number that the command looks at between two waits. */
#include <errno.h>
#include <signal.h>
#include <time.h>

#include "interrupt.h"

static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };

#define ENDING (sizeof(ending) / sizeof(ending[0]))

static volatile sig_atomic_t caught;
static sigset_t before;

static void interrupt_note(int number)
{
	if (number != SIGCHLD && !caught)
		caught = number;
}

void interrupt_begin(void)
{
	const struct sigaction action = { .sa_handler = interrupt_note };
	struct sigaction old;
	sigset_t blocked;
	size_t i;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGCHLD);
	sigaction(SIGCHLD, &action, NULL);
	for (i = 0; i < ENDING; i++) {
		/* nohup and shells in the background ignore some */
		if (!sigaction(ending[i], NULL, &old) &&
		    old.sa_handler == SIG_IGN)
			continue;
		sigaction(ending[i], &action, NULL);
		/* one that breaks a pipe comes from a write: at once */
		if (ending[i] != SIGPIPE)
			sigaddset(&blocked, ending[i]);
	}
	sigprocmask(SIG_BLOCK, &blocked, &before);
}

int interrupt_wait(struct pollfd *files, nfds_t count, int milliseconds)
{
	const struct timespec time = {
		.tv_sec = milliseconds / 1000,
		.tv_nsec = milliseconds % 1000 * 1000000L,
	};
	int ret = ppoll(files, count, milliseconds < 0 ? NULL : &time, &before);

	return ret < 0 && errno == EINTR ? 0 : ret;
}

int interrupt_signal(void)
{
	return caught;
}

void interrupt_end(void)
{
	if (caught != SIGPIPE)
		return;
	signal(SIGPIPE, SIG_DFL);
	raise(SIGPIPE);
}
