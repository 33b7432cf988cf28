// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * memkind: a kind of fixed memory.
 */
#include <errno.h>
#include <memkind.h>

#include "contender.h"
#include "region.h"

static memkind_t kind;

int contender_open(size_t size, bool painted, void **region)
{
	*region = region_map(size, painted);
	if (!*region)
		return -errno;
	return memkind_create_fixed(*region, size, &kind) ? -ENOMEM : 0;
}

int contender_thread(void)
{
	return 0;
}

void *contender_alloc(size_t size)
{
	void *block;

	return memkind_posix_memalign(kind, &block, BLOCK_ALIGNMENT, size)
		       ? NULL
		       : block;
}

void contender_free(void *block)
{
	memkind_free(kind, block);
}
