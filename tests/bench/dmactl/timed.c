// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Times commands while this process holds many buffers.
 *
 *	dmactl-timed BUFFERS ROUNDS COMMAND...
 *
 * Holds BUFFERS of one page, and runs each COMMAND, words separated by spaces, in
 * turns, ROUNDS times, without output.  Prints for each run the command, its
 * microseconds and the kibibytes of memory that it had at most, separated by tabs.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <dray/memory.h>

#define WORDS 16 /* of a command, with the NULL behind them */

static void take(unsigned long count)
{
	struct rlimit files = { count + 64, count + 64 };
	struct dray_buffer_options options = { .name = "tile" };
	struct dray_buffer *buffer;
	struct dray_node *node;

	if (setrlimit(RLIMIT_NOFILE, &files))
		err(1, "RLIMIT_NOFILE");
	if (dray_node_open("kernel", &node))
		errx(1, "%s", dray_last_error());
	/* they end with the process */
	while (count--)
		if (dray_buffer_alloc(node, 4096, &options, &buffer))
			errx(1, "%s", dray_last_error());
}

/*
 * Starts a process that holds buffers until this one ends.  In this process they
 * would count as memory of the commands, which begin as its copies.
 */
static void hold(unsigned long count)
{
	int ready[2], end[2];
	char byte;
	pid_t child;

	if (pipe(ready) || pipe(end))
		err(1, "pipe");
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (!child) {
		close(end[1]);
		take(count);
		if (write(ready[1], "", 1) != 1)
			err(1, "write");
		if (read(end[0], &byte, 1) < 0)
			err(1, "read");
		_exit(0);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		errx(1, "the buffers are not there");
	fcntl(end[1], F_SETFD, FD_CLOEXEC);
}

static pid_t start(const char *command)
{
	posix_spawn_file_actions_t actions;
	char *text = strdup(command);
	char *rest = text;
	char *words[WORDS];
	int count = 0;
	pid_t child;

	while (rest && count < WORDS - 1)
		words[count++] = strsep(&rest, " ");
	words[count] = NULL;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null",
					 O_WRONLY, 0);
	errno = posix_spawnp(&child, words[0], &actions, NULL, words, environ);
	if (errno)
		err(1, "%s", words[0]);
	posix_spawn_file_actions_destroy(&actions);
	free(text);
	return child;
}

static void measure(const char *command)
{
	struct timespec before, after;
	struct rusage used;
	double time;
	int status;
	pid_t child;

	clock_gettime(CLOCK_MONOTONIC, &before);
	child = start(command);
	if (wait4(child, &status, 0, &used) != child)
		err(1, "wait4");
	clock_gettime(CLOCK_MONOTONIC, &after);
	if (status)
		errx(1, "%s: status %#x", command, (unsigned int)status);
	time = (double)(after.tv_sec - before.tv_sec) * 1e6 +
	       (double)(after.tv_nsec - before.tv_nsec) / 1e3;
	printf("%s\t%.1f\t%ld\n", command, time, used.ru_maxrss);
}

int main(int argc, char **argv)
{
	unsigned long rounds;

	if (argc < 4)
		errx(2, "usage: BUFFERS ROUNDS COMMAND...");
	if (strtoul(argv[1], NULL, 10))
		hold(strtoul(argv[1], NULL, 10));
	for (rounds = strtoul(argv[2], NULL, 10); rounds; rounds--)
		for (int i = 3; i < argc; i++)
			measure(argv[i]);
	return 0;
}
