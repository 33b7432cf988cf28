/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * sequence: calls of universal functions, conversions and transfers that are
 * recorded once, and run many times with other arrays of the same types and shapes.
 *
 *	const struct dray_view *inputs[] = { &x, &y };
 *	struct dray_sequence *sequence;
 *	dray_value a, b, product, sum;
 *	struct dray_array *out;
 *
 *	dray_sequence_create(&sequence);
 *	dray_sequence_input(sequence, DRAY_FLOAT64, 2, shape, &a);
 *	dray_sequence_input(sequence, DRAY_FLOAT64, 2, shape, &b);
 *	dray_sequence_call(sequence, dray_ufunc_find("multiply"),
 *			   (dray_value[]){ a, b }, NULL, &product);
 *	dray_sequence_call(sequence, dray_ufunc_find("add"),
 *			   (dray_value[]){ product, a }, NULL, &sum);
 *	dray_sequence_output(sequence, sum);
 *	dray_sequence_end(sequence);
 *	ret = dray_sequence_run(sequence, inputs, NULL, NULL, &out);
 *
 * Calls of the same shape become a chain: it passes a block of elements through
 * all its calls before the next block, so that results in between stay in the
 * cache and need no array.  The outputs equal, bit by bit, the outputs of
 * single calls.
 *
 * A recorded transfer proceeds while later steps run that do not need it.
 *
 * A sequence is recorded by a single thread at a time.  After its end it may be
 * run by any number of threads at once: in the caller's thread, or in turn on a
 * queue of calls, whose executors take part.
 */
#ifndef DRAY_SEQUENCE_H
#define DRAY_SEQUENCE_H

#include <dray/array/executor.h>
#include <dray/transfer.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A recorded sequence. */
struct dray_sequence;

/** A value of a sequence: an input, a constant or a result.  0 is none. */
typedef uint64_t dray_value;

/* Values and calls of a sequence, each. */
#define DRAY_SEQUENCE_MOST 65535

/**
 * Makes an empty sequence.
 *
 * @out: freed by dray_sequence_destroy()
 *
 * Errors: -ENOMEM.
 */
DRAY_API int dray_sequence_create(struct dray_sequence **out);

/**
 * Frees a sequence that no thread runs, once its runs on queues ended.  NULL is
 * ignored.
 */
DRAY_API void dray_sequence_destroy(struct dray_sequence *sequence);

/**
 * Records an input: of these, the first is inputs[0] of a run.
 *
 * @shape: @ndim extents, each >= 0
 * @out: its value
 *
 * Errors: -EINVAL (a type that is none, ndim, an extent below 0), -EOVERFLOW (its
 * bytes do not fit), -EBUSY (after the end), -ENOSPC (too many values), -ENOMEM.
 * The other functions that record fail with the last three, too.
 */
DRAY_API int dray_sequence_input(struct dray_sequence *sequence,
				 dray_dtype dtype, int ndim,
				 const int64_t *shape, dray_value *out);

/**
 * Records a constant without axes, such as the 2 in a * 2.
 *
 * @value: an element of @dtype, at any address; copied
 */
DRAY_API int dray_sequence_constant(struct dray_sequence *sequence,
				    dray_dtype dtype, const void *value,
				    dray_value *out);

/** Options of a recorded call; all zero is the default. */
struct dray_sequence_options {
	size_t size;		/* of this structure; 0: the first version's */
	/* dtype, signature, casting and flags are as of dray_ufunc_call() */
	dray_dtype dtype;		/* borrowed */
	const dray_dtype *signature;	/* copied */
	/* bools, broadcast: elements to compute; 0: all */
	dray_value where;
	/*
	 * Of a ufunc of a single output: broadcast, and the result's elements
	 * where the mask is false; 0: they are undefined
	 */
	dray_value otherwise;
	uint8_t casting;	/* 1 + enum dray_casting; 0: SAME_KIND */
	uint16_t weak;		/* bit i: input i is a number of the program */
	uint32_t flags;		/* DRAY_UFUNC_* */
};

/**
 * Records a call.  Its loop is chosen here: dray_ufunc_set_loop() does not
 * replace it later.
 *
 * @inputs: a value for each
 * @options: NULL: all zero
 * @results: room for a value for each output
 *
 * Errors: -EINVAL (a value of another sequence), and the errors of
 * dray_ufunc_call() for types, shapes and options.
 */
DRAY_API int dray_sequence_call(struct dray_sequence *sequence,
				struct dray_ufunc *ufunc,
				const dray_value *inputs,
				const struct dray_sequence_options *options,
				dray_value *results);

/**
 * Records a conversion to another type, or a copy, as of dray_view_convert().
 *
 * Errors: -EINVAL (a value of another sequence, a type that is none, a rule that
 * does not exist, a cast that @casting does not allow), -EOPNOTSUPP (no such
 * conversion).
 */
DRAY_API int dray_sequence_convert(struct dray_sequence *sequence,
				   dray_value value, dray_dtype dtype,
				   enum dray_casting casting, dray_value *out);

/**
 * Records a copy that a queue makes, as of dray_copy(): by its engine, if both
 * arrays lie in memory that it reaches, else by the CPU.  The engine copies while
 * later steps run, but for those that use the copy, or write its source: these
 * wait for it.  A run ends after its transfers.
 *
 * @queue: must exist in each run
 * @flags: DRAY_COPY_ENGINE, _CPU and _NO_SYNC, as of dray_copy()
 * @out: the copy; an array that is neither an input nor an output is allocated
 *	by the handler of the first run's thread
 *
 * Errors: -EINVAL (a value of another sequence, other or contradicting flags).
 * A run fails with the errors of dray_copy() and of the transfer, or with
 * -EINVAL if the queue is destroyed.
 */
