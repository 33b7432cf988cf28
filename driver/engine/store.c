// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stores: a job and a flight beside each other for each frame, in chunks that are as
 * cheap to get as a single job.
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
#define DRAY_STORE_FLIGHT \
	ALIGN(struct_size((struct dray_flight *)NULL, piece, 1), sizeof(u64))
#define DRAY_STORE_CHUNK 32u /* jobs */

struct dray_store {
	struct kref kref; /* the ring's, and those of lost jobs */
	struct dray_job *anchors; /* jobs with references, by their @anchor */
	void *chunks[DRAY_MAX_FRAMES / DRAY_STORE_CHUNK];
};

struct dray_store *dray_store_create(void)
{
	struct dray_store *store = kzalloc(sizeof(*store), GFP_KERNEL_ACCOUNT);

	if (store)
		kref_init(&store->kref);
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
	u32 i;

	for (job = store->anchors; job; job = job->anchor) {
		dray_area_put(&job->moves[0].dst.area);
		dray_area_put(&job->moves[0].src.area);
		dray_queues_put(job->queues);
	}
	for (i = 0; i < ARRAY_SIZE(store->chunks); i++)
		kvfree(store->chunks[i]);
	kfree(store);
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
	void **chunk = &store->chunks[index / DRAY_STORE_CHUNK];
	const size_t size = DRAY_STORE_JOB + DRAY_STORE_FLIGHT;

	if (!*chunk)
		*chunk = kvmalloc_array(DRAY_STORE_CHUNK, size,
					GFP_KERNEL_ACCOUNT);
	return *chunk ? *chunk + index % DRAY_STORE_CHUNK * size : NULL;
}

struct dray_flight *dray_store_flight(struct dray_job *job)
{
	return (void *)job + DRAY_STORE_JOB;
}

bool dray_store_has_all(const struct dray_job *job)
{
	return job->store && !job->axes &&
	       (!job->flight || job->flight->stored);
}
