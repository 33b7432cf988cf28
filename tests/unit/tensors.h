/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * DLPack tensors of a stranger, made by hand: a test changes what it likes in
 * them.  Each counts how often it is given back.
 */
#ifndef DRAY_TESTS_TENSORS_H
#define DRAY_TESTS_TENSORS_H

#include "unit.h"

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
