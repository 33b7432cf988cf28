/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Executors, and calls on their way through a queue.  A single lock guards the lists
 * of all queues; it is held briefly.
 */
#ifndef DRAY_EXECUTOR_EXECUTOR_H
#define DRAY_EXECUTOR_EXECUTOR_H

#include <pthread.h>
#include <stdatomic.h>

#include <dray/array/executor.h>

#include "private.h"
#include "ufunc/ufunc.h"

/* Operands of a call, with its mask. */
#define DRAY_CALL_OPERANDS (DRAY_UFUNC_MAX_OPERANDS + 1)

/* Milliseconds between looks whether a call that waits is cancelled. */
#define DRAY_CALLS_LOOK_MS 100

/* The time of a loop on an executor. */
struct dray_timed {
	struct dray_timed *next;
	uint64_t ufunc; /* its number */
	int operands;
	bool set; /* by the user */
	struct dray_call_cost cost;
	dray_dtype dtypes[DRAY_UFUNC_MAX_OPERANDS]; /* a reference each */
};

struct dray_executor {
	_Atomic uint32_t references; /* 0: the CPU */
	struct dray_executor_functions functions; /* submit NULL: the CPU's */
	void *context;
	struct dray_timed *timed;
	char name[32];
};

/*
 * Work of another room, which runs in its turn among the calls of a queue, when no
 * transfer uses its operands.
 */
struct dray_task {
	const char *name;
	void *context;
	/* In the queue's thread.  @call: for dray_call_is_cancelled() */
	int (*run)(void *context, struct dray_call_queue *queue,
		   const struct dray_call *call);
	/* After the end, or if the task cannot be submitted. */
	void (*release)(void *context);
};

/*
 * A call or a task, and all that it needs until its end.  Its queue's thread frees it
 * after that; without a queue, dray_task_call() does.
 */
struct dray_queued {
	struct dray_call call;
	struct dray_task task; /* run NULL: a call */
	struct dray_call_queue *queue; /* NULL: in none */
	/* with the lock of all queues */
	struct dray_queued *before, *next; /* in its queue */
	struct dray_queued *next_ended; /* for its queue's thread to free */
	bool claimed; /* by the thread that starts it, or that cancels it */
	_Atomic bool ended; /* dray_call_end() was called */
	const struct dray_call *outer; /* the task that made it, or NULL */
	struct dray_event *event; /* a reference */
	struct dray_executor *executor; /* that runs it; a reference */
	uint64_t started_ns;
	struct dray_ufunc_options options; /* for the CPU */
	struct dray_fp_state state; /* of the thread that submitted it */
	struct dray_ufunc_loop loop;
	int operands; /* with the mask; of a task: 0 */
	/* types of the loop, then of a requested signature */
	dray_dtype dtypes[2 * DRAY_UFUNC_MAX_OPERANDS];
	const struct dray_view *pointers[DRAY_CALL_OPERANDS];
	struct dray_addresses spans[DRAY_CALL_OPERANDS]; /* not of a task */
	struct dray_array *arrays[DRAY_CALL_OPERANDS]; /* made for it, or NULL */
	int views_count;
	struct dray_view views[];
};

static inline struct dray_queued *dray_queued(const struct dray_call *call)
{
	return (struct dray_queued *)(void *)(uintptr_t)call;
}

static inline bool dray_queued_is_output(const struct dray_queued *queued,
					 int o)
{
	return o >= queued->call.inputs &&
	       o < queued->call.inputs + queued->call.outputs;
}

/*
 * Makes a call of the arguments of dray_call_queue_submit(): its loop, shape and
 * outputs.  Its event holds blocks of dray's memory.
 */
int dray_queued_create(struct dray_ufunc *ufunc,
		       const struct dray_view *const *inputs,
		       const struct dray_view *const *outputs,
		       const struct dray_ufunc_options *options,
		       struct dray_queued **out);
void dray_queued_free(struct dray_queued *queued);

/*
 * Makes a task of @inputs_count operands that it reads, and @outputs_count that it
 * writes.  Its event holds their blocks.
 */
int dray_queued_create_task(const struct dray_task *task,
			    struct dray_operand *inputs, int inputs_count,
			    struct dray_operand *outputs, int outputs_count,
			    struct dray_queued **out);

/*
 * Submits a task, as dray_call_queue_submit() does with a call.
 * @event: as there
 * Errors: -ENOMEM, -ECHILD; if it waits, also what the task returns.
 */
int dray_task_submit(struct dray_call_queue *queue,
		     const struct dray_task *task, struct dray_operand *inputs,
		     int inputs_count, struct dray_operand *outputs,
		     int outputs_count, struct dray_event **event);

/* Whether the queue may use another executor than the CPU. */
bool dray_task_has_executors(const struct dray_call_queue *queue);

/*
 * Runs a call in the thread of a task of @queue, on the fastest executor, and waits
 * for its end.  The task's operands cover its memory.
 * @outer: the task, which may be cancelled
 */
int dray_task_call(struct dray_call_queue *queue, const struct dray_call *outer,
		   struct dray_ufunc *ufunc,
		   const struct dray_view *const *inputs,
		   const struct dray_view *const *outputs,
		   const struct dray_ufunc_options *options);

/*
 * Chooses the executor of a call: of all that can run it, the first without a known
 * time, else the fastest; borrowed.
 * @why: a sentence; NULL: none
 * @ns: set to the time, or ~0 if it is not known
 */
struct dray_executor *
dray_choose_executor(struct dray_executor *const *executors, size_t count,
		     const struct dray_call *call, uint64_t *ns, char why[256]);

/* Lets forks acquire the lock of times; before the first queue. */
void dray_times_enlist(void);
void dray_timed_free(struct dray_timed *timed);

/* Notes the time of a call; times that the user set stay. */
void dray_executor_measured(struct dray_executor *executor,
			    const struct dray_call *call, uint64_t ns);

#endif /* DRAY_EXECUTOR_EXECUTOR_H */
