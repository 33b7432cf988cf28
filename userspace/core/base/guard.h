/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * guard: the lock of one object, of which there may be many, so that fork()
 * finds each of them free (base/fork.h).
 *
 * No thread holds two guards.  None is held while foreign code runs.
 */
#ifndef DRAY_BASE_GUARD_H
#define DRAY_BASE_GUARD_H

#include <pthread.h>

struct dray_guard {
	pthread_mutex_t lock;
	struct dray_guard *next;	/* of all there are */
	struct dray_guard **link;	/* to this one */
};

void dray_guard_init(struct dray_guard *guard);
void dray_guard_end(struct dray_guard *guard);

static inline void dray_guard_take(struct dray_guard *guard)
{
	pthread_mutex_lock(&guard->lock);
}

static inline void dray_guard_give(struct dray_guard *guard)
{
	pthread_mutex_unlock(&guard->lock);
}

#endif /* DRAY_BASE_GUARD_H */
