// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dlpack_faults: each allocation of an export and of an import fails once, then
 * with all that come after it; the array and the tensor are then as before.  The
 * address sanitizer sees leaks.
 */
#include <dray/array.h>

#include "fault.h"
#include "tensors.h"

WRAPPED(void *, malloc, (size_t size))
{
	return fails_now() ? NULL : __real_malloc(size);
}

WRAPPED(int, posix_memalign, (void **out, size_t alignment, size_t size))
{
	return fails_now() ? ENOMEM
			   : __real_posix_memalign(out, alignment, size);
}

static struct dray_array *array;

static int export_both(void)
{
	struct dray_dlpack_versioned *versioned;
	struct dray_dlpack_managed *legacy;
	int ret = dray_dlpack_export(array, 0, -1, &versioned);

	if (ret)
		return ret;
	ret = dray_dlpack_export_legacy(array, 0, -1, &legacy);
	if (!ret)
		dray_dlpack_drop_legacy(legacy);
	dray_dlpack_drop(versioned);
	return ret;
}

static int import_both(void)
{
	struct dray_dlpack_managed legacy = legacy_tensor();
	struct dray_dlpack_versioned versioned = versioned_tensor();
	struct dray_array *first, *second;
	int ret = dray_dlpack_import(&versioned, 0, -1, &first);

	assert_int_equal(given_back, 0);
	if (ret)
		return ret;
	ret = dray_dlpack_import_legacy(&legacy, 0, -1, &second);
	assert_int_equal(given_back, 0);
	if (!ret)
		dray_array_unref(second);
	dray_array_unref(first);
	assert_int_equal(given_back, ret ? 1 : 2);
	return ret;
}

/* Whether there is an n-th call of the system. */
static bool fail_call(int (*work)(void), int n, bool last)
{
	int ret;

	arm_with(n, last);
	ret = work();
	disarm_after(ret);
	assert_int_equal(dray_block_count(&array->block), 1);
	return ret;
}

FACT(a_failing_export_keeps_no_array)
{
	assert_works(dray_array_zeros(f4, 2, DIMS(3, 4), &array));
	fail_each_call(fail_call, export_both);
	dray_array_unref(array);
}

FACT(a_failing_import_leaves_the_tensor_to_the_caller)
{
	assert_works(dray_array_zeros(f4, 2, DIMS(3, 4), &array));
	fail_each_call(fail_call, import_both);
	dray_array_unref(array);
}
