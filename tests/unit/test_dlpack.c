// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dlpack: types, and arrays as tensors.  Tensors as arrays are in
 * test_dlpack_import.c; those of real libraries in tests/python and tests/interop.
 */
#include <dray/array.h>

#include "pool.h"
#include "tensors.h"

FACT(each_type_has_one_code)
{
	struct dray_dlpack_dtype code;
	dray_dtype dtype;

	for (size_t i = 0; i < CASES(types); i++) {
		assert_works(dray_dlpack_from_dtype(types[i].dtype, &code));
		assert_memory_equal(&code, &types[i].code, sizeof(code));
		assert_works(dray_dlpack_to_dtype(&code, &dtype));
		assert_int_equal(dtype, types[i].dtype);
	}
}

FACT(types_without_a_code_are_refused)
{
	static const struct {
		const char *type, *part;
	} cases[] = {
		{ ">f8", "type >f8 has the other byte order" },
		{ "M8[s]", "type <M8[s]" },
		{ "m8", "type <m8" },
		{ "S3", "type |S3" },
		{ "U2", "type <U2" },
		{ "V8", "type |V8" },
		{ "i4,f8", "[('f0', '<i4'), ('f1', '<f8')]" },
	};
	struct dray_dlpack_dtype code;
	dray_dtype dtype;

	for (size_t i = 0; i < CASES(cases); i++) {
		assert_works(dray_dtype_parse(cases[i].type, &dtype));
		assert_fails(dray_dlpack_from_dtype(dtype, &code), -EOPNOTSUPP,
			     cases[i].part);
		dray_dtype_unref(dtype);
	}
	assert_fails(dray_dlpack_from_dtype(0, &code), -EOPNOTSUPP, "no code");
}

/* Each code that DLPack has, with each number of bits and some lanes. */
FACT(codes_without_a_type_are_refused)
{
	unsigned int known = 0;
	dray_dtype dtype;

	for (unsigned int i = 0; i < 256 * 256; i++) {
		struct dray_dlpack_dtype code = { (uint8_t)(i >> 8), (uint8_t)i,
						  1 };

		if (!dray_dlpack_to_dtype(&code, &dtype)) {
			assert_int_equal(dray_dtype_itemsize(dtype) * 8,
					 code.bits);
			known++;
		}
		code.lanes = i & 1 ? 0 : 4;
		assert_fails(dray_dlpack_to_dtype(&code, &dtype), -EOPNOTSUPP,
			     "lanes, only 1");
	}
	assert_int_equal(known, CASES(types));
	assert_fails(dray_dlpack_to_dtype(
			     &(struct dray_dlpack_dtype){ DRAY_DLPACK_BFLOAT,
							  16, 1 },
			     &dtype),
		     -EOPNOTSUPP, "code 4 with 16 bits");
}

static struct dray_view view_of(size_t layout)
{
	struct dray_view view;

	assert_works(dray_view_init(&view, tensor_data + layouts[layout].first,
				    DRAY_FLOAT64, layouts[layout].ndim,
				    layouts[layout].shape,
				    layouts[layout].bytes));
	return view;
}

static void check_tensor(const struct dray_dlpack_tensor *tensor, size_t layout)
{
	assert_ptr_equal(tensor->data, tensor_data + layouts[layout].first);
	assert_int_equal(tensor->device.device_type, DRAY_DLPACK_CPU);
	assert_int_equal(tensor->device.device_id, 0);
	assert_int_equal(tensor->byte_offset, 0);
	assert_int_equal(tensor->ndim, layouts[layout].ndim);
	assert_non_null(tensor->strides);
	assert_memory_equal(tensor->shape, layouts[layout].shape,
			    (size_t)tensor->ndim * sizeof(int64_t));
	assert_memory_equal(tensor->strides, layouts[layout].strides,
			    (size_t)tensor->ndim * sizeof(int64_t));
}

FACT(a_view_is_described_with_strides_in_elements)
{
	int64_t strides[DRAY_MAX_NDIM];
	struct dray_dlpack_tensor tensor;

	for (size_t i = 0; i < CASES(layouts); i++) {
		struct dray_view view = view_of(i);

		assert_works(dray_dlpack_describe(&view, strides, &tensor));
		assert_ptr_equal(tensor.shape, view.shape);
		assert_ptr_equal(tensor.strides, strides);
		check_tensor(&tensor, i);
	}
}

static int released;

static void count_release(void *owner)
{
	released += *(int *)owner;
}

FACT(tensors_of_both_forms_describe_each_layout)
{
	struct dray_dlpack_versioned *versioned;
	struct dray_dlpack_managed *legacy;
	int one = 1;

	for (size_t i = 0; i < CASES(layouts); i++) {
		struct dray_view view = view_of(i);

		released = 0;
		assert_works(dray_dlpack_export_view(&view, count_release, &one,
						     0, -1, &versioned));
		assert_works(dray_dlpack_export_view_legacy(
			&view, count_release, &one, 0, -1, &legacy));
		/* A tensor has a shape of its own. */
		memset(view.shape, -1, sizeof(view.shape));
		check_tensor(&versioned->dl_tensor, i);
		check_tensor(&legacy->dl_tensor, i);
		assert_int_equal(versioned->version.major, 1);
		assert_int_equal(versioned->version.minor, 3);
		assert_int_equal(versioned->flags, 0);
		dray_dlpack_drop(versioned);
		assert_int_equal(released, 1);
		dray_dlpack_drop_legacy(legacy);
		assert_int_equal(released, 2);
	}
}

