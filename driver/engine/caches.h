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
 * The same for @count jobs, which are like this one and lie one @pitch behind the
 * other; those of one run only, if @count is not 1.
 */
int dray_job_sync_rows(struct dray_job *job, struct device *dev, u64 pitch,
		       u32 count);

/* Makes what the job has received visible to the CPU. */
void dray_job_show(struct dray_job *job, const struct dray_end *end);

#endif /* DRAY_CACHES_H */
