/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The scripted machine, for the rest of the scripted library. */
#ifndef SCRIPTED_MACHINE_H
#define SCRIPTED_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/dray.h>

/* Tells whether the module is to be missing just now. */
bool scripted_unloaded(void);

/* Scene "busy": what this sample of dmactl top shows. */
uint64_t busy_count(void);
void busy_buffer(struct dray_buffer_info *info);
void busy_channel(struct dray_channel_info *info);

#endif /* SCRIPTED_MACHINE_H */
