/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The private parts of libdray that libdray-array uses: structures and inlined
 * functions of these headers, and the functions that they mark by DRAY_PRIVATE.
 * Both libraries are of one build: nothing else may use them.
 */
#ifndef DRAY_PRIVATE_H
#define DRAY_PRIVATE_H

#include "base/cancel.h"
#include "base/clock.h"
#include "base/cpu.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/holds.h"
#include "base/load.h"
#include "base/number.h"
#include "base/options.h"
#include "base/thread.h"
#include "base/user.h"
#include "block/block.h"
#include "dtype/dtype.h"
#include "dtype/dtype_text.h"
#include "dtype/half.h"
#include "layout/layout.h"
#include "layout/layout_threads.h"
#include "layout/operand.h"
#include "layout/overlap.h"
#include "memory/node.h"
#include "memory/window.h"
#include "publish/notes.h"
#include "stream/ring.h"
#include "stream/stream.h"
#include "transfer/queue.h"
#include "view/view.h"
#include "view/view_check.h"
#include "view/view_index.h"

#endif /* DRAY_PRIVATE_H */
