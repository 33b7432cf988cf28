// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Runs: groups in their order, then the outputs that are copies. */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "sequence/run.h"

static int run_conversion(const struct dray_run *run,
			  const struct dray_sequence_step *step)
{
	const struct dray_view *views = run->workspace->views;

	return dray_view_convert_threads(&views[step->values[1]],
					 &views[step->values[0]], step->casting,
					 run->threads);
}

/* A step of whole arrays. */
static int run_single(const struct dray_run *run,
		      const struct dray_sequence_step *step)
{
	const struct dray_view *views = run->workspace->views;
	const struct dray_view *operands[DRAY_UFUNC_MAX_OPERANDS];
	struct dray_array *made[DRAY_UFUNC_MAX_OPERANDS] = { NULL };
	struct dray_ufunc_options options = step->options;
	int o, ret = 0;

	if (!step->ufunc)
		return run_conversion(run, step);
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
		ret = dray_view_convert(operands[step->inputs],
					&views[step->otherwise],
					DRAY_CASTING_SAME_KIND);
	if (!ret)
		ret = dray_ufunc_call(step->ufunc, operands,
				      operands + step->inputs, &options, made);
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

static int run_groups(struct dray_run *run)
{
	const struct dray_sequence *sequence = run->sequence;
	int g, ret = 0;

	for (g = 0; g < sequence->groups_count && !ret; g++) {
		const struct dray_sequence_group *group = &sequence->groups[g];

		ret = group->step < 0
			      ? dray_chain_run(sequence, group, run->workspace,
					       run->threads)
			      : run_single(run, &sequence->steps[group->step]);
	}
	return ret;
}

/* Takes the workspace of an earlier run, or makes one. */
static struct dray_workspace *take_workspace(struct dray_sequence *sequence)
{
	struct dray_workspace *workspace =
		atomic_exchange(&sequence->spare, NULL);

	return workspace ? workspace : dray_workspace_create(sequence);
}

/* Drops the arrays of the run, and keeps the workspace for the next one. */
static void give_workspace(struct dray_sequence *sequence,
			   struct dray_workspace *workspace)
{
	int v;

	for (v = 0; v < sequence->values_count; v++) {
		dray_array_unref(workspace->made[v]);
		workspace->made[v] = NULL;
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
	struct dray_run run = {
		.sequence = sequence,
		.inputs = inputs,
		.outputs = outputs,
		.out = out,
		.threads = options ? options->threads : 1,
	};
	int i, ret;

	if (!dray_given(sequence, __func__) ||
	    (sequence->inputs_count && !dray_given(inputs, __func__)))
		return -EINVAL;
	if (!sequence->ended)
		return dray_fail(-EINVAL,
				 "the sequence has not ended: it has no plan");
	if (options && options->flags)
		return dray_fail(-EINVAL, "unknown flags of a run: %#x",
				 options->flags);
	run.workspace = take_workspace(sequence);
	if (!run.workspace)
		return -ENOMEM;
	for (i = 0; out && i < sequence->outputs_count; i++)
		out[i] = NULL;
	ret = dray_run_bind(&run);
	if (!ret)
		ret = run_groups(&run);
	if (!ret)
		ret = copy_outputs(&run);
	for (i = 0; ret && out && i < sequence->outputs_count; i++) {
		dray_array_unref(out[i]);
		out[i] = NULL;
	}
	give_workspace(sequence, run.workspace);
	return ret;
}
