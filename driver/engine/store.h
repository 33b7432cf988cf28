/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A store: the memory of a ring's jobs that are alike, and of their flights.  An engine
 * that does not stop may keep it longer than the ring.
 */
#ifndef DRAY_STORE_H
#define DRAY_STORE_H

#include <linux/types.h>

struct dray_flight;
struct dray_job;
struct dray_store;

/* NULL: there is no memory. */
struct dray_store *dray_store_create(void);
/* NULL is ignored by these two. */
void dray_store_get(struct dray_store *store);
void dray_store_put(struct dray_store *store);

/*
 * The room of the job of a frame, with one transfer, and of its flight, with one piece;
 * neither is cleared.  NULL: there is no memory.
 */
struct dray_job *dray_store_job(struct dray_store *store, u32 index);
struct dray_flight *dray_store_flight(struct dray_job *job);

/* Whether dray_job_free() has nothing to do for @job. */
bool dray_store_has_all(const struct dray_job *job);
/*
 * Holds the areas and the queues of @job, which is there: for the jobs alike, too, and
 * until the store is freed.
 */
void dray_store_hold(struct dray_store *store, struct dray_job *job);

#endif /* DRAY_STORE_H */
