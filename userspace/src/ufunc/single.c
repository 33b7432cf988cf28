// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Loops that one thread at a time may be in share one lock.  A loop may call
 * ufuncs, and fork: the child's lock is free.
 */
#include <pthread.h>

#include "base/fork.h"
#include "ufunc/ufunc.h"

static pthread_mutex_t single;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make(void)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&single, &attributes);
	pthread_mutexattr_destroy(&attributes);
}

/* A fork does not wait for a loop. */
static void pass(void)
{
}

static struct dray_fork_locks locks = {
	.rank = DRAY_FORK_LOOPS,
	.take = pass,
	.give = pass,
	.inherit = make,
};

static void prepare(void)
{
	make();
	dray_fork_enlist(&locks);
}

void dray_single_take(void)
{
	pthread_once(&once, prepare);
	pthread_mutex_lock(&single);
}

void dray_single_give(void)
{
	pthread_mutex_unlock(&single);
}
