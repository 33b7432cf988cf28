// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Calls and tasks on their way into a queue, and the plan of a call. */
#include <errno.h>
#include <string.h>

#include "private.h"
#include "cast/options.h"
#include "executor/queue.h"

static int submit_check_process(const struct dray_call_queue *queue)
{
	if (queue->process == dray_fork_process())
		return 0;
	return dray_fail(-ECHILD, "the queue of calls is the parent's");
}

/* A call that waits for a later one of its queue never ends. */
static int check_wait(const struct dray_call_queue *queue)
{
	if (!dray_calls_in_own_thread(queue))
		return 0;
	return dray_fail(
		-EDEADLK,
		"a call cannot wait for another one of its queue: ask for an event");
}

/* Puts a call into its queue, with a reference to its end for the caller. */
static int submit_append(struct dray_call_queue *queue,
			 struct dray_queued *queued, struct dray_event **end)
{
	int ret;

	*end = dray_event_ref(queued->event);
	ret = dray_calls_append(queue, queued);
	if (ret) {
		dray_event_unref(*end);
		dray_queued_free(queued);
	}
	return ret;
}

/* Whether there is room for each output that is made. */
static bool outputs_given(const struct dray_ufunc *ufunc,
			  const struct dray_view *const *outputs,
			  struct dray_array **out)
{
	int o;

	for (o = 0; !out && o < ufunc->outputs; o++)
		if (!outputs || !outputs[o])
			return dray_given(out, "dray_call_queue_submit");
	return true;
}

/* Waits for the end of a call, which no signal ends. */
static int submit_await(struct dray_event *end)
{
	int ret;

	do {
		ret = dray_event_wait(end, -1);
	} while (ret == -EINTR);
	dray_event_unref(end);
	return ret;
}

/* Gives a reference to the event to the caller, or waits for it. */
static int submit_hand_over(struct dray_event *end, struct dray_event **event)
{
	if (!event)
		return submit_await(end);
	*event = end;
	return 0;
}

int dray_call_queue_submit(struct dray_call_queue *queue,
			   struct dray_ufunc *ufunc,
			   const struct dray_view *const *inputs,
			   const struct dray_view *const *outputs,
			   const struct dray_ufunc_options *options,
			   struct dray_array **out, struct dray_event **event)
{
	DRAY_NO_CANCEL;
	struct dray_array *made[DRAY_UFUNC_MAX_OPERANDS];
	struct dray_queued *queued;
	struct dray_event *end;
	int o, ret;

	if (!dray_given(queue, __func__) || !dray_given(ufunc, __func__) ||
	    !outputs_given(ufunc, outputs, out))
		return -EINVAL;
	ret = submit_check_process(queue);
	if (!ret && !event)
		ret = check_wait(queue);
	if (!ret)
		ret = dray_queued_create(ufunc, inputs, outputs, options,
					 &queued);
	if (ret)
		return ret;
	/* The call may end, and be freed, at once. */
	for (o = 0; o < ufunc->outputs; o++)
		made[o] = dray_array_ref(queued->arrays[ufunc->inputs + o]);
	ret = submit_append(queue, queued, &end);
	for (o = 0; o < ufunc->outputs; o++) {
		if (!ret && out)
			out[o] = made[o];
		else
			dray_array_unref(made[o]);
	}
	return ret ? ret : submit_hand_over(end, event);
}

int dray_task_submit(struct dray_call_queue *queue,
		     const struct dray_task *task, struct dray_operand *inputs,
		     int inputs_count, struct dray_operand *outputs,
		     int outputs_count, struct dray_event **event)
{
	struct dray_queued *queued;
	struct dray_event *end;
	int ret;

	ret = submit_check_process(queue);
	if (!ret && !event)
		ret = check_wait(queue);
	if (!ret)
		ret = dray_queued_create_task(task, inputs, inputs_count,
					      outputs, outputs_count, &queued);
	if (ret) {
		task->release(task->context);
		return ret;
	}
	ret = submit_append(queue, queued, &end);
	return ret ? ret : submit_hand_over(end, event);
}

bool dray_task_has_executors(const struct dray_call_queue *queue)
{
	return queue->count;
}

int dray_task_call(struct dray_call_queue *queue, const struct dray_call *outer,
		   struct dray_ufunc *ufunc,
		   const struct dray_view *const *inputs,
		   const struct dray_view *const *outputs,
		   const struct dray_ufunc_options *options)
{
	struct dray_queued *queued;
	struct dray_event *end;
	int ret;

	ret = dray_queued_create(ufunc, inputs, outputs, options, &queued);
	if (ret)
		return ret;
	queued->outer = outer;
	end = dray_event_ref(queued->event);
	if (queued->call.elements)
		dray_calls_start(queue, queued);
	else
		dray_call_end(&queued->call, 0);
	ret = submit_await(end);
	dray_queued_free(queued);
	return ret;
}

int dray_explain_call(struct dray_call_queue *queue, struct dray_ufunc *ufunc,
		      const struct dray_view *const *inputs,
		      const struct dray_view *const *outputs,
		      const struct dray_ufunc_options *options,
		      struct dray_call_explanation *out)
{
	struct dray_call_explanation reply = { .executor = "" };
	struct dray_executor *executor;
	struct dray_queued *queued;
	uint64_t ns = UINT64_MAX;
	int o, ret;

	if (!dray_given(queue, __func__) || !dray_given(ufunc, __func__) ||
	    !dray_given(out, __func__))
		return -EINVAL;
	ret = submit_check_process(queue);
	if (!ret)
		ret = dray_queued_create(ufunc, inputs, outputs, options,
					 &queued);
	if (ret)
		return ret;
	executor = dray_cpu_executor();
	/* Executors are asked about elements only. */
	if (queued->call.elements)
		executor =
			dray_choose_executor(queue->executors, queue->count,
					     &queued->call, &ns, reply.reason);
	else
		snprintf(reply.reason, sizeof(reply.reason),
			 "there are no elements, so nothing runs");
	memcpy(reply.executor, executor->name, sizeof(reply.executor));
	reply.elements = queued->call.elements;
	for (o = 0; o < queued->operands; o++)
		reply.bytes += (uint64_t)reply.elements *
			       dray_dtype_itemsize(queued->views[o].dtype);
	reply.measured = ns != UINT64_MAX;
	reply.ns = reply.measured ? ns : 0;
	dray_queued_free(queued);
	return DRAY_WRITE_RESULT(out, &reply, DRAY_CALL_EXPLANATION_SIZE_FIRST);
}
