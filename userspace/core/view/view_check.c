// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Checks of views.  Callers fill views by hand and other processes send them, so
 * every entry point comes here first.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "dtype/dtype.h"
#include "view/view.h"
#include "base/error.h"
#include "base/number.h"

static bool leaves_address_space(const void *data, int64_t low, int64_t high)
{
	uintptr_t start, end;

	/* low is at most 0 and high at least 0, for any strides. */
	return dray_sub_overflow((uintptr_t)data, (uint64_t)-low, &start) ||
	       dray_add_overflow((uintptr_t)data, (uint64_t)high, &end);
}

int dray_shape_check(const char *name, int ndim, const int64_t *shape)
{
	int i;

	if (ndim < 0 || ndim > DRAY_MAX_NDIM)
		return dray_fail(-EINVAL,
				 "%s has %d axes, 0 to %d are possible", name,
				 ndim, DRAY_MAX_NDIM);
	if (ndim && !shape)
		return dray_fail(-EINVAL, "%s has %d axes and no shape", name,
				 ndim);
	for (i = 0; i < ndim; i++) {
		if (shape[i] < 0)
			return dray_fail(-EINVAL,
					 "axis %d of %s has %" PRId64
					 " elements",
					 i, name, shape[i]);
	}
	return 0;
}

const char *dray_shape_format(char text[DRAY_SHAPE_TEXT], int ndim,
			      const int64_t *shape)
{
	size_t used = 1;
	int i;

	text[0] = '(';
	for (i = 0; i < ndim; i++) {
		/* room for one more, and for the end of a short text */
		if (used > DRAY_SHAPE_TEXT - 28)
			break;
		used += (size_t)snprintf(text + used, DRAY_SHAPE_TEXT - used,
					 i ? ",%" PRId64 : "%" PRId64,
					 shape[i]);
	}
	snprintf(text + used, DRAY_SHAPE_TEXT - used, "%s",
		 i < ndim    ? ",...)"
		 : ndim == 1 ? ",)"
			     : ")");
	return text;
}

/* Checks and measures a view, except for its data. */
static int view_check_measure(const struct dray_view *view, const char *name,
			      struct dray_extent *extent)
{
	dray_dtype normal;
	int ret;

	ret = dray_shape_check(name, view->ndim, view->shape);
	if (!ret)
		ret = dray_dtype_check(view->dtype, &normal);
	if (ret)
		return ret;
	if (view->flags & ~DRAY_VIEW_FLAGS)
		return dray_fail(-EINVAL, "%s has unknown flags 0x%x", name,
				 view->flags & ~DRAY_VIEW_FLAGS);
	if ((view->flags & DRAY_WRITE) && (view->flags & DRAY_IMMUTABLE))
		return dray_fail(-EINVAL, "%s is writable and immutable", name);
	if (dray_view_measure_overflow(view->ndim, view->shape, view->strides,
				       dray_dtype_itemsize(view->dtype),
				       extent))
		return dray_fail(-EOVERFLOW,
				 "%s covers more bytes than 63 bits count",
				 name);
	return 0;
}

int dray_view_check(const struct dray_view *view, const char *name,
		    struct dray_extent *extent)
{
	struct dray_extent unused;
	int ret;

	if (!extent)
		extent = &unused;
	if (dray_view_is_usual(view, extent))
		return 0;
	if (!view)
		return dray_fail(-EINVAL, "%s is NULL", name);
	ret = view_check_measure(view, name, extent);
	if (ret || extent->low == extent->high)
		return ret;
	if (!view->data)
		return dray_fail(-EINVAL,
				 "%s has %" PRId64 " elements and no data",
				 name, extent->elements);
	if (leaves_address_space(view->data, extent->low, extent->high))
		return dray_fail(-EOVERFLOW,
				 "%s covers bytes %" PRId64 " to %" PRId64
				 " around %p, which leaves the address space",
				 name, extent->low, extent->high, view->data);
	return 0;
}

int dray_view_place(struct dray_view *view, void *memory, uint64_t size,
		    uint64_t offset)
{
	struct dray_extent extent;

	if (offset > size)
		return dray_fail(-EBADMSG,
				 "the array begins at %" PRIu64
				 " in memory of %" PRIu64 " bytes",
				 offset, size);
	view->data = memory;
	if (dray_dtype_normalize(view->dtype, &view->dtype) ||
	    dray_view_check(view, "the array of the record", &extent))
		return -EBADMSG; /* With their sentence. */
	if (extent.low < -(int64_t)offset ||
	    extent.high > (int64_t)(size - offset))
		return dray_fail(-EBADMSG,
				 "the array covers bytes %" PRId64
				 " to %" PRId64 " around offset %" PRIu64
				 " in memory of %" PRIu64 " bytes",
				 extent.low, extent.high, offset, size);
	view->data = (char *)memory + offset;
	dray_view_set_facts(view);
	return 0;
}
