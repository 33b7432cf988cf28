// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Queues of calls.  A queue's thread goes through its calls in order, waits until no
 * older call and no transfer uses their memory, and submits them to executors.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "private.h"
#include "cast/options.h"
#include "executor/queue.h"
#include "ufunc/users_loop.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
/* Signalled when a call is submitted or ends, or a queue ends. */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void queue_take(void)
{
	pthread_mutex_lock(&mutex);
}

static void queue_give(void)
{
	pthread_mutex_unlock(&mutex);
}

/* The threads that wait, and the calls, are the parent's. */
static void queue_inherit(void)
{
	changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
	queue_give();
}

static struct dray_fork_locks locks = {
	.rank = DRAY_FORK_CALLS,
	.take = queue_take,
	.give = queue_give,
	.inherit = queue_inherit,
};

/* Searches for users of an operand. */
static struct dray_use_query query_for(const struct dray_use_part *part,
				       unsigned int sorts)
{
	const struct dray_addresses span = { part->interval.low,
					     part->interval.high };
	struct dray_use_query query = { .before = UINT64_MAX, .sorts = sorts };

	if (part->writes)
		query.writes = span;
	else
		query.reads = span;
	return query;
}

/*
 * Calls in flight of all queues are in the book of memory.  Each waits for older calls
 * that meet its memory, so none waits for ever.
 */
static bool waits_for_older(const struct dray_queued *queued)
{
	const struct dray_use_part *part = queued->event->use.parts;
	struct dray_use_query query;

	for (; part; part = part->next) {
		query = query_for(part, 1 << DRAY_USE_CALL);
		query.before = queued->event->use.number;
		if (dray_use_meets(&query))
			return true;
	}
	return false;
}

void dray_call_end(struct dray_call *call, int status)
{
	struct dray_call_queue *queue;
	struct dray_queued *queued;

	if (!dray_given(call, __func__))
		return;
	queued = dray_queued(call);
	/* The call of a child's parent ends there. */
	if (queued->event->use.process != dray_fork_process() ||
	    atomic_exchange(&queued->ended, true))
		return;
	status = dray_users_result(status, queued->event->name);
	if (!status && queued->executor)
		dray_executor_measured(queued->executor, call,
				       dray_clock_now() - queued->started_ns);
	queue = queued->queue;
	if (queue) {
		/* First, so that a full queue can wait for calls. */
		queue_take();
		queue->calls--;
		queue_give();
	}
	dray_event_end_call(dray_event_ref(queued->event), status);
	/* Without a queue, the thread that waits for the event frees the call. */
	if (!queue)
		return;
	queue_take();
	queued->next_ended = queue->ended;
	queue->ended = queued;
	pthread_cond_broadcast(&changed);
	queue_give();
}

bool dray_call_is_cancelled(const struct dray_call *call)
{
	const struct dray_queued *queued;

	if (!dray_given(call, __func__))
		return false;
	queued = dray_queued(call);
	if (queued->outer)
		queued = dray_queued(queued->outer);
	return atomic_load(&queued->event->cancelled);
}

/*
 * Waits for transfers and loans that meet operands; calls were waited for.  A call that is
 * cancelled is noticed now and then.
 */
static int await_transfers(const struct dray_queued *queued)
{
	const struct dray_use_part *part = queued->event->use.parts;
	struct dray_use_query query;
	int ret = 0;

	for (; part && !ret; part = part->next) {
		query = query_for(part,
				  1 << DRAY_USE_TRANSFER | 1 << DRAY_USE_LOAN);
		do {
			ret = dray_use_wait(&query, DRAY_CALLS_LOOK_MS);
		} while (ret == -ETIME &&
			 !dray_call_is_cancelled(&queued->call));
	}
	return ret;
}

/* Computes in this thread, with the state of the thread that submitted the call. */
static int cpu_submit(struct dray_call *call)
{
	struct dray_queued *queued = dray_queued(call);
	struct dray_fp_state state = { .size = sizeof(state) };
	int ret;

	dray_get_fp_state(&state);
	dray_set_fp_state(&queued->state);
	ret = dray_ufunc_call(call->ufunc, call->views,
			      call->views + call->inputs, &queued->options,
			      NULL);
	dray_set_fp_state(&state);
	dray_call_end(call, ret);
	return 0;
}

static int executor_queue_submit(struct dray_executor *executor,
				 struct dray_call *call)
{
	if (!executor->functions.submit)
		return cpu_submit(call);
	return executor->functions.submit(executor->context, call);
}

void dray_calls_start(struct dray_call_queue *queue, struct dray_queued *queued)
{
	struct dray_executor *executor;
	uint64_t ns;
	int ret;

	executor = dray_choose_executor(queue->executors, queue->count,
					&queued->call, &ns, NULL);
	queued->executor = dray_executor_ref(executor);
	queued->started_ns = dray_clock_now();
	dray_forget_failure();
	ret = executor_queue_submit(executor, &queued->call);
	ret = dray_users_result(ret, executor->name);
	if (ret)
		dray_call_end(&queued->call, ret);
}

