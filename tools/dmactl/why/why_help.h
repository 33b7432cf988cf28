/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Ways to let a refused request succeed, computed over the same numbers. */
#ifndef DMACTL_WHY_HELP_H
#define DMACTL_WHY_HELP_H

#include "why_plan.h"

/* A range of a heap that could become a buffer. */
struct plan_window {
	bool found; /* false: memory that is never freed is in the way */
	uint64_t offset;
	uint64_t length; /* bytes */
	uint64_t taken; /* bytes of it that must be freed */
	uint32_t first; /* its parts, from first to before end */
	uint32_t end;
};

/*
 * Finds the range for which the fewest bytes must be freed; the lowest if there
 * are several.  The heap must have a map.
 */
struct plan_window plan_window(const struct plan_node *node, uint32_t index,
			       const struct plan_request *request);

/* The largest size with which it would succeed, in bytes; 0 if there is none. */
uint64_t plan_largest_size(const struct plan_node *node,
			   const struct plan_request *request);

/* The same for the alignment, below the requested alignment. */
uint64_t plan_largest_alignment(const struct plan_node *node,
				const struct plan_request *request);

/*
 * Returns another heap that would serve it, for DRAY_HEAP_ANY a heap that is not
 * asked; DRAY_HEAP_ANY if there is none.
 */
uint32_t plan_other_heap(const struct plan_node *node,
			 const struct plan_request *request);

/* Returns another mode, or the requested mode if none helps. */
uint32_t plan_other_mode(const struct plan_node *node,
			 const struct plan_request *request);

#endif /* DMACTL_WHY_HELP_H */
