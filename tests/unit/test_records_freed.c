// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * records: one block's free and another block's records, at the same place.
 * The linker sends the call that ends a block's records here (meson.build).
 */
#include "ipc/ipc.h"
#include "pool/busy.h"
#include "records.h"

#define SIZE 20000

static void *held; /* what is let go of just before its records end */
static void *next; /* what is allocated then */
WRAPPED(void, dray_block_freed, (const void *block))
{
	if (block == held) {
		dray_block_release(held);
		next = dray_pool_alloc(pool, SIZE, 0);
	}
	__real_dray_block_freed(block);
}

/*
 * Else the record of the next block would end with those of the last: they are
 * found by where they are.
 */
RECORDS_FACT(nobody_has_a_block_before_its_records_have_ended)
{
	unsigned char *block = take(pool, SIZE, 0);

	export_of(block, SIZE, 0);
	assert_int_equal(dray_block_hold(block), 0);
	held = block;
	dray_pool_free(pool, block);
	held = NULL;
	assert_non_null(next);
	assert_ptr_not_equal(next, block);
	assert_int_equal(stats_of(pool).parked, 0);
	dray_pool_free(pool, next);
}

FACTS_SHARE(set_up, tear_down)
