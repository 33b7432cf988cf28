// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "region.h"

/* mimalloc 2.0 crashes on a region that is not aligned to its segments. */
#define ALIGNMENT ((size_t)32 << 20)
#define LINE ((size_t)64)

uint8_t region_pattern = 0xa5;

void *region_map(size_t size, bool painted)
{
	uint8_t *start =
		mmap(NULL, size + ALIGNMENT, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (start == MAP_FAILED)
		return NULL;
	start += -(uintptr_t)start % ALIGNMENT;
	if (mprotect(start, size, PROT_READ | PROT_WRITE))
		return NULL;
	/* A hint: a system without huge pages says no, which is no failure. */
	madvise(start, size, MADV_HUGEPAGE);
	if (painted)
		region_paint(start, size);
	return start;
}

int region_touch(void *region, size_t size)
{
	return madvise(region, size, MADV_POPULATE_WRITE) ? -errno : 0;
}

void region_paint(void *region, size_t size)
{
	memset(region, region_pattern, size);
}

size_t region_lost(const void *region, size_t size)
{
	uint8_t whole[LINE];
	size_t at, lost = 0;

	memset(whole, region_pattern, sizeof(whole));
	for (at = 0; at < size; at += LINE)
		lost += memcmp((const uint8_t *)region + at, whole, LINE) != 0;
	return lost;
}
