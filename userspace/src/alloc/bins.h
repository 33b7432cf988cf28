/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The bins of free pieces: two levels by size, a list in each, and a bit for
 * each list that has a piece.  Inline, for a piece enters and leaves one with
 * every block.
 *
 * Which bin, which piece is the neighbour, and whether there is one, is as
 * random as what a program frees.  So that nothing has to be guessed, what
 * follows writes to piece 0 where there is none.
 */
#ifndef DRAY_ALLOC_BINS_H
#define DRAY_ALLOC_BINS_H

#include "alloc/fit.h"

struct dray_bin {
	uint32_t first, second;
};

/* log2 of the sizes in a bin of this row. */
static inline uint32_t dray_bin_width(uint32_t first)
{
	return first - (first != 0);
}

static inline struct dray_bin dray_bin_of(uint32_t size)
{
	uint32_t first =
		27 - (uint32_t)__builtin_clz(size | DRAY_FIT_SECOND / 2);

	return (struct dray_bin){
		.first = first,
		.second = size >> dray_bin_width(first) & (DRAY_FIT_SECOND - 1),
	};
}

static inline bool dray_bins_same(struct dray_bin a, struct dray_bin b)
{
	return a.first == b.first && a.second == b.second;
}

static inline void dray_bins_insert(struct dray_fit *fit, uint32_t piece)
{
	struct dray_piece *p = &fit->pieces[piece];
	struct dray_bin bin = dray_bin_of(p->size);
	uint32_t *head = &fit->bins[bin.first][bin.second];

	p->state = DRAY_PIECE_FREE;
	p->previous = 0;
	p->next = *head;
	fit->pieces[*head].previous = piece;
	*head = piece;
	fit->second_map[bin.first] |= 1u << bin.second;
	fit->first_map |= 1u << bin.first;
}

static inline void dray_bins_withdraw(struct dray_fit *fit, uint32_t piece)
{
	const struct dray_piece *p = &fit->pieces[piece];
	struct dray_bin bin = dray_bin_of(p->size);
	uint32_t *head = &fit->bins[bin.first][bin.second];
	uint32_t *link = p->previous ? &fit->pieces[p->previous].next : head;

	*link = p->next;
	fit->pieces[p->next].previous = p->previous;
	fit->second_map[bin.first] &= ~((uint32_t) !*head << bin.second);
	fit->first_map &= ~((uint32_t)!fit->second_map[bin.first] << bin.first);
}

/* The first piece of a bin whose pieces all have @size granules, or 0. */
static inline uint32_t dray_bins_search(const struct dray_fit *fit,
					uint64_t size)
{
	struct dray_bin bin;
	uint32_t map;

	if (size > UINT32_MAX)
		return 0;
	/* Up to the next bin's smallest, or a piece may be too small. */
	size += (1ull << dray_bin_width(dray_bin_of((uint32_t)size).first)) - 1;
	if (size > UINT32_MAX)
		return 0;
	bin = dray_bin_of((uint32_t)size);
	map = fit->second_map[bin.first] & (~0u << bin.second);
	if (!map) {
		if (bin.first == DRAY_FIT_FIRST - 1)
			return 0;
		map = fit->first_map & (~0u << (bin.first + 1));
		if (!map)
			return 0;
		bin.first = (uint32_t)__builtin_ctz(map);
		map = fit->second_map[bin.first];
	}
	return fit->bins[bin.first][__builtin_ctz(map)];
}

/* Granules to leave out at the front of a piece to be aligned. */
static inline uint64_t dray_piece_lead(const struct dray_piece *p,
				       uint64_t alignment, uint64_t origin)
{
	return -(origin + p->offset) & (alignment - 1);
}

/*
 * Looks at every piece that might fit, in the bins that dray_bins_search()
 * passed over because not all of their pieces do.
 */
static inline uint32_t dray_bins_search_all(const struct dray_fit *fit,
					    uint32_t size, uint64_t alignment,
					    uint64_t origin)
{
	struct dray_bin bin = dray_bin_of(size);
	uint32_t piece;

	for (; bin.first < DRAY_FIT_FIRST; bin.first++, bin.second = 0) {
		uint32_t map = fit->second_map[bin.first] & (~0u << bin.second);

		for (; map; map &= map - 1) {
			piece = fit->bins[bin.first][__builtin_ctz(map)];
			for (; piece; piece = fit->pieces[piece].next) {
				const struct dray_piece *p =
					&fit->pieces[piece];
				uint64_t skip =
					dray_piece_lead(p, alignment, origin);

				if (skip < p->size && p->size - skip >= size)
					return piece;
			}
		}
	}
	return 0;
}

/*
 * A free piece whose bounds are moved by one block at a time, which is the
 * common case: it stays the same piece, mostly in the same bin where it is
 * large, and what lies on its other side is not looked at.
 */
static inline void dray_bins_set_size(struct dray_fit *fit, uint32_t piece,
				      uint32_t size)
{
	struct dray_piece *p = &fit->pieces[piece];

	if (dray_bins_same(dray_bin_of(p->size), dray_bin_of(size))) {
		p->size = size;
		return;
	}
	dray_bins_withdraw(fit, piece);
	p->size = size;
	dray_bins_insert(fit, piece);
}

#endif /* DRAY_ALLOC_BINS_H */
