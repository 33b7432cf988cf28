// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Workspaces: the memory of one run, which the next one uses again. */
#include <errno.h>
#include <stdlib.h>

#include "private.h"
#include "sequence/sequence.h"

struct dray_workspace *
dray_workspace_create(const struct dray_sequence *sequence)
{
	const size_t values = (size_t)sequence->values_count;
	struct dray_workspace *workspace = calloc(1, sizeof(*workspace));

	if (workspace) {
		workspace->views = malloc(values * sizeof(struct dray_view));
		workspace->aside = calloc(values, sizeof(bool));
		workspace->flights = calloc(sequence->plan.transfers + 1,
					    sizeof(struct dray_run_transfer));
		workspace->arrays = calloc(values, sizeof(struct dray_array *));
		workspace->made = calloc(values, sizeof(struct dray_array *));
		workspace->inputs = calloc((size_t)sequence->inputs_count + 1,
					   sizeof(struct dray_operand));
		workspace->outputs = calloc((size_t)sequence->outputs_count,
					    sizeof(struct dray_operand));
		workspace->errors = calloc((size_t)sequence->steps_count + 1,
					   sizeof(workspace->errors[0]));
		workspace->scratch = malloc(sequence->scratch + 1);
		if (workspace->views && workspace->aside &&
		    workspace->flights && workspace->arrays &&
		    workspace->made && workspace->inputs &&
		    workspace->outputs && workspace->errors &&
		    workspace->scratch)
			return workspace;
	}
	dray_workspace_free(sequence, workspace);
	dray_fail(-ENOMEM, "no memory for the values of a sequence");
	return NULL;
}

void dray_workspace_free(const struct dray_sequence *sequence,
			 struct dray_workspace *workspace)
{
	int v;

	if (!workspace)
		return;
	for (v = 0; workspace->arrays && v < sequence->values_count; v++)
		dray_array_unref(workspace->arrays[v]);
	free(workspace->views);
	free(workspace->aside);
	free(workspace->flights);
	free(workspace->arrays);
	free(workspace->made);
	free(workspace->inputs);
	free(workspace->outputs);
	free((void *)workspace->errors);
	free(workspace->scratch);
	free(workspace);
}
