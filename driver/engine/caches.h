/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Caches of a job's memory, before its engine has it and afterwards.
 */
#ifndef DRAY_CACHES_H
#define DRAY_CACHES_H

struct device;
struct dray_end;
struct dray_job;

/* Lets the engine see the sources, and write the destinations. */
int dray_job_sync(struct dray_job *job, struct device *dev);
/*
 * Does so for @count jobs that differ from @job in their offset only: each lies @pitch
 * bytes behind the one before.  More than one job: each has one run.
 */
int dray_job_sync_rows(struct dray_job *job, struct device *dev, u64 pitch,
		       u32 count);

/* Lets the CPU see the bytes that the job has received. */
void dray_job_show(struct dray_job *job, const struct dray_end *end);

#endif /* DRAY_CACHES_H */
