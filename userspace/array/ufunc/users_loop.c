// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Loops of users: a failure leaves as a negative errno with a sentence, whatever
 * the loop returned.  A loop that one thread at a time may be in is listed while it
 * runs, and other threads wait for that loop alone.  A loop may call ufuncs, itself
 * too, and fork: no loop runs in the child.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "private.h"
#include "ufunc/ufunc.h"
#include "ufunc/users_loop.h"

#define MOST_ERRNO 4095

/* A loop that runs, on the stack of its thread. */
struct loop_running {
	struct loop_running *next;
	const struct dray_ufunc_loop *loop;
	pthread_t thread;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Signalled if a loop has returned. */
static pthread_cond_t returned = PTHREAD_COND_INITIALIZER;
static struct loop_running *list;

static void users_loop_take(void)
{
	pthread_mutex_lock(&lock);
}

static void users_loop_give(void)
{
	pthread_mutex_unlock(&lock);
}

static void users_loop_inherit(void)
{
	list = NULL;
	returned = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
	users_loop_give();
}

static struct dray_fork_locks locks = {
	.rank = DRAY_FORK_LOOPS,
	.take = users_loop_take,
	.give = users_loop_give,
	.inherit = users_loop_inherit,
};

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void users_loop_prepare(void)
{
	dray_fork_enlist(&locks);
}

/* Whether another thread is in the same loop.  With the lock. */
static bool users_loop_runs(const struct loop_running *wanted)
{
	const struct loop_running *running;

	for (running = list; running; running = running->next)
		if (running->loop->loop == wanted->loop->loop &&
		    running->loop->context == wanted->loop->context)
			return !pthread_equal(running->thread, wanted->thread);
	return false;
}

static void users_loop_enter(struct loop_running *running)
{
	pthread_once(&once, users_loop_prepare);
	users_loop_take();
	while (users_loop_runs(running))
		pthread_cond_wait(&returned, &lock);
	running->next = list;
	list = running;
	users_loop_give();
}

static void users_loop_leave(const struct loop_running *running)
{
	struct loop_running **link;

	users_loop_take();
	for (link = &list; *link && *link != running;)
		link = &(*link)->next;
	if (*link)
		*link = running->next;
	pthread_cond_broadcast(&returned);
	users_loop_give();
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
	struct loop_running running = { .loop = loop,
					.thread = pthread_self() };
	int ret;

	if (alone)
		users_loop_enter(&running);
	dray_forget_failure();
	ret = loop->loop(data, strides, count, loop->context);
	if (alone)
		users_loop_leave(&running);
	return dray_users_result(ret, "a loop of the user");
}
