/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Which cache maintenance the module asks the kernel for.  An emulated
 * processor has no caches, and devices that get copies do not get attached
 * memory: so probes sit where the kernel goes on to the processor, below all of
 * the module and below what knows of IOMMUs, and tell which memory it is, how
 * many bytes and the direction.
 */
#ifndef SELFTEST_MAINTENANCE_H
#define SELFTEST_MAINTENANCE_H

#include "system.h"

/* Directions as the kernel has them. */
enum {
	MAINTAIN_BOTH,
	MAINTAIN_TO_DEVICE,
	MAINTAIN_FROM_DEVICE,
	MAINTAIN_DIRECTIONS,
};

/* The one that a direction of the interface is. */
static inline unsigned int maintenance_direction(uint32_t direction)
{
	return direction == DRAY_TO_DEVICE     ? MAINTAIN_TO_DEVICE
	       : direction == DRAY_FROM_DEVICE ? MAINTAIN_FROM_DEVICE
					       : MAINTAIN_BOTH;
}

/* What was asked for; of a dma-buf of another driver there is no address. */
struct maintenance {
	bool for_cpu;
	bool whole; /* its exporter was asked, for all of it */
	unsigned int direction;
	uint64_t address; /* of the machine's memory, not a device's */
	uint64_t bytes;
};

/* From here on it is noted; -ENODEV where the kernel has no such probes. */
int maintenance_watch(void);

/* The same for a test. */
#define WATCH_MAINTENANCE()                                               \
	do {                                                              \
		int watch = maintenance_watch();                          \
		if (watch == -ENODEV)                                     \
			SKIP(return, "this kernel does not tell what it " \
				     "maintains");                        \
		ASSERT_EQ(0, watch);                                      \
	} while (0)

/* What there was until now, in its order: how many, or a negative errno. */
int maintenance_read(struct maintenance *list, int room);

void maintenance_end(void);

/*
 * Were these rows of memory that lies in these segments maintained, each byte
 * once, for that owner in that direction, and nothing else of it in any way?
 * The first byte of which that is not true, or -1.  No rows: nothing at all.
 */
int64_t maintenance_difference(const struct maintenance *list, int count,
			       const struct dray_segment *segment,
			       uint32_t segments, bool for_cpu,
			       unsigned int direction,
			       const struct dray_range *rows);

#endif
