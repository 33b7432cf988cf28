/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What array.c shares with array_send.c and array_record.c. */
#ifndef DRAY_ARRAY_ARRAY_H
#define DRAY_ARRAY_ARRAY_H

#include <dray/array.h>
#include <dray/ipc.h>

/*
 * An array over memory of @buffer, whose reference it takes over on success.
 * The view has been checked against the buffer.  -ENOMEM.
 */
int dray_array_adopt(struct dray_buffer *buffer, const struct dray_view *view,
		     struct dray_array **out);
/* The same over memory that was opened, which it closes at its end. */
int dray_array_adopt_memory(struct dray_ipc_memory *memory,
			    const struct dray_view *view,
			    struct dray_array **out);

#endif /* DRAY_ARRAY_ARRAY_H */
