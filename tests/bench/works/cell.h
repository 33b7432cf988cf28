/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A cell of the table: one part of the kernel that takes memory, tried on one
 * kind of mapping.  It runs in a process of its own, which may never come
 * back, so what it is at is written down before each step.
 */
#ifndef WORKS_CELL_H
#define WORKS_CELL_H

#include "memory.h"

enum outcome {
	UNFINISHED, /* what a process that died leaves */
	WORKS, /* and the bytes are right */
	COPIED, /* the bytes are right, but the kernel made a copy */
	REFUSED, /* an errno at a step that was given the memory */
	WRONG, /* the bytes are not what they should be */
	UNFIT, /* a consumer of dma-bufs, and memory that has none */
	UNTRIED, /* the kernel would die of it */
	ABSENT, /* a step failed that has nothing to do with the memory */
};

struct cell {
	enum outcome outcome;
	int error; /* positive errno */
	char step[80];
};

struct consumer {
	const char *name;
	enum outcome (*run)(const struct memory *memory, struct cell *cell);
};

extern const struct consumer direct_io_consumers[];
extern const struct consumer zerocopy_consumers[];
extern const struct consumer io_uring_consumers[];
extern const struct consumer vmsplice_consumers[];
extern const struct consumer process_vm_consumers[];
extern const struct consumer v4l2_consumers[];
extern const struct consumer prime_consumers[];
extern const struct consumer rdma_consumers[];
extern const struct consumer vfio_consumers[];

/* What is tried now. */
void cell_step(struct cell *cell, const char *step);

/* With errno, at this step. */
enum outcome cell_refused(struct cell *cell);
enum outcome cell_absent(struct cell *cell);

/* For calls that return a count: all of it, else refused. */
enum outcome cell_short(struct cell *cell, long count, size_t wanted);

/* WORKS, or WRONG and where. */
enum outcome cell_compare(struct cell *cell, const uint8_t *seen,
			  const uint8_t *wanted, size_t size);

/* Ordinary memory of this size, filled with bytes that belong to the seed. */
uint8_t *cell_bytes(size_t size, uint64_t seed);

#endif
