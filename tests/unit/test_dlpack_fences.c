// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dlpack_fences: arrays that a transfer has, on their way out as tensors and in.
 */
#include <dray/array.h>

#include "simulated_queue.h"
#include "tensors.h"

static struct dray_view reading(const struct dray_view *view)
{
	struct dray_view out;

	dray_view_copy(&out, view);
	out.flags &= ~(uint32_t)DRAY_WRITE;
	return out;
}

/* A tensor of a stranger over the memory of @view. */
static struct dray_dlpack_versioned stranger_over(const struct dray_view *view,
						  uint64_t marks)
{
	struct dray_dlpack_versioned tensor = versioned_tensor();
	static int64_t strides[2];

	tensor.flags = marks;
	assert_works(dray_dlpack_describe(view, strides, &tensor.dl_tensor));
	return tensor;
}

QUEUE_FACT(an_array_leaves_when_no_transfer_has_it)
{
	struct dray_view dst = square(1), src = square(2), seen = reading(&src);
	struct dray_dlpack_versioned *tensor = NULL;
	struct dray_fence *fence;

	assert_works(dray_copy(queue, &dst, &src, 0, &fence));
	assert_fails(dray_dlpack_export_view(&dst, NULL, NULL, 0, 20, &tensor),
		     -ETIME, "20 ms");
	assert_fails(dray_dlpack_export_view(&src, NULL, NULL, 0, 0, &tensor),
		     -ETIME, "0 ms");
	assert_null(tensor);
	/* A consumer that only reads meets no transfer that only reads. */
	assert_works(dray_dlpack_export_view(&seen, NULL, NULL, 0, 0, &tensor));
	dray_dlpack_drop(tensor);
	assert_works(dray_dlpack_export_view(&dst, NULL, NULL,
					     DRAY_DLPACK_NO_WAIT, 0, &tensor));
	assert_int_equal(*(unsigned char *)tensor->dl_tensor.data, 1);
	dray_dlpack_drop(tensor);
	assert_works(dray_dlpack_export_view(&dst, NULL, NULL, 0, -1, &tensor));
	assert_int_equal(*(unsigned char *)tensor->dl_tensor.data, 2);
	dray_dlpack_drop(tensor);
	dray_fence_unref(fence);
	discard(&dst);
	discard(&src);
}

/* Its producer may know nothing of transfers. */
QUEUE_FACT(a_tensor_comes_in_when_no_transfer_has_it)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_dlpack_versioned to = stranger_over(&dst, 0);
	struct dray_dlpack_versioned from =
		stranger_over(&src, DRAY_DLPACK_FLAG_READ_ONLY);
	struct dray_array *array = NULL;
	struct dray_fence *fence;

	assert_works(dray_copy(queue, &dst, &src, 0, &fence));
	assert_fails(dray_dlpack_import(&to, 0, 20, &array), -ETIME, "20 ms");
	assert_null(array);
	assert_works(dray_dlpack_import(&from, 0, 0, &array));
	dray_array_unref(array);
	assert_works(dray_dlpack_import(&to, DRAY_DLPACK_NO_WAIT, 0, &array));
	dray_array_unref(array);
	assert_works(dray_dlpack_import(&to, 0, -1, &array));
	assert_int_equal(*(unsigned char *)array->data, 2);
	dray_array_unref(array);
	assert_int_equal(given_back, 3);
	dray_fence_unref(fence);
	discard(&dst);
	discard(&src);
}

QUEUE_FACT(a_failed_transfer_keeps_no_array_waiting)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_dlpack_versioned *tensor;
	struct dray_fence *fence;

	engine.outcome = -EIO;
	assert_works(dray_copy(queue, &dst, &src, 0, &fence));
	assert_works(dray_dlpack_export_view(&dst, NULL, NULL, 0, -1, &tensor));
	dray_dlpack_drop(tensor);
	dray_fence_unref(fence);
	discard(&dst);
	discard(&src);
}
