// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Runs: inputs that are copied aside, groups in their order, and the outputs that
 * are copies.
 */
#include <errno.h>
#include <string.h>

#include "private.h"
#include "cast/options.h"
#include "cast/cast.h"
#include "sequence/run.h"

static int run_conversion(const struct dray_run *run,
			  const struct dray_sequence_step *step)
{
	const struct dray_view *views = run->workspace->views;

	return dray_view_convert_threads(&views[step->values[1]],
					 &views[step->values[0]], step->casting,
					 run->threads);
}

static bool has_executors(const struct dray_run *run)
{
	return run->queue && dray_task_has_executors(run->queue);
}

/* Calls a function, on the executor of a queue that takes the least time. */
static int groups_run_call(const struct dray_run *run,
			   const struct dray_sequence_step *step)
{
	const struct dray_view *views = run->workspace->views;
	const struct dray_view *operands[DRAY_UFUNC_MAX_OPERANDS];
	struct dray_array *made[DRAY_UFUNC_MAX_OPERANDS] = { NULL };
	struct dray_ufunc_options options = step->options;
	int o, ret = 0;

	options.threads = run->threads;
	if (step->where != DRAY_NO_VALUE)
		options.where = &views[step->where];
	for (o = 0; o < step->operands; o++) {
		const int v = step->values[o];

		/* A result that nothing needs is made, and dropped. */
		operands[o] =
			run->sequence->values[v].in_memory ? &views[v] : NULL;
	}
	if (step->otherwise != DRAY_NO_VALUE)
		ret = dray_view_cast(operands[step->inputs],
				     &views[step->otherwise],
				     DRAY_CASTING_SAME_KIND);
	if (!ret)
		ret = has_executors(run)
			      ? dray_task_call(run->queue, run->call,
					       step->ufunc, operands,
					       operands + step->inputs,
					       &options)
			      : dray_ufunc_call(step->ufunc, operands,
						operands + step->inputs,
						&options, made);
	for (o = 0; o < step->operands; o++)
		dray_array_unref(made[o]);
	return ret;
}

/* Copies outputs that no group has written where they belong. */
static int copy_outputs(const struct dray_run *run)
{
	const struct dray_sequence *sequence = run->sequence;
	int i, ret = 0;

	for (i = 0; i < sequence->outputs_count && !ret; i++) {
		const int v = sequence->outputs[i];
		const struct dray_view *to = dray_run_output(run, i);
		struct dray_view own;

		if (dray_run_is_primary(run, i) &&
		    !(to && run->workspace->made[v]))
			continue;
		if (!to)
			to = dray_array_view(run->out[i], &own);
		ret = dray_view_assign(to, &run->workspace->views[v]);
	}
	return ret;
}

/* The step of a chain that is one call; NULL: there are others. */
static const struct dray_sequence_step *
only_call(const struct dray_sequence *sequence,
	  const struct dray_sequence_group *chain)
{
	const int step = chain->operations[0].step;
	int i;

	for (i = 1; i < chain->operations_count; i++)
		if (chain->operations[i].step != step)
			return NULL;
	return sequence->steps[step].ufunc ? &sequence->steps[step] : NULL;
}

/* An executor may be better at a call than a chain of nothing else. */
static int run_chain(const struct dray_run *run,
		     const struct dray_sequence_group *chain)
{
	const struct dray_sequence_step *step =
		has_executors(run) ? only_call(run->sequence, chain) : NULL;

	return step ? groups_run_call(run, step)
		    : dray_chain_run(run->sequence, chain, run->workspace,
				     run->threads);
}

