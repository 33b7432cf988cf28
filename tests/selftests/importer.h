/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * An importer of dma-bufs outside dray: vgem, the kernel's virtual graphics
 * device.  It attaches to a buffer as any driver does, and its fences signal
 * when they are told, which no engine's do.
 */
#ifndef SELFTEST_IMPORTER_H
#define SELFTEST_IMPORTER_H

#include "system.h"

/* A descriptor, or -ENODEV where vgem is not there. */
int importer_open(void);

/* Does it map a dma-buf that it attaches to?  Not from Linux 6.17 on. */
bool importer_maps(void);

/* The importer's handle for a dma-buf, or a negative errno. */
int importer_attach(int importer, int fd, uint32_t *handle);
int importer_detach(int importer, uint32_t handle);

/* Memory of the importer's own. */
int importer_create(int importer, size_t size, uint32_t *handle);

/* A dma-buf of what the handle names. */
int importer_export(int importer, uint32_t handle);
int importer_export_read_only(int importer, uint32_t handle);

/*
 * A fence that others wait for before they may read the handle's memory; it
 * signals when told, or with an error after ten seconds.
 */
int importer_fence(int importer, uint32_t handle, uint32_t *fence);

/* The same of a reader: only who writes waits for it. */
int importer_reader_fence(int importer, uint32_t handle, uint32_t *fence);
int importer_signal(int importer, uint32_t fence);

/* The fences of a dma-buf as a sync_file: what a writer must wait for. */
int buffer_fences(int fd);

/* Can it give them so?  Before Linux 6.0 it cannot. */
bool buffer_tells_fences(int fd);

#endif