/* Runs a task with the state of the thread that submitted it. */
static int run_task(struct dray_call_queue *queue, struct dray_queued *queued)
{
	struct dray_fp_state state = { .size = sizeof(state) };
	int ret;

	dray_get_fp_state(&state);
	dray_set_fp_state(&queued->state);
	ret = queued->task.run(queued->task.context, queue, &queued->call);
	dray_set_fp_state(&state);
	return ret;
}

/* Whether the queue's thread may start a call; else its cancellation ends it. */
static bool claim_start(struct dray_queued *queued)
{
	bool starts;

	queue_take();
	starts = !queued->claimed;
	queued->claimed = true;
	queue_give();
	return starts;
}

static void queue_run_call(struct dray_call_queue *queue,
			   struct dray_queued *queued)
{
	struct dray_event *event = queued->event;
	int ret = await_transfers(queued);

	if (!claim_start(queued))
		return;
	if (atomic_load(&event->cancelled))
		ret = dray_fail(-ECANCELED, "the call of %s was cancelled",
				event->name);
	if (!ret && queued->task.run)
		ret = run_task(queue, queued);
	if (ret || !queued->call.elements)
		dray_call_end(&queued->call, ret);
	else
		dray_calls_start(queue, queued);
	/* An executor runs it, or it ended. */
	atomic_store(&event->runs_later, false);
}

static int queue_cancelled(const struct dray_queued *queued)
{
	return dray_fail(-ECANCELED,
			 "the call of %s was cancelled before it began",
			 queued->event->name);
}

/* Ends a call that did not start.  Implements dray_event's cancel. */
static void cancel_call(struct dray_event *event)
{
	struct dray_queued *queued;

	queue_take();
	queued = event->call;
	if (queued && queued->claimed)
		queued = NULL;
	if (queued)
		queued->claimed = true;
	queue_give();
	/* Only ended calls are freed. */
	if (queued)
		dray_call_end(&queued->call, queue_cancelled(queued));
}

int dray_call_queue_cancel(struct dray_call_queue *queue)
{
	struct dray_queued *queued, *claimed = NULL, **last = &claimed;

	if (!dray_given(queue, __func__))
		return -EINVAL;
	if (queue->process != dray_fork_process())
		return dray_fail(-ECHILD, "the queue of calls is the parent's");
	queue_take();
	for (queued = queue->oldest; queued; queued = queued->next) {
		atomic_store(&queued->event->cancelled, true);
		if (queued->claimed)
			continue;
		queued->claimed = true;
		*last = queued;
		last = &queued->next_ended;
	}
	*last = NULL;
	queue_give();
	while ((queued = claimed)) {
		claimed = queued->next_ended;
		dray_call_end(&queued->call, queue_cancelled(queued));
	}
	return 0;
}

/* With the lock. */
static void unlink_call(struct dray_call_queue *queue,
			struct dray_queued *queued)
{
	queued->event->call = NULL;
	if (queue->first == queued)
		queue->first = queued->next;
	if (queued->before)
		queued->before->next = queued->next;
	else
		queue->oldest = queued->next;
	if (queued->next)
		queued->next->before = queued->before;
	else
		queue->newest = queued->before;
}

/*
 * Frees ended calls, in the queue's thread: an executor's thread that ends a
 * call drops neither its executor nor memory.  With the lock, dropped meanwhile.
 */
static void free_ended(struct dray_call_queue *queue)
{
	struct dray_queued *queued = queue->ended;

	queue->ended = queued->next_ended;
	unlink_call(queue, queued);
	queue_give();
	dray_queued_free(queued);
	queue_take();
}

static void free_queue(struct dray_call_queue *queue)
{
	size_t i;

	for (i = 0; i < queue->count; i++)
		dray_executor_unref(queue->executors[i]);
	free(queue);
}

/* Runs the oldest waiting call, if no older call of a queue hinders it. */
static bool run_first(struct dray_call_queue *queue)
{
	struct dray_queued *queued = queue->first;

	if (!queued || (!queued->claimed && waits_for_older(queued)))
		return false;
	queue->first = queued->next;
	if (!queued->claimed) {
		queue_give();
		queue_run_call(queue, queued);
		queue_take();
	}
	return true;
}

static void *queue_run(void *argument)
{
	struct dray_call_queue *queue = argument;

	pthread_setname_np(pthread_self(), "dray-calls");
	queue_take();
	while (!queue->ends || queue->oldest) {
		if (queue->ended)
			free_ended(queue);
		else if (!run_first(queue))
			pthread_cond_wait(&changed, &mutex);
		/* A loop forked: the calls are the parent's. */
		if (queue->process != dray_fork_process()) {
			queue_give();
			return NULL;
		}
	}
	queue_give();
	if (queue->alone) {
		pthread_detach(pthread_self());
		free_queue(queue);
	}
	return NULL;
}

static int queue_check_options(const struct dray_call_queue_options *options)
{
	if (options->flags & ~DRAY_CALLS_NONBLOCK)
		return dray_fail(-EINVAL,
				 "unknown flags 0x%x of a queue of calls",
				 options->flags & ~DRAY_CALLS_NONBLOCK);
	if (options->depth > DRAY_CALLS_MOST_DEPTH)
		return dray_fail(-EINVAL,
				 "a queue has room for up to %d calls, not %u",
				 DRAY_CALLS_MOST_DEPTH, options->depth);
	return 0;
}

