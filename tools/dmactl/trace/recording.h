/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Files of dmactl record: lines of JSON.  The first one names format and version,
 * the last one the time of the end; between them are events as of dmactl trace
 * --json, buffers that were there before, and samples of heaps.
 */
#ifndef DMACTL_RECORDING_H
#define DMACTL_RECORDING_H

#include <stdio.h>

#include "event.h"

#define RECORDING_FORMAT "dmactl-recording"
#define RECORDING_VERSION 1
#define RECORDING_LINE 65536 /* bytes of the longest line */

/* A heap at one time; sizes in bytes. */
struct heap_sample {
	uint64_t time_ns; /* since 1970 */
	char heap[EVENT_TEXT_ROOM];
	uint64_t total;
	uint64_t used;
	uint64_t free;
	uint64_t largest_free;
};

/* Each writes one line. */
void recording_begin(FILE *file, uint64_t time_ns);
void recording_buffer(FILE *file, const struct event *event);
void recording_sample(FILE *file, const struct heap_sample *sample);
void recording_end(FILE *file, uint64_t time_ns, uint64_t lost);

/* Takes the lines that are read. */
struct recording_reader {
	void (*begin)(void *context, uint64_t time_ns);
	/* @before: a buffer that was there, as the event of its allocation */
	bool (*event)(void *context, const struct event *event, bool before);
	void (*sample)(void *context, const struct heap_sample *sample);
	void (*end)(void *context, uint64_t time_ns, uint64_t lost);
	void *context;
};

enum recording_state {
	RECORDING_COMPLETE,
	RECORDING_CUT, /* all that is there was read, the end is not */
	RECORDING_WRONG, /* unreadable */
};

/* Reads a file, "-": standard input.  Complains if it is not complete. */
enum recording_state recording_read(const char *path,
				    const struct recording_reader *reader);

#endif /* DMACTL_RECORDING_H */
