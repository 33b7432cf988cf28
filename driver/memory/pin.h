/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Attached memory of the caller: pinned once, mapped for each device.
 */
#ifndef DRAY_PIN_H
#define DRAY_PIN_H

#include <linux/types.h>

struct dray_attached_mapping;
struct dray_attachment;
struct dray_refusal;

int dray_pin(struct dray_attachment *attachment, u64 address, u64 length,
	     struct dray_refusal *refusal);
void dray_unpin(struct dray_attachment *attachment);
int dray_pin_map(struct dray_attachment *attachment,
		 struct dray_attached_mapping *mapping,
		 struct dray_refusal *refusal);
void dray_pin_unmap(struct dray_attachment *attachment,
		    struct dray_attached_mapping *mapping);

#endif /* DRAY_PIN_H */
