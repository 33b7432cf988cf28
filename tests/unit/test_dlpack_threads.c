// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dlpack_threads: one array that many threads export and import, and tensors that
 * one thread makes and another gives back; -Db_sanitize=thread finds accesses
 * without an order.
 */
#include <dray/array.h>

#include "pool.h"

enum {
	THREADS = 8,
	ROUNDS = 2000,
	SLOTS = 16
};

static struct dray_array *shared;
static _Atomic(struct dray_dlpack_versioned *) slots[SLOTS];
static atomic_int failures;

/* One round: out and in again, a slice of it, and out into a slot. */
static bool pass_on(unsigned int round)
{
	struct dray_dlpack_versioned *tensor;
	struct dray_array *array;
	int ret;

	if (dray_dlpack_export(shared, 0, -1, &tensor))
		return false;
	ret = dray_dlpack_import(tensor, 0, -1, &array);
	if (ret) {
		dray_dlpack_drop(tensor);
		return false;
	}
	ret = dray_dlpack_export(array, 0, -1, &tensor);
	dray_array_unref(array);
	if (ret)
		return false;
	ret = *(unsigned char *)tensor->dl_tensor.data;
	dray_dlpack_drop(atomic_exchange(&slots[round % SLOTS], tensor));
	return ret == 7;
}

static void *pass_all_on(void *unused)
{
	for (unsigned int i = 0; i < (unsigned int)rounds(ROUNDS); i++) {
		if (!pass_on(i))
			atomic_fetch_add(&failures, 1);
	}
	return NULL;
}

POOL_FACT(threads_pass_one_array_on)
{
	pthread_t threads[THREADS];

	assert_works(dray_array_create(*state, u1, 2, DIMS(5, 6), &shared));
	memset(shared->data, 7, 30);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, pass_all_on,
						NULL),
				 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(atomic_load(&failures), 0);
	for (int i = 0; i < SLOTS; i++)
		dray_dlpack_drop(atomic_load(&slots[i]));
	assert_int_equal(dray_block_count(&shared->block), 1);
	dray_array_unref(shared);
	assert_int_equal(stats_of(*state).blocks, 0);
}
