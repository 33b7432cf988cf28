/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* All of libdray's interface; each room has a header of its own. */
#ifndef DRAY_DRAY_H
#define DRAY_DRAY_H

#include <dray/base.h>
#include <dray/memory.h>
#include <dray/registers.h>
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
#include <dray/slice.h>
#include <dray/record.h>
#include <dray/kind.h>
#include <dray/rows.h>
#include <dray/transfer.h>
#include <dray/loan.h>
#include <dray/stream.h>
#include <dray/xclbin.h>
#include <dray/xrt.h>

#endif /* DRAY_DRAY_H */