FACT(a_tensor_keeps_one_reference_to_its_array)
{
	struct dray_dlpack_versioned *versioned;
	struct dray_dlpack_managed *legacy;
	struct dray_array *array;

	assert_works(dray_array_zeros(f4, 2, DIMS(3, 4), &array));
	assert_works(dray_dlpack_export(array, 0, -1, &versioned));
	assert_works(dray_dlpack_export_legacy(array, 0, -1, &legacy));
	assert_int_equal(dray_block_count(&array->block), 3);
	dray_dlpack_drop(versioned);
	assert_int_equal(dray_block_count(&array->block), 2);
	dray_array_unref(array);
	assert_ptr_equal(legacy->dl_tensor.data, array->data);
	dray_dlpack_drop_legacy(legacy);
}

static void *drop_there(void *tensor)
{
	dray_dlpack_drop(tensor);
	return NULL;
}

POOL_FACT(a_tensor_may_be_given_back_by_another_thread)
{
	struct dray_dlpack_versioned *tensor;
	struct dray_array *array;
	pthread_t thread;

	assert_works(dray_array_create(*state, f4, 1, DIMS(100), &array));
	assert_works(dray_dlpack_export(array, 0, -1, &tensor));
	dray_array_unref(array);
	assert_int_equal(stats_of(*state).blocks, 1);
	assert_int_equal(pthread_create(&thread, NULL, drop_there, tensor), 0);
	pthread_join(thread, NULL);
	assert_int_equal(stats_of(*state).blocks, 0);
}

POOL_FACT(new_arrays_leave_aligned_to_64_bytes)
{
	struct dray_array *arrays[64];
	struct dray_dlpack_versioned *tensor;

	for (int i = 0; i < 64; i++) {
		assert_works(dray_array_create(*state, u1, 1, DIMS(1 + 37 * i),
					       &arrays[i]));
		assert_works(dray_dlpack_export(arrays[i], 0, -1, &tensor));
		assert_int_equal((uintptr_t)tensor->dl_tensor.data % 64, 0);
		dray_dlpack_drop(tensor);
	}
	for (int i = 0; i < 64; i++)
		dray_array_unref(arrays[i]);
}

FACT(only_a_tensor_with_a_version_is_read_only)
{
	struct dray_dlpack_versioned *versioned;
	struct dray_dlpack_managed *legacy = NULL;
	struct dray_view view = view_of(1);

	view.flags &= ~(uint32_t)DRAY_WRITE;
	assert_works(dray_dlpack_export_view(
		&view, NULL, NULL, DRAY_DLPACK_COPIED, -1, &versioned));
	assert_int_equal(versioned->flags, DRAY_DLPACK_FLAG_READ_ONLY |
						   DRAY_DLPACK_FLAG_IS_COPIED);
	assert_fails(dray_dlpack_export_view_legacy(&view, NULL, NULL, 0, -1,
						    &legacy),
		     -EPERM, "read-only");
	assert_null(legacy);
	dray_dlpack_drop(versioned);
}

FACT(views_that_no_tensor_describes_are_refused)
{
	const struct {
		dray_dtype dtype;
		size_t offset;
		int64_t stride;
		uint32_t flags;
		int code;
		const char *part;
	} cases[] = {
		{ DRAY_FLOAT64, 0, 12, 0, -EINVAL, "stride of 12 bytes" },
		{ DRAY_FLOAT64, 2, 8, 0, -EINVAL, "not aligned to" },
		{ DRAY_COMPLEX128, 0, 24, 0, -EINVAL, "elements of 16" },
		{ DRAY_BYTES(8), 0, 8, 0, -EOPNOTSUPP, "type |S8" },
		{ DRAY_UINT8, 0, 1, DRAY_READ, -EPERM, "may not be read" },
	};
	struct dray_dlpack_versioned *tensor = NULL;
	struct dray_view view;

	for (size_t i = 0; i < CASES(cases); i++) {
		assert_works(dray_view_init(
			&view, (char *)tensor_data + cases[i].offset,
			cases[i].dtype, 1, DIMS(3), &cases[i].stride));
		view.flags &= ~cases[i].flags;
		assert_fails(dray_dlpack_export_view(&view, NULL, NULL, 0, -1,
						     &tensor),
			     cases[i].code, cases[i].part);
	}
	view = view_of(1);
	assert_fails(dray_dlpack_export_view(&view, NULL, NULL,
					     DRAY_DLPACK_WRITABLE, -1, &tensor),
		     -EINVAL, "unknown flags 0x4");
	assert_null(tensor);
}
