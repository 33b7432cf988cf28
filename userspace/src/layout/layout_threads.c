// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Copies by several threads: a layout is cut into parts along one axis, and each
 * thread, the caller among them, takes the next part until there is none.  So a
 * thread that cannot be made, or that waits for a processor, is not waited for.
 * Threads end with the call: nothing is left that a fork could lose.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

#include "layout/layout_threads.h"
#include "base/cancel.h"
#include "base/error.h"

#define MOST 64u /* threads */
#define PARTS 4ul /* of each thread */
#define ROUND 64u /* elements of which long parts are multiples */

uint64_t dray_threads_share = 1u << 20;

struct work {
	const struct dray_layout *layout;
	dray_loop *loop;
	void *context;
	int axis; /* that is cut; -1: the run */
	uint64_t length; /* elements of it, or bytes of the run */
	uint64_t step; /* of a part */
	atomic_uint_fast64_t next; /* where the next part begins */
	/* The failure of the part nearest to the start. */
	pthread_mutex_t mutex;
	uint64_t failed_at;
	int ret;
	char sentence[256];
};

/* Keeps the failure of a part, unless an earlier part failed too. */
static void keep_failure(struct work *work, uint64_t at, int ret)
{
	atomic_store(&work->next, work->length);
	pthread_mutex_lock(&work->mutex);
	if (!work->ret || at < work->failed_at) {
		work->failed_at = at;
		work->ret = ret;
		snprintf(work->sentence, sizeof(work->sentence), "%s",
			 dray_last_error());
	}
	pthread_mutex_unlock(&work->mutex);
}

/* Copies the part that begins at @at. */
static int copy_part(const struct work *work, uint64_t at)
{
	/* Keeps the byte count of the whole, since all parts share caches. */
	struct dray_layout part = *work->layout;
	uint64_t length = work->length - at;
	int o;

	if (length > work->step)
		length = work->step;
	for (o = 0; o < 2; o++)
		part.data[o] +=
			(int64_t)at *
			(work->axis < 0 ? 1 : part.axes[work->axis].strides[o]);
	if (work->axis < 0)
		part.run = length;
	else
		part.axes[work->axis].count = length;
	return dray_layout_apply(&part, work->loop, work->context);
}

static void *run(void *argument)
{
	struct work *work = argument;
	uint64_t at;
	int ret;

	while ((at = atomic_fetch_add(&work->next, work->step)) <
	       work->length) {
		ret = copy_part(work, at);
		if (ret)
			keep_failure(work, at, ret);
	}
	return NULL;
}

/* Makes up to @count threads, which get no signal of the program's. */
static unsigned int start(pthread_t *threads, unsigned int count,
			  struct work *work)
{
	sigset_t all, before;
	unsigned int made = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (made < count && !pthread_create(&threads[made], NULL, run, work))
		made++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return made;
}

/* Returns the axis to cut: the first one that is long enough, or the longest. */
static int find_axis(const struct dray_layout *layout, unsigned int threads)
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

static unsigned int most_threads(const struct dray_layout *layout,
				 dray_loop *loop, unsigned int threads)
{
	const uint64_t shares = layout->bytes / dray_threads_share;

	/*
	 * Elements that share bytes would be written by two at once, and a loop
	 * takes an element whole.
	 */
	if (!layout->nested || (loop && !layout->axes_count))
		return 1;
	if (threads > MOST)
		threads = MOST;
	return shares < threads ? (unsigned int)shares : threads;
}

static int apply_parts(const struct dray_layout *layout, dray_loop *loop,
		       void *context, unsigned int threads)
{
	DRAY_NO_CANCEL;
	struct work work = { .layout = layout,
			     .loop = loop,
			     .context = context,
			     .mutex = PTHREAD_MUTEX_INITIALIZER };
	pthread_t others[MOST];
	unsigned int made, i;

	work.axis = layout->axes_count ? find_axis(layout, threads) : -1;
	work.length =
		work.axis < 0 ? layout->run : layout->axes[work.axis].count;
	work.step = work.length / (threads * PARTS) + 1;
	if (work.step > ROUND)
		work.step = (work.step + ROUND - 1) / ROUND * ROUND;
	made = start(others, threads - 1, &work);
	run(&work);
	for (i = 0; i < made; i++)
		pthread_join(others[i], NULL);
	return work.ret ? dray_fail(work.ret, "%s", work.sentence) : 0;
}

int dray_layout_apply_threads(const struct dray_layout *layout, dray_loop *loop,
			      void *context, unsigned int threads)
{
	if (threads > 1)
		threads = most_threads(layout, loop, threads);
	if (threads > 1)
		return apply_parts(layout, loop, context, threads);
	return dray_layout_apply(layout, loop, context);
}
