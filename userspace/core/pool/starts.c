// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * starts: its levels in memory, the search, and the block around a granule.
 */
#include "pool/at.h"
#include "pool/starts.h"

static size_t words_of(size_t bits)
{
	return (bits + 63) / 64;
}

size_t dray_starts_bytes(uint32_t limit)
{
	size_t words = limit, all = 0;

	do {
		words = words_of(words);
		all += words;
	} while (words > 1);
	return all * sizeof(uint64_t);
}

void dray_starts_init(struct dray_fit *fit, void *memory)
{
	uint64_t *next = memory;
	size_t words = fit->limit;

	fit->levels = 0;
	do {
		words = words_of(words);
		fit->starts[fit->levels++] = next;
		next += words;
	} while (words > 1);
}

static uint32_t starts_highest(uint64_t word)
{
	return 63 - (uint32_t)__builtin_clzll(word);
}

bool dray_starts_before(const struct dray_fit *fit, uint32_t granule,
			uint32_t *start)
{
	uint32_t index = granule;
	uint64_t word = 0;
	int level;

	for (level = 0; level < fit->levels; level++) {
		word = fit->starts[level][index >> 6] &
		       ~0ull >> (63 - (index & 63));
		if (word)
			break;
		if (!(index >> 6))
			return false;
		/* In the next level only words before this one count. */
		index = (index >> 6) - 1;
	}
	if (!word)
		return false;
	index = (index & ~63u) | starts_highest(word);
	while (level--)
		index = index << 6 | starts_highest(fit->starts[level][index]);
	*start = index;
	return true;
}

uint32_t dray_fit_around(const struct dray_fit *fit, uint32_t granule)
{
	uint32_t start, piece;

	if (granule >= fit->granules ||
	    !dray_starts_before(fit, granule, &start))
		return 0;
	piece = dray_fit_at(fit, start);
	if (!piece || granule - start >= fit->pieces[piece].size)
		return 0;
	return piece;
}

bool dray_starts_from(const struct dray_fit *fit, uint64_t granule,
		      uint32_t *start)
{
	uint64_t index = granule, words = fit->limit, word = 0;
	int level;

	for (level = 0; level < fit->levels; level++) {
		words = (words + 63) / 64;
		if (index >> 6 >= words)
			return false;
		word = fit->starts[level][index >> 6] & ~0ull << (index & 63);
		if (word)
			break;
		/* In the next level only words after this one count. */
		index = (index >> 6) + 1;
	}
	if (level == fit->levels)
		return false;
	index = (index & ~63ull) | (uint64_t)__builtin_ctzll(word);
	while (level--)
		index = index << 6 |
			(uint64_t)__builtin_ctzll(fit->starts[level][index]);
	*start = (uint32_t)index;
	return true;
}
