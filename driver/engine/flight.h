/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A flight: the single descriptor of a stream's job, from its pieces to the
 * engine's report.  An engine that does not stop may report late, so that a
 * flight can outlive its job.
 */
#ifndef DRAY_FLIGHT_H
#define DRAY_FLIGHT_H

#include <linux/dmaengine.h>
#include <linux/scatterlist.h>
#include <linux/types.h>

struct dray_channel;
struct dray_job;
struct dray_refusal;

struct dray_flight {
	struct dray_channel *channel;
	dma_cookie_t cookie;
	u64 group; /* of flights that the engine starts together */
	u64 bytes;
	bool aloft; /* the engine holds it, or reported it */
	u64 moved; /* bytes, at least, when the engine was stopped */
	bool unknown; /* more may have moved then */
	bool broken; /* by its status then, without a report */
	u32 retries; /* reports without a byte */
	u64 asked_ns; /* CLOCK_MONOTONIC, if an idle engine lacked room then */

	/* The engine's report: valid once @landed. */
	bool landed;
	bool failed;
	u32 residue; /* bytes that did not move */
	u64 time_ns; /* CLOCK_MONOTONIC */

	size_t size; /* bytes of its memory */
	struct user_struct *user; /* payer of that, or NULL: it is small */
	bool stored; /* its memory is a store's */
	struct dma_interleaved_template *rows; /* to repeat, or NULL */
	u64 hardware; /* pieces as the engine's driver cuts them */
	u32 count;
	struct scatterlist piece[];
};

/*
 * Makes the flight of a job after its areas got places, and joins adjacent runs
 * to a piece.  -EINVAL if the engine has no room for so many pieces, or repeats
 * rows and the pieces differ from rows.
 */
int dray_flight_prepare(struct dray_job *job, struct dray_refusal *refusal);
/* Frees it; NULL is ignored. */
void dray_flight_put(struct dray_flight *flight);

/*
 * Submits it to the engine, which starts only with dma_async_issue_pending().
 * -EAGAIN: the engine is full now; -EIO: it refuses.
 */
int dray_flight_start(struct dray_flight *flight);

/* Whether the engine reported the job's flight. */
bool dray_flight_has_landed(const struct dray_job *job);
/* Whether its end is reported, and no byte moved. */
bool dray_flight_is_unfinished(const struct dray_job *job);
#endif /* DRAY_FLIGHT_H */
