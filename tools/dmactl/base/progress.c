// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * One line on standard error, redrawn ten times a second, and gone before
 * anything else is printed.
 */
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "progress.h"
#include "quantity.h"

#define WIDTH 30
#define TENTH 100000000

static struct {
	const char *task;
	uint64_t all; /* bytes */
	uint64_t start; /* of clock_now() */
	uint64_t next; /* time of the next line */
	bool terminal;
	bool shown;
} bar;

uint64_t clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t rate_of(uint64_t bytes, uint64_t nanoseconds)
{
	return (uint64_t)((double)bytes * 1e9 /
			  (double)(nanoseconds ? nanoseconds : 1));
}

void progress_begin(const char *task, uint64_t all)
{
	bar.task = task;
	bar.all = all;
	bar.start = clock_now();
	bar.next = bar.start + TENTH;
	bar.terminal = isatty(STDERR_FILENO);
}

void progress_step(uint64_t done)
{
	static const char full[] = "##############################";
	uint64_t now = clock_now();
	char rate[QUANTITY_ROOM], left[QUANTITY_ROOM];
	uint64_t taken = now - bar.start;
	double part;

	if (!bar.terminal || now < bar.next || !done || done > bar.all)
		return;
	bar.next = now + TENTH;
	part = (double)done / (double)bar.all;
	quantity_size(rate, rate_of(done, taken), false);
	quantity_time(left, (uint64_t)((double)taken / part * (1 - part)));
	fprintf(stderr, "\r%s [%.*s%*s] %3d%% %s/s, %s left\033[K", bar.task,
		(int)(part * WIDTH), full, WIDTH - (int)(part * WIDTH), "",
		(int)(part * 100), rate, left);
	bar.shown = true;
	cli_clear_line = progress_end;
}

void progress_end(void)
{
	if (bar.shown)
		fputs("\r\033[K", stderr);
	bar.shown = false;
}
