// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dlpack_import: tensors as arrays.  All that may be wrong in one is in
 * test_dlpack_bad.c.
 */
#include <dray/array.h>

#include "memory/backend.h"
#include "node.h"
#include "tensors.h"

FACT(an_array_over_a_tensor_has_its_memory_and_layout)
{
	for (size_t i = 0; i < CASES(layouts); i++) {
		struct dray_dlpack_versioned tensor = versioned_tensor();
		struct dray_array *array;
		struct dray_view view;

		tensor.dl_tensor.ndim = layouts[i].ndim;
		tensor.dl_tensor.shape = (int64_t *)layouts[i].shape;
		tensor.dl_tensor.strides = (int64_t *)layouts[i].strides;
		tensor.dl_tensor.byte_offset = 8 * layouts[i].first;
		assert_works(dray_dlpack_import(&tensor, 0, -1, &array));
		dray_array_view(array, &view);
		assert_ptr_equal(view.data, tensor_data + layouts[i].first);
		assert_int_equal(view.dtype, DRAY_FLOAT64);
		assert_int_equal(view.ndim, layouts[i].ndim);
		for (int axis = 0; axis < view.ndim; axis++) {
			assert_int_equal(view.shape[axis],
					 layouts[i].shape[axis]);
			assert_int_equal(view.strides[axis],
					 8 * layouts[i].strides[axis]);
		}
		assert_int_equal(view.flags & PERMISSIONS,
				 DRAY_READ | DRAY_WRITE);
		assert_true(view.flags & DRAY_ALIGNED);
		assert_false(array->flags & DRAY_OWNED);
		dray_array_unref(array);
		assert_int_equal(given_back, 1);
	}
}

FACT(a_tensor_is_given_back_after_the_last_slice)
{
	struct dray_dlpack_managed tensor = legacy_tensor();
	struct dray_array *array, *slice;
	struct dray_view part;

	assert_works(dray_dlpack_import_legacy(&tensor, DRAY_DLPACK_WRITABLE,
					       -1, &array));
	assert_works(dray_view_flip(whole_view(array), NULL, 0, &part));
	assert_works(dray_array_over(&part, &array->block, &slice));
	dray_array_unref(array);
	assert_int_equal(given_back, 0);
	*(double *)slice->data = 4;
	assert_true(tensor_data[11] == 4);
	dray_array_unref(slice);
	assert_int_equal(given_back, 1);
	tensor.deleter = NULL;
	assert_works(dray_dlpack_import_legacy(&tensor, 0, -1, &array));
	dray_array_unref(array);
}

FACT(a_tensor_is_read_only_unless_it_or_the_caller_says_otherwise)
{
	static const struct {
		bool versioned;
		uint64_t marks;
		uint32_t flags;
		int64_t permissions; /* below 0: the code */
	} cases[] = {
		{ true, 0, 0, DRAY_READ | DRAY_WRITE },
		{ true, 0, DRAY_DLPACK_WRITABLE, DRAY_READ | DRAY_WRITE },
		{ true, DRAY_DLPACK_FLAG_IS_COPIED, 0, DRAY_READ | DRAY_WRITE },
		{ true, DRAY_DLPACK_FLAG_READ_ONLY, 0, DRAY_READ },
		{ true, DRAY_DLPACK_FLAG_READ_ONLY, DRAY_DLPACK_WRITABLE,
		  -EPERM },
		/* Marks of a later minor version */
		{ true, UINT64_MAX - 1, 0, DRAY_READ | DRAY_WRITE },
		{ false, 0, 0, DRAY_READ },
		{ false, 0, DRAY_DLPACK_WRITABLE, DRAY_READ | DRAY_WRITE },
		{ true, 0, DRAY_DLPACK_COPIED, -EINVAL },
		{ false, 0, 8, -EINVAL },
	};

	for (size_t i = 0; i < CASES(cases); i++) {
		struct dray_dlpack_managed legacy = legacy_tensor();
		struct dray_dlpack_versioned versioned = versioned_tensor();
		struct dray_array *array = NULL;
		int ret;

		versioned.flags = cases[i].marks;
		ret = cases[i].versioned
			      ? dray_dlpack_import(&versioned, cases[i].flags,
						   -1, &array)
			      : dray_dlpack_import_legacy(
					&legacy, cases[i].flags, -1, &array);
		if (!ret)
			ret = array->flags & PERMISSIONS;
		assert_int_equal(ret, cases[i].permissions);
		dray_array_unref(array);
		assert_int_equal(given_back, ret >= 0);
	}
}

