/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The parts of dray-replay: main.c reads the options, log.c the log, run.c
 * plays it, and progress.c draws the progress bar.
 */
#ifndef DRAY_REPLAY_H
#define DRAY_REPLAY_H

#include "cli.h"

/* An allocation or a free: each allocation uses a slot of its own. */
struct log_event {
	uint64_t size;		/* bytes */
	uint32_t slot;
	bool frees;
};

/* A log, ready to play. */
struct replay_log {
	struct log_event *events;
	size_t count;
	uint32_t slots;		/* number of allocations */
	uint64_t failures;	/* logged failures, which are not played */
	uint64_t unknown_frees;	/* without an allocation in the log */
	uint64_t lost_frees;	/* missing between two equal addresses */
	uint64_t peak;		/* most bytes allocated at a time */
	uint64_t left_blocks, left_bytes; /* never freed */
};

/* Reads a log; returns false after a complaint. */
bool log_read(const char *path, struct replay_log *log);

struct settings {
	const char *node;	/* as for dray_node_open(), NULL: default */
	uint64_t limit;		/* most bytes of a pool, 0: no limit */
	unsigned int rounds;
	bool json;
	unsigned int resources;	/* to play it on: bits of run_resources */
};

/* Names of the resources, ended by NULL. */
extern const char *const run_resources[];

/* Plays the log and prints the results; returns false after a complaint. */
bool run(const struct replay_log *log, const struct settings *settings);

/* Shows the progress on a terminal, with @task in front. */
void progress(const char *task, uint64_t done, uint64_t all);
/* Removes the progress bar. */
void progress_end(void);
/* Returns nanoseconds of a monotonic clock. */
int64_t progress_clock(void);

#endif /* DRAY_REPLAY_H */
