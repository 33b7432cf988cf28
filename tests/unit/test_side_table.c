// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The books of a pool: the memory that docs/architecture.md says they take, and
 * the one table that leads from any address to its pool.
 */
#include <sys/mman.h>

#include "pool.h"
#include "pool/cache.h"
#include "pool/fit.h"
#include "pool/pool.h"

#define GIB ((size_t)1 << 30)
#define MIB ((size_t)1 << 20)
#define GRANULE 64

static int fit_setup(void **state)
{
	static struct dray_fit fit;

	assert_works(dray_fit_init(&fit, GIB / GRANULE));
	assert_works(dray_fit_extend(&fit, GIB / GRANULE));
	/* What is counted is what was touched, not what a kernel adds to it. */
	assert_int_equal(madvise(fit.at, fit.side_bytes, MADV_NOHUGEPAGE), 0);
	*state = &fit;
	return 0;
}

static int fit_teardown(void **state)
{
	dray_fit_fini(*state);
	return 0;
}

#define FIT_FACT(name) FACT_WITH(name, fit_setup, fit_teardown)

/* A bit for each page of 4 KiB is the fifth, an eighth of a MiB with rounding. */
FIT_FACT(the_books_of_a_gib_take_83_mib)
{
	const struct dray_fit *fit = *state;
	size_t marks = GIB >> DRAY_MARK_SHIFT;
	size_t dirty = GIB / 4096 / 8;

	assert_in_range(fit->side_bytes, 67 * MIB, 67 * MIB + MIB / 16);
	assert_int_equal(marks, 16 * MIB);
	assert_in_range(fit->side_bytes + marks + dirty, 83 * MIB,
			83 * MIB + MIB / 8);
}

FIT_FACT(a_block_or_free_run_takes_32_bytes)
{
	struct dray_fit *fit = *state;
	uint32_t before = fit->count;

	assert_int_equal(sizeof(struct dray_piece), 32);
	for (int i = 0; i < 10000; i++) {
		assert_true(dray_fit_have_slots(fit));
		assert_true(dray_fit_take(fit, 1, 1, 0, false) > 0);
	}
	assert_int_equal(fit->count - before, 10000);
}

static size_t take_all(struct dray_fit *fit, uint32_t granules)
{
	size_t count = 0;

	while (dray_fit_have_slots(fit) &&
	       dray_fit_take(fit, granules, 1, 0, false))
		count++;
	return count;
}

FIT_FACT(large_blocks_alone_leave_the_table_of_small_ones_out)
{
	struct dray_fit *fit = *state;

	assert_int_equal(take_all(fit, MIB / GRANULE), GIB / MIB);
	/* Those of large blocks, and the bits, with the pages around each. */
	assert_in_range(resident(fit->at, fit->side_bytes), 1, 6 * MIB);
}

FIT_FACT(small_blocks_take_it_where_they_begin)
{
	struct dray_fit *fit = *state;
	size_t stretch = 16384 * sizeof(*fit->at);

	for (int i = 0; i < 1000; i++) {
		assert_true(dray_fit_have_slots(fit));
		assert_true(dray_fit_take(fit, 1, 1, 0, false) > 0);
	}
	assert_in_range(resident(fit->at, fit->side_bytes), 1, 4 * stretch);
}

/* All that stands between an address and its pool: a shift and a load. */
static uint8_t number_at(const void *address)
{
	return atomic_load(
		&dray_marks.numbers[((uintptr_t)address - dray_window.base) >>
				    DRAY_SLOT_SHIFT]);
}

POOL_FACT(one_shift_and_one_load_lead_to_the_pool)
{
	static const size_t sizes[] = { 1, 64, 4096, 100000, 3 * MIB };
	struct dray_pool *other = open_pool(test_spec(), NULL), *pool = *state;
	_Atomic uint8_t *mark;

	assert_int_equal(sizeof(*dray_marks.numbers), 1);
	assert_true(pool->number && other->number);
	assert_int_not_equal(pool->number, other->number);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char *mine = take(pool, sizes[i], 0);
		char *theirs = take(other, sizes[i], 0);

		for (size_t inside = 0; inside < sizes[i]; inside += 1021) {
			assert_int_equal(number_at(mine + inside),
					 pool->number);
			assert_int_equal(number_at(theirs + inside),
					 other->number);
		}
		assert_int_equal(number_at(mine + sizes[i] - 1), pool->number);
		dray_pool_free(pool, mine);
		/* The same table is what a free looks at. */
		mine = take(pool, sizes[i], 0);
		assert_ptr_equal(dray_cache_find(mine, &mark),
				 dray_thread->caches[pool->number]);
		dray_pool_free(pool, mine);
		dray_pool_free(other, theirs);
	}
	dray_pool_close(other);
}

POOL_FACT(what_is_no_pools_leads_to_none)
{
	struct dray_pool *pool = *state;
	struct dray_buffer *buffer;
	_Atomic uint8_t *mark;
	char *data;
	int local;

	assert_works(
		dray_buffer_alloc(dray_pool_node(pool), 4096, NULL, &buffer));
	data = dray_buffer_data(buffer);
	assert_int_equal(number_at(data), 0);
	assert_null(dray_cache_find(data, &mark));
	assert_null(dray_cache_find(&local, &mark));
	dray_buffer_unref(buffer);
}
