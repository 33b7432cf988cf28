/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Reads the numbers of a node for a plan. */
#ifndef DMACTL_WHY_READ_H
#define DMACTL_WHY_READ_H

#include <dray/memory.h>

#include "why_plan.h"

/*
 * Reads the node's heaps and their maps for the alignment and mask of @request,
 * and the caller's rights.  Returns a negative errno, for dray_last_error().
 */
int plan_read(struct dray_node *node, const struct dray_info *info,
	      const struct plan_request *request, struct plan_node *plan);
void plan_free(struct plan_node *plan);

#endif /* DMACTL_WHY_READ_H */