DRAY_API int dray_sequence_copy(struct dray_sequence *sequence,
				dray_value value, struct dray_queue *queue,
				unsigned int flags, dray_value *out);

/**
 * Records an output: of these, the first is outputs[0] of a run.  An input may
 * be an output, and a value may be recorded as several outputs: these are
 * copies.
 *
 * Errors: -EINVAL (a value of another sequence).
 */
DRAY_API int dray_sequence_output(struct dray_sequence *sequence,
				  dray_value value);

/**
 * Writes the type and shape of a value, also before the end.
 *
 * @dtype: borrowed from the sequence
 * @shape: room for DRAY_MAX_NDIM extents
 *
 * Errors: -EINVAL (a value of another sequence).
 */
DRAY_API int dray_sequence_describe(const struct dray_sequence *sequence,
				    dray_value value, dray_dtype *dtype,
				    int *ndim, int64_t *shape);

/**
 * Lets the plan make no chains: each call of a run on a queue runs on the
 * executor that computes it fastest.  Results in between need arrays then, so
 * that runs on the CPU alone are slower.  Before dray_sequence_end().
 *
 * Errors: -EBUSY (the recording ended).
 */
DRAY_API int dray_sequence_without_chains(struct dray_sequence *sequence);

/**
 * Ends the recording, and plans the runs.  Calls that no output needs are left
 * out.
 *
 * Errors: -EINVAL (no output), -EBUSY (it ended), -ENOMEM.
 */
DRAY_API int dray_sequence_end(struct dray_sequence *sequence);

/** A plan, as numbers. */
struct dray_sequence_plan {
	size_t size;		/* of this structure; 0: the first version's */
	uint32_t chains;	/* of any number of calls */
	uint32_t chained;	/* calls and conversions in them */
	uint32_t single;	/* calls and conversions of whole arrays */
	uint32_t transfers;	/* copies by queues */
	uint32_t left_out;	/* of all these, those that nothing needs */
	uint32_t arrays;	/* of values in between, in memory */
	uint32_t block;		/* elements of the smallest block; 0: no chain */
	uint32_t reserved;	/* 0 */
};

/**
 * Writes the plan.
 *
 * Errors: -EINVAL (before the end).
 */
DRAY_API int dray_sequence_get_plan(const struct dray_sequence *sequence,
				    struct dray_sequence_plan *out);

/** Options of a run; all zero is the default. */
struct dray_sequence_run_options {
	size_t size;		/* of this structure; 0: the first version's */
	unsigned int threads;	/* that compute at once; 0: 1 */
	uint32_t flags;		/* 0 */
};

/**
 * Runs a sequence in this thread, and waits for its transfers.  Floating-point
 * errors are reported as by the calls, each once its chain ran.
 *
 * Arrays for values between chains are kept for the next run.
 *
 * @inputs: a view for each, of the recorded type and shape, with any strides
 * @outputs: a view for each, with any strides, NULL for an array to be made;
 *	NULL: all are made.  An output may share memory with inputs: the result
 *	is as if inputs were copied aside first.  If it is exactly an input that
 *	is read no later than the output is written, no copy is made
 * @options: NULL: all zero
 * @out: an array for each output, in C order, with a reference; NULL for an
 *	output of the caller.  May be NULL if all outputs are given
 *
 * Errors: -EINVAL (before the end, another type or shape than recorded, outputs
 * that share memory, unknown flags), -EPERM (a read-only output, an input that
 * may not be read), -EDOM (a floating-point error, if it is to be raised),
 * -EOVERFLOW (a weak number that does not fit), -ENOMEM, as dray_view_init()
 * for a bad view, and errors of the loops.  After an error, elements of outputs
 * that were given are undefined, and none is made.
 */
DRAY_API int dray_sequence_run(struct dray_sequence *sequence,
			       const struct dray_view *const *inputs,
			       const struct dray_view *const *outputs,
			       const struct dray_sequence_run_options *options,
			       struct dray_array **out);

/**
 * Runs a sequence on a queue of calls, and does not wait.  It runs as a single
 * call of the queue, after older calls and transfers that touch its arrays,
 * also of other queues.  A call that is in no chain with others runs on the
 * executor that computes it fastest, as of dray_call_queue_submit().  Chains of
 * several calls run on the CPU, even if the queue offers other executors:
 * dray_sequence_get_plan() counts their calls in chained, and
 * dray_sequence_without_chains() makes none.
 *
 * @inputs, @outputs, @options: as of dray_sequence_run(); are copied.  Blocks of
 *	dray's memory are busy until the end; other memory must live until then
 * @out: as of dray_sequence_run(); arrays may be used once the run ended
 * @event: the end of the run, with a reference, for dray_event_wait() and its
 *	kin.  NULL waits for it.  dray_event_cancel() ends the run between two
 *	steps
 *
 * Errors of floating-point numbers are handled by the state of the thread that
 * submits.
 *
 * Errors: as dray_sequence_run() before its first step, -ECHILD; if it waits, also
 * the status of the run.
 */
DRAY_API int
dray_sequence_submit(struct dray_sequence *sequence,
		     struct dray_call_queue *queue,
		     const struct dray_view *const *inputs,
		     const struct dray_view *const *outputs,
		     const struct dray_sequence_run_options *options,
		     struct dray_array **out, struct dray_event **event);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_SEQUENCE_H */
