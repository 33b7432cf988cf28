/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The array that a buffer's bytes are, as --dtype and --shape say. */
#ifndef DMACTL_ELEMENTS_H
#define DMACTL_ELEMENTS_H

#include <dray/view.h>

#include "reach.h"

extern const struct command_option dtype_option;
extern const struct command_option shape_option;

struct elements {
	dray_dtype dtype;
	int ndim; /* 0: one axis over all bytes */
	int64_t extents[DRAY_MAX_NDIM];
};

/* Reads the options; complains if they describe no array. */
bool elements_given(const struct request *request, struct elements *elements);
void elements_drop(struct elements *elements);

/*
 * Describes a part of a buffer as an array; complains if the part is too small,
 * or without a shape no multiple of the type.
 */
bool elements_view(const struct elements *elements,
		   const struct reached *reached, const struct part *part,
		   struct dray_view *view);

#endif /* DMACTL_ELEMENTS_H */
