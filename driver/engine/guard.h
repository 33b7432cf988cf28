/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A job's fence in the reservation objects of its areas.
 */
#ifndef DRAY_GUARD_H
#define DRAY_GUARD_H

struct dray_job;

/* From here on others may wait for the fence: the job must be enqueued. */
int dray_guard_job(struct dray_job *job);
/* The job waits for the fences of other drivers, and shows none of its own. */
int dray_guard_await_job(struct dray_job *job);

#endif /* DRAY_GUARD_H */
