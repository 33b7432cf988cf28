// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * fork: the locks that were enlisted, in their order, and the handler.
 *
 * It is registered with the first of them and not by a constructor: a process
 * that only loads the library forks as without it.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

#include "base/fork.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct dray_fork_locks *highest;
static bool registered;
static _Atomic uint32_t process;

/* If the kernel wipes no page, children stay unnoticed. */
static _Atomic uint32_t never_wiped = 1;
_Atomic(_Atomic uint32_t *) dray_fork_page = &never_wiped;

static void make_page(void)
{
	_Atomic uint32_t *page =
		mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return;
	if (madvise((void *)page, sizeof(*page), MADV_WIPEONFORK)) {
		munmap((void *)page, sizeof(*page));
		return;
	}
	atomic_store_explicit(page, 1, memory_order_relaxed);
	atomic_store_explicit(&dray_fork_page, page, memory_order_release);
}

/* In a child. */
static void know_this_process(void)
{
	atomic_fetch_add_explicit(&process, 1, memory_order_relaxed);
	atomic_store_explicit(atomic_load(&dray_fork_page), 1,
			      memory_order_release);
}

static void fork_prepare(void)
{
	struct dray_fork_locks *locks;

	pthread_mutex_lock(&lock);
	for (locks = highest; locks; locks = locks->next)
		locks->take();
}

static void fork_resume(void)
{
	struct dray_fork_locks *locks;

	for (locks = highest; locks; locks = locks->next)
		locks->give();
	pthread_mutex_unlock(&lock);
}

static void fork_resume_child(void)
{
	struct dray_fork_locks *locks;

	for (locks = highest; locks; locks = locks->next)
		(locks->inherit ? locks->inherit : locks->give)();
	know_this_process();
	pthread_mutex_unlock(&lock);
}

void dray_fork_missed(void)
{
	struct dray_fork_locks *locks;

	pthread_mutex_lock(&lock);
	/* Another thread of the child may have been here. */
	if (!atomic_load(atomic_load(&dray_fork_page))) {
		for (locks = highest; locks; locks = locks->next)
			if (locks->missed)
				locks->missed();
		know_this_process();
	}
	pthread_mutex_unlock(&lock);
}

uint32_t dray_fork_process(void)
{
	dray_fork_check();
	return atomic_load_explicit(&process, memory_order_relaxed);
}

/* With the lock.  Fails for want of memory only: the next one tries again. */
static void fork_watch(void)
{
	if (!registered)
		registered = !pthread_atfork(fork_prepare, fork_resume,
					     fork_resume_child);
	if (atomic_load(&dray_fork_page) == &never_wiped)
		make_page();
}

void dray_fork_watch(void)
{
	pthread_mutex_lock(&lock);
	fork_watch();
	pthread_mutex_unlock(&lock);
}

void dray_fork_enlist(struct dray_fork_locks *locks)
{
	struct dray_fork_locks **link = &highest;

	pthread_mutex_lock(&lock);
	fork_watch();
	while (*link && *link != locks && (*link)->rank <= locks->rank)
		link = &(*link)->next;
	if (*link != locks) {
		locks->next = *link;
		*link = locks;
	}
	pthread_mutex_unlock(&lock);
}
