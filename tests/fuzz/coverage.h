/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Which places of dray.ko the calls of a thread reach, by KCOV, where the
 * kernel has it.
 */
#ifndef FUZZ_COVERAGE_H
#define FUZZ_COVERAGE_H

#include "../selftests/system.h"

/* A place is an address within the module. */
#define COVERAGE_SIZE (1u << 20)

struct coverage {
	int fd;
	uint64_t *places; /* the kernel writes their number, then addresses */
};

/* Where the module lies; false where it or KCOV is not there. */
bool coverage_find(void);

/* 0 or a negative errno.  It is of the thread that begins. */
int coverage_make(struct coverage *coverage);
int coverage_begin(struct coverage *coverage);
int coverage_end(struct coverage *coverage);
void coverage_reset(struct coverage *coverage);

/* Adds what was reached to @seen; the number of places that were not there. */
uint32_t coverage_add(struct coverage *coverage, uint8_t *seen);

#endif
