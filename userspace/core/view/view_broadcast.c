// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Broadcasting: axes of one element stand for any number of equal ones.
 */
#include <errno.h>
#include <inttypes.h>

#include "view/view_check.h"
#include "view/view_result.h"
#include "base/error.h"

/* Whether axis @i of @view repeats one element; -1 if it does not fit. */
static int view_broadcast_repeats(const struct dray_view *view, int i,
				  int64_t extent)
{
	if (i < 0 || view->shape[i] == 1)
		return 1;
	return view->shape[i] == extent ? 0 : -1;
}

/* Broadcasts a usual view; false if it is not, or an argument is wrong. */
static inline bool broadcast_at_once(const struct dray_view *view, int ndim,
				     const int64_t *shape,
				     struct dray_view *out)
{
	int added = ndim - view->ndim, i;
	uint32_t flags = view->flags & ~DRAY_WRITE;
	struct dray_extent extent;
	struct dray_result result;
	struct dray_view room;

	if ((uint32_t)view->ndim > DRAY_MAX_NDIM || added < 0 ||
	    ndim > DRAY_MAX_NDIM || (ndim && !shape) ||
	    !dray_extent_start(&extent, view))
		return false;
	for (i = 0; i < ndim; i++) {
		int repeated =
			view_broadcast_repeats(view, i - added, shape[i]);

		if (repeated < 0 ||
		    !dray_extent_add(&extent, shape[i],
				     repeated ? 0 : view->strides[i - added]))
			return false;
	}
	if (!dray_extent_end(&extent, view))
		return false;
	result = dray_result_start(view, out, &room);
	for (i = 0; i < ndim; i++)
		dray_result_add(&result, shape[i],
				view_broadcast_repeats(view, i - added,
						       shape[i])
					? 0
					: view->strides[i - added]);
	dray_result_end(&result, flags);
	return true;
}

int dray_view_broadcast(const struct dray_view *view, int ndim,
			const int64_t *shape, struct dray_view *out)
{
	struct dray_view result;
	int added, ret;
	int i;

	if (!dray_given(view, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	if (broadcast_at_once(view, ndim, shape, out))
		return 0;
	ret = dray_shape_check("the view", view->ndim, view->shape);
	if (!ret)
		ret = dray_shape_check("a broadcast", ndim, shape);
	if (ret)
		return ret;
	added = ndim - view->ndim;
	if (added < 0)
		return dray_fail(-EINVAL, "%d axes cannot be broadcast to %d",
				 view->ndim, ndim);
	dray_view_begin(&result, view, ndim);
	for (i = 0; i < ndim; i++) {
		int repeated =
			view_broadcast_repeats(view, i - added, shape[i]);

		if (repeated < 0)
			return dray_fail(
				-EINVAL,
				"axis %d of %" PRId64
				" elements cannot be broadcast to %" PRId64,
				i - added, view->shape[i - added], shape[i]);
		result.shape[i] = shape[i];
		result.strides[i] = repeated ? 0 : view->strides[i - added];
	}
	result.flags &= ~DRAY_WRITE;
	ret = dray_view_check(&result, "a broadcast", NULL);
	return ret ? ret : dray_view_finish(&result, out);
}

int dray_broadcast_shapes(int count, const int *ndims,
			  const int64_t *const *shapes, int *ndim,
			  int64_t *shape)
{
	/* The shape that each extent above 1 came from, for the sentence. */
	int maker[DRAY_MAX_NDIM];
	int64_t result[DRAY_MAX_NDIM];
	int most = 0;
	int i, k, at, ret;

	if (!dray_given(ndim, __func__) || !dray_given(shape, __func__) ||
	    (count > 0 &&
	     (!dray_given(ndims, __func__) || !dray_given(shapes, __func__))))
		return -EINVAL;
	for (i = 0; i < count; i++) {
		ret = dray_shape_check_inline("a shape", ndims[i], shapes[i]);
		if (ret)
			return ret;
		most = ndims[i] > most ? ndims[i] : most;
	}
	for (at = 0; at < most; at++) {
		result[at] = 1;
		maker[at] = 0;
	}
	for (i = 0; i < count; i++) {
		for (k = 0; k < ndims[i]; k++) {
			int64_t extent = shapes[i][k];
			char one[DRAY_SHAPE_TEXT], other[DRAY_SHAPE_TEXT];

			at = most - ndims[i] + k;
			if (extent == 1 || extent == result[at])
				continue;
			if (result[at] == 1) {
				result[at] = extent;
				maker[at] = i;
				continue;
			}
			return dray_fail(
				-EINVAL,
				"shape %d, %s, and shape %d, %s, cannot be broadcast to one",
				maker[at],
				dray_shape_format(one, ndims[maker[at]],
						  shapes[maker[at]]),
				i,
				dray_shape_format(other, ndims[i], shapes[i]));
		}
	}
	dray_axes_copy(shape, result, most);
	*ndim = most;
	return 0;
}
