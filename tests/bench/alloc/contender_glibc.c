// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The C library's heap, which has no region.  ALIGNED: in blocks as the
 * others' are.
 */
#include <stdlib.h>

#include "contender.h"

int contender_open(size_t size, bool painted, void **region)
{
	*region = NULL;
	return 0;
}

int contender_thread(void)
{
	return 0;
}

void *contender_alloc(size_t size)
{
#ifdef ALIGNED
	/* Not aligned_alloc, which wants a multiple of the alignment. */
	void *block;

	return posix_memalign(&block, BLOCK_ALIGNMENT, size) ? NULL : block;
#else
	return malloc(size);
#endif
}

void contender_free(void *block)
{
	free(block);
}
