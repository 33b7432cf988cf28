// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Loops of users: a failure leaves as a negative errno with a sentence, whatever
 * the loop returned.  Those that one thread at a time may be in share one lock.  A
 * loop may call ufuncs, and fork: the child's lock is free.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/error.h"
#include "base/fork.h"
#include "ufunc/ufunc.h"

#define MOST_ERRNO 4095

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

int dray_users_result(int ret, const char *function)
{
	if (ret > 0 || ret < -MOST_ERRNO)
		return dray_fail(
			-EIO,
			"%s returned %d, which is neither 0 nor a negative errno",
			function, ret);
	if (ret && !*dray_last_error())
		return dray_fail(ret, "%s failed: %s", function,
				 strerror(-ret));
	return ret;
}

int dray_users_loop_run(const struct dray_ufunc_loop *loop, char *const *data,
			const int64_t *strides, int64_t count)
{
	const bool alone = loop->flags & DRAY_LOOP_SINGLE_THREAD;
	int ret;

	if (alone) {
		pthread_once(&once, prepare);
		pthread_mutex_lock(&single);
	}
	dray_forget_failure();
	ret = loop->loop(data, strides, count, loop->context);
	if (alone)
		pthread_mutex_unlock(&single);
	return dray_users_result(ret, "a loop of the user");
}
