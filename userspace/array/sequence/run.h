/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A run of a sequence, as run_groups.c and bind.c share it. */
#ifndef DRAY_SEQUENCE_RUN_H
#define DRAY_SEQUENCE_RUN_H

#include "executor/executor.h"
#include "sequence/sequence.h"

struct dray_run {
	struct dray_sequence *sequence;
	struct dray_workspace *workspace;
	const struct dray_view *const *inputs;
	const struct dray_view *const *outputs; /* NULL: all are made */
	struct dray_array **out;
	unsigned int threads;
	struct dray_call_queue *queue; /* its executors help; NULL: none */
	const struct dray_call *call; /* of the queue, which may be cancelled */
};

/* The view that the caller passed for output @i, or NULL. */
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

/*
 * Sets the view of each value in memory, and reads no element.  Errors: see
 * dray_sequence_run().
 */
int dray_run_bind(struct dray_run *run);

/* Copies inputs aside, before the first group. */
int dray_run_copy_aside(struct dray_run *run);

/* Starts a transfer. */
int dray_run_transfer(struct dray_run *run,
		      const struct dray_sequence_step *step);

/* Waits for transfers that write a group's operands, or read its results. */
int dray_run_await(struct dray_run *run, int group);

/* Waits for all transfers; the error of the first that failed. */
int dray_run_await_all(struct dray_run *run);

/*
 * Runs a sequence with quick_elements; false, and nothing is done, if its arrays
 * do not allow it.
 */
bool dray_run_quick(const struct dray_sequence *sequence,
		    const struct dray_view *const *inputs,
		    const struct dray_view *const *outputs,
		    struct dray_array **out, int *ret);

/* Checks the arguments of a run, and acquires a workspace for it. */
int dray_run_begin(struct dray_run *run, struct dray_sequence *sequence,
		   const struct dray_view *const *inputs,
		   const struct dray_view *const *outputs,
		   const struct dray_sequence_run_options *options,
		   struct dray_array **out);

/* Runs all groups of a run that is bound. */
int dray_run_carry_out(struct dray_run *run);

/* Drops the run's arrays, but those it made for the caller if @ret is 0. */
void dray_run_end(struct dray_run *run, int ret);

#endif /* DRAY_SEQUENCE_RUN_H */
