/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stopping the engine of a stream, and ending the jobs that it held.  Under the
 * stream's @engine.
 */
#ifndef DRAY_STOP_H
#define DRAY_STOP_H

#include <linux/types.h>

struct dray_channel;
struct dray_job;

/* Why a stream's job must end now; 0: it continues. */
int dray_stream_obstacle(struct dray_job *job);

/* Ends a job that is on no list of @channel but its stream's. */
void dray_stream_end(struct dray_job *job, int error, u64 bytes, bool stopped);

/* It landed, and the engine may still write its memory. */
bool dray_flight_is_kept(const struct dray_job *job);
/* Ends a job after its flight landed. */
void dray_stream_land(struct dray_job *job);

/*
 * Stops the engine, and with it its other direction if it can only stop both.
 * Jobs that must end do so; of the rest, jobs of which no byte moved start again,
 * others end as -ECONNRESET, as do all of the other direction unless @gentle is
 * set.  If the engine does not stop, the channel is dead.
 *
 * Return: whether the engine stopped.
 */
bool dray_stream_stop(struct dray_channel *channel, bool gentle);

/*
 * Ends all jobs that left the engine: their caches, points and fences.  Only
 * under @working.  Returns whether there were any.
 */
bool dray_stream_end_all(struct dray_channel *channel);

/* Stops the engine of a dead channel.  Neither lock is held. */
bool dray_stream_stop_again(struct dray_channel *channel);

/* Stops it without jobs; false: it may still run. */
bool dray_stream_halt(struct dray_channel *channel);

#endif /* DRAY_STOP_H */
