/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Cache maintenance of a view that a call has measured. */
#ifndef DRAY_TRANSFER_VIEW_SYNC_H
#define DRAY_TRANSFER_VIEW_SYNC_H

#include <dray/transfer.h>

#include "layout/operand.h"

/* Does the work of dray_view_sync(), and looks the block up if needed. */
int dray_view_sync_operand(struct dray_operand *operand,
			   enum dray_sync_owner owner,
			   enum dray_direction direction);

#endif /* DRAY_TRANSFER_VIEW_SYNC_H */
