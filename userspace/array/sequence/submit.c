// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Runs on queues of calls.  The arrays are checked, and those of outputs made, when
 * a run is submitted; elements are read when it has its turn.
 */
#include <errno.h>
#include <stdlib.h>

#include "private.h"
#include "sequence/run.h"

/* A run on its way, with its own copies of the caller's views. */
struct sequence_submission {
	struct dray_run run;
	struct dray_array **made; /* of each output; one reference, or NULL */
	const struct dray_view **given; /* of each output; NULL: made */
	struct dray_view views[]; /* of each output */
};

static struct sequence_submission *
submit_create(const struct dray_sequence *sequence)
{
	const size_t count = (size_t)sequence->outputs_count;
	struct sequence_submission *submission =
		calloc(1, sizeof(*submission) +
				  count * (sizeof(submission->views[0]) +
					   sizeof(struct dray_array *) +
					   sizeof(const struct dray_view *)));

	if (!submission) {
		dray_fail(-ENOMEM, "no memory for a run of a sequence");
		return NULL;
	}
	submission->made =
		(struct dray_array **)(void *)(submission->views + count);
	submission->given =
		(const struct dray_view **)(submission->made + count);
	return submission;
}

static int run_submission(void *context, struct dray_call_queue *queue,
			  const struct dray_call *call)
{
	struct sequence_submission *submission = context;

	submission->run.queue = queue;
	submission->run.call = call;
	return dray_run_carry_out(&submission->run);
}

static void submit_release(void *context)
{
	struct sequence_submission *submission = context;
	struct dray_sequence *sequence = submission->run.sequence;

	/* The caller has references of its own to outputs that were made. */
	dray_run_end(&submission->run, -ECANCELED);
	dray_sequence_destroy(sequence);
	free(submission);
}

/* Makes the outputs' views the run's own. */
static int take_outputs(struct sequence_submission *submission)
{
	struct dray_run *run = &submission->run;
	int i, ret = 0;

	for (i = 0; i < run->sequence->outputs_count && !ret; i++) {
		const struct dray_view *given = dray_run_output(run, i);
		struct dray_view *own = &submission->views[i];

		if (given) {
			dray_view_copy(own, given);
			/* The sequence keeps this type. */
			own->dtype =
				run->sequence->values[run->sequence->outputs[i]]
					.dtype;
			submission->given[i] = own;
			continue;
		}
		dray_array_view(submission->made[i], own);
		ret = dray_operand_init(&run->workspace->outputs[i], own,
					"an output");
	}
	for (i = 0; i < run->sequence->inputs_count; i++) {
		const int v = run->sequence->inputs[i];

		run->workspace->views[v].dtype = run->sequence->values[v].dtype;
	}
	run->outputs = submission->given;
	return ret;
}

int dray_sequence_submit(struct dray_sequence *sequence,
			 struct dray_call_queue *queue,
			 const struct dray_view *const *inputs,
			 const struct dray_view *const *outputs,
			 const struct dray_sequence_run_options *options,
			 struct dray_array **out, struct dray_event **event)
{
	struct dray_task task = {
		.name = "a sequence",
		.run = run_submission,
		.release = submit_release,
	};
	struct sequence_submission *submission;
	struct dray_run *run;
	int i, ret;

	if (!dray_given(sequence, __func__) || !dray_given(queue, __func__))
		return -EINVAL;
	for (i = 0; !out && i < sequence->outputs_count; i++)
		if (!outputs || !outputs[i])
			return dray_given(out, __func__) ? 0 : -EINVAL;
	submission = submit_create(sequence);
	if (!submission)
		return -ENOMEM;
	task.context = submission;
	run = &submission->run;
	ret = dray_run_begin(run, sequence, inputs, outputs, options,
			     submission->made);
	if (ret) {
		free(submission);
		return ret;
	}
	atomic_fetch_add(&sequence->references, 1);
	ret = dray_run_bind(run);
	if (!ret)
		ret = take_outputs(submission);
	for (i = 0; out && i < sequence->outputs_count; i++)
		out[i] = ret ? NULL : dray_array_ref(submission->made[i]);
	if (ret) {
		submit_release(submission);
		return ret;
	}
	ret = dray_task_submit(queue, &task, run->workspace->inputs,
			       sequence->inputs_count, run->workspace->outputs,
			       sequence->outputs_count, event);
	for (i = 0; ret && out && i < sequence->outputs_count; i++) {
		dray_array_unref(out[i]);
		out[i] = NULL;
	}
	return ret;
}
