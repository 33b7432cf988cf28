/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Settings and work queues that the channels of all nodes share.  A kernel
 * without the DMA engine framework or without sync_file has no channels:
 * DRAY_ENGINES is 0, and this directory is not built.
 */
#ifndef DRAY_ENGINE_H
#define DRAY_ENGINE_H

#include <linux/types.h>

struct workqueue_struct;

extern struct workqueue_struct *dray_workqueue;
extern struct workqueue_struct *dray_clean_workqueue;

unsigned int dray_watchdog_ms(void); /* for one batch */
u64 dray_submit_max_runs(void); /* of one SUBMIT: descriptors */
u64 dray_submit_max_bytes(void);

/* The module's beginning and end. */
int dray_engine_init(void);
void dray_engine_exit(void);

#endif /* DRAY_ENGINE_H */
