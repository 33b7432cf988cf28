// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Work by several threads: it is cut into parts, and each thread, the caller among
 * them, does the next part until there is none.  So a thread that cannot be made,
 * or that waits for a processor, is not waited for.  Threads end with the call:
 * nothing is left that a fork could lose.  A copy is cut along an axis of its
 * layout.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "layout/layout_threads.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/thread.h"

#define PARTS 4ul /* of each thread */
#define ROUND 64u /* elements of which long parts are multiples */

uint64_t dray_threads_share = 1u << 20;

struct thread_work {
	dray_threads_part *part;
	void *context;
	uint64_t length;
	uint64_t step; /* of a part */
	atomic_uint_fast64_t next; /* where the next part begins */
	/* The failure of the part nearest to the start. */
	pthread_mutex_t mutex;
	uint64_t failed_at;
	int ret;
	struct dray_kept_failure failure;
};

/* Keeps the failure of a part, unless an earlier part failed too. */
static void keep_failure(struct thread_work *work, uint64_t at, int ret)
{
	atomic_store(&work->next, work->length);
	pthread_mutex_lock(&work->mutex);
	if (!work->ret || at < work->failed_at) {
		work->failed_at = at;
		work->ret = ret;
		dray_failure_keep(&work->failure);
	}
	pthread_mutex_unlock(&work->mutex);
}

static void *layout_threads_run(void *argument)
{
	struct thread_work *work = argument;
	uint64_t at;
	int ret;

	while ((at = atomic_fetch_add(&work->next, work->step)) <
	       work->length) {
		ret = work->part(work->context, at,
				 work->length - at < work->step
					 ? work->length - at
					 : work->step);
		if (ret)
			keep_failure(work, at, ret);
	}
	return NULL;
}

/* Makes up to @count threads. */
static unsigned int layout_threads_start(pthread_t *threads, unsigned int count,
					 struct thread_work *work)
{
	sigset_t before;
	unsigned int made = 0;

	dray_signals_block(&before);
	while (made < count &&
	       !pthread_create(&threads[made], NULL, layout_threads_run, work))
		made++;
	dray_signals_restore(&before);
	return made;
}

int dray_threads_run(uint64_t length, unsigned int threads,
		     dray_threads_part *part, void *context)
{
	DRAY_NO_CANCEL;
	struct thread_work work = { .part = part,
				    .context = context,
				    .length = length,
				    .mutex = PTHREAD_MUTEX_INITIALIZER };
	pthread_t others[DRAY_MOST_THREADS];
	unsigned int made, i;

	work.step = length / (threads * PARTS) + 1;
	if (work.step > ROUND)
		work.step = (work.step + ROUND - 1) / ROUND * ROUND;
	made = layout_threads_start(others, threads - 1, &work);
	layout_threads_run(&work);
	for (i = 0; i < made; i++)
		pthread_join(others[i], NULL);
	return work.ret < 0 ? dray_failure_restore(work.ret, &work.failure)
			    : work.ret;
}

unsigned int dray_threads_for(uint64_t bytes, unsigned int threads)
{
	const uint64_t shares = bytes / dray_threads_share;

	if (threads > DRAY_MOST_THREADS)
		threads = DRAY_MOST_THREADS;
	if (shares < threads)
		threads = (unsigned int)shares;
	return threads ? threads : 1;
}

int dray_threads_axis(const struct dray_layout *layout, unsigned int threads)
{
	int longest = 0, i;

	for (i = 0; i < layout->axes_count; i++) {
		if (layout->axes[i].count >= threads * PARTS)
			return i;
		if (layout->axes[i].count > layout->axes[longest].count)
			longest = i;
	}
	return longest;
}

/* A copy that is cut. */
struct thread_copy {
	const struct dray_layout *layout;
	dray_loop *loop;
	void *context;
	int axis; /* -1: the run, by its bytes */
};

static int copy_part(void *context, uint64_t at, uint64_t length)
{
	const struct thread_copy *copy = context;
	/* Keeps the byte count of the whole, since all parts share caches. */
	struct dray_layout part = *copy->layout;
	int o;

	for (o = 0; o < 2; o++)
		part.data[o] +=
			(int64_t)at *
			(copy->axis < 0 ? 1 : part.axes[copy->axis].strides[o]);
	if (copy->axis < 0)
		part.run = length;
	else
		part.axes[copy->axis].count = length;
	return dray_layout_apply(&part, copy->loop, copy->context);
}

static unsigned int most_threads(const struct dray_layout *layout,
				 dray_loop *loop, unsigned int threads)
{
	/*
	 * Two threads would write elements that share bytes at once, and a loop
	 * writes an element whole.
	 */
	if (!layout->nested || (loop && !layout->axes_count))
		return 1;
	return dray_threads_for(layout->bytes, threads);
}

int dray_layout_apply_threads(const struct dray_layout *layout, dray_loop *loop,
			      void *context, unsigned int threads)
{
	struct thread_copy copy = { layout, loop, context, -1 };

	if (threads > 1)
		threads = most_threads(layout, loop, threads);
	if (threads <= 1)
		return dray_layout_apply(layout, loop, context);
	if (!layout->axes_count)
		return dray_threads_run(layout->run, threads, copy_part, &copy);
	copy.axis = dray_threads_axis(layout, threads);
	return dray_threads_run(layout->axes[copy.axis].count, threads,
				copy_part, &copy);
}
