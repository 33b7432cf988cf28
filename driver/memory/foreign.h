/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Attached dma-bufs of other drivers: taken once, mapped for each device.
 */
#ifndef DRAY_FOREIGN_H
#define DRAY_FOREIGN_H

#include <linux/dma-direction.h>
#include <linux/types.h>

struct dray_attached_mapping;
struct dray_attachment;
struct dray_refusal;

int dray_foreign_get(struct dray_attachment *attachment, int fd,
		     struct dray_refusal *refusal);
void dray_foreign_put(struct dray_attachment *attachment);
int dray_foreign_map(struct dray_attachment *attachment,
		     struct dray_attached_mapping *mapping,
		     struct dray_refusal *refusal);
void dray_foreign_unmap(struct dray_attachment *attachment,
			struct dray_attached_mapping *mapping);
int dray_foreign_sync(struct dray_attachment *attachment, bool for_cpu,
		      enum dma_data_direction direction);

#endif /* DRAY_FOREIGN_H */
