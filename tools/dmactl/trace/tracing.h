/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The kernel's tracing: its state, and instances left by earlier runs. */
#ifndef DMACTL_TRACING_H
#define DMACTL_TRACING_H

#include <stdbool.h>
#include <stdint.h>

struct tep_handle;

#define TRACING_SYSTEM "dray"
#define TRACING_PREFIX "dray_" /* of its events */
#define TRACING_INSTANCE "dmactl-" /* and the number of the process */

/*
 * Looks for tracefs, the right to use it, the module, and events of @kinds
 * (bits); false after a complaint.
 */
bool tracing_check(uint32_t kinds);

/*
 * Returns the layouts of events of @kinds, which tep_free() frees; NULL after a
 * complaint.
 */
struct tep_handle *tracing_events(uint32_t kinds);

/* Removes instances of processes that were killed. */
void tracing_remove_left(void);

/* Complains that the kernel's tracing cannot do something; returns false. */
bool tracing_failed(const char *doing);

#endif /* DMACTL_TRACING_H */
