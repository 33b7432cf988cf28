/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * dmactl top in three parts: the model reads samples and computes rates of two of
 * them, without a terminal; tables and documents show a sample; the screen
 * shows tables and returns keys.
 */
#ifndef DMACTL_TOP_H
#define DMACTL_TOP_H

#include <stdio.h>

#include "machine/clients.h"
#include "base/columns.h"
#include "base/document.h"
#include "base/gather.h"

/* Amounts a second since the sample before. */
enum top_rate {
	RATE_ALLOCATED, /* bytes */
	RATE_SYNCED, /* bytes */
	RATE_TRANSFERS,
	RATE_MOVED, /* bytes */
	PROCESS_RATES,
};

enum top_state {
	TOP_ALIVE,
	TOP_GONE, /* ended; something else keeps its memory */
	TOP_HELD, /* ended; a device may still write its memory */
};

/* A process with memory, or with an open node. */
struct top_process {
	struct process process; /* pid 0: in another namespace */
	enum top_state state;
	uint64_t buffers;
	uint64_t memory; /* bytes of buffers and attachments */
	uint64_t attachments;
	uint64_t busy; /* transfers in flight */
	bool opener; /* a node that it opened was seen */
	double rates[PROCESS_RATES];
};

struct top_heap {
	const char *node;
	struct dray_heap_info info;
};

enum top_stream_rate {
	STREAM_SUBMITTED,
	STREAM_BYTES,
	STREAM_FAILED,
	STREAM_PACKETS,
	STREAM_LOST, /* frames that were overwritten unread */
	STREAM_STALLS, /* times that the engine lacked a frame */
	STREAM_RATES,
};

struct top_stream {
	const char *node;
	int pid; /* of the process with the stream; 0: none is seen */
	struct dray_channel_info info;
	double rates[STREAM_RATES];
};

struct top_sample {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t interval_ns; /* since the sample before; 0: no rates */
	char *trouble; /* a sentence; NULL: all could be read */
	char (*nodes)[DRAY_NAME_LEN]; /* names that the rows point to */
	struct buffer_list buffers; /* their nodes are closed */
	struct client_list clients;
	struct top_process *processes;
	size_t process_count;
	struct top_heap *heaps;
	size_t heap_count;
	struct top_stream *streams;
	size_t stream_count;
};

/*
 * Reads all; no node stays open.  Makes rates if @before is not NULL and shows
 * the same nodes.
 */
void top_take(const struct request *request, const struct top_sample *before,
	      struct top_sample *sample);
void top_drop(struct top_sample *sample);

/* Returns the state of a buffer's owner. */
enum top_state top_state_of(const struct dray_buffer_info *info);

/* Whether the filter's text is part of a row's words; "" is of all. */
bool top_matches(const char *filter, const struct top_process *process);

/* The columns of processes; rows are a struct top_process. */
extern const struct row_column top_columns[];

/* Sorts by memory unless the caller chose. */
bool top_view_make(const struct request *request, struct row_view *view);

/*
 * Each returns a table for table_destroy().  @blocks: draw bars with characters
 * of Unicode.
 */
struct table *top_heaps(const struct request *request,
			const struct top_sample *sample, bool blocks);
struct table *top_streams(const struct request *request,
			  const struct top_sample *sample);

/* Pointers to the processes that the filter fits, sorted, for free(). */
const void **top_rows(const struct row_view *view,
		      const struct top_sample *sample, const char *filter,
		      size_t *count);

/* Describes a sample. */
json_t *top_document(const struct row_view *view,
		     const struct top_sample *sample);

#endif /* DMACTL_TOP_H */