FACT(a_later_minor_version_is_read)
{
	struct dray_dlpack_versioned tensor = versioned_tensor();
	struct dray_array *array;

	tensor.version.minor = UINT32_MAX;
	assert_works(dray_dlpack_import(&tensor, 0, -1, &array));
	dray_array_unref(array);
	assert_int_equal(given_back, 1);
}

FACT(memory_that_the_cpu_reaches_comes_from_any_device)
{
	static const int32_t devices[] = { DRAY_DLPACK_CPU,
					   DRAY_DLPACK_CUDA_HOST,
					   DRAY_DLPACK_ROCM_HOST,
					   DRAY_DLPACK_CUDA_MANAGED };
	struct dray_dlpack_tensor tensor = plain_tensor();
	struct dray_view view;

	for (int32_t type = 1; type < 256; type++) {
		bool expected = false;

		for (size_t i = 0; i < CASES(devices); i++)
			expected |= devices[i] == type;
		tensor.device = (struct dray_dlpack_device){ type, 3 };
		assert_int_equal(!dray_dlpack_read(&tensor, NULL, &view),
				 expected);
	}
}

NODE_FACT(memory_that_the_cpu_does_not_reach_is_on_a_device_of_its_own)
{
	struct dray_dlpack_versioned *tensor;
	struct dray_array *array, *again = NULL;
	struct dray_buffer *buffer;

	assert_works(dray_buffer_alloc(*state, 4096, NULL, &buffer));
	buffer->mode = DRAY_MODE_DEVICE; /* as a carve-out may be */
	assert_works(dray_array_from_buffer(buffer, 64, f4, 1, DIMS(1000), NULL,
					    &array));
	assert_works(dray_dlpack_export(array, 0, -1, &tensor));
	assert_int_equal(tensor->dl_tensor.device.device_type,
			 DRAY_DLPACK_EXT_DEV);
	tensor->dl_tensor.shape[0] = 1009;
	assert_fails(dray_dlpack_import(tensor, 0, -1, &again), -EINVAL,
		     "4036 bytes leaves its block of 4096");
	tensor->dl_tensor.shape[0] = 1008;
	assert_works(dray_dlpack_import(tensor, 0, -1, &again));
	assert_ptr_equal(again->data, array->data);
	dray_array_unref(again);
	dray_array_unref(array);
	/* Nothing is nowhere. */
	assert_works(dray_array_from_buffer(buffer, 0, u1, 1, DIMS(0), NULL,
					    &array));
	assert_works(dray_dlpack_export(array, 0, -1, &tensor));
	assert_int_equal(tensor->dl_tensor.device.device_type, DRAY_DLPACK_CPU);
	assert_ptr_equal(tensor->dl_tensor.data, array->data);
	dray_dlpack_drop(tensor);
	dray_array_unref(array);
	dray_buffer_unref(buffer);
}

FACT(a_tensor_of_each_type_and_rank_comes_back_as_it_was)
{
	int64_t shape[DRAY_MAX_NDIM];

	for (int ndim = 0; ndim <= DRAY_MAX_NDIM; ndim++) {
		struct dray_dlpack_versioned *tensor;
		struct dray_array *array, *again;
		dray_dtype dtype = types[ndim % CASES(types)].dtype;

		for (int i = 0; i < ndim; i++)
			shape[i] = 1 + i % 12 / 11;
		assert_works(dray_array_zeros(dtype, ndim, shape, &array));
		assert_works(dray_dlpack_export(array, 0, -1, &tensor));
		assert_works(dray_dlpack_import(tensor, 0, -1, &again));
		assert_int_equal(again->dtype, dtype);
		assert_ptr_equal(again->data, array->data);
		assert_int_equal(again->ndim, ndim);
		assert_memory_equal(
			dray_array_axes(again), dray_array_axes(array),
			(size_t)ndim * sizeof(struct dray_array_axis));
		assert_int_equal(again->flags, array->flags & ~DRAY_OWNED);
		dray_array_unref(array);
		dray_array_unref(again);
	}
}
