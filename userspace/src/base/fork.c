// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * fork: the locks that were enlisted, in their order, and the handler.
 *
 * It is registered with the first of them and not by a constructor: a process
 * that only loads the library forks as if it had not.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/fork.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct dray_fork_locks *highest;
static bool registered;

static void prepare(void)
{
	struct dray_fork_locks *locks;

	pthread_mutex_lock(&lock);
	for (locks = highest; locks; locks = locks->next)
		locks->take();
}

static void resume(void)
{
	struct dray_fork_locks *locks;

	for (locks = highest; locks; locks = locks->next)
		locks->give();
	pthread_mutex_unlock(&lock);
}

static void resume_child(void)
{
	struct dray_fork_locks *locks;

	for (locks = highest; locks; locks = locks->next)
		(locks->inherit ? locks->inherit : locks->give)();
	pthread_mutex_unlock(&lock);
}

void dray_fork_enlist(struct dray_fork_locks *locks)
{
	struct dray_fork_locks **link = &highest;

	pthread_mutex_lock(&lock);
	/* Fails for want of memory only: the next to be enlisted tries again. */
	if (!registered)
		registered = !pthread_atfork(prepare, resume, resume_child);
	while (*link && *link != locks && (*link)->rank <= locks->rank)
		link = &(*link)->next;
	if (*link != locks) {
		locks->next = *link;
		*link = locks;
	}
	pthread_mutex_unlock(&lock);
}
