// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Copies that are written back, converted if they have another type: the array
 * that one stands for may not be written until then.  (Source: NumPy's
 * WRITEBACKIFCOPY.)
 */
#include <errno.h>

#include <dray/array/cast.h>

#include "array/array.h"
#include "private.h"

/* Checks that the copy can be written back now. */
static int check_pair(const struct dray_array *copy,
		      const struct dray_array *target)
{
	struct dray_operand to, from;
	struct dray_view views[2];
	struct dray_cast cast;
	int ret;

	if (copy == target)
		return dray_fail(-EINVAL, "an array is not a copy of itself");
	ret = dray_operand_init(&to, dray_array_view(target, &views[0]),
				"the array to be written back to");
	if (!ret)
		ret = dray_operand_init(&from, dray_array_view(copy, &views[1]),
					"the copy");
	if (!ret)
		ret = dray_operand_match_shapes(&to, &from);
	return ret ? ret : dray_cast_find(target->dtype, copy->dtype, &cast);
}

/* Whether @copy, or one that it is written back to, is @array. */
static bool leads_to(struct dray_array *copy, const struct dray_array *array)
{
	while (copy && copy != array)
		copy = *dray_array_target(copy);
	return copy;
}

int dray_array_set_write_back(struct dray_array *copy,
			      struct dray_array *target)
{
	int ret;

	if (!dray_given(copy, __func__) || !dray_given(target, __func__))
		return -EINVAL;
	if (*dray_array_target(copy))
		return dray_fail(-EBUSY,
				 "the copy is already to be written back to %p",
				 (void *)*dray_array_target(copy));
	ret = check_pair(copy, target);
	if (!ret && leads_to(target, copy))
		ret = dray_fail(
			-EINVAL,
			"the array is written back to the copy, maybe by others: a circle never ends");
	if (ret)
		return ret;
	*dray_array_target(copy) = dray_array_ref(target);
	copy->flags |= DRAY_WRITE_BACK;
	target->flags &= ~(uint64_t)DRAY_WRITE;
	return 0;
}
