/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * at: finds the piece of a block by the granule where the block begins.
 *
 * A number for each granule would be enough, but is 64 MiB a GiB with granules
 * of 64 bytes: a program that allocates and frees large blocks would write all
 * over it, and the processor's cache does not hold it.  Of blocks of a span or
 * more at most 1 begins in each span; theirs are in a table so much smaller.
 */
#ifndef DRAY_POOL_AT_H
#define DRAY_POOL_AT_H

#include "pool/fit.h"

#define DRAY_FIT_SPAN 64	/* granules */
#define DRAY_FIT_STRETCH 16384	/* granules, 64 KiB of at[] */

/* Bytes of zeroed memory, from a page on, that dray_at_init() needs. */
size_t dray_at_bytes(uint32_t limit);
/* @memory is that, and stays the caller's to free. */
void dray_at_init(struct dray_fit *fit, void *memory);

/*
 * Small blocks are everywhere sooner or later: the memory of at[] is fetched in
 * stretches, so that few calls wait for the kernel.
 */
void dray_at_touch(struct dray_fit *fit, uint32_t stretch);

/* Enters a block of this size at the granule where it begins. */
static inline void dray_at_note(struct dray_fit *fit, uint32_t piece)
{
	const struct dray_piece *p = &fit->pieces[piece];

	if (p->size >= DRAY_FIT_SPAN) {
		fit->at_span[p->offset / DRAY_FIT_SPAN] = piece;
		return;
	}
	if (__builtin_expect(!fit->touched[p->offset / DRAY_FIT_STRETCH], 0))
		dray_at_touch(fit, p->offset / DRAY_FIT_STRETCH);
	fit->at[p->offset] = piece;
}

/* Whether @piece, any number, is a block that begins at @granule. */
static inline bool dray_at_begins(const struct dray_fit *fit, uint32_t piece,
				  uint32_t granule)
{
	const struct dray_piece *p;

	if (!piece || piece >= fit->count)
		return false;
	p = &fit->pieces[piece];
	return p->offset == granule &&
	       (p->state == DRAY_PIECE_LIVE || p->state == DRAY_PIECE_PARKED);
}

/* The block (live or parked) that begins at @granule, or 0. */
static inline uint32_t dray_fit_at(const struct dray_fit *fit, uint32_t granule)
{
	uint32_t piece;

	if (granule >= fit->granules)
		return 0;
	piece = fit->at_span[granule / DRAY_FIT_SPAN];
	if (dray_at_begins(fit, piece, granule))
		return piece;
	piece = fit->at[granule];
	return dray_at_begins(fit, piece, granule) ? piece : 0;
}

/* As above, for a block of @size granules that does begin at @granule. */
static inline uint32_t dray_fit_sized_at(const struct dray_fit *fit,
					 uint32_t granule, uint64_t size)
{
	return size < DRAY_FIT_SPAN ? fit->at[granule]
				    : fit->at_span[granule / DRAY_FIT_SPAN];
}

#endif /* DRAY_POOL_AT_H */
