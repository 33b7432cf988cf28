// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * guard: all there are, in a list, which a fork takes one after the other.
 */
#include "base/fork.h"
#include "base/guard.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct dray_guard *guards;

static void take_all(void)
{
	struct dray_guard *guard;

	pthread_mutex_lock(&lock);
	for (guard = guards; guard; guard = guard->next)
		pthread_mutex_lock(&guard->lock);
}

static void give_all(void)
{
	struct dray_guard *guard;

	for (guard = guards; guard; guard = guard->next)
		pthread_mutex_unlock(&guard->lock);
	pthread_mutex_unlock(&lock);
}

static struct dray_fork_locks locks = {
	.rank = DRAY_FORK_GUARDS,
	.take = take_all,
	.give = give_all,
};

void dray_guard_init(struct dray_guard *guard)
{
	pthread_mutex_init(&guard->lock, NULL);
	dray_fork_enlist(&locks);
	pthread_mutex_lock(&lock);
	guard->next = guards;
	guard->link = &guards;
	if (guards)
		guards->link = &guard->next;
	guards = guard;
	pthread_mutex_unlock(&lock);
}

void dray_guard_end(struct dray_guard *guard)
{
	pthread_mutex_lock(&lock);
	*guard->link = guard->next;
	if (guard->next)
		guard->next->link = guard->link;
	pthread_mutex_unlock(&lock);
	pthread_mutex_destroy(&guard->lock);
}
