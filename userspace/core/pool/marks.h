/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * marks: a byte for each 64 bytes of the window, which names the size of the
 * block that begins there, and a byte for each slot of the window, which names
 * its pool.  With these a free, or a query of a size, is a shift and a load
 * without a lock.
 *
 * While a block is alive its owner may change its mark; otherwise only the
 * holder of the pool's lock.  A wrong pointer may read any mark, so all are
 * atomic and marks exist for the whole window: 4 GiB of addresses for 256 GiB, of
 * which only the marks at the start of blocks are ever touched.
 */
#ifndef DRAY_POOL_MARKS_H
#define DRAY_POOL_MARKS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "memory/window.h"

#define DRAY_MARK_SHIFT 6
/*
 * The largest of small blocks: an array of so many bytes, and the granule that
 * keeps it apart from the next.  In granules of 64 bytes:
 */
#define DRAY_MARK_BYTES 4096
#define DRAY_MARK_MOST 65

/*
 * The size of a large block is written in the marks that follow, four bits in each,
 * in values that no mark uses: a pointer to the inside of the block leads to
 * nothing.
 */
#define DRAY_MARK_DIGITS 8

enum dray_mark {
	DRAY_MARK_NONE = 0,	/* no block begins here that may be kept */
	/* 1 to DRAY_MARK_MOST: a block of so many granules, in use */
	DRAY_MARK_LARGE = 254,	/* in use, its size follows */
	DRAY_MARK_KEPT = 255,	/* a block that a thread keeps to be used again */
};

struct dray_marks {
	_Atomic uint8_t *marks;
	_Atomic uint8_t *numbers;	/* of pools, 0: of no pool with marks */
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

/* Digits of four bits, a byte each, with the upmost bit set. */
static inline uint64_t dray_digits(uint32_t number)
{
	uint64_t digits = number;

	digits = (digits | digits << 16) & 0x0000ffff0000ffff;
	digits = (digits | digits << 8) & 0x00ff00ff00ff00ff;
	digits = (digits | digits << 4) & 0x0f0f0f0f0f0f0f0f;
	return digits | 0x8080808080808080;
}

static inline uint32_t dray_digits_number(uint64_t digits)
{
	digits &= 0x0f0f0f0f0f0f0f0f;
	digits = (digits | digits >> 4) & 0x00ff00ff00ff00ff;
	digits = (digits | digits >> 8) & 0x0000ffff0000ffff;
	return (uint32_t)(digits | digits >> 16);
}

/*
 * Marks a large block that a thread may cache once it is freed, all digits at
 * once.  Only its owner needs them, but a wrong pointer may read a mark meanwhile.
 */
static inline void dray_mark_set_large(const void *block, uint32_t granules)
{
	_Atomic uint8_t *mark = dray_mark_at(block);
	uint64_t digits = dray_digits(granules);

	memcpy((void *)(mark + 1), &digits, sizeof(digits));
	/* The owner of the block reads them without the pool's lock. */
	atomic_store_explicit(mark, DRAY_MARK_LARGE, memory_order_release);
}

/*
 * The size of a large block in granules, for its owner, after it read the mark.  Another
 * thread may be its writer, at the last release of the block: this load orders the
 * digits behind that.
 */
static inline uint32_t dray_mark_size(const _Atomic uint8_t *mark)
{
	uint64_t digits;

	(void)atomic_load_explicit(mark, memory_order_acquire);
	memcpy(&digits, (const void *)(mark + 1), sizeof(digits));
	return dray_digits_number(digits);
}

#endif /* DRAY_POOL_MARKS_H */
