// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * at: its tables in memory.
 */
#include "memory/pages.h"
#include "pool/at.h"

/* at[], at_span[] and touched[], one after the other. */
static size_t at_entries(uint32_t limit)
{
	return (size_t)limit + limit / DRAY_FIT_SPAN + 1;
}

size_t dray_at_bytes(uint32_t limit)
{
	size_t bytes = at_entries(limit) * sizeof(uint32_t) +
		       limit / DRAY_FIT_STRETCH + 1;

	return (bytes + 63) & ~(size_t)63;
}

void dray_at_init(struct dray_fit *fit, void *memory)
{
	fit->at = memory;
	fit->at_span = fit->at + fit->limit;
	fit->touched = (uint8_t *)(fit->at + at_entries(fit->limit));
}

void dray_at_touch(struct dray_fit *fit, uint32_t stretch)
{
	size_t offset = (size_t)stretch * DRAY_FIT_STRETCH * sizeof(*fit->at);
	size_t length = DRAY_FIT_STRETCH * sizeof(*fit->at);

	if (length > fit->side_bytes - offset)
		length = fit->side_bytes - offset;
	/* If the kernel cannot, or not now, memory comes by the page. */
	madvise((char *)fit->at + offset, length, MADV_POPULATE_WRITE);
	fit->touched[stretch] = 1;
}
