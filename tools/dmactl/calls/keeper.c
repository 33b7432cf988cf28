// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A buffer lives as long as a descriptor of it, which a shell cannot hold.
 * So 'alloc' and 'share' leave a process behind for each buffer, named
 * dmactl-keep.  There is nothing to configure, and no daemon that must run
 * before.  'free' finds the keepers by the descriptors that they hold.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "keeper.h"

static const char keeper_name[] = "dmactl-keep";

/* Closes all descriptors from @first on but these two. */
static void close_others(int first, int one, int two)
{
	int low = one < two ? one : two;
	int high = one < two ? two : one;

	if (low > first)
		syscall(SYS_close_range, first, low - 1, 0);
	if (high > low + 1)
		syscall(SYS_close_range, low + 1, high - 1, 0);
	syscall(SYS_close_range, high + 1, ~0u, 0);
}

bool keeper_start(struct keeper *keeper, int inherited)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		complain("cannot make a socket: %s", strerror(errno));
		return false;
	}
	keeper->pid = fork();
	if (keeper->pid < 0)
		complain("cannot start a keeper: %s", strerror(errno));
	keeper->line = ends[keeper->pid ? 0 : 1];
	close(ends[keeper->pid ? 1 : 0]);
	if (keeper->pid < 0)
		close(keeper->line);
	if (keeper->pid)
		return keeper->pid > 0;
	setsid();
	/* The shell's descriptors are not the keeper's to keep. */
	close_others(STDERR_FILENO + 1, keeper->line,
		     inherited > STDERR_FILENO ? inherited : keeper->line);
	prctl(PR_SET_NAME, keeper_name);
	/* Lets other commands copy its descriptor where Yama forbids that. */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	return true;
}

/* Signals that end a keeper: keeper_wait() accepts them. */
static sigset_t end_signals(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	return signals;
}

/* Returns the bytes of the next packet; 0 if the other process ended. */
static ssize_t keeper_receive(const struct keeper *keeper, void *packet,
			      size_t size)
{
	ssize_t got;

	do
		got = read(keeper->line, packet, size);
	while (got < 0 && errno == EINTR);
	return got;
}

static bool send_packet(const struct keeper *keeper, const void *packet,
			size_t size)
{
	return send(keeper->line, packet, size, MSG_NOSIGNAL) == (ssize_t)size;
}

bool keeper_report(const struct keeper *keeper, const void *report, size_t size)
{
	sigset_t signals = end_signals();
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	char settled;
	bool stays;
	int file;

	sigprocmask(SIG_BLOCK, &signals, NULL);
	/* Before the report: a shell waits for the end of its pipes. */
	for (file = STDIN_FILENO; null >= 0 && file <= STDERR_FILENO; file++)
		dup2(null, file);
	if (null > STDERR_FILENO)
		close(null);
	stays = !chdir("/") && send_packet(keeper, report, size) &&
		keeper_receive(keeper, &settled, sizeof(settled)) ==
			sizeof(settled);
	close(keeper->line);
	return stays;
}

void keeper_wait(void)
{
	sigset_t signals = end_signals();
	int signal;

	sigwait(&signals, &signal);
}

bool keeper_read(const struct keeper *keeper, void *report, size_t size)
{
	if (keeper_receive(keeper, report, size) == (ssize_t)size)
		return true;
	close(keeper->line);
	waitpid(keeper->pid, NULL, 0);
	return false;
}

bool keeper_settle(const struct keeper *keeper)
{
	bool fine, closed;

	/* A reader that is gone ends this process after the keeper. */
	signal(SIGPIPE, SIG_IGN);
	fine = cli_flush();
	closed = !fine && errno == EPIPE;
	fine = fine && send_packet(keeper, "", 1);
	close(keeper->line);
	if (!fine)
		waitpid(keeper->pid, NULL, 0);
	signal(SIGPIPE, SIG_DFL);
	if (closed)
		raise(SIGPIPE);
	return fine;
}

/* Reads where a link of /proc/PID leads, without the mark of a deleted file. */
static bool read_program(const char *process, char path[PATH_MAX])
{
	static const char mark[] = " (deleted)";
	char *link = text_format("/proc/%s/exe", process);
	ssize_t length = readlink(link, path, PATH_MAX - 1);
	size_t start;

	free(link);
	if (length < 0)
		return false;
	path[length] = '\0';
	start = strlen(path) -
		(strlen(path) < strlen(mark) ? strlen(path) : strlen(mark));
	if (!strcmp(path + start, mark))
		path[start] = '\0';
	return true;
}

static bool has_name(const char *process)
{
	char *path = text_format("/proc/%s/comm", process);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char name[sizeof(keeper_name)];
	ssize_t length = 0;

	free(path);
	if (fd < 0)
		return false;
	length = read(fd, name, sizeof(name));
	close(fd);
	/* with a newline in the place of the zero */
	return length == sizeof(name) &&
	       !memcmp(name, keeper_name, sizeof(name) - 1);
}

bool is_keeper(int pid)
{
	char own[PATH_MAX], other[PATH_MAX];
	char *process = text_format("%d", pid);
	bool yes = has_name(process) && read_program(process, other) &&
		   read_program("self", own) && !strcmp(own, other);

	free(process);
	return yes;
}

bool keeper_end(int pid)
{
	struct pollfd process = { .events = POLLIN };
	bool ended = false;

	/* first the reference, then the question: the number may be used anew */
	process.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (process.fd < 0)
		return errno == ESRCH;
	if (!is_keeper(pid))
		errno = ESRCH;
	else if (!syscall(SYS_pidfd_send_signal, process.fd, SIGTERM, NULL, 0))
		ended = poll(&process, 1, -1) == 1;
	if (!ended && errno != ESRCH)
		complain("cannot end the keeper %d: %s", pid, strerror(errno));
	close(process.fd);
	return ended;
}
