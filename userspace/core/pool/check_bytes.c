// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The bytes that the checking handler writes: guards around blocks, and the
 * poison in those that are freed.
 */
#include <string.h>

#include "base/fork.h"
#include "pool/busy.h"
#include "pool/check.h"
#include "pool/pool.h"

#define GUARD 0xfb
#define POISON 0xdb

void dray_checked_guard(const struct dray_checked *block)
{
	memset(dray_checked_base(block), GUARD, DRAY_CHECK_GUARD);
	memset(dray_checked_base(block) + DRAY_CHECK_GUARD +
		       block->live.is.size,
	       GUARD, DRAY_CHECK_GUARD);
}

ptrdiff_t dray_checked_broken(const struct dray_checked *block)
{
	const unsigned char *data = block->live.is.block;
	const unsigned char *end = data + block->live.is.size;
	ptrdiff_t i;

	/* The parent's frees may have made other memory of it. */
	if (block->process != dray_fork_process())
		return 0;
	/* The nearest to the block is the likeliest cause of the others. */
	for (i = 1; i <= (ptrdiff_t)DRAY_CHECK_GUARD; i++) {
		if (end[i - 1] != GUARD)
			return i;
		if (data[-i] != GUARD)
			return -i;
	}
	return 0;
}

/*
 * A transfer that is under way may read or write the block until it ends, and
 * so may another process that has it open, or was sent it.
 */
static bool others_use(const void *base)
{
	struct dray_found found;
	bool used;

	if (!dray_find_start(base, &found))
		return false;
	used = dray_found_piece(&found)->busy || dray_found_piece(&found)->sent;
	pthread_mutex_unlock(&found.pool->lock);
	return used;
}

void dray_checked_poison(struct dray_checked *block)
{
	void *base = dray_checked_base(block);

	/* An inherited block may be its parent's memory too. */
	if (block->process != dray_fork_process())
		return;
	/* The pool below hears of the free later: records end with it now. */
	dray_block_freed(base);
	block->poisoned = !others_use(base);
	if (block->poisoned)
		memset(block->live.is.block, POISON, block->live.is.size);
}

size_t dray_checked_written(const struct dray_checked *block)
{
	const unsigned char *data = block->live.is.block;
	size_t size = block->live.is.size, i = size;

	if (block->poisoned && block->process == dray_fork_process())
		for (i = 0; i < size && data[i] == POISON;)
			i++;
	return i;
}
