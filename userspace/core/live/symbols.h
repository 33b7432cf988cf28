/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Functions and lines of addresses, for a report.  The program addr2line of binutils
 * reads them from the file that an address lies in; without it, or without debugging
 * information of the file, nothing is found.
 */
#ifndef DRAY_LIVE_SYMBOLS_H
#define DRAY_LIVE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define DRAY_SYMBOLS_FILES 8 /* with a process of addr2line each */

struct dray_symbols {
	size_t count;
	struct dray_symbols_file {
		const void *base; /* where the file is loaded */
		pid_t child;
		int socket; /* -1: nothing can be asked any more */
	} files[DRAY_SYMBOLS_FILES];
};

/* Empties it: processes start when they are needed. */
void dray_symbols_begin(struct dray_symbols *symbols);

/* A function, and its "file.c:12". */
struct dray_symbol {
	char function[256];
	char line[256];
};

/*
 * Finds the function and the line of the instruction at @address; false if
 * either is not known.
 */
bool dray_symbols_find(struct dray_symbols *symbols, const void *address,
		       struct dray_symbol *out);

void dray_symbols_end(struct dray_symbols *symbols);

#endif /* DRAY_LIVE_SYMBOLS_H */
