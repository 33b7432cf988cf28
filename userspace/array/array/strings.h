/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Arrays of strings, for the files that make and read finished ones. */
#ifndef DRAY_ARRAY_STRINGS_H
#define DRAY_ARRAY_STRINGS_H

#include <dray/array/strings.h>

/*
 * Makes an array with room for @capacity strings over @bytes, whose reference it
 * adopts unless it fails.  -EOVERFLOW, -ENOMEM.
 */
int dray_strings_over(struct dray_block *bytes, size_t capacity,
		      struct dray_block **out);

/* Fills in the next string of an array with room. */
void dray_strings_add(struct dray_block *strings, char *begin, char *end);

/* Makes an array of the pairs of @part, a view of those of @strings.  -ENOMEM. */
int dray_strings_share(struct dray_block *strings, const struct dray_view *part,
		       struct dray_block **out);

/* Describes the pairs of a finished array as raw data.  -EINVAL, -EPERM. */
int dray_strings_view(const struct dray_block *strings, struct dray_view *view);

static inline const struct dray_string *
dray_strings_at(const struct dray_view *view, int64_t index)
{
	return (const void *)((const char *)view->data +
			      index * view->strides[0]);
}

/* Checks a view for @count elements of @dtype.  -EINVAL, -EPERM (@flags). */
int dray_strings_check_view(const struct dray_view *view, const char *name,
			    dray_dtype dtype, int64_t count, uint32_t flags);

#endif /* DRAY_ARRAY_STRINGS_H */
