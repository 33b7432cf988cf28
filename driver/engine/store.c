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
#include "store.h"

#define DRAY_STORE_JOB \
	ALIGN(struct_size((struct dray_job *)NULL, moves, 1), sizeof(u64))
#define DRAY_STORE_SLOT                                                    \
	(DRAY_STORE_JOB +                                                  \
	 ALIGN(struct_size((struct dray_flight *)NULL, piece, 1), sizeof(u64)))

struct dray_store {
	struct kref kref; /* the ring's, and those of lost jobs */
	u64 slots[]; /* of DRAY_STORE_SLOT bytes each */
};

struct dray_store *dray_store_create(u32 count)
{
	struct dray_store *store;

	/* There are at most DRAY_MAX_FRAMES. */
	store = kvmalloc(sizeof(*store) + count * DRAY_STORE_SLOT,
			 GFP_KERNEL_ACCOUNT);
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
	kvfree(container_of(kref, struct dray_store, kref));
}

void dray_store_put(struct dray_store *store)
{
	if (store)
		kref_put(&store->kref, dray_store_release);
}

struct dray_job *dray_store_job(struct dray_store *store, u32 index)
{
	return (void *)store->slots + index * DRAY_STORE_SLOT;
}

struct dray_flight *dray_store_flight(struct dray_store *store, u32 index)
{
	return (void *)dray_store_job(store, index) + DRAY_STORE_JOB;
}
