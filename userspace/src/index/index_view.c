// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Views by an index: at once by integers and slices, which most indices are, and by
 * a plan for all others and for errors.
 */
#include <errno.h>

#include "index/index.h"
#include "index/slice.h"
#include "view/view_usual.h"
#include "base/error.h"
#include "base/number.h"

/*
 * Indexes a checked view by integers and slices alone, without a plan.  False if
 * there are other steps, or one is wrong.
 */
static inline bool index_at_once(const struct dray_view *view,
				 const struct dray_index *index, size_t count,
				 struct dray_view *made)
{
	struct dray_result result = dray_result_start(view, made, NULL);
	uint64_t offset = 0;
	size_t axis;

	if (count > (size_t)view->ndim || !index)
		return false;
	for (axis = 0; axis < count; axis++) {
		int64_t extent = view->shape[axis];
		int64_t stride = view->strides[axis], at = index[axis].start;

		if (index[axis].kind == DRAY_INDEX_SLICE && index[axis].step) {
			struct dray_slice slice =
				dray_slice_of(&index[axis], extent);

			at = slice.start;
			if (dray_mul_overflow(stride, slice.step, &stride))
				return false;
			dray_result_add(&result, slice.count, stride);
			stride = view->strides[axis];
		} else if (index[axis].kind == DRAY_INDEX_INTEGER) {
			at += at < 0 ? extent : 0;
			if (at < 0 || at >= extent)
				return false;
		} else {
			return false;
		}
		offset += (uint64_t)at * (uint64_t)stride;
	}
	for (; axis < (size_t)view->ndim; axis++)
		dray_result_add(&result, view->shape[axis],
				view->strides[axis]);
	made->data = dray_address_add(view->data, (int64_t)offset);
	dray_result_end(&result, view->flags);
	return true;
}

int dray_view_index(const struct dray_view *view,
		    const struct dray_index *index, size_t count,
		    struct dray_view *out)
{
	struct dray_index_plan plan;
	struct dray_extent extent;
	struct dray_view made;
	int ret;

	if (!dray_given(out, __func__))
		return -EINVAL;
	ret = dray_view_check_inline(view, "the indexed view", &extent);
	if (ret)
		return ret;
	if (index_at_once(view, index, count, &made)) {
		dray_view_write(out, &made);
		return 0;
	}
	ret = dray_index_prepare(&plan, view, index, count);
	if (ret)
		return ret;
	if (plan.arrays_count || plan.mask)
		return dray_fail(
			-EINVAL,
			"an array as an index makes a copy, not a view");
	return dray_view_finish(&plan.rest, out);
}
