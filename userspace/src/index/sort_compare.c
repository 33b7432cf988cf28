// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Elements that are compared: complex numbers, long doubles, text and raw data.
 * A stable merge sort orders their indices.
 */
#include <string.h>

#include "index/sort.h"

#define RUN 16 /* indices that are sorted by insertion */

/* Numbers of an element: one, or two of a complex one. */
struct numbers {
	long double real;
	long double imaginary;
};

static long double load_number(const struct dray_sorting *order,
			       const unsigned char *data, uint32_t size)
{
	unsigned char bytes[sizeof(long double)];
	long double longest;
	double twice;
	float once;
	uint32_t i;

	for (i = 0; i < size; i++)
		bytes[i] = data[order->swapped ? size - 1 - i : i];
	switch (size) {
	case sizeof(once):
		memcpy(&once, bytes, sizeof(once));
		return (long double)once;
	case sizeof(twice):
		memcpy(&twice, bytes, sizeof(twice));
		return (long double)twice;
	default: /* 12 or 16 bytes: this machine's, if it has such. */
		longest = 0;
		memcpy(&longest, bytes,
		       size < sizeof(longest) ? size : sizeof(longest));
		return longest;
	}
}

static struct numbers load_complex(const struct dray_sorting *order,
				   const void *element)
{
	uint32_t half = order->size / 2;

	return (struct numbers){
		load_number(order, element, half),
		load_number(order, (const unsigned char *)element + half, half),
	};
}

/* NaN come last, and are equal. */
static int compare_numbers(long double a, long double b)
{
	if (a != a || b != b)
		return (a != a) - (b != b);
	return (a > b) - (a < b);
}

/* Without a NaN, with an imaginary one, with a real one. */
static int class_of(struct numbers z)
{
	return z.real != z.real ? 2 : z.imaginary != z.imaginary;
}

static int compare_complex(const struct dray_sorting *order, const void *a,
			   const void *b)
{
	struct numbers of_a = load_complex(order, a);
	struct numbers of_b = load_complex(order, b);
	int found = class_of(of_a) - class_of(of_b);

	if (!found)
		found = compare_numbers(of_a.real, of_b.real);
	return found ? found : compare_numbers(of_a.imaginary, of_b.imaginary);
}

static bool complex_is_nan(const struct dray_sorting *order,
			   const void *element)
{
	return class_of(load_complex(order, element));
}

static int compare_long(const struct dray_sorting *order, const void *a,
			const void *b)
{
	return compare_numbers(load_number(order, a, order->size),
			       load_number(order, b, order->size));
}

static bool long_is_nan(const struct dray_sorting *order, const void *element)
{
	long double number = load_number(order, element, order->size);

	return number != number;
}

static int compare_bytes(const struct dray_sorting *order, const void *a,
			 const void *b)
{
	return memcmp(a, b, order->size);
}

static int compare_characters(const struct dray_sorting *order, const void *a,
			      const void *b)
{
	uint32_t i, of_a, of_b;

	for (i = 0; i < order->size; i += sizeof(of_a)) {
		memcpy(&of_a, (const char *)a + i, sizeof(of_a));
		memcpy(&of_b, (const char *)b + i, sizeof(of_b));
		if (of_a == of_b)
			continue;
		if (order->swapped) {
			of_a = __builtin_bswap32(of_a);
			of_b = __builtin_bswap32(of_b);
		}
		return of_a < of_b ? -1 : 1;
	}
	return 0;
}

void dray_sorting_compared(struct dray_sorting *order, dray_dtype dtype)
{
	switch (dray_dtype_kind(dtype)) {
	case 'c':
		order->compare = compare_complex;
		order->is_nan = complex_is_nan;
		break;
	case 'f':
		order->compare = compare_long;
		order->is_nan = long_is_nan;
		break;
	case 'U':
		order->compare = compare_characters;
		break;
	default:
		order->compare = compare_bytes;
		break;
	}
}

/* Dense elements, which indices stand for. */
struct elements {
	const struct dray_sorting *order;
	const unsigned char *data;
	int64_t stride;
};

/* Whether the element of index @a comes behind that of @b. */
static bool is_behind(const struct elements *of, int64_t a, int64_t b)
{
	return of->order->compare(of->order, of->data + a * of->stride,
				  of->data + b * of->stride) > 0;
}

static void sort_run(const struct elements *of, int64_t *indices, int64_t count)
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
static void merge(const struct elements *of, const int64_t *from,
		  int64_t middle, int64_t count, int64_t *to)
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
static int64_t *sort_indices(const struct elements *of, int64_t *indices,
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

			merge(of, indices + at, rest < width ? rest : width,
			      rest < 2 * width ? rest : 2 * width, other + at);
		}
		swap = indices;
		indices = other;
		other = swap;
	}
	return indices;
}

void dray_line_argsort_compared(const struct dray_sorting *order,
				const struct dray_line *line,
				const unsigned char *data, unsigned char *out,
				int64_t step)
{
	const struct elements of = { order, data, line->stride };
	int64_t *indices = line->memory, i;

	indices =
		sort_indices(&of, indices, indices + line->count, line->count);
	for (i = 0; i < line->count; i++)
		memcpy(out + i * step, &indices[i], sizeof(indices[i]));
}

void dray_line_sort_compared(const struct dray_sorting *order,
			     const struct dray_line *line, unsigned char *data)
{
	int64_t *indices = line->memory, i;
	unsigned char *dense = (unsigned char *)line->memory +
			       2 * (size_t)line->count * sizeof(*indices);
	const struct elements of = { order, dense, order->size };

	for (i = 0; i < line->count; i++)
		memcpy(dense + i * of.stride, data + i * line->stride,
		       order->size);
	indices =
		sort_indices(&of, indices, indices + line->count, line->count);
	for (i = 0; i < line->count; i++)
		memcpy(data + i * line->stride, dense + indices[i] * of.stride,
		       order->size);
}
