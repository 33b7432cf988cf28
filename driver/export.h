/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What export.c tells mapping.c: the importers that take part when a whole
 * buffer is maintained.
 */
#ifndef DRAY_EXPORT_H
#define DRAY_EXPORT_H

#include <linux/dma-direction.h>

struct dray_buffer;

void dray_attachments_sync(struct dray_buffer *buffer, bool for_cpu,
			   enum dma_data_direction direction);

#endif /* DRAY_EXPORT_H */
