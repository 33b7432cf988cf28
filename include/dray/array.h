/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* All of libdray-array's interface, and libdray's. */
#ifndef DRAY_ARRAY_ALL_H
#define DRAY_ARRAY_ALL_H

#include <dray/dray.h>

#include <dray/array/array.h>
#include <dray/array/fp_state.h>
#include <dray/array/cast.h>
#include <dray/array/iterator.h>
#include <dray/array/nditer.h>
#include <dray/array/ufunc.h>
#include <dray/array/linear.h>
#include <dray/array/index.h>
#include <dray/array/sorting.h>
#include <dray/array/reduce.h>
#include <dray/array/statistics.h>
#include <dray/array/strings.h>
#include <dray/array/npy.h>
#include <dray/array/executor.h>
#include <dray/array/sequence.h>
#include <dray/array/dlpack.h>
#include <dray/array/arrow.h>
#include <dray/array/xrt_array.h>

#endif /* DRAY_ARRAY_ALL_H */