int dray_call_queue_create(struct dray_executor *const *executors, size_t count,
			   const struct dray_call_queue_options *options,
			   struct dray_call_queue **out)
{
	struct dray_call_queue_options all;
	struct dray_call_queue *queue;
	size_t i;
	int ret;

	if (!dray_given(out, __func__) ||
	    (count && !dray_given(executors, __func__)))
		return -EINVAL;
	ret = DRAY_READ_OPTIONS(&all, options,
				DRAY_CALL_QUEUE_OPTIONS_SIZE_FIRST);
	if (!ret)
		ret = queue_check_options(&all);
	if (ret)
		return ret;
	if (count > DRAY_CALLS_MOST_EXECUTORS)
		return dray_fail(
			-EINVAL,
			"a queue has at most %d executors beside the CPU, not %zu",
			DRAY_CALLS_MOST_EXECUTORS, count);
	for (i = 0; i < count; i++)
		if (!dray_given(executors[i], __func__))
			return -EINVAL;
	queue = calloc(1, sizeof(*queue));
	if (!queue)
		return dray_fail(-ENOMEM, "no memory for a queue of calls");
	dray_fork_enlist(&locks);
	dray_times_enlist();
	dray_streams_enlist();
	queue->process = dray_fork_process();
	queue->depth = all.depth ? all.depth : DRAY_CALLS_DEPTH;
	queue->nonblock = all.flags & DRAY_CALLS_NONBLOCK;
	for (i = 0; i < count; i++)
		queue->executors[i] = dray_executor_ref(executors[i]);
	queue->count = count;
	ret = dray_thread_create(&queue->thread, NULL, queue_run, queue);
	if (ret) {
		for (i = 0; i < count; i++)
			dray_executor_unref(executors[i]);
		free(queue);
		return dray_fail(-ret, "no thread for a queue of calls: %s",
				 strerror(ret));
	}
	*out = queue;
	return 0;
}

bool dray_calls_in_own_thread(const struct dray_call_queue *queue)
{
	return queue->process == dray_fork_process() &&
	       pthread_equal(queue->thread, pthread_self());
}

void dray_call_queue_destroy(struct dray_call_queue *queue)
{
	DRAY_NO_CANCEL;
	bool alone;

	if (!queue)
		return;
	alone = dray_calls_in_own_thread(queue);
	/* A child owns neither the thread nor the calls. */
	if (queue->process == dray_fork_process()) {
		queue_take();
		queue->ends = true;
		queue->alone = alone;
		pthread_cond_broadcast(&changed);
		queue_give();
		if (alone)
			return;
		pthread_join(queue->thread, NULL);
	}
	free_queue(queue);
}

/* Returns the event of the oldest call in progress.  With the lock. */
static struct dray_event *oldest_event(const struct dray_call_queue *queue)
{
	const struct dray_queued *queued = queue->oldest;

	while (queued && dray_use_has_ended(&queued->event->use))
		queued = queued->next;
	return queued ? dray_event_ref(queued->event) : NULL;
}

struct dray_event *dray_call_queue_full(struct dray_call_queue *queue)
{
	struct dray_event *event = NULL;

	if (!dray_given(queue, __func__) ||
	    queue->process != dray_fork_process())
		return NULL;
	queue_take();
	if (queue->calls >= queue->depth)
		event = oldest_event(queue);
	queue_give();
	return event;
}

/* With the lock. */
static void queue_append(struct dray_call_queue *queue,
			 struct dray_queued *queued)
{
	queued->queue = queue;
	queued->event->runner = queue->thread;
	atomic_store(&queued->event->runs_later, true);
	queued->event->call = queued;
	queued->event->cancel = cancel_call;
	/* Calls that others submit later get higher numbers. */
	dray_use_enter(&queued->event->use);
	queued->before = queue->newest;
	if (queue->newest)
		queue->newest->next = queued;
	else
		queue->oldest = queued;
	queue->newest = queued;
	if (!queue->first)
		queue->first = queued;
	queue->calls++;
	pthread_cond_broadcast(&changed);
}

/* Appends a call, or returns the event that must end before there is room. */
static struct dray_event *try_to_append(struct dray_call_queue *queue,
					struct dray_queued *queued)
{
	struct dray_event *event = NULL;

	queue_take();
	if (queue->calls >= queue->depth)
		event = oldest_event(queue);
	else
		queue_append(queue, queued);
	queue_give();
	return event;
}

int dray_calls_append(struct dray_call_queue *queue, struct dray_queued *queued)
{
	struct dray_event *event;
	bool ended;
	int ret;

	while ((event = try_to_append(queue, queued))) {
		ret = queue->nonblock
			      ? dray_fail(
					-EAGAIN,
					"%u calls of the queue wait or run, as many as it has room for",
					queue->depth)
			      : dray_event_wait(event, -1);
		ended = dray_use_has_ended(&event->use);
		dray_event_unref(event);
		if (!ended)
			return ret;
	}
	return 0;
}
