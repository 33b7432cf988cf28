/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Keepers: background processes of dmactl, each of which keeps a buffer. */
#ifndef DMACTL_KEEPER_H
#define DMACTL_KEEPER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct keeper {
	pid_t pid; /* 0: this process is the keeper */
	int line; /* leads to the other of the two */
};

/*
 * Starts a keeper: a fork of this process in a session of its own, with the
 * standard files and descriptor @inherited, if that is not below 0.  Complains
 * and returns false if that fails.
 */
bool keeper_start(struct keeper *keeper, int inherited);

/*
 * In the keeper: leaves the standard files and the working directory, sends @size
 * bytes to the process that started it, and waits for keeper_settle().  Returns
 * false if there is nothing to stay for: the other ended before that.
 */
bool keeper_report(const struct keeper *keeper, const void *report,
		   size_t size);

/* In the keeper: waits until 'dmactl free' or another process ends it. */
void keeper_wait(void);

/*
 * In the process that started it: reads the report.  Returns false, and waits
 * for the keeper's end, if it ended instead, after a complaint of its own.
 */
bool keeper_read(const struct keeper *keeper, void *report, size_t size);

/*
 * In the process that started it, at the end of its output: lets the keeper stay
 * if all of that could be written.  Otherwise waits for the keeper's end and
 * returns false.
 */
bool keeper_settle(const struct keeper *keeper);

/* Whether a process is a keeper of this program. */
bool is_keeper(int pid);

/* Ends a keeper and waits until it has ended; false if it cannot be ended. */
bool keeper_end(int pid);

#endif /* DMACTL_KEEPER_H */
