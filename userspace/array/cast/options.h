/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Bytes of the first version of each structure that callers of libdray-array
 * allocate, by its last member: constants.
 */
#ifndef DRAY_CAST_OPTIONS_H
#define DRAY_CAST_OPTIONS_H

#include "private.h"

#define DRAY_FP_STATE_SIZE_FIRST DRAY_SIZE_TO(struct dray_fp_state, context)
#define DRAY_ARRAY_OPTIONS_SIZE_FIRST \
	DRAY_SIZE_TO(struct dray_array_options, destroy)
#define DRAY_NDITER_OPTIONS_SIZE_FIRST \
	DRAY_SIZE_TO(struct dray_nditer_options, buffer_size)
#define DRAY_UFUNC_OPTIONS_SIZE_FIRST \
	DRAY_SIZE_TO(struct dray_ufunc_options, wraps)
#define DRAY_REDUCE_OPTIONS_SIZE_FIRST \
	DRAY_SIZE_TO(struct dray_reduce_options, where)
#define DRAY_NPY_OPTIONS_SIZE_FIRST DRAY_SIZE_TO(struct dray_npy_options, buffer)
#define DRAY_EXECUTOR_FUNCTIONS_SIZE_FIRST \
	DRAY_SIZE_TO(struct dray_executor_functions, release)
#define DRAY_CALL_QUEUE_OPTIONS_SIZE_FIRST \
	DRAY_SIZE_TO(struct dray_call_queue_options, flags)
#define DRAY_CALL_EXPLANATION_SIZE_FIRST \
	DRAY_SIZE_TO(struct dray_call_explanation, reason)
#define DRAY_STREAM_EXECUTOR_OPTIONS_SIZE_FIRST \
	DRAY_SIZE_TO(struct dray_stream_executor_options, context)
#define DRAY_SEQUENCE_OPTIONS_SIZE_FIRST \
	DRAY_SIZE_TO(struct dray_sequence_options, flags)
#define DRAY_SEQUENCE_PLAN_SIZE_FIRST \
	DRAY_SIZE_TO(struct dray_sequence_plan, reserved)
#define DRAY_SEQUENCE_RUN_OPTIONS_SIZE_FIRST \
	DRAY_SIZE_TO(struct dray_sequence_run_options, flags)

#endif /* DRAY_CAST_OPTIONS_H */
