// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The types of the classes of loops. */
#include "private.h"
#include "ufunc/class.h"

const dray_dtype dray_loop_types[DRAY_LOOP_CLASSES] = {
	DRAY_BOOL,	DRAY_INT8,	 DRAY_INT16,   DRAY_INT32,
	DRAY_INT64,	DRAY_UINT8,	 DRAY_UINT16,  DRAY_UINT32,
	DRAY_UINT64,	DRAY_FLOAT16,	 DRAY_FLOAT32, DRAY_FLOAT64,
	DRAY_COMPLEX64, DRAY_COMPLEX128,
};
