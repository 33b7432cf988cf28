/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The end of a job.  For the channel's work item.
 */
#ifndef DRAY_END_H
#define DRAY_END_H

#include <linux/types.h>

struct dray_job;
struct work_struct;

/* How a job has ended. */
struct dray_end {
	int error; /* 0 or a negative errno */
	u64 bytes; /* that moved */
	bool stopped; /* more bytes may have moved than @bytes */
	u64 time_ns; /* CLOCK_MONOTONIC */
};

/*
 * Makes received bytes visible to the CPU, tells the timeline, signals the
 * fence, and counts one unsignalled job less.  @lost: the engine may go on with
 * the job, which therefore stays in flight.
 */
void dray_job_end(struct dray_job *job, const struct dray_end *end, bool lost);

/* Counts the end of a submission, or of a frame's flight, for its opener. */
void dray_end_count(struct dray_job *job, const struct dray_end *end);

/* Frees an ended job later; the engine has nothing of it. */
void dray_job_retire(struct dray_job *job);
/* Work that frees jobs that have ended. */
void dray_clean(struct work_struct *work);

#endif /* DRAY_END_H */
