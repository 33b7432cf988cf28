/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A buffer as one device of another driver finds it, for one direction:
 * import.c; who has which is importer.c's.  The buffer's lock guards it.
 */
#ifndef DRAY_IMPORT_H
#define DRAY_IMPORT_H

#include <linux/dma-direction.h>
#include <linux/scatterlist.h>
#include <linux/types.h>

struct device;
struct dray_buffer;

struct dray_import {
	struct dray_buffer *buffer;
	struct device *dev;
	enum dma_data_direction direction;
	struct sg_table table; /* while there are users */
	unsigned int users; /* attachments that have it mapped */
};

/* For one more attachment, which gets its copy of the table in *@table. */
int dray_import_get(struct dray_import *import, struct sg_table *table);

/* The table of an attachment is no longer needed; it is freed. */
void dray_import_put(struct dray_import *import, struct sg_table *table);

/* As dray_importers_sync(), for one that has users. */
int dray_import_sync(struct dray_import *import, bool writable, bool for_cpu);

#endif /* DRAY_IMPORT_H */
