// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stores: a job and a flight beside each other for each frame, so that a ring over an
 * array takes one allocation.
 */
#include <linux/align.h>
#include <linux/kref.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "flight.h"
#include "job.h"
#include "queue.h"
#include "store.h"

#define DRAY_STORE_JOB \
	ALIGN(struct_size((struct dray_job *)NULL, moves, 1), sizeof(u64))
#define DRAY_STORE_SLOT                                                    \
	(DRAY_STORE_JOB +                                                  \
	 ALIGN(struct_size((struct dray_flight *)NULL, piece, 1), sizeof(u64)))

struct dray_store {
	struct kref kref; /* the ring's, and those of lost jobs */
	struct dray_job *anchors; /* jobs with references, by their @anchor */
	u64 slots[]; /* of DRAY_STORE_SLOT bytes each */
};

struct dray_store *dray_store_create(u32 count)
{
	struct dray_store *store;

	/* There are at most DRAY_MAX_FRAMES. */
	store = kvmalloc(sizeof(*store) + count * DRAY_STORE_SLOT,
			 GFP_KERNEL_ACCOUNT);
	if (!store)
		return NULL;
	kref_init(&store->kref);
	store->anchors = NULL;
	return store;
}

void dray_store_get(struct dray_store *store)
{
	if (store)
		kref_get(&store->kref);
}

static void dray_store_release(struct kref *kref)
{
	struct dray_store *store = container_of(kref, struct dray_store, kref);
	struct dray_job *job;

	for (job = store->anchors; job; job = job->anchor) {
		dray_area_put(&job->moves[0].dst.area);
		dray_area_put(&job->moves[0].src.area);
		dray_queues_put(job->queues);
	}
	kvfree(store);
}

void dray_store_put(struct dray_store *store)
{
	if (store)
		kref_put(&store->kref, dray_store_release);
}

void dray_store_hold(struct dray_store *store, struct dray_job *job)
{
	kref_get(&job->queues->kref);
	dray_area_get(&job->moves[0].dst.area);
	dray_area_get(&job->moves[0].src.area);
	job->anchor = store->anchors;
	store->anchors = job;
}

struct dray_job *dray_store_job(struct dray_store *store, u32 index)
{
	return (void *)store->slots + index * DRAY_STORE_SLOT;
}

struct dray_flight *dray_store_flight(struct dray_store *store, u32 index)
{
	return (void *)dray_store_job(store, index) + DRAY_STORE_JOB;
}
