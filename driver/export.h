/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What export.c tells mapping.c: the importers that take part when a whole
 * buffer is maintained.
 */
#ifndef DRAY_EXPORT_H
#define DRAY_EXPORT_H

#include <linux/types.h>

struct dray_buffer;

void dray_importers_sync(struct dray_buffer *buffer, bool writable,
			 bool for_cpu);

#endif /* DRAY_EXPORT_H */
