/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A recording, summed up: each owner's memory over the time, and the totals.  All
 * recordings take the same memory, except for buffers that live at one time.
 */
#ifndef DMACTL_HISTORY_H
#define DMACTL_HISTORY_H

#include "recording.h"

#define HISTORY_STEPS 512 /* of time */
#define HISTORY_OWNERS 64 /* told apart; entry 64 is all others */
#define HISTORY_HEAPS 16
#define HISTORY_FAILURES 64 /* kinds of failures told apart */
#define HISTORY_LONGEST 10
#define HISTORY_LIVE 200000 /* buffers at one time */

struct history_owner {
	char comm[EVENT_TEXT_ROOM];
	int64_t pid;
	uint64_t now; /* bytes */
	uint64_t peak;
	uint64_t buffers; /* now */
	uint64_t allocations;
	uint64_t frees;
	uint64_t allocated; /* bytes, in all */
};

/* A part of the time; values at the moment when most memory was taken. */
struct history_step {
	uint64_t owner[HISTORY_OWNERS + 1]; /* bytes */
	uint64_t total; /* bytes, of all owners */
	uint64_t synced; /* bytes meanwhile */
	uint64_t moved; /* bytes of transfers and frames that ended meanwhile */
	uint64_t free[HISTORY_HEAPS]; /* bytes, of the last sample */
	uint64_t largest[HISTORY_HEAPS]; /* bytes; with free 0: no sample */
};

struct history_failure {
	uint64_t call;
	int64_t error;
	uint64_t reason;
	uint64_t limit; /* the last one */
	uint64_t size; /* bytes, the largest request */
	char heap[EVENT_TEXT_ROOM];
	uint64_t count;
};

struct history_buffer {
	uint64_t id;
	uint64_t size; /* bytes */
	uint64_t begin_ns;
	uint64_t age_ns; /* at its end, or the recording's */
	size_t owner;
	char heap[EVENT_TEXT_ROOM];
	char name[EVENT_TEXT_ROOM];
	bool alive; /* at the end */
};

struct history {
	uint64_t begin_ns; /* since 1970 */
	uint64_t end_ns;
	uint64_t lost; /* events */
	uint64_t events;

	struct history_step *steps; /* HISTORY_STEPS */
	size_t step; /* the current one */
	uint64_t width_ns; /* of one */

	struct history_owner owners[HISTORY_OWNERS + 1];
	size_t owner_count; /* without the entry of all others */
	uint64_t now; /* bytes */
	uint64_t peak;
	uint64_t peak_ns; /* its time */

	char heaps[HISTORY_HEAPS][EVENT_TEXT_ROOM];
	size_t heap_count;

	struct history_failure failures[HISTORY_FAILURES];
	size_t failure_count;
	uint64_t failed; /* all of them */

	uint64_t syncs;
	uint64_t synced; /* bytes */
	uint64_t transfers; /* ended jobs and frames */
	uint64_t moved; /* bytes */
	uint64_t transfers_failed;

	void *live; /* struct history_buffer by id */
	size_t live_count;
	struct history_buffer longest[HISTORY_LONGEST];
	size_t longest_count;
	struct history_buffer *left; /* alive at the end, the largest first */
	size_t left_count;
};

/* Reads a recording; complains as recording_read() does. */
enum recording_state history_read(const char *path, struct history *history);
void history_free(struct history *history);

#endif /* DMACTL_HISTORY_H */
