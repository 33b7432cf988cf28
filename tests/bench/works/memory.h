/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The mappings that are tried: of dray's heaps, of the kernel's other sources
 * of dma-bufs, and ordinary memory, which shows that a consumer works here.
 */
#ifndef WORKS_MEMORY_H
#define WORKS_MEMORY_H

#include "../../selftests/system.h"

struct memory {
	uint8_t *bytes; /* a shared, writable mapping */
	size_t size;
	int fd; /* the dma-buf, or -1 */
};

struct memory_kind {
	const char *name;
	int (*open)(const struct memory_kind *kind, struct memory *memory);
	uint32_t heap; /* enum dray_heap_type */
	uint32_t mode; /* enum dray_mode */
};

#define MEMORY_SIZE (256u * 1024)

/* Ends with one that has no name. */
extern const struct memory_kind memory_kinds[];

/* 0, or a negative errno; the end of the process undoes it. */
int memory_open(const struct memory_kind *kind, struct memory *memory);

/* Around the CPU's accesses to a dma-buf; nothing for other memory. */
void memory_begin(const struct memory *memory);
void memory_end(const struct memory *memory);

#endif
