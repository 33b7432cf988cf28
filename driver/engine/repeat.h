/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flights that their engine repeats until another replaces them: pictures on a
 * display, periods of sound.  They land when they are replaced.
 */
#ifndef DRAY_REPEAT_H
#define DRAY_REPEAT_H

#include <linux/types.h>

struct dma_async_tx_descriptor;
struct dma_chan;
struct dray_channel;
struct dray_flight;
struct dray_job;
struct dray_refusal;

/* Can the engine repeat rows? */
bool dray_repeat_fits(struct dma_chan *chan);

/* Makes the flight of a job after its area got a place: rows of one stride. */
int dray_repeat_prepare(struct dray_job *job, struct dray_refusal *refusal);
/* Returns the engine's descriptor with its callback; NULL: it has no room. */
struct dma_async_tx_descriptor *dray_repeat_take(struct dray_flight *flight);

/*
 * For the work item: marks flights that were replaced as landed, and counts
 * repeated sends.
 */
void dray_repeats_look(struct dray_channel *channel);
/* Begins the counts anew; the engine has been stopped. */
void dray_repeats_forget(struct dray_channel *channel);

#endif /* DRAY_REPEAT_H */
