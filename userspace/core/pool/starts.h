/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * starts: the granules where blocks begin, so that an address inside a block
 * leads to it.
 *
 * A bit for each granule, a bit for each word of those that is not zero, and so
 * on up to a single word.  The last start at or before a granule is found by
 * going up to a set bit and down again, for blocks of any size.
 */
#ifndef DRAY_POOL_STARTS_H
#define DRAY_POOL_STARTS_H

#include "pool/fit.h"

/* Bytes of zeroed memory that dray_starts_init() needs for @limit granules. */
size_t dray_starts_bytes(uint32_t limit);
/* @memory is that, and stays the caller's to free. */
void dray_starts_init(struct dray_fit *fit, void *memory);

/* A block begins at @granule. */
static inline void dray_starts_set(struct dray_fit *fit, uint32_t granule)
{
	uint32_t index = granule;
	int level;

	for (level = 0; level < fit->levels; level++, index >>= 6) {
		uint64_t *word = &fit->starts[level][index >> 6];
		uint64_t old = *word;

		*word = old | 1ull << (index & 63);
		if (old)
			return;
	}
}

/* Clears bits of a word of a level, and the word's own bit if none is left. */
static inline void dray_starts_drop(struct dray_fit *fit, int level,
				    uint32_t index, uint64_t bits)
{
	for (;;) {
		uint64_t *word = &fit->starts[level][index];

		*word &= ~bits;
		if (*word || ++level == fit->levels)
			return;
		bits = 1ull << (index & 63);
		index >>= 6;
	}
}

/* None begins there any more. */
static inline void dray_starts_clear(struct dray_fit *fit, uint32_t granule)
{
	dray_starts_drop(fit, 0, granule >> 6, 1ull << (granule & 63));
}

/* Clears the starts in @count (1 or more) granules from @granule on. */
static inline void dray_starts_clear_range(struct dray_fit *fit,
					   uint32_t granule, uint32_t count)
{
	uint32_t last = granule + count - 1, index = granule >> 6;
	uint64_t bits = ~0ull << (granule & 63);

	for (; index < last >> 6; index++, bits = ~0ull)
		dray_starts_drop(fit, 0, index, bits);
	dray_starts_drop(fit, 0, index, bits & ~0ull >> (63 - (last & 63)));
}

/* The last start at or before @granule; false if there is none. */
bool dray_starts_before(const struct dray_fit *fit, uint32_t granule,
			uint32_t *start);

/* The first start at or after @granule; false if there is none. */
bool dray_starts_from(const struct dray_fit *fit, uint64_t granule,
		      uint32_t *start);

#endif /* DRAY_POOL_STARTS_H */
