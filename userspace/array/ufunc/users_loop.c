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
struct running {
	struct running *next;
	const struct dray_ufunc_loop *loop;
	pthread_t thread;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Signalled if a loop has returned. */
static pthread_cond_t returned = PTHREAD_COND_INITIALIZER;
static struct running *list;

static void take(void)
{
	pthread_mutex_lock(&lock);
}

static void give(void)
{
	pthread_mutex_unlock(&lock);
}

static void inherit(void)
{
	list = NULL;
	returned = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
	give();
}

static struct dray_fork_locks locks = {
	.rank = DRAY_FORK_LOOPS,
	.take = take,
	.give = give,
	.inherit = inherit,
};

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void prepare(void)
{
	dray_fork_enlist(&locks);
}

/* Whether another thread is in the same loop.  With the lock. */
static bool is_taken(const struct running *wanted)
{
	const struct running *running;

	for (running = list; running; running = running->next)
		if (running->loop->loop == wanted->loop->loop &&
		    running->loop->context == wanted->loop->context)
			return !pthread_equal(running->thread, wanted->thread);
	return false;
}

static void enter(struct running *running)
{
	pthread_once(&once, prepare);
	take();
	while (is_taken(running))
		pthread_cond_wait(&returned, &lock);
	running->next = list;
	list = running;
	give();
}

static void leave(const struct running *running)
{
	struct running **link;

	take();
	for (link = &list; *link && *link != running;)
		link = &(*link)->next;
	if (*link)
		*link = running->next;
	pthread_cond_broadcast(&returned);
	give();
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
	struct running running = { .loop = loop, .thread = pthread_self() };
	int ret;

	if (alone)
		enter(&running);
	dray_forget_failure();
	ret = loop->loop(data, strides, count, loop->context);
	if (alone)
		leave(&running);
	return dray_users_result(ret, "a loop of the user");
}
