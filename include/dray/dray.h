/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* All of libdray's interface; each room has a header of its own. */
#ifndef DRAY_DRAY_H
#define DRAY_DRAY_H

#include <dray/base.h>
#include <dray/memory.h>
#include <dray/pool.h>
#include <dray/publish.h>
#include <dray/ipc.h>
#include <dray/handler.h>
#include <dray/resource.h>
#include <dray/manager.h>
#include <dray/block.h>
#include <dray/dtype.h>
#include <dray/element.h>
#include <dray/view.h>
#include <dray/iterator.h>
#include <dray/array.h>
#include <dray/fp_state.h>
#include <dray/cast.h>
#include <dray/nditer.h>
#include <dray/ufunc.h>
#include <dray/linear.h>
#include <dray/index.h>
#include <dray/sorting.h>
#include <dray/reduce.h>
#include <dray/statistics.h>
#include <dray/strings.h>
#include <dray/npy.h>
#include <dray/transfer.h>
#include <dray/stream.h>
#include <dray/executor.h>
#include <dray/sequence.h>
#include <dray/dlpack.h>
#include <dray/kind.h>
#include <dray/rows.h>
#include <dray/arrow.h>
#include <dray/xclbin.h>
#include <dray/xrt.h>

#endif /* DRAY_DRAY_H */
