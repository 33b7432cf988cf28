/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared by the fuzzers: numbers out of an input's bytes, facts that must hold, and
 * arrays compared.  libFuzzer calls LLVMFuzzerTestOneInput() of each program.
 */
#ifndef DRAY_TESTS_FUZZER_H
#define DRAY_TESTS_FUZZER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dray/array.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the program with the sentence of the last failure unless @fact holds. */
#define holds(fact)                                                      \
	do {                                                             \
		if (!(fact)) {                                           \
			fprintf(stderr, "%s:%d: %s does not hold: %s\n", \
				__FILE__, __LINE__, #fact,               \
				dray_last_error());                      \
			abort();                                         \
		}                                                        \
	} while (0)

/* Bytes of an input that were not read yet. */
struct input {
	const uint8_t *at;
	size_t left;
};

/* Reads a number of @size bytes, 8 at most; zeros follow the input's end. */
static inline uint64_t input_number(struct input *input, size_t size)
{
	uint64_t number = 0;
	size_t part = size < input->left ? size : input->left;

	if (part)
		memcpy(&number, input->at, part);
	input->at += part;
	input->left -= part;
	return number;
}

/* Reads a byte and takes it modulo @limit, 1 to 256. */
static inline int input_below(struct input *input, int limit)
{
	return (int)(input_number(input, 1) % (uint64_t)limit);
}

/* Reads a number from -@limit to @limit, 127 at most. */
static inline int input_around(struct input *input, int limit)
{
	return input_below(input, 2 * limit + 1) - limit;
}

/* Copies a view to an array in C order, for a comparison of bytes. */
static inline struct dray_array *packed(const struct dray_view *view)
{
	struct dray_array *copy;

	holds(!dray_array_copy(view, DRAY_ORDER_C, &copy));
	return copy;
}

static inline size_t bytes_of(const struct dray_view *view)
{
	return (size_t)dray_view_size(view) * dray_dtype_itemsize(view->dtype);
}

/* Whether two views have one shape and the same bytes in C order. */
static inline bool same_elements(const struct dray_view *a,
				 const struct dray_view *b)
{
	struct dray_array *first, *second;
	bool same;

	if (a->ndim != b->ndim ||
	    memcmp(a->shape, b->shape,
		   (size_t)a->ndim * sizeof(a->shape[0])) != 0 ||
	    bytes_of(a) != bytes_of(b))
		return false;
	if (!bytes_of(a))
		return true;
	first = packed(a);
	second = packed(b);
	same = !memcmp(first->data, second->data, bytes_of(a));
	dray_array_unref(first);
	dray_array_unref(second);
	return same;
}

static inline bool same_arrays(const struct dray_array *a,
			       const struct dray_array *b)
{
	struct dray_view first, second;

	return same_elements(dray_array_view(a, &first),
			     dray_array_view(b, &second));
}

#endif /* DRAY_TESTS_FUZZER_H */
