// SPDX-License-Identifier: Apache-2.0 OR MIT
/* A progress bar on the terminal, redrawn ten times a second. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "replay.h"

#define WIDTH 40
#define TENTH 100000000

static bool shown;

int64_t progress_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void progress(const char *task, uint64_t done, uint64_t all)
{
	static const char bar[] = "########################################";
	static int64_t next;
	int64_t now;
	int full;

	if (!all || !isatty(STDERR_FILENO))
		return;
	now = progress_clock();
	/* Nothing is shown in the first tenth. */
	if (!next)
		next = now + TENTH;
	if (now < next)
		return;
	next = now + TENTH;
	if (done > all)
		done = all;
	full = (int)((double)done / (double)all * WIDTH);
	fprintf(stderr, "\r%-8s [%.*s%*s] %3d%%\033[K", task, full, bar,
		WIDTH - full, "", (int)((double)done / (double)all * 100));
	shown = true;
	cli_clear_line = progress_end;
}

void progress_end(void)
{
	if (shown)
		fputs("\r\033[K", stderr);
	shown = false;
}
