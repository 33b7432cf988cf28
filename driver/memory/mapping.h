/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mappings of a buffer for devices.
 */
#ifndef DRAY_MAPPING_H
#define DRAY_MAPPING_H

#include <linux/dma-direction.h>
#include <linux/types.h>

struct device;
struct dray_buffer;
struct dray_node;
struct dray_place;
struct dray_refusal;
struct seq_file;

int dray_mapping_prepare(struct dray_buffer *buffer, struct dray_node *node,
			 dma_addr_t *address, struct dray_refusal *refusal);
int dray_mapping_place(struct dray_buffer *buffer, struct dray_node *node,
		       struct device *dev, struct dray_place *place,
		       struct dray_refusal *refusal);
void dray_mapping_postpone(struct dray_buffer *buffer, struct dray_node *node);
void dray_mappings_drop(struct dray_buffer *buffer, struct dray_node *node);
void dray_mappings_drop_node(struct dray_node *node);
void dray_mappings_drop_gone(struct dray_buffer *buffer);
void dray_mapping_print(struct dray_buffer *buffer, struct seq_file *file);

/* The rest is for holders of the buffer's lock. */

/* Has a mapping for a device that does not snoop been written back? */
bool dray_mappings_written_back(struct dray_buffer *buffer);
/* Does a CPU access maintain the buffer for one of dray's own devices? */
bool dray_mappings_maintained(struct dray_buffer *buffer);
/*
 * Maintains all of the buffer for them.  @writable: the access may write; if
 * not, nothing that the CPU wrote is dropped.  -EINTR when the task is being
 * killed.
 */
int dray_mappings_sync(struct dray_buffer *buffer, bool writable, bool for_cpu,
		       enum dma_data_direction direction);

#endif /* DRAY_MAPPING_H */
