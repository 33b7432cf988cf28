// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The order of strings: bytes are unsigned, a string stands before all that it
 * starts, and nulls are last.  Comparisons and sorts use this order alone.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array/strings.h"
#include "private.h"

static int order_compare(const struct dray_string *a,
			 const struct dray_string *b)
{
	size_t of_a = (size_t)(a->end - a->begin);
	size_t of_b = (size_t)(b->end - b->begin);
	size_t least = of_a < of_b ? of_a : of_b;
	int result = 0;

	if (!a->begin || !b->begin)
		return !a->begin - !b->begin;
	if (least)
		result = memcmp(a->begin, b->begin, least);
	return result ? result : (of_a > of_b) - (of_a < of_b);
}

/* The results of a relation, as bits: of less, equal and greater. */
static const uint8_t relations[] = {
	[DRAY_STRINGS_LESS] = 1,    [DRAY_STRINGS_LESS_EQUAL] = 1 | 2,
	[DRAY_STRINGS_EQUAL] = 2,   [DRAY_STRINGS_NOT_EQUAL] = 1 | 4,
	[DRAY_STRINGS_GREATER] = 4, [DRAY_STRINGS_GREATER_EQUAL] = 2 | 4,
};

int dray_strings_compare(const struct dray_block *a, const struct dray_block *b,
			 enum dray_strings_relation relation,
			 const struct dray_view *out)
{
	struct dray_view of_a, of_b;
	int64_t count, i;
	int ret, order;

	if ((unsigned int)relation > DRAY_STRINGS_GREATER_EQUAL)
		return dray_fail(-EINVAL, "relation %d, the last is %d",
				 (int)relation, DRAY_STRINGS_GREATER_EQUAL);
	ret = dray_strings_view(a, &of_a);
	if (!ret)
		ret = dray_strings_view(b, &of_b);
	if (ret)
		return ret;
	if (of_a.shape[0] != of_b.shape[0] && of_a.shape[0] != 1 &&
	    of_b.shape[0] != 1)
		return dray_fail(
			-EINVAL,
			"%" PRId64 " strings are compared with %" PRId64
			": their numbers must be equal, or one of them 1",
			of_a.shape[0], of_b.shape[0]);
	count = of_a.shape[0] == 1 ? of_b.shape[0] : of_a.shape[0];
	ret = dray_strings_check_view(out, "the result", DRAY_BOOL, count,
				      DRAY_WRITE);
	if (ret)
		return ret;
	/* The only string of an array stands for all. */
	if (of_a.shape[0] == 1)
		of_a.strides[0] = 0;
	if (of_b.shape[0] == 1)
		of_b.strides[0] = 0;
	for (i = 0; i < count; i++) {
		order = order_compare(dray_strings_at(&of_a, i),
				      dray_strings_at(&of_b, i));
		*((uint8_t *)out->data + i * out->strides[0]) =
			relations[relation] >> (order < 0    ? 0
						: order == 0 ? 1
							     : 2) &
			1;
	}
	return 0;
}

struct ranked {
	struct dray_string string;
	int64_t index;
};

/* Equal strings are ordered by their indices, so that any sort is stable. */
static int compare_ranked(const void *one, const void *other)
{
	const struct ranked *a = one, *b = other;
	int order = order_compare(&a->string, &b->string);

	return order ? order : (a->index > b->index) - (a->index < b->index);
}

int dray_strings_argsort(const struct dray_block *strings,
			 const struct dray_view *out)
{
	struct dray_view view;
	struct ranked *ranked;
	int64_t count, i;
	int ret = dray_strings_view(strings, &view);

	if (ret)
		return ret;
	count = view.shape[0];
	ret = dray_strings_check_view(out, "the result", DRAY_INT64, count,
				      DRAY_WRITE);
	if (ret)
		return ret;
	ranked = calloc((size_t)count + 1, sizeof(*ranked));
	if (!ranked)
		return dray_fail(-ENOMEM,
				 "no memory to sort %" PRId64 " strings",
				 count);
	for (i = 0; i < count; i++) {
		ranked[i].string = *dray_strings_at(&view, i);
		ranked[i].index = i;
	}
	qsort(ranked, (size_t)count, sizeof(*ranked), compare_ranked);
	for (i = 0; i < count; i++)
		memcpy((char *)out->data + i * out->strides[0],
		       &ranked[i].index, sizeof(ranked[i].index));
	free(ranked);
	return 0;
}
