/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The bins of free pieces: two levels by size, a list in each, and a bit for
 * each list with a piece.  Inline, because every block makes a piece enter and
 * leave a bin.
 *
 * The bin, the neighbour, and its existence are as random as a program's frees.
 * If there is no neighbour, the code below writes to piece 0, to spare the
 * processor wrong guesses.
 */
#ifndef DRAY_POOL_BINS_H
#define DRAY_POOL_BINS_H

#include "pool/fit.h"

/* log2 of the sizes in the bin of @size. */
static inline uint32_t dray_bin_width(uint32_t size)
{
	/* The builtin counts from the top bit; this turns the number. */
	return ((uint32_t)__builtin_clz(size | DRAY_FIT_ROW) ^ 31) - 5;
}

/*
 * In the first two rows a bin is for a single size, and in each row behind them
 * bins are twice as wide: a row covers the sizes from a power of two to the next.
 */
static inline uint32_t dray_bin_of(uint32_t size)
{
	uint32_t width = dray_bin_width(size);

	return width * DRAY_FIT_ROW + (size >> width);
}

static inline void dray_bins_enter(struct dray_fit *fit, uint32_t piece,
				   uint32_t bin)
{
	struct dray_piece *p = &fit->pieces[piece];
	uint32_t head = fit->bins[bin], row = bin / DRAY_FIT_ROW;

	p->state = DRAY_PIECE_FREE;
	p->previous = 0;
	p->next = head;
	fit->pieces[head].previous = piece;
	fit->bins[bin] = piece;
	fit->bin_map[row] |= 1u << bin % DRAY_FIT_ROW;
	fit->row_map |= 1u << row;
}

static inline void dray_bins_leave(struct dray_fit *fit, uint32_t piece,
				   uint32_t bin)
{
	const struct dray_piece *p = &fit->pieces[piece];
	uint32_t *head = &fit->bins[bin], row = bin / DRAY_FIT_ROW, map;
	uint32_t *link = p->previous ? &fit->pieces[p->previous].next : head;

	*link = p->next;
	fit->pieces[p->next].previous = p->previous;
	map = fit->bin_map[row] & ~((uint32_t)!*head << bin % DRAY_FIT_ROW);
	fit->bin_map[row] = map;
	fit->row_map &= ~((uint32_t)!map << row);
}

static inline void dray_bins_insert(struct dray_fit *fit, uint32_t piece)
{
	dray_bins_enter(fit, piece, dray_bin_of(fit->pieces[piece].size));
}

static inline void dray_bins_withdraw(struct dray_fit *fit, uint32_t piece)
{
	dray_bins_leave(fit, piece, dray_bin_of(fit->pieces[piece].size));
}

/* Returns the first piece of a bin with pieces of @size granules only, or 0. */
static inline uint32_t dray_bins_search(const struct dray_fit *fit,
					uint64_t size)
{
	uint32_t bin, row, map;

	if (size > UINT32_MAX)
		return 0;
	/* Rounds up to a bin's smallest size, or a piece may be too small. */
	size += (1u << dray_bin_width((uint32_t)size)) - 1;
	if (size > UINT32_MAX)
		return 0;
	bin = dray_bin_of((uint32_t)size);
	row = bin / DRAY_FIT_ROW;
	map = fit->bin_map[row] & (~0u << bin % DRAY_FIT_ROW);
	if (!map) {
		/* Shifts twice: there may be no row behind. */
		map = fit->row_map & (~0u << row << 1);
		if (!map)
			return 0;
		row = (uint32_t)__builtin_ctz(map);
		map = fit->bin_map[row];
	}
	return fit->bins[row * DRAY_FIT_ROW + (uint32_t)__builtin_ctz(map)];
}

/* Granules to leave out at the front of a piece to be aligned. */
static inline uint64_t dray_piece_lead(const struct dray_piece *p,
				       uint64_t alignment, uint64_t origin)
{
	return -(origin + p->offset) & (alignment - 1);
}

/* Returns the first piece of a bin with @size aligned granules, or 0. */
static inline uint32_t dray_bin_search(const struct dray_fit *fit, uint32_t bin,
				       uint32_t size, uint64_t alignment,
				       uint64_t origin)
{
	const struct dray_piece *p;
	uint32_t piece = fit->bins[bin];
	uint64_t skip;

	for (; piece; piece = p->next) {
		p = &fit->pieces[piece];
		skip = dray_piece_lead(p, alignment, origin);
		if (skip < p->size && p->size - skip >= size)
			break;
	}
	return piece;
}

/*
 * Looks at every piece that might fit, in the bins that dray_bins_search()
 * passed over because not all of their pieces do.
 */
static inline uint32_t dray_bins_search_all(const struct dray_fit *fit,
					    uint32_t size, uint64_t alignment,
					    uint64_t origin)
{
	uint32_t bin = dray_bin_of(size), row = bin / DRAY_FIT_ROW, piece;
	uint32_t map = fit->bin_map[row] & (~0u << bin % DRAY_FIT_ROW);

	for (;;) {
		for (; map; map &= map - 1) {
			bin = row * DRAY_FIT_ROW + (uint32_t)__builtin_ctz(map);
			piece = dray_bin_search(fit, bin, size, alignment,
						origin);
			if (piece)
				return piece;
		}
		if (++row == DRAY_FIT_ROWS)
			return 0;
		map = fit->bin_map[row];
	}
}

/*
 * Moves a bound of a free piece by a block, the common case: it stays the
 * same piece, if large mostly in the same bin, and the code does not look at
 * its other neighbour.
 */
static inline void dray_bins_set_size(struct dray_fit *fit, uint32_t piece,
				      uint32_t size)
{
	struct dray_piece *p = &fit->pieces[piece];
	uint32_t old = dray_bin_of(p->size), bin = dray_bin_of(size);

	p->size = size;
	if (bin == old)
		return;
	dray_bins_leave(fit, piece, old);
	dray_bins_enter(fit, piece, bin);
}

#endif /* DRAY_POOL_BINS_H */
