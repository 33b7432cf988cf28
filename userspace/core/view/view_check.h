/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Checks of shapes and views, without a call in usual cases. */
#ifndef DRAY_VIEW_VIEW_CHECK_H
#define DRAY_VIEW_VIEW_CHECK_H

#include "view/view.h"

/* dray_shape_check(), without a call if all is well. */
static inline int dray_shape_check_inline(const char *name, int ndim,
					  const int64_t *shape)
{
	int64_t signs = 0;
	int i;

	if ((uint32_t)ndim > DRAY_MAX_NDIM || !shape)
		return dray_shape_check(name, ndim, shape);
	for (i = 0; i < ndim; i++)
		signs |= shape[i];
	return signs < 0 ? dray_shape_check(name, ndim, shape) : 0;
}

/* dray_view_check(), without a call for a usual view. */
static inline int dray_view_check_inline(const struct dray_view *view,
					 const char *name,
					 struct dray_extent *extent)
{
	if (__builtin_expect(dray_view_is_usual(view, extent), 1))
		return 0;
	return dray_view_check(view, name, extent);
}

#endif /* DRAY_VIEW_VIEW_CHECK_H */
