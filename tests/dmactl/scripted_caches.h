/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Caches between the CPU and an engine: DRAY_CACHES, in scripted_caches.c. */
#ifndef DMACTL_SCRIPTED_CACHES_H
#define DMACTL_SCRIPTED_CACHES_H

#include <stdbool.h>

#include <dray/memory.h>

/* Tells whether the node claims to be coherent. */
bool caches_claimed(void);

/* Puts memory of its own behind a new buffer. */
void caches_add(struct dray_buffer *buffer);

void caches_sync(const struct dray_region *region, enum dray_sync_owner owner);

#endif /* DMACTL_SCRIPTED_CACHES_H */
