/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * marks: a byte for each 64 bytes of the window, which says what block begins
 * there, and a byte for each slot of the window, which says whose it is.  With these a block is freed, and its size is known, by one shift and
 * one load and without a lock.
 *
 * A mark belongs to the owner of the block that begins there while the block
 * is alive, and is changed under the pool's lock otherwise.  A wrong pointer
 * may have any mark read, which is why all are atomic and why all of the
 * window has one: 4 GiB of addresses for 256 GiB, of which what lies where
 * blocks begin is ever touched.
 */
#ifndef DRAY_ALLOC_MARKS_H
#define DRAY_ALLOC_MARKS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/window.h"

#define DRAY_MARK_SHIFT 6
/* The largest of small blocks, in granules and in bytes. */
#define DRAY_MARK_MOST 64
#define DRAY_MARK_BYTES 4096

/*
 * A large block has marks enough to write its size in those that follow, six
 * bits in each, in values that no mark has: a pointer to the inside of the
 * block leads to nothing.
 */
#define DRAY_MARK_DIGIT 128
#define DRAY_MARK_DIGITS 6

enum dray_mark {
	DRAY_MARK_NONE = 0,	/* no block begins here that may be kept */
	/* 1 to DRAY_MARK_MOST: a block of so many granules, in use */
	DRAY_MARK_LARGE = 254,	/* one whose size follows, in use */
	DRAY_MARK_KEPT = 255,	/* one that a thread keeps to be used again */
};

struct dray_marks {
	_Atomic uint8_t *marks;
	_Atomic uint8_t *numbers;	/* of pools, 0: of none that has marks */
};

extern struct dray_marks dray_marks;

/*
 * Makes them, once the window is there; again does nothing.  Without memory
 * for them there are none, and no pool gets a number.
 */
void dray_marks_open(void);

/* The addresses of a region from now on lead to the pool of @number. */
void dray_marks_claim(uintptr_t base, size_t bytes, uint32_t number);

static inline _Atomic uint8_t *dray_mark_at(const void *block)
{
	return &dray_marks.marks[((uintptr_t)block - dray_window.base) >>
				 DRAY_MARK_SHIFT];
}

static inline uint32_t dray_mark_of(const void *block)
{
	if (!dray_marks.marks)
		return DRAY_MARK_NONE;
	return atomic_load_explicit(dray_mark_at(block), memory_order_relaxed);
}

static inline void dray_mark_set(const void *block, uint32_t mark)
{
	if (dray_marks.marks)
		atomic_store_explicit(dray_mark_at(block), (uint8_t)mark,
				      memory_order_relaxed);
}

/* Writes the size of a large block behind its mark, which comes after it. */
static inline void dray_mark_set_size(const void *block, uint32_t granules)
{
	_Atomic uint8_t *mark = dray_mark_at(block);
	int digit;

	for (digit = 1; digit <= DRAY_MARK_DIGITS; digit++, granules >>= 6)
		atomic_store_explicit(&mark[digit],
				      (uint8_t)(DRAY_MARK_DIGIT |
						(granules & 63)),
				      memory_order_relaxed);
}

/* The size that is written behind @mark. */
static inline uint32_t dray_mark_size(const _Atomic uint8_t *mark)
{
	uint32_t granules = 0;
	int digit;

	for (digit = DRAY_MARK_DIGITS; digit; digit--)
		granules = granules << 6 |
			   (atomic_load_explicit(&mark[digit],
						 memory_order_relaxed) &
			    63);
	return granules;
}

#endif /* DRAY_ALLOC_MARKS_H */
