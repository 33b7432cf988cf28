/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Whether elements are true: anything but 0, or with a byte that is not 0. */
#ifndef DRAY_INDEX_TRUTH_H
#define DRAY_INDEX_TRUTH_H

#include <dray/element.h>
#include <dray/view.h>

struct dray_truth;

/* Writes a byte for each of @count elements, 1 where it is true. */
typedef void dray_truth_loop(const struct dray_truth *truth,
			     const unsigned char *data, int64_t stride,
			     size_t count, unsigned char *out);

struct dray_truth {
	dray_truth_loop *loop;
	uint64_t mask; /* bits that count, of an element of 1 to 8 bytes */
	size_t size;
	size_t part; /* bytes from one number to the next; 0: no sign */
	size_t used; /* bytes of a part that count */
	size_t sign; /* the byte of a part with the sign in its highest bit */
	dray_dtype dtype; /* of type objects: borrowed, and its functions */
	const struct dray_dtype_functions *functions;
};

/* Chooses the loop of a valid type. */
void dray_truth_of(struct dray_truth *truth, dray_dtype dtype);

/*
 * A dense view of booleans, of the elements of a checked one; ended by
 * free(data).  -ENOMEM.
 */
int dray_truth_view(const struct dray_view *view, struct dray_view *out);

#endif /* DRAY_INDEX_TRUTH_H */
