/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * fit: two-level segregated fit over granules.
 *
 * It deals in numbers only: it cuts a range of granules, from 0 on, into
 * pieces, each free or not, and merges free neighbours.  Its books lie in
 * memory of their own, so that the range may be anything: uncached, written by
 * devices, or not mapped at all.
 *
 * Free pieces hang in bins by size, 32 for each power of two; two bitmaps lead
 * to a bin that surely fits.  Every operation is a bounded number of steps,
 * except for a thorough search before a request fails: it looks at whole bins
 * if a piece may be just large enough.
 *
 * Not thread-safe: the pool's lock is held.
 */
#ifndef DRAY_POOL_FIT_H
#define DRAY_POOL_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DRAY_FIT_ROW 32		/* bins for a power of two */
#define DRAY_FIT_ROWS 28	/* powers of two, all below 32 as one */
#define DRAY_FIT_BINS (DRAY_FIT_ROWS * DRAY_FIT_ROW)
#define DRAY_FIT_LEVELS 6	/* 64 to the 6th is more than 32 bits */

enum dray_piece_state {
	DRAY_PIECE_UNUSED = 0,	/* a slot of the table without a piece */
	DRAY_PIECE_FREE,
	DRAY_PIECE_LIVE,	/* a block */
	DRAY_PIECE_PARKED,	/* a block that was freed while it was busy */
	DRAY_PIECE_ASIDE,	/* free, but not to be found */
};

struct dray_piece {
	uint32_t offset;	/* granules */
	uint32_t size;		/* granules */
	uint32_t before;	/* the piece at lower addresses, 0: none */
	uint32_t after;		/* the piece at higher addresses, 0: none */
	uint32_t previous;	/* in its bin, 0: the first */
	uint32_t next;		/* in its bin or in the list of unused slots */
	uint32_t busy;		/* holds on a block */
	uint8_t state;		/* enum dray_piece_state */
	uint8_t alignment;	/* of a block, log2 of bytes */
	bool sent;		/* another process got it since it was allocated */
	uint8_t reserved;
};

struct dray_fit {
	uint32_t granules;	/* covered by pieces */
	uint32_t limit;		/* of granules ever covered */
	uint32_t last;		/* the piece at the highest addresses */
	uint32_t unused;	/* the first unused slot below count, 0: none */
	uint32_t count;		/* slots of the table in use once, 0 among them */
	uint32_t room;		/* slots of the table */
	/* [0] is never a piece: its contents mean nothing. */
	struct dray_piece *pieces;
	/*
	 * For each granule, or span of granules, the block that last began
	 * there.  It counts only if the piece agrees, so that it need never be
	 * cleared.
	 */
	uint32_t *at;		/* blocks smaller than a span */
	uint32_t *at_span;	/* others */
	uint8_t *touched;	/* for each stretch: at[] is backed by memory there */
	/* A bit for each granule where a block begins, and summaries of 64. */
	uint64_t *starts[DRAY_FIT_LEVELS];
	size_t side_bytes;	/* of these and starts together */
	int levels;
	uint32_t row_map;	/* a bit for each row of bins with a piece */
	uint32_t bin_map[DRAY_FIT_ROWS];	/* and for each bin of a row */
	uint32_t bins[DRAY_FIT_BINS];
};

/* Makes an empty range that may grow to @limit granules.  0 or -ENOMEM. */
int dray_fit_init(struct dray_fit *fit, uint32_t limit);
/* Frees the books; the range was never its own. */
void dray_fit_fini(struct dray_fit *fit);

/* Adds free granules at the end; the caller keeps to the limit. */
int dray_fit_extend(struct dray_fit *fit, uint32_t granules);

/*
 * Makes room in the table for two more pieces, the most that an operation makes.
 * Returns false if a larger table gets no memory: then no piece can be allocated,
 * not even a free piece.
 */
bool dray_fit_have_slots(struct dray_fit *fit);

/*
 * Allocates @size granules.  The first, counted from @origin, is a multiple of
 * @alignment (a power of two).  Returns the piece, or 0 if none fits or the
 * table cannot grow.  Searches bins with pieces that may be too small only if
 * @thoroughly.
 */
uint32_t dray_fit_take(struct dray_fit *fit, uint32_t size, uint64_t alignment,
		       uint64_t origin, bool thoroughly);

/* Frees a piece in any state; returns the piece that it became part of. */
uint32_t dray_fit_free(struct dray_fit *fit, uint32_t piece);

/* Frees several pieces, each once. */
void dray_fit_free_few(struct dray_fit *fit, const uint32_t *pieces,
		       uint32_t count);

/* Keeps a free piece from being found, until it is freed again. */
void dray_fit_set_aside(struct dray_fit *fit, uint32_t piece);

/* Makes a block larger or smaller in place, or returns false. */
bool dray_fit_resize(struct dray_fit *fit, uint32_t piece, uint32_t size);

/* Returns the block (live or parked) that covers @granule, or 0. */
uint32_t dray_fit_around(const struct dray_fit *fit, uint32_t granule);

/* Returns the granules of the largest free piece. */
uint32_t dray_fit_largest(const struct dray_fit *fit);

#endif /* DRAY_POOL_FIT_H */
