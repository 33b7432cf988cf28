/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared by the files of dmactl arrays: arrays_command.c asks processes, arrays_print.c
 * prints, arrays_rows.c defines the columns, arrays_facts.c the sums and the JSON.
 */
#ifndef DMACTL_ARRAYS_H
#define DMACTL_ARRAYS_H

#include <jansson.h>

#include "base/columns.h"
#include "published.h"

/* Processes that were asked, and which of their buffers to show. */
struct inside {
	uint64_t buffer; /* 0: all of them */
	const char *node; /* of their pools; NULL: any */
	struct published *processes;
	size_t count;
	enum exit_code status;
};

/* Whether a buffer is among the wanted; @context is struct inside. */
bool inside_wants(const void *context, const struct published_region *region);
bool inside_has(const struct inside *inside, const struct published *process);

extern const struct command_option arrays_all_option;

/* Prints at most @limit rows, and sums unless --no-header forbids them. */
void inside_print(const struct request *request, const struct inside *inside,
		  const struct row_view *view, uint64_t limit);

/* A block, or a free run between two. */
struct array_row {
	const struct published *process;
	const struct published_region *region;
	const struct published_block *block; /* NULL: a free run */
	uint64_t offset; /* bytes, in the buffer */
	uint64_t size;
};

extern const struct row_column array_columns[];

/* Sums of a single buffer, in bytes unless said otherwise. */
struct region_facts {
	uint64_t used;
	uint64_t parked;
	uint64_t cached;
	uint64_t free;
	uint64_t longest_free;
	size_t blocks; /* in use */
	size_t arrays;
	size_t free_runs;
};

/* Calls @see for each block and each free run, in the order of offsets. */
void region_each(const struct published *process,
		 const struct published_region *region,
		 void (*see)(void *context, const struct array_row *row),
		 void *context);

void region_sum(const struct published *process,
		const struct published_region *region,
		struct region_facts *facts);

/* Share of free bytes outside the longest free run, in percent. */
unsigned int region_fragmented(const struct region_facts *facts);

/*
 * Draws the buffer in @width characters: '#' mostly used, '+' partly used, '-'
 * cached or parked, '.' free.  For free().
 */
char *region_map(const struct published *process,
		 const struct published_region *region, size_t width);

/* "used", "parked", "cached" or "free"; "array", "block" or "free". */
const char *row_state(const struct array_row *row);
const char *row_kind(const struct array_row *row);

/* Describes a process with its pools, and of the blocks the chosen members. */
json_t *arrays_document(const struct published *process,
			const struct row_view *view,
			bool (*wanted)(const void *context,
				       const struct published_region *region),
			const void *context);

#endif /* DMACTL_ARRAYS_H */
