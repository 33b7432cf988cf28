/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Directories in the form of /proc/device-tree as blobs. */
#ifndef DMACTL_DT_LIVE_H
#define DMACTL_DT_LIVE_H

#include <stddef.h>

/* Makes a blob of a directory; NULL and errno if that fails. */
void *live_read(const char *folder, size_t *size);

#endif /* DMACTL_DT_LIVE_H */