static int run_group(struct dray_run *run, int number)
{
	const struct dray_sequence_group *group =
		&run->sequence->groups[number];
	const struct dray_sequence_step *step;
	int ret;

	if (run->call && dray_call_is_cancelled(run->call))
		return dray_fail(-ECANCELED,
				 "the run of a sequence was cancelled");
	ret = dray_run_await(run, number);
	if (ret)
		return ret;
	if (group->step < 0)
		return run_chain(run, group);
	step = &run->sequence->steps[group->step];
	if (step->queue)
		return dray_run_transfer(run, step);
	return step->ufunc ? groups_run_call(run, step)
			   : run_conversion(run, step);
}

/* Takes the workspace of an earlier run, or makes one. */
static struct dray_workspace *take_workspace(struct dray_sequence *sequence)
{
	struct dray_workspace *workspace =
		atomic_exchange(&sequence->spare, NULL);

	return workspace ? workspace : dray_workspace_create(sequence);
}

int dray_run_begin(struct dray_run *run, struct dray_sequence *sequence,
		   const struct dray_view *const *inputs,
		   const struct dray_view *const *outputs,
		   const struct dray_sequence_run_options *options,
		   struct dray_array **out)
{
	struct dray_sequence_run_options known;
	int ret = dray_options_read(&known, sizeof(known), options,
				    DRAY_SEQUENCE_RUN_OPTIONS_SIZE_FIRST,
				    "dray_sequence_run");

	if (ret)
		return ret;
	*run = (struct dray_run){
		.sequence = sequence,
		.inputs = inputs,
		.outputs = outputs,
		.out = out,
		.threads = options ? known.threads : 1,
	};
	if (sequence->inputs_count && !dray_given(inputs, "dray_sequence_run"))
		return -EINVAL;
	if (!sequence->ended)
		return dray_fail(-EINVAL,
				 "the sequence has not ended: it has no plan");
	if (known.flags)
		return dray_fail(-EINVAL, "unknown flags of a run: %#x",
				 known.flags);
	run->workspace = take_workspace(sequence);
	return run->workspace ? 0 : -ENOMEM;
}

int dray_run_carry_out(struct dray_run *run)
{
	int g, status, ret = dray_run_copy_aside(run);

	for (g = 0; g < run->sequence->groups_count && !ret; g++)
		ret = run_group(run, g);
	status = dray_run_await_all(run);
	if (!ret)
		ret = status;
	return ret ? ret : copy_outputs(run);
}

void dray_run_end(struct dray_run *run, int ret)
{
	struct dray_sequence *sequence = run->sequence;
	struct dray_workspace *workspace = run->workspace;
	int i;

	for (i = 0; ret && run->out && i < sequence->outputs_count; i++) {
		dray_array_unref(run->out[i]);
		run->out[i] = NULL;
	}
	/* The next run finds the rest. */
	for (i = 0; i < sequence->values_count; i++) {
		dray_array_unref(workspace->made[i]);
		workspace->made[i] = NULL;
	}
	memset((void *)workspace->errors, 0,
	       (size_t)sequence->steps_count * sizeof(workspace->errors[0]));
	dray_workspace_free(sequence,
			    atomic_exchange(&sequence->spare, workspace));
}

int dray_sequence_run(struct dray_sequence *sequence,
		      const struct dray_view *const *inputs,
		      const struct dray_view *const *outputs,
		      const struct dray_sequence_run_options *options,
		      struct dray_array **out)
{
	struct dray_run run;
	int i, ret;

	if (!dray_given(sequence, __func__))
		return -EINVAL;
	if (sequence->quick_elements &&
	    (!options || (DRAY_OPTIONS_ARE_KNOWN(options) &&
			  options->threads <= 1 && !options->flags)) &&
	    dray_run_quick(sequence, inputs, outputs, out, &ret))
		return ret;
	ret = dray_run_begin(&run, sequence, inputs, outputs, options, out);
	if (ret)
		return ret;
	for (i = 0; out && i < sequence->outputs_count; i++)
		out[i] = NULL;
	ret = dray_run_bind(&run);
	if (!ret)
		ret = dray_run_carry_out(&run);
	dray_run_end(&run, ret);
	return ret;
}
