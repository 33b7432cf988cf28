// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Arrays in C, in memory that a device can reach: views, an index with an array,
 * a conversion, and a file that NumPy reads.
 */
#include <dray/array.h>
#include <stdio.h>
#include <unistd.h>

/* Prints the elements of @view that are above @limit. */
static int print_above(const struct dray_view *view, int limit)
{
	struct dray_array *above, *found = NULL;
	const int64_t mask_shape[] = { view->shape[0], view->shape[1] };
	struct dray_view mask, chosen;
	struct dray_iterator it;
	int ret;

	ret = dray_array_zeros(DRAY_BOOL, 2, mask_shape, &above);
	if (ret)
		return ret;
	dray_array_view(above, &mask);
	ret = dray_iterator_init(&it, view);
	for (bool *to = above->data; !ret && it.index < it.size; to++) {
		*to = *(const int16_t *)(void *)it.data > limit;
		DRAY_ITERATOR_NEXT(&it);
	}
	if (!ret)
		ret = dray_index_get(view, &DRAY_BY(&mask), 1, &found);
	if (!ret)
		ret = dray_view_print(dray_array_view(found, &chosen), stdout);
	dray_array_unref(found);
	dray_array_unref(above);
	return ret;
}

/* Converts @view to floats and saves them for NumPy. */
static int save_floats(const struct dray_view *view)
{
	const char *path = "arrays.npy";
	struct dray_array *floats;
	struct dray_view whole;
	int ret;

	ret = dray_array_like(view, DRAY_FLOAT32, DRAY_ORDER_C, &floats);
	if (ret)
		return ret;
	dray_array_view(floats, &whole);
	ret = dray_view_convert(&whole, view, DRAY_CASTING_SAFE);
	if (!ret)
		ret = dray_npy_save(path, &whole, DRAY_NPY_PAGE);
	if (!ret)
		printf("%s has %lld floats from byte 4096 on\n", path,
		       (long long)dray_view_size(&whole));
	unlink(path);
	dray_array_unref(floats);
	return ret;
}

/* Makes 4 rows of 6 numbers, and takes every second row from the last. */
static int work(void)
{
	const struct dray_index rows[] = { DRAY_STEP(-2) };
	const int64_t shape[] = { 4, 6 };
	struct dray_array *numbers;
	struct dray_view view;
	int ret;

	ret = dray_array_arange(DRAY_INT16, 0, 24, 1, &numbers);
	if (ret)
		return ret;
	ret = dray_view_reshape(dray_array_view(numbers, &view), 2, shape,
				DRAY_ORDER_C, &view);
	if (!ret)
		ret = dray_view_index(&view, rows, 1, &view);
	if (!ret)
		ret = dray_view_print(&view, stdout);
	if (!ret)
		ret = print_above(&view, 10);
	if (!ret)
		ret = save_floats(&view);
	dray_array_unref(numbers);
	return ret;
}

int main(void)
{
	struct dray_pool *pool = NULL;
	struct dray_node *node = NULL;
	int ret;

	ret = dray_node_open(NULL, &node);
	if (!ret)
		ret = dray_pool_create(node, NULL, &pool);
	if (!ret) {
		/* New arrays of this thread lie in the pool. */
		dray_set_handler(dray_handler_for(pool));
		ret = work();
		dray_set_handler(NULL);
	}
	if (ret)
		fprintf(stderr, "arrays: %s\n", dray_last_error());
	dray_pool_close(pool);
	dray_node_unref(node);
	return ret ? 1 : 0;
}
