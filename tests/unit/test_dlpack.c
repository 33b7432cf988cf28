// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dlpack: arrays as tensors, tensors as arrays, and all in a tensor that may be
 * wrong.  The tensors of real libraries are in tests/python and tests/interop.
 */
#include "memory/node.h"
#include "pool.h"
#include "tensors.h"

#define CASES(cases) (sizeof(cases) / sizeof((cases)[0]))

static const struct {
	dray_dtype dtype;
	struct dray_dlpack_dtype code;
} types[] = {
	{ DRAY_BOOL, { DRAY_DLPACK_BOOL, 8, 1 } },
	{ DRAY_INT8, { DRAY_DLPACK_INT, 8, 1 } },
	{ DRAY_INT16, { DRAY_DLPACK_INT, 16, 1 } },
	{ DRAY_INT32, { DRAY_DLPACK_INT, 32, 1 } },
	{ DRAY_INT64, { DRAY_DLPACK_INT, 64, 1 } },
	{ DRAY_UINT8, { DRAY_DLPACK_UINT, 8, 1 } },
	{ DRAY_UINT16, { DRAY_DLPACK_UINT, 16, 1 } },
	{ DRAY_UINT32, { DRAY_DLPACK_UINT, 32, 1 } },
	{ DRAY_UINT64, { DRAY_DLPACK_UINT, 64, 1 } },
	{ DRAY_FLOAT16, { DRAY_DLPACK_FLOAT, 16, 1 } },
	{ DRAY_FLOAT32, { DRAY_DLPACK_FLOAT, 32, 1 } },
	{ DRAY_FLOAT64, { DRAY_DLPACK_FLOAT, 64, 1 } },
	{ DRAY_COMPLEX64, { DRAY_DLPACK_COMPLEX, 64, 1 } },
	{ DRAY_COMPLEX128, { DRAY_DLPACK_COMPLEX, 128, 1 } },
};

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

static const struct {
	int ndim;
	int64_t shape[3], bytes[3], strides[3];
	size_t first; /* element */
} layouts[] = {
	{ 0, { 0 }, { 0 }, { 0 }, 0 },
	{ 1, { 12 }, { 8 }, { 1 }, 0 },
	{ 2, { 3, 4 }, { 32, 8 }, { 4, 1 }, 0 },
	{ 2, { 3, 4 }, { 8, 24 }, { 1, 3 }, 0 },
	{ 2, { 3, 2 }, { 32, 16 }, { 4, 2 }, 1 },
	{ 2, { 3, 4 }, { -32, -8 }, { -4, -1 }, 11 },
	{ 2, { 5, 12 }, { 0, 8 }, { 0, 1 }, 0 },
	{ 3, { 2, 0, 3 }, { 0, 0, 0 }, { 0, 0, 0 }, 0 },
	{ 3, { 1, 12, 1 }, { 13, 8, -1 }, { 1, 1, 0 }, 0 },
};

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
	bool empty = layouts[layout].shape[1] == 0 && layouts[layout].ndim == 3;

	assert_ptr_equal(tensor->data,
			 empty ? NULL : tensor_data + layouts[layout].first);
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
