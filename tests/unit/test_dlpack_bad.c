// SPDX-License-Identifier: Apache-2.0 OR MIT
/* dlpack_bad: all in a tensor that may be wrong. */
#include <dray/array.h>

#include "tensors.h"

/* Changes of a good tensor that make it a bad one. */
static void many_axes(struct dray_dlpack_tensor *tensor)
{
	tensor->ndim = DRAY_MAX_NDIM + 1;
}

static void negative_axes(struct dray_dlpack_tensor *tensor)
{
	tensor->ndim = INT32_MIN;
}

static void no_shape(struct dray_dlpack_tensor *tensor)
{
	tensor->shape = NULL;
}

static void no_strides(struct dray_dlpack_tensor *tensor)
{
	tensor->strides = NULL;
}

static void no_data(struct dray_dlpack_tensor *tensor)
{
	tensor->data = NULL;
	tensor->byte_offset = 64;
}

static void negative_extent(struct dray_dlpack_tensor *tensor)
{
	static int64_t shape[] = { -1, 0 };

	tensor->shape = shape;
}

static void many_elements(struct dray_dlpack_tensor *tensor)
{
	static int64_t shape[] = { INT64_C(1) << 31, INT64_C(1) << 31 };
	static int64_t strides[] = { 0, 0 };

	tensor->shape = shape;
	tensor->strides = strides;
}

static void long_stride(struct dray_dlpack_tensor *tensor)
{
	static int64_t strides[] = { INT64_MIN, 1 };

	tensor->strides = strides;
}

static void far_elements(struct dray_dlpack_tensor *tensor)
{
	static int64_t strides[] = { -(INT64_C(1) << 59), 1 };

	tensor->strides = strides;
}

static void far_offset(struct dray_dlpack_tensor *tensor)
{
	tensor->byte_offset = UINT64_MAX - 7;
}

static void odd_offset(struct dray_dlpack_tensor *tensor)
{
	tensor->byte_offset = 1;
}

static void vectors(struct dray_dlpack_tensor *tensor)
{
	tensor->dtype.lanes = 4;
}

static void handles(struct dray_dlpack_tensor *tensor)
{
	tensor->dtype.code = DRAY_DLPACK_OPAQUE;
}

static void on_a_gpu(struct dray_dlpack_tensor *tensor)
{
	tensor->device = (struct dray_dlpack_device){ 2, 1 };
}

static void on_no_device(struct dray_dlpack_tensor *tensor)
{
	tensor->device.device_type = -1;
}

static void in_foreign_memory(struct dray_dlpack_tensor *tensor)
{
	tensor->device.device_type = DRAY_DLPACK_EXT_DEV;
}

static const struct {
	void (*spoil)(struct dray_dlpack_tensor *tensor);
	int code;
	const char *part;
	bool versioned; /* only with a version is it bad */
} spoils[] = {
	{ many_axes, -EINVAL, "65 axes, 0 to 64", false },
	{ negative_axes, -EINVAL, "-2147483648 axes", false },
	{ no_shape, -EINVAL, "shape of a tensor of 2 axes is NULL", false },
	{ no_strides, -EINVAL, "DLPack 1.3 are NULL", true },
	{ no_data, -EINVAL, "12 elements and no data", false },
	{ negative_extent, -EINVAL, "axis 0 of the tensor has -1", false },
	{ many_elements, -EOVERFLOW, "63 bits", false },
	{ long_stride, -EOVERFLOW, "-9223372036854775808 elements", false },
	{ far_elements, -EOVERFLOW, "63 bits", false },
	{ far_offset, -EOVERFLOW, "leaves the address space", false },
	{ odd_offset, -EINVAL, "not aligned to", false },
	{ vectors, -EOPNOTSUPP, "4 lanes", false },
	{ handles, -EOPNOTSUPP, "code 3 with 64 bits", false },
	{ on_a_gpu, -EOPNOTSUPP, "device (2, 1)", false },
	{ on_no_device, -EOPNOTSUPP, "device (-1, 0)", false },
	{ in_foreign_memory, -EOPNOTSUPP, "not in dray's memory", false },
};

FACT(a_bad_tensor_is_refused_and_stays_the_callers)
{
	for (size_t i = 0; i < CASES(spoils); i++) {
		struct dray_dlpack_versioned versioned = versioned_tensor();
		struct dray_dlpack_managed legacy = legacy_tensor();
		struct dray_array *array = NULL;

		spoils[i].spoil(&versioned.dl_tensor);
		assert_fails(dray_dlpack_import(&versioned, 0, -1, &array),
			     spoils[i].code, spoils[i].part);
		if (!spoils[i].versioned) {
			spoils[i].spoil(&legacy.dl_tensor);
			assert_fails(dray_dlpack_import_legacy(&legacy, 0, -1,
							       &array),
				     spoils[i].code, spoils[i].part);
		}
		assert_null(array);
		assert_int_equal(given_back, 0);
	}
}

FACT(elements_without_strides_are_in_c_order_before_version_1_2)
{
	struct dray_dlpack_tensor tensor = plain_tensor();
	struct dray_dlpack_version version = { 1, 0 };
	struct dray_view view = { .ndim = -1 };

	tensor.strides = NULL;
	for (; version.minor < 4; version.minor++) {
		if (version.minor >= 2) {
			assert_fails(dray_dlpack_read(&tensor, &version, &view),
				     -EINVAL, "possible before 1.2 only");
			continue;
		}
		assert_works(dray_dlpack_read(&tensor, &version, &view));
		assert_int_equal(view.strides[0], 32);
		assert_true(view.flags & DRAY_C_CONTIGUOUS);
	}
	many_elements(&tensor);
	tensor.strides = NULL;
	view.ndim = -1;
	assert_fails(dray_dlpack_read(&tensor, NULL, &view), -EOVERFLOW,
		     "63 bits");
	assert_int_equal(view.ndim, -1);
	tensor.ndim = 0;
	tensor.shape = NULL;
	version.minor = 3;
	assert_works(dray_dlpack_read(&tensor, &version, &view));
	assert_int_equal(view.ndim, 0);
}

/* Only what comes before the tensor has its place in every version. */
FACT(a_tensor_of_another_version_can_only_be_given_back)
{
	static const uint32_t majors[] = { 0, 2, UINT32_MAX };
	struct dray_array *array = NULL;

	for (size_t i = 0; i < CASES(majors); i++) {
		struct dray_dlpack_versioned tensor = versioned_tensor();

		memset(&tensor.dl_tensor, -1, sizeof(tensor.dl_tensor));
		tensor.version.major = majors[i];
		assert_fails(dray_dlpack_import(&tensor, 0, -1, &array),
			     -EPROTO, "only versions 1");
		assert_int_equal(given_back, 0);
		dray_dlpack_drop(&tensor);
		assert_int_equal(given_back, 1);
	}
}
