/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Children that tests make: they cannot assert, and tell by their exit status. */
#ifndef DRAY_TESTS_CHILD_H
#define DRAY_TESTS_CHILD_H

#include "../selftests/step.h"
#include "unit.h"

/* fork() without its handlers. */
static inline pid_t clone_without_handlers(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

/* What it ended with, which says the step that was wrong; below 0 a signal. */
static inline int status_of(pid_t child)
{
	int status;

	assert_int_not_equal(child, -1);
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

#endif /* DRAY_TESTS_CHILD_H */
