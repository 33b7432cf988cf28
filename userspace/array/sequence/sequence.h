/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A sequence: values, and the steps that make them of others.  At its end the
 * steps become groups, which run in order: chains, and steps of whole arrays.
 */
#ifndef DRAY_SEQUENCE_SEQUENCE_H
#define DRAY_SEQUENCE_SEQUENCE_H

#include <stdatomic.h>

#include <dray/array/sequence.h>

#include "private.h"
#include "ufunc/ufunc.h"

#define DRAY_NO_VALUE (-1)
/* A time after all steps: of outputs that are copied last. */
#define DRAY_AT_END INT32_MAX

struct dray_sequence_value {
	dray_dtype dtype; /* a reference */
	int ndim;
	int64_t *shape; /* NULL without axes */
	struct dray_array *constant; /* a reference; NULL: none */
	int input; /* its number; -1: none */
	int output; /* the first of its numbers; -1: none */
	int step; /* that makes it; -1: none */
	/* Of the plan. */
	bool in_memory; /* not only in the buffers of a chain */
	bool chained; /* a chain reads or writes it in memory */
	int written_in; /* group; -1: none */
	int read_in; /* last group; -1: none */
	int written_at; /* operation, counted over all groups */
	int read_at; /* last operation */
	bool apart; /* must not be written over an operand of the same time */
};

/* A call, a conversion, or a transfer. */
struct dray_sequence_step {
	struct dray_ufunc *ufunc; /* a reference; NULL: none */
	struct dray_queue *queue; /* of a transfer; a reference */
	unsigned int copy_flags; /* of a transfer */
	struct dray_ufunc_options options; /* the mask is set for each run */
	dray_dtype signature[DRAY_UFUNC_MAX_OPERANDS]; /* a reference each */
	struct dray_resolved resolved;
	int inputs;
	int operands;
	int values[DRAY_UFUNC_MAX_OPERANDS];
	int where; /* value; -1: none */
	int otherwise;
	enum dray_casting casting; /* of a conversion */
	/* Of the plan. */
	bool needed;
	int group; /* -1: not yet in a group */
};

/* The name in errors of numbers: of its ufunc, or of conversions. */
static inline const char *
dray_step_name(const struct dray_sequence_step *step)
{
	return step->ufunc ? step->ufunc->name : "cast";
}

/* An operand of a chain: a value in memory, or a buffer for a block. */
struct dray_chain_slot {
	int value; /* in memory; -1: a buffer */
	uint32_t size; /* bytes of an element */
	int last; /* operation that uses it */
	int buffer; /* its number; -1: none */
};

struct dray_chain_operation {
	struct dray_ufunc_loop loop;
	struct dray_cast cast; /* the loop's context, of a conversion */
	bool is_cast;
	bool watches; /* floating-point errors are the step's */
	int step;
	int inputs;
	int operands;
	int slots[DRAY_UFUNC_MAX_OPERANDS]; /* in the loop's order */
};

/* A step of whole arrays, or a chain. */
struct dray_sequence_group {
	int step; /* the only step; -1: a chain */
	int shape_of; /* value with the chain's shape */
	int leader; /* slot that is written */
	int operations_count;
	int slots_count;
	struct dray_chain_operation *operations;
	struct dray_chain_slot *slots;
	size_t *offsets; /* of buffers in the scratch memory */
	int buffers_count;
	size_t scratch; /* bytes */
	int64_t block; /* elements */
	int64_t bytes; /* of all operands in memory, for each element */
	bool single_thread; /* a loop needs it */
};

/* A transfer of a run that may be in flight. */
struct dray_run_transfer {
	struct dray_fence *fence; /* a reference */
	struct dray_addresses to;
	struct dray_addresses from;
};

/* All that a run needs; kept for the next run. */
struct dray_workspace {
	struct dray_view *views; /* of each value that is in memory */
	bool *aside; /* of each value: its view is copied when the run starts */
	struct dray_run_transfer *flights; /* in the order of the steps */
	int flights_count;
	struct dray_array **arrays; /* of values in between; kept */
	/* of this run, for each value: copied aside, made, or a detour */
	struct dray_array **made;
	struct dray_operand *inputs;
	struct dray_operand *outputs;
	_Atomic unsigned int *errors; /* of each step: DRAY_FP_* */
	void *scratch; /* of the largest chain, for the calling thread */
};

struct dray_sequence {
	_Atomic uint32_t references; /* the program's, and runs on queues */
	uint32_t id;
	bool ended;
	bool chainless; /* the program wants no chains */
	int values_count, values_room;
	int steps_count, steps_room;
	int inputs_count, inputs_room;
	int outputs_count, outputs_room;
	int groups_count;
	struct dray_sequence_value *values;
	struct dray_sequence_step *steps;
	int *inputs; /* values */
	int *outputs;
	struct dray_sequence_group *groups;
	size_t scratch; /* bytes that the largest chain needs */
	int64_t quick_elements; /* of its only chain; 0: no quick way */
	struct dray_sequence_plan plan;
	_Atomic(struct dray_workspace *) spare;
};

/* Makes room for another element of @size bytes.  -ENOMEM, -ENOSPC. */
int dray_sequence_grow(void **elements, int count, int *room, size_t size);

/* -EBUSY if the recording ended. */
int dray_sequence_check_open(const struct dray_sequence *sequence);

/* Adds a value; its number, or a negative errno. */
int dray_sequence_add(struct dray_sequence *sequence, dray_dtype dtype,
		      int ndim, const int64_t *shape);

/* Removes the values from @count on, of a call that could not be recorded. */
void dray_sequence_drop(struct dray_sequence *sequence, int count);

/* The caller's word for value @number. */
dray_value dray_sequence_handle(const struct dray_sequence *sequence,
				int number);

/* The number of a value; -EINVAL. */
int dray_sequence_find(const struct dray_sequence *sequence, dray_value value);

/* Whether two values are of the same shape. */
bool dray_values_alike(const struct dray_sequence_value *a,
		       const struct dray_sequence_value *b);

/*
 * Makes the operations of chain @number, of the steps that are in it.  -ENOMEM.
 * @time: of the first operation; set to that after the last
 */
int dray_chain_plan(struct dray_sequence *sequence, int number, int *time);

/* Bytes that a thread needs for a chain: addresses of slots, and buffers. */
static inline size_t dray_chain_scratch(const struct dray_sequence_group *chain)
{
	return (size_t)chain->slots_count * sizeof(char *) + 64 +
	       chain->scratch;
}

/* Runs a chain on the views of its values. */
int dray_chain_run(const struct dray_sequence *sequence,
		   const struct dray_sequence_group *chain,
		   struct dray_workspace *workspace, unsigned int threads);

void dray_sequence_free_groups(struct dray_sequence *sequence);

/* Finds whether runs may use the quick way. */
void dray_quick_plan(struct dray_sequence *sequence);

/* Adds a step with its results, of a common shape.  -ENOSPC, -ENOMEM. */
int dray_sequence_add_step(struct dray_sequence *sequence,
			   struct dray_sequence_step *step, int ndim,
			   const int64_t *shape, dray_value *results);

struct dray_workspace *
dray_workspace_create(const struct dray_sequence *sequence);
void dray_workspace_free(const struct dray_sequence *sequence,
			 struct dray_workspace *workspace);

#endif /* DRAY_SEQUENCE_SEQUENCE_H */
