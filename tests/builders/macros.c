// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Uses of each macro of an index and of types, as C and as C++.
 */
#include <dray/array.h>

int dray_test_reverse(const struct dray_view *from, struct dray_view *to);
int dray_test_index(const struct dray_view *from, const struct dray_view *rows,
		    size_t n, struct dray_view *to);
int dray_test_kind(dray_dtype dtype);
int64_t dray_test_walk(const struct dray_view *view);

int dray_test_reverse(const struct dray_view *from, struct dray_view *to)
{
	return dray_view_index(from, &DRAY_STEP(-1), 1, to);
}

int dray_test_index(const struct dray_view *from, const struct dray_view *rows,
		    size_t n, struct dray_view *to)
{
	const struct dray_index steps[] = {
		DRAY_AT(2),    DRAY_SLICE(1, DRAY_OMIT, 2),
		DRAY_ALL,      DRAY_NEWAXIS,
		DRAY_ELLIPSIS, DRAY_BY(rows),
	};

	return n > sizeof(steps) / sizeof(steps[0])
		       ? DRAY_XRT_P2P > 0
		       : dray_view_index(from, steps, n, to);
}

int dray_test_kind(dray_dtype dtype)
{
	switch (dtype) {
	case DRAY_BOOL:
		return 1;
	case DRAY_FLOAT32:
		return 2;
	case DRAY_UNICODE(3):
		return 3;
	default:
		return dtype == DRAY_DATETIME64(DRAY_UNIT_DAY, 2) ? 4 : 0;
	}
}

int64_t dray_test_walk(const struct dray_view *view)
{
	struct dray_iterator it;
	int64_t count = 0;

	if (dray_iterator_init(&it, view))
		return DRAY_NOT_A_TIME;
	for (; dray_iterator_more(&it); dray_iterator_next(&it))
		count++;
	return count;
}
