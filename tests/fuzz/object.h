/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What the calls work on: a table of descriptors, which all threads of a
 * process use and take from each other, and windows of the address space,
 * each with whatever was mapped there last.  Nothing is locked: a descriptor
 * may be closed, and be another file's, while somebody uses it.
 */
#ifndef FUZZ_OBJECT_H
#define FUZZ_OBJECT_H

#include "../selftests/system.h"
#include "input.h"

#define WINDOW_SIZE (4ul << 20) /* bytes */
#define LARGE (2ul << 20) /* what the kernel may map by one entry */
#define PAGE 4096ul
#define NODES 4 /* device files that are looked for */

enum object_type {
	OBJECT_NODE,
	OBJECT_BUFFER, /* read-only exports too */
	OBJECT_FENCE,
	OBJECT_ATTACHMENT,
	OBJECT_FOREIGN, /* a dma-buf of another driver */
	OBJECT_LINE, /* a timeline */
	OBJECT_TYPES
};

/* A thread of the fuzzer, and what it needs to make calls. */
struct thread {
	uint64_t seed;
	uint64_t state; /* for what is not part of an input */
	bool rebinds; /* may unbind a node */
	int inbox; /* descriptors from the neighbouring process */
	int outbox;
	int disk; /* for direct I/O, or -1 */
	int pipe[2];
	int importer; /* vgem, or a negative errno */
	uint32_t handles[8]; /* of what was imported */
	uint8_t *area; /* two pages to pass, a third that is not there */
	uint8_t *constant; /* a page that is read-only */
};

/* Once in a process, before there are threads; 0 or a negative errno. */
int objects_make(void);

/* Closes all, and unmaps all windows. */
void objects_clear(void);

/*
 * The descriptor that a call names: by the low byte one of this type, the next
 * where there is none.  With bit 8 one of any type, with bit 9 a number that is
 * none, with both a file of no use.
 */
int object_fd(enum object_type type, uint32_t object);

/* Its size in bytes, where it is known. */
uint64_t object_size(enum object_type type, uint32_t object);

/* Takes a descriptor into the table; what was there is closed. */
void object_put(enum object_type type, uint32_t object, int fd, uint64_t size);
void object_close(enum object_type type, uint32_t object);

/* An identifier that was given out. */
void object_remember(uint64_t id);
uint64_t object_id(uint32_t object);

uint8_t *window_address(uint32_t object);

/* Touch memory that may go away meanwhile: false where it did. */
bool copy_safely(void *to, const void *from, size_t size);
bool set_safely(void *to, int value, size_t size);
bool call_safely(void (*call)(void *context), void *context);

#endif
