/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Blocks of memory that was opened by a record. */
#ifndef DRAY_RECORD_OPENED_H
#define DRAY_RECORD_OPENED_H

#include <dray/record.h>

/* Makes a block of open memory, which it takes over, or closes.  -ENOMEM. */
int dray_block_create_opened(struct dray_ipc_memory *memory,
			     struct dray_block **out);

#endif /* DRAY_RECORD_OPENED_H */
