/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* One run of a sequence, as run.c and bind.c share it. */
#ifndef DRAY_SEQUENCE_RUN_H
#define DRAY_SEQUENCE_RUN_H

#include "sequence/sequence.h"

struct dray_run {
	const struct dray_sequence *sequence;
	struct dray_workspace *workspace;
	const struct dray_view *const *inputs;
	const struct dray_view *const *outputs; /* NULL: all are made */
	struct dray_array **out;
	unsigned int threads;
};

/* The view of output @i that was given, or NULL. */
static inline const struct dray_view *
dray_run_output(const struct dray_run *run, int i)
{
	return run->outputs ? run->outputs[i] : NULL;
}

/* Whether a group writes output @i itself; else it is copied at the end. */
static inline bool dray_run_is_primary(const struct dray_run *run, int i)
{
	const struct dray_sequence_value *value =
		&run->sequence->values[run->sequence->outputs[i]];

	return value->step >= 0 && value->output == i;
}

/* Gives each value in memory its view.  Errors are those of dray_sequence_run(). */
int dray_run_bind(struct dray_run *run);

#endif /* DRAY_SEQUENCE_RUN_H */
