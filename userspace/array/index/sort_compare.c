// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Elements that are compared by the function of their type: complex numbers, long
 * doubles, text, raw data, structures and users' types.  A stable merge sort
 * orders their indices.
 */
#include <string.h>

#include "index/sort.h"

#define RUN 16 /* indices that are sorted by insertion */

/* Dense elements, which indices stand for. */
struct sort_elements {
	const struct dray_sorting *order;
	const unsigned char *data;
	int64_t stride;
};

/* Whether the element of index @a comes behind that of @b. */
static bool is_behind(const struct sort_elements *of, int64_t a, int64_t b)
{
	return of->order->functions->compare(of->order->dtype,
					     of->data + a * of->stride,
					     of->data + b * of->stride) > 0;
}

static void sort_run(const struct sort_elements *of, int64_t *indices,
		     int64_t count)
{
	int64_t i, k;

	for (i = 1; i < count; i++) {
		int64_t index = indices[i];

		for (k = i; k > 0 && is_behind(of, indices[k - 1], index); k--)
			indices[k] = indices[k - 1];
		indices[k] = index;
	}
}

/* Merges neighbours, [0, middle) and [middle, count). */
static void sort_compare_merge(const struct sort_elements *of,
			       const int64_t *from, int64_t middle,
			       int64_t count, int64_t *to)
{
	int64_t left = 0, right = middle;

	if (middle < count && !is_behind(of, from[middle - 1], from[middle])) {
		memcpy(to, from, (size_t)count * sizeof(*to));
		return;
	}
	while (left < middle && right < count)
		*to++ = is_behind(of, from[left], from[right]) ? from[right++]
							       : from[left++];
	memcpy(to, from + left, (size_t)(middle - left) * sizeof(*to));
	to += middle - left;
	memcpy(to, from + right, (size_t)(count - right) * sizeof(*to));
}

/* Sorts indices; returns which of the two arrays has the result. */
static int64_t *sort_indices(const struct sort_elements *of, int64_t *indices,
			     int64_t *other, int64_t count)
{
	int64_t at, width, *swap;

	for (at = 0; at < count; at++)
		indices[at] = at;
	for (at = 0; at < count; at += RUN)
		sort_run(of, indices + at, count - at < RUN ? count - at : RUN);
	for (width = RUN; width < count; width *= 2) {
		for (at = 0; at < count; at += 2 * width) {
			int64_t rest = count - at;

			sort_compare_merge(of, indices + at,
					   rest < width ? rest : width,
					   rest < 2 * width ? rest : 2 * width,
					   other + at);
		}
		swap = indices;
		indices = other;
		other = swap;
	}
	return indices;
}

void dray_line_argsort_compared(const struct dray_sorting *order,
				const struct dray_sort_line *line,
				const unsigned char *data, unsigned char *out,
				int64_t step)
{
	const struct sort_elements of = { order, data, line->stride };
	int64_t *indices = line->memory, i;

	indices =
		sort_indices(&of, indices, indices + line->count, line->count);
	for (i = 0; i < line->count; i++)
		memcpy(out + i * step, &indices[i], sizeof(indices[i]));
}

void dray_line_sort_compared(const struct dray_sorting *order,
			     const struct dray_sort_line *line,
			     unsigned char *data)
{
	int64_t *indices = line->memory, i;
	unsigned char *dense = (unsigned char *)line->memory +
			       2 * (size_t)line->count * sizeof(*indices);
	const struct sort_elements of = { order, dense, order->size };

	if (!order->size)
		return;
	for (i = 0; i < line->count; i++)
		memcpy(dense + i * of.stride, data + i * line->stride,
		       order->size);
	indices =
		sort_indices(&of, indices, indices + line->count, line->count);
	for (i = 0; i < line->count; i++)
		memcpy(data + i * line->stride, dense + indices[i] * of.stride,
		       order->size);
}
