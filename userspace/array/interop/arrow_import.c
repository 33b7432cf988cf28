// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Arrow's arrays as ours.  Every number in the structures is checked before it is
 * used.  The producer's array is moved into a keeper only when all arrays over it
 * are made; the last of them releases it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "interop/arrow.h"
#include "interop/arrow_take.h"
#include "private.h"

int dray_arrow_keeper_make(struct dray_arrow_keeper **out)
{
	struct dray_arrow_keeper *keeper = calloc(1, sizeof(*keeper));

	if (!keeper)
		return dray_fail(-ENOMEM, "no memory for an array of Arrow");
	atomic_init(&keeper->count, 1);
	*out = keeper;
	return 0;
}

/* Moves the producer's array, unless the import failed; drops the keeper. */
static void arrow_import_finish(struct dray_arrow_keeper *keeper,
				struct ArrowArray *from, int ret)
{
	if (!ret) {
		keeper->array = *from;
		from->release = NULL;
	}
	dray_arrow_keeper_drop(keeper);
}

static void arrow_import_drop(struct dray_arrow_taken *taken)
{
	dray_array_unref(taken->array);
	dray_array_unref(taken->mask);
	*taken = (struct dray_arrow_taken){ 0 };
}

int dray_arrow_check_given(const struct ArrowSchema *schema,
			   const struct ArrowArray *from, uint32_t flags)
{
	if (!schema->release || !from->release)
		return dray_fail(-EINVAL, "the %s of Arrow was released",
				 schema->release ? "array" : "schema");
	return dray_arrow_check_flags(flags);
}

int dray_arrow_import(const struct ArrowSchema *schema, struct ArrowArray *from,
		      uint32_t flags, int timeout_ms, struct dray_array **out,
		      struct dray_array **mask)
{
	struct dray_arrow_take take = {
		.flags = flags,
		.timeout_ms = timeout_ms,
		.masks = mask,
	};
	struct dray_arrow_taken taken = { 0 };
	int ret;

	if (!dray_given(schema, __func__) || !dray_given(from, __func__) ||
	    !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_arrow_check_given(schema, from, flags);
	if (!ret)
		ret = dray_arrow_keeper_make(&take.keeper);
	if (ret)
		return ret;
	ret = dray_arrow_take(&take, schema, from, 0, from->length, 0, &taken);
	arrow_import_finish(take.keeper, from, ret);
	if (ret)
		return ret;
	*out = taken.array;
	if (mask)
		*mask = taken.mask;
	return 0;
}

int dray_arrow_import_fields(const struct ArrowSchema *schema,
			     struct ArrowArray *from, uint32_t flags,
			     int timeout_ms, size_t count,
			     struct dray_array **out, struct dray_array **masks)
{
	struct dray_arrow_take take = {
		.flags = flags,
		.timeout_ms = timeout_ms,
		.masks = masks,
	};
	struct dray_arrow_taken *taken;
	size_t i;
	int ret;

	if (!dray_given(schema, __func__) || !dray_given(from, __func__) ||
	    !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_arrow_check_given(schema, from, flags);
	if (!ret)
		ret = dray_arrow_check_fields(schema, count);
	if (ret)
		return ret;
	taken = calloc(count + 1, sizeof(*taken));
	if (!taken)
		return dray_fail(-ENOMEM, "no memory for %zu fields", count);
	ret = dray_arrow_keeper_make(&take.keeper);
	if (!ret) {
		ret = dray_arrow_take_fields(&take, schema, from, 0,
					     from->length, 0, taken);
		arrow_import_finish(take.keeper, from, ret);
	}
	for (i = 0; i < count; i++) {
		if (ret) {
			arrow_import_drop(&taken[i]);
			continue;
		}
		out[i] = taken[i].array;
		if (masks)
			masks[i] = taken[i].mask;
	}
	free(taken);
	return ret;
}

int dray_arrow_check_device(const struct ArrowDeviceArray *from)
{
	if (!dray_given(from, __func__))
		return -EINVAL;
	switch (from->device_type) {
	case ARROW_DEVICE_CPU:
	case ARROW_DEVICE_CUDA_HOST:
	case ARROW_DEVICE_ROCM_HOST:
		break;
	default:
		return dray_fail(
			-EOPNOTSUPP,
			"the array lies on a device of type %d, not in memory of the CPU (%d)",
			from->device_type, ARROW_DEVICE_CPU);
	}
	if (from->sync_event)
		return dray_fail(
			-EOPNOTSUPP,
			"the array has an event, for which only its producer can wait: do so, and set sync_event to NULL");
	return 0;
}
