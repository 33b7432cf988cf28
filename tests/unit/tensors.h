/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * DLPack tensors of a stranger, made by hand: a test changes what it likes in
 * them.  Each counts how often it is given back.
 */
#ifndef DRAY_TESTS_TENSORS_H
#define DRAY_TESTS_TENSORS_H

#include <dray/array.h>

#include "unit.h"

#define CASES(cases) (sizeof(cases) / sizeof((cases)[0]))

/* Types with a code. */
__attribute__((unused)) static const struct {
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

/* Of tensor_data: axes, extents, strides in bytes and in elements, first element. */
__attribute__((unused)) static const struct {
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
	{ 3, { 1, 12, 1 }, { 13, 8, -1 }, { 1, 1, -1 }, 0 },
};

static double tensor_data[12];
static int64_t tensor_shape[] = { 3, 4 };
static int64_t tensor_strides[] = { 4, 1 };
static int given_back;

static inline void count_versioned(struct dray_dlpack_versioned *self)
{
	given_back++;
}

static inline void count_legacy(struct dray_dlpack_managed *self)
{
	given_back++;
}

/* 3 times 4 doubles in C order. */
static inline struct dray_dlpack_tensor plain_tensor(void)
{
	return (struct dray_dlpack_tensor){
		.data = tensor_data,
		.device = { DRAY_DLPACK_CPU, 0 },
		.ndim = 2,
		.dtype = { DRAY_DLPACK_FLOAT, 64, 1 },
		.shape = tensor_shape,
		.strides = tensor_strides,
	};
}

static inline struct dray_dlpack_versioned versioned_tensor(void)
{
	given_back = 0;
	return (struct dray_dlpack_versioned){
		.version = { 1, 3 },
		.deleter = count_versioned,
		.dl_tensor = plain_tensor(),
	};
}

static inline struct dray_dlpack_managed legacy_tensor(void)
{
	given_back = 0;
	return (struct dray_dlpack_managed){
		.dl_tensor = plain_tensor(),
		.deleter = count_legacy,
	};
}

#endif /* DRAY_TESTS_TENSORS_H */
