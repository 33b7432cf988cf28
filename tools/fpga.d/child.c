// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The kernel kills a child whose parent dies, so that neither QEMU nor the IP stays
 * behind if the model is killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "../cli.h"
#include "child.h"

static void child_keep(int file)
{
	if (file >= 0)
		fcntl(file, F_SETFD, 0);
}

pid_t child_start(char *const *words, int file, int other, int quiet)
{
	pid_t parent = getpid();
	pid_t child = fork();
	sigset_t none;

	if (child < 0) {
		complain("no process for %s: %s", words[0], strerror(errno));
		exit(EXIT_FAILED);
	}
	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILED);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	child_keep(file);
	child_keep(other);
	if (quiet)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	execvp(words[0], words);
	complain("cannot run %s: %s", words[0], strerror(errno));
	_exit(127);
}

int child_signals(void)
{
	sigset_t caught;

	sigemptyset(&caught);
	sigaddset(&caught, SIGCHLD);
	sigaddset(&caught, SIGTERM);
	sigaddset(&caught, SIGINT);
	sigaddset(&caught, SIGHUP);
	sigprocmask(SIG_BLOCK, &caught, NULL);
	return signalfd(-1, &caught, SFD_CLOEXEC | SFD_NONBLOCK);
}
