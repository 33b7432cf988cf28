/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where in the module allocations have failed.  The kernel writes the stack of
 * each into its log, but of those who ask that nothing be said; the place is the
 * innermost of the module's functions.
 */
#ifndef FAULTS_PLACE_H
#define FAULTS_PLACE_H

#include "../selftests/system.h"

#define PLACE_LENGTH 96

/* From now on; 0, or a negative errno. */
int places_open(void);

/*
 * Reads what the log has got since, and prints a line for each new place:
 * "# place FUNCTION+OFFSET", as the kernel names where a call returns to.
 */
void places_read(void);

/*
 * What made the last failure that places_read() has found: the kernel's name of
 * its folder in debugfs, as "failslab".  "" where the log had none.
 */
const char *place_injector(void);

/* The same of a place that is known otherwise. */
void place_add(const char *name);

/*
 * The next place of the list @path where none has failed so far: its name, and
 * where it is in the module's code.  A line is "FUNCTION+OFFSET WHERE".  False
 * at the end, after which the list begins again.
 */
bool place_next(const char *path, char *name, uint64_t *offset);

#endif
