/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * at: from the granule where a block begins to its piece.
 *
 * A number for each granule would be enough, but is 64 MiB a GiB with granules
 * of 64 bytes: a program that takes and frees large blocks would write all over
 * it, and the processor's cache does not hold it.  Of blocks of a span or more
 * only one begins in each span; theirs are in a table so much smaller.
 */
#ifndef DRAY_ALLOC_AT_H
#define DRAY_ALLOC_AT_H

#include "alloc/fit.h"

#define DRAY_FIT_SPAN 64	/* granules */
#define DRAY_FIT_STRETCH 16384	/* granules, 64 KiB of at[] */

/* Bytes of zeroed memory, from a page on, that dray_at_init() takes. */
size_t dray_at_bytes(uint32_t limit);
/* @memory is that, and stays the caller's to free. */
void dray_at_init(struct dray_fit *fit, void *memory);

/*
 * Small blocks are everywhere sooner or later: the memory of at[] comes in
 * stretches, so that few calls wait for the kernel.
 */
void dray_at_touch(struct dray_fit *fit, uint32_t stretch);

/* Lets the granule where a block of this size begins lead to it. */
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

#endif /* DRAY_ALLOC_AT_H */
