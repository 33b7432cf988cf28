/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Arrays over memory that came from another process. */
#ifndef DRAY_ARRAY_ARRAY_H
#define DRAY_ARRAY_ARRAY_H

#include <dray/array.h>
#include <dray/ipc.h>

/*
 * Makes an array over @buffer and takes over its reference on success.  The
 * caller has checked the view against the buffer.  -ENOMEM.
 */
int dray_array_adopt(struct dray_buffer *buffer, const struct dray_view *view,
		     struct dray_array **out);
/*
 * Makes an array over opened memory, which it closes with the last reference.
 */
int dray_array_adopt_memory(struct dray_ipc_memory *memory,
			    const struct dray_view *view,
			    struct dray_array **out);

#endif /* DRAY_ARRAY_ARRAY_H */
