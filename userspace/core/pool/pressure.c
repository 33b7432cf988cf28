// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * pressure: the callback before a pool reports that there is no memory.
 *
 * No lock is held meanwhile, so the callback may free, allocate, or wait for
 * another thread that does.  If a request of its own fails, it is not called
 * again: a thread asks for one request at a time.
 */
#include <errno.h>

#include "base/error.h"
#include "base/fork.h"
#include "pool/pool.h"

static _Thread_local const struct dray_pool *asking
	__attribute__((tls_model("initial-exec")));

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
	struct dray_kept_failure kept;
	bool again;

	/* A device that is gone does not come back by frees. */
	if (!pressure || asking || pool->closed || error == -ENODEV)
		return false;
	pool->pending++;
	pthread_mutex_unlock(&pool->lock);
	dray_failure_keep(&kept);
	asking = pool;
	again = pressure(argument, (size_t)size);
	asking = NULL;
	pthread_mutex_lock(&pool->lock);
	pool->pending--;
	if (!again)
		dray_failure_restore(error, &kept);
	else if (pool->closed)
		dray_fail(error, "pool \"%s\" is closed", pool->name);
	return again && !pool->closed;
}
