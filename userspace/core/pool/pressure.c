// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * pressure: the callback before a pool or a resource reports that there is no
 * memory.
 *
 * No lock is held meanwhile, so the callback may free, allocate, or wait for
 * another thread that does.  If a request of its own fails, it is not called
 * again: a thread asks for one request at a time.
 */
#include <errno.h>

#include "base/error.h"
#include "base/fork.h"
#include "pool/pool.h"

/* The pool or resource for which this thread is in a callback. */
static _Thread_local const void *asking
	__attribute__((tls_model("initial-exec")));

bool dray_pressure_ask(dray_pressure *pressure, void *argument,
		       const void *source, size_t size, int error)
{
	struct dray_kept_failure kept;
	bool again;

	if (asking)
		return false;
	dray_failure_keep(&kept);
	asking = source;
	again = pressure(argument, size, error);
	asking = NULL;
	if (!again)
		dray_failure_restore(error, &kept);
	return again;
}

void dray_pool_set_pressure(struct dray_pool *pool, dray_pressure *pressure,
			    void *argument)
{
	if (!dray_given(pool, __func__))
		return;
	dray_fork_check();
	pthread_mutex_lock(&pool->lock);
	pool->pressure = pressure;
	pool->pressure_argument = argument;
	pthread_mutex_unlock(&pool->lock);
}

bool dray_pool_is_asking(const struct dray_pool *pool)
{
	return asking == pool;
}

bool dray_pool_relieve(struct dray_pool *pool, uint64_t size, int error)
{
	dray_pressure *pressure = pool->pressure;
	void *argument = pool->pressure_argument;
	bool again;

	/* A device that is gone does not come back by frees. */
	if (!pressure || asking || pool->closed || error == -ENODEV)
		return false;
	pool->pending++;
	pthread_mutex_unlock(&pool->lock);
	again = dray_pressure_ask(pressure, argument, pool, (size_t)size,
				  error);
	pthread_mutex_lock(&pool->lock);
	pool->pending--;
	if (again && pool->closed)
		dray_fail(error, "pool \"%s\" is closed", pool->name);
	return again && !pool->closed;
}
