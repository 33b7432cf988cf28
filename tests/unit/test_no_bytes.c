// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * no_bytes: elements of no bytes.  They lie nowhere, and there may be as many as 63
 * bits count, in a file of 128 bytes.
 */
#include <unistd.h>

#include <dray/array/iterator.h>
#include <dray/array/nditer.h>
#include <dray/array/sorting.h>

#include <dray/array.h>

#include "unit.h"

static const int64_t many[] = { INT64_C(1) << 62 };
static const int64_t wide[] = { INT64_C(1) << 31, INT64_C(1) << 31 };
static const dray_dtype types[] = { DRAY_VOID(0), DRAY_BYTES(0),
				    DRAY_UNICODE(0) };

static struct dray_view nowhere(dray_dtype dtype, int ndim,
				const int64_t *shape)
{
	struct dray_view view;

	assert_works(dray_view_init(&view, NULL, dtype, ndim, shape, NULL));
	return view;
}

/* Ends the program if a call goes through all elements. */
static int set_up(void **state)
{
	alarm(60);
	return 0;
}

FACTS_SHARE(set_up, NULL)

FACT(questions_about_very_many_have_an_answer)
{
	for (size_t i = 0; i < 3; i++) {
		struct dray_array *out[2] = { NULL };
		struct dray_view line = nowhere(types[i], 1, many),
				 plane = nowhere(types[i], 2, wide);
		int ret;

		assert_int_equal(dray_count_nonzero(&line), 0);
		assert_int_equal(dray_count_nonzero(&plane), 0);
		assert_works(dray_nonzero(&plane, out));
		for (int k = 0; k < 2; k++) {
			assert_int_equal(dray_array_axes(out[k])->size, 0);
			dray_array_unref(out[k]);
		}
		for (int k = 0; k < 3; k++) {
			out[0] = NULL;
			ret = k == 0   ? dray_argmax(&line, 0, out)
			      : k == 1 ? dray_argmin(&line, DRAY_FLAT, out)
				       : dray_argmax(&plane, DRAY_FLAT, out);
			/* Raw data have no order. */
			assert_int_equal(ret, i ? 0 : -EOPNOTSUPP);
			if (!ret)
				assert_int_equal(*(int64_t *)out[0]->data, 0);
			dray_array_unref(out[0]);
		}
		assert_works(
			dray_view_convert(&line, &line, DRAY_CASTING_UNSAFE));
		assert_works(dray_view_assign(&plane, &plane));
		ret = dray_sort(&line, 0);
		assert_true(!ret || ret == -ENOMEM);
	}
}

FACT(no_byte_is_touched)
{
	const int64_t three[] = { 3 }, one[] = { 1 };
	bool yes[] = { true, false, true };
	int64_t numbers[] = { 2, 0, 2 };
	char bytes[15];
	struct dray_view mask, at, text;

	assert_works(dray_view_init(&mask, yes, DRAY_BOOL, 1, three, NULL));
	assert_works(dray_view_init(&at, numbers, DRAY_INT64, 1, three, NULL));
	assert_works(
		dray_view_init(&text, bytes, DRAY_BYTES(5), 1, three, NULL));
	for (size_t i = 0; i < 3; i++) {
		struct dray_view from = nowhere(types[i], 1, three),
				 single = nowhere(types[i], 1, one);
		struct dray_array *out = NULL;

		memset(bytes, 'x', sizeof(bytes));
		assert_works(
			dray_view_convert(&from, &single, DRAY_CASTING_UNSAFE));
		if (i) {
			assert_works(dray_view_convert(&text, &from,
						       DRAY_CASTING_UNSAFE));
			for (size_t k = 0; k < sizeof(bytes); k++)
				assert_int_equal(bytes[k], 0);
			assert_works(dray_view_convert(&from, &text,
						       DRAY_CASTING_UNSAFE));
		}
		assert_works(dray_sort(&from, 0));
		assert_works(dray_argsort(&from, 0, &out));
		assert_int_equal(((int64_t *)out->data)[2], 2);
		dray_array_unref(out);
		assert_works(dray_put_mask(&from, &mask, &from));
		assert_works(dray_index_get(
			&from, &(struct dray_index)DRAY_BY(&mask), 1, &out));
		assert_int_equal(dray_array_axes(out)->size, 2);
		dray_array_unref(out);
		assert_works(dray_index_get(
			&from, &(struct dray_index)DRAY_BY(&at), 1, &out));
		dray_array_unref(out);
		assert_works(dray_put(&from, &at, &from, DRAY_INDEX_RAISE));
		assert_works(dray_index_set(
			&from, &(struct dray_index)DRAY_BY(&at), 1, &single));
	}
}

FACT(iterators_over_nothing_stay_at_null)
{
	static const uint32_t flags[] = { 0, DRAY_NDITER_MULTI_INDEX,
					  DRAY_NDITER_C_INDEX,
					  DRAY_NDITER_EXTERNAL_LOOP };
	struct dray_view view = nowhere(DRAY_VOID(0), 2, DIMS(3, 2));
	const struct dray_view *of = &view;
	struct dray_iterator it;
	struct dray_multi multi;
	struct dray_nditer *iter;
	int steps = 0;

	view.strides[0] = 40;
	view.strides[1] = -8;
	assert_works(dray_iterator_init(&it, &view));
	for (; steps < 6; steps++, dray_iterator_next(&it))
		assert_null(it.data);
	assert_works(dray_iterator_go_flat(&it, 5));
	assert_null(it.data);
	assert_works(dray_multi_init(&multi, &of, 1));
	for (; steps < 12; steps++, dray_multi_next(&multi))
		assert_null(multi.data[0]);
	assert_works(dray_multi_go(&multi, DIMS(2, 1)));
	assert_null(multi.data[0]);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		const struct dray_nditer_options options = { .flags =
								     flags[i] };

		assert_works(dray_nditer_create(&of, 1, &options, &iter));
		do {
			assert_null(dray_nditer_data(iter)[0]);
			assert_int_equal(dray_nditer_strides(iter)[0], 0);
		} while (dray_nditer_next(iter));
		assert_works(dray_nditer_destroy(iter));
	}
}
