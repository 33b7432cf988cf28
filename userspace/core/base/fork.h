/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Locks across fork().  Only the thread that forked exists in a child, so a lock
 * held by another thread would stay held for ever.  The library's handler
 * therefore acquires every lock before the fork and releases it after it, in
 * parent and child.
 */
#ifndef DRAY_BASE_FORK_H
#define DRAY_BASE_FORK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/shared.h"

/*
 * The order of all locks of the library: a thread that holds a lock acquires
 * only locks below it.
 *
 *	the list of the locks below (base/fork.c)
 *	BOs of XRT (interop/xrt_life.c)
 *	the list of managers (manager/manager.c)
 *	the publisher (publish/publish_socket.c)
 *	the list of tables of live blocks (live/live.c)
 *	the list of guards, then a guard (base/guard.c)
 *	notes of arrays (publish/notes.c)
 *	calls in flight (executor/queue.c)
 *	the times of loops (executor/times.c)
 *	the list of queues, then a queue's lock (transfer/queue_create.c)
 *	the list of streams and their events (stream/stream_open.c)
 *	the holds of fences (transfer/fence.c)
 *	memory in use (use/book.c)
 *	the list of pools, then a pool's growing, then its lock (pool/fork.c)
 *	unused pools (pool/unused.c)
 *	unused regions (pool/region.c)
 *	the buffers on the host (memory/host.c)
 *	the streams of the host (memory/loopback_port.c)
 *	the window (memory/window.c)
 *	records of memory (ipc/record.c)
 *	tables of loops (ufunc/registry.c)
 *	loops for a single thread at a time (ufunc/users_loop.c)
 *
 * Only a fork holds several guards or queues.  A thread holds two pools only if
 * it holds the list of pools too.
 */
enum dray_fork_rank {
	DRAY_FORK_XRT,
	DRAY_FORK_MANAGERS,
	DRAY_FORK_PUBLISHER,
	DRAY_FORK_LIVE,
	DRAY_FORK_GUARDS,
	DRAY_FORK_NOTES,
	DRAY_FORK_CALLS,
	DRAY_FORK_TIMES,
	DRAY_FORK_QUEUES,
	DRAY_FORK_STREAMS,
	DRAY_FORK_FENCES,
	DRAY_FORK_USES,
	DRAY_FORK_POOLS,
	DRAY_FORK_UNUSED_POOLS,
	DRAY_FORK_UNUSED_REGIONS,
	DRAY_FORK_HOST,
	DRAY_FORK_LOOPBACK,
	DRAY_FORK_WINDOW,
	DRAY_FORK_IPC,
	DRAY_FORK_UFUNCS,
	DRAY_FORK_LOOPS,
};

/* The locks of a rank. */
struct dray_fork_locks {
	enum dray_fork_rank rank;
	void (*take)(void);
	void (*give)(void);
	void (*inherit)(void);	/* releases them in the child; NULL: as give */
	void (*missed)(void);	/* see below; NULL: there is nothing to do */
	struct dray_fork_locks *next;	/* base/fork.c's: the next lower locks */
};

/*
 * From now on forks acquire these locks; enlisting them again does nothing.
 * Called before their first use, without any lock held.
 */
DRAY_PRIVATE void dray_fork_enlist(struct dray_fork_locks *locks);

/* Defines a mutex, and locks that acquire and release it in their rank. */
#define DEFINE_FORK_LOCK(of_rank, mutex)                              \
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;     \
	static void take_##mutex(void)                                \
	{                                                             \
		pthread_mutex_lock(&mutex);                           \
	}                                                             \
	static void give_##mutex(void)                                \
	{                                                             \
		pthread_mutex_unlock(&mutex);                         \
	}                                                             \
	static struct dray_fork_locks locks = {                       \
		.rank = (of_rank),                                    \
		.take = take_##mutex,                                 \
		.give = give_##mutex,                                 \
	}

/*
 * A bare clone() runs no handler.  Its child recognizes itself by a page that
 * the kernel wipes in every child: it reads 0 until the first check.  That
 * check precedes a pool's lock and the records' lock.  Locks above them may be
 * held by then, so the function for a missed fork is another for each rank.
 */
extern _Atomic(_Atomic uint32_t *) dray_fork_page;

/* Calls those functions. */
void dray_fork_missed(void);

static inline void dray_fork_check(void)
{
	_Atomic uint32_t *page = atomic_load_explicit(&dray_fork_page,
						      memory_order_acquire);

	if (__builtin_expect(!atomic_load_explicit(page, memory_order_acquire),
			     0))
		dray_fork_missed();
}

/*
 * The number of this process: no ancestor's is the same.  The system's own
 * numbers do not say so: in a PID namespace of its own a child's may equal its
 * parent's.  Means something after dray_fork_watch(), or once locks were
 * enlisted.
 */
DRAY_PRIVATE uint32_t dray_fork_process(void);
void dray_fork_watch(void);

#endif /* DRAY_BASE_FORK_H */
