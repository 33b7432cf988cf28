/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Files that commands write: complete, or not there at all.  A reader never sees
 * half of one, and an older file of that name stays if writing fails.
 */
#ifndef DMACTL_OUTPUT_H
#define DMACTL_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct output {
	FILE *stream;
	const char *name; /* borrowed */
	char *temporary; /* to be renamed; NULL: it is written as it is */
};

/*
 * Opens a file, "-" for standard output; false after a complaint.  A device, a pipe
 * and a link are written to as they are.
 */
bool output_open(struct output *output, const char *name);

/*
 * Ends the file: gives it its name if @good, removes it otherwise unless it has
 * that already.  Returns false if it is not whole, after a complaint unless @good
 * was false.
 */
bool output_end(struct output *output, bool good);

#endif /* DMACTL_OUTPUT_H */
