// SPDX-License-Identifier: Apache-2.0 OR MIT
/* array: counted arrays in a pool. */
#include <dray/array.h>

#include "node.h"

static int open_pool(void **state)
{
	struct dray_node *node = open_shareable_node();
	struct dray_pool *pool;

	if (dray_pool_create(node, NULL, &pool))
		return -1;
	dray_node_unref(node);
	*state = pool;
	return 0;
}

static int close_pool(void **state)
{
	dray_pool_close(*state);
	return 0;
}

static uint64_t blocks(struct dray_pool *pool)
{
	struct dray_pool_stats stats = { .size = sizeof(stats) };

	assert_works(dray_pool_stats(pool, &stats));
	return stats.blocks;
}

FACT(a_new_array_is_zero_and_in_c_order)
{
	struct dray_array *array;
	const struct dray_view *view;
	unsigned char *dirty = dray_pool_alloc(*state, 24 * 4, 0);

	memset(dirty, 0xff, 24 * 4);
	dray_pool_free(*state, dirty);
	assert_works(dray_array_create(*state, f4, 3, DIMS(2, 3, 4), &array));
	view = whole_view(array);
	assert_true(dray_view_is_contiguous(view));
	assert_int_equal(view->strides[0], 48);
	for (int i = 0; i < 24 * 4; i++)
		assert_int_equal(((unsigned char *)view->data)[i], 0);
	dray_array_unref(array);
}

FACT(the_last_reference_frees_the_block)
{
	uint64_t before = blocks(*state);
	struct dray_array *array;

	assert_works(dray_array_create(*state, f4, 1, DIMS(100), &array));
	assert_int_equal(blocks(*state), before + 1);
	assert_ptr_equal(dray_array_ref(array), array);
	dray_array_unref(array);
	assert_int_equal(blocks(*state), before + 1);
	dray_array_unref(array);
	assert_int_equal(blocks(*state), before);
	dray_array_unref(NULL);
}

FACT(an_empty_array_has_a_block_of_its_own)
{
	struct dray_array *array;

	assert_works(dray_array_create(*state, f4, 2, DIMS(0, 7), &array));
	assert_non_null(array->data);
	assert_int_equal(dray_view_size(whole_view(array)), 0);
	dray_array_unref(array);
}

FACT(an_array_outlives_its_pool)
{
	struct dray_node *node = open_shareable_node();
	struct dray_array *array;
	struct dray_pool *pool;

	assert_works(dray_pool_create(node, NULL, &pool));
	dray_node_unref(node);
	assert_works(dray_array_create(pool, f4, 1, DIMS(5), &array));
	dray_pool_close(pool);
	memset(array->data, 1, 20);
	dray_array_unref(array);
}

FACT(shapes_that_make_no_array_are_refused)
{
	struct dray_array *array = NULL;

	assert_fails(dray_array_create(*state, f4, 1, DIMS(-1), &array),
		     -EINVAL, "-1 elements");
	assert_fails(dray_array_create(*state, f4, 2, DIMS(INT64_MAX, 3),
				       &array),
		     -EOVERFLOW, "63 bits");
	assert_fails(dray_array_create(*state, DRAY_DTYPE('O', '|', 8), 0, NULL,
				       &array),
		     -EINVAL, "0x4f");
	assert_null(array);
}

FACT(more_than_there_is_is_no_memory)
{
	uint64_t before = blocks(*state);
	struct dray_array *array = NULL;
	int64_t elements = SIZE_MAX / 16; /* of 4 bytes */

	assert_int_equal(dray_array_create(*state, f4, 1, &elements, &array),
			 -ENOMEM);
	assert_true(strlen(dray_last_error()) > 10);
	assert_null(array);
	assert_int_equal(blocks(*state), before);
}

/* On a 64-bit kernel a 32-bit program's stack ends just below 4 GiB. */
FACT(a_large_array_fits_below_the_end_of_the_addresses)
{
	int64_t elements = 4 << 20; /* of 4 bytes */
	struct dray_array *array;
	struct dray_node *node = open_shareable_node();

	assert_works(dray_array_create(*state, f4, 1, &elements, &array));
	dray_array_unref(array);
	assert_works(dray_array_create_alone(node, f4, 1, &elements, &array));
	dray_array_unref(array);
	dray_node_unref(node);
}

FACTS_SHARE(open_pool, close_pool)
