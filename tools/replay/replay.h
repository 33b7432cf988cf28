/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What the files of dray-replay share: main.c reads the options, log.c the
 * log, run.c plays it, progress.c tells how far that has come, and message.c
 * has the words for the person at the terminal.
 */
#ifndef DRAY_REPLAY_H
#define DRAY_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit codes, as dray-replay(1) documents them. */
enum exit_code {
	EXIT_FINE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
};

/* An allocation or a free: each allocation has a slot of its own. */
struct event {
	uint64_t size;		/* bytes */
	uint32_t slot;
	bool frees;
};

/* A log as it is played. */
struct log {
	struct event *events;
	size_t count;
	uint32_t slots;		/* and so many allocations */
	uint64_t failures;	/* that the log tells, and nobody plays */
	uint64_t unknown_frees;	/* of what the log does not allocate */
	uint64_t lost_frees;	/* an address came twice without one */
	uint64_t peak;		/* bytes out at one time */
	uint64_t left_blocks, left_bytes; /* never freed */
};

/* False, after a complaint, where it cannot be read or makes no sense. */
bool log_read(const char *path, struct log *log);

struct settings {
	const char *node;	/* as for dray_node_open(), NULL: what is there */
	uint64_t limit;		/* bytes that a pool may take, 0: what there is */
	unsigned int rounds;
	bool json;
	bool pool, binning, malloc;	/* what it is played on */
};

/* Plays the log and prints what that took. */
bool run(const struct log *log, const struct settings *settings);

/* How far it has come, on a terminal; @what is said in front. */
void progress(const char *what, uint64_t done, uint64_t all);
/* Takes it off the terminal again. */
void progress_end(void);

/* A sentence on standard error. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* calloc() and realloc() that end the program where there is no memory. */
void *memory_new(size_t count, size_t size);
void *memory_resize(void *memory, size_t count, size_t size);

#endif /* DRAY_REPLAY_H */
