/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frames that are alike: transfers that differ in their offset only.  The first is
 * checked, mapped and cut into pieces, and the others are made by the one before.
 */
#ifndef DRAY_ALIKE_H
#define DRAY_ALIKE_H

#include <linux/dray.h>

struct dray_job;
struct dray_store;

bool dray_transfers_are_alike(const struct dray_transfer *before,
			      const struct dray_transfer *transfer);

/*
 * Makes a job in @store by @like, that of the transfer before.  NULL: the transfer
 * leaves its area, or there is no memory, which dray_job_make() tells.
 */
struct dray_job *dray_job_make_alike(const struct dray_job *like,
				     const struct dray_transfer *transfer,
				     struct dray_store *store, u32 index);

/*
 * Prepares it by @like, which is prepared.  -EAGAIN: only dray_prepare_job() can;
 * -ENOMEM.
 */
int dray_prepare_alike(struct dray_job *job, const struct dray_job *like);

#endif /* DRAY_ALIKE_H */
