/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The streams of the host: two that are sent to and two that come back from
 * them, so that programs for a board run without one.
 */
#ifndef DRAY_MEMORY_LOOPBACK_H
#define DRAY_MEMORY_LOOPBACK_H

#include "memory/port.h"

#define DRAY_LOOPBACK_CHANNELS 4 /* tx0, rx0, tx1, rx1 */
#define DRAY_LOOPBACK_DEPTH 64 /* packets in flight on each */
#define DRAY_LOOPBACK_RUNS 65536 /* of one packet */
#define DRAY_LOOPBACK_BYTES ((uint64_t)1 << 30) /* of one packet */

/* Lets forks take the lock of all of them; before their first use. */
void dray_loopback_enlist(void);

/* Describes channel info->index. */
int dray_loopback_channel(struct dray_node *node,
			  struct dray_channel_info *info);

/* The operations on rings of a port; errors as the module's. */
int dray_loopback_ring(struct dray_port *port, struct dray_port_ring *ring);
int dray_loopback_release(struct dray_port *port, struct dray_release *args);
void dray_loopback_end_ring(struct dray_port *port);

extern const struct dray_port_ops dray_loopback_ports;

#endif /* DRAY_MEMORY_LOOPBACK_H */
