/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the files about DLPack: the choice of how long to wait. */
#ifndef DRAY_INTEROP_DLPACK_H
#define DRAY_INTEROP_DLPACK_H

#include <dray/array/dlpack.h>

/*
 * Waits until nothing is in flight on the memory of a checked view, unless @flags
 * say not to.  -EINVAL for flags outside of @known.
 */
int dray_dlpack_wait(const struct dray_view *view, uint32_t flags,
		     uint32_t known, int timeout_ms);

/*
 * Checks that an address suits elements of a type, as compilers of consumers expect.
 * -EINVAL.
 */
int dray_dlpack_check_aligned(const void *data, dray_dtype dtype);

#endif /* DRAY_INTEROP_DLPACK_H */
