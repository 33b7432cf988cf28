/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * executor: calls of universal functions that the CPU or an accelerator computes.
 *
 *	const struct dray_stream_executor_options stream = {
 *		.ufunc = dray_ufunc_find("invert"),
 *		.dtypes = (dray_dtype[]){ DRAY_UINT8, DRAY_UINT8 },
 *		.tx = &tx, .tx_count = 1, .rx = &rx, .rx_count = 1,
 *	};
 *	const struct dray_view *inputs[] = { &from }, *outputs[] = { &to };
 *	struct dray_call_queue *queue;
 *	struct dray_executor *fpga;
 *	struct dray_event *event;
 *
 *	ret = dray_stream_executor_create(&stream, &fpga);
 *	if (!ret)
 *		ret = dray_call_queue_create(&fpga, 1, NULL, &queue);
 *	if (!ret)
 *		ret = dray_call_queue_submit(queue, stream.ufunc, inputs,
 *					     outputs, NULL, NULL, &event);
 *
 * A queue runs its calls in turn, in a thread of its own.  Each call runs on
 * the executor that needs the least time for it, by the times of earlier calls:
 * the CPU serves every queue.  Calls of other queues that touch the same memory
 * are waited for, and so are transfers.  Functions outside of queues, such as
 * dray_ufunc_call(), wait for neither: dray_view_wait() does.
 *
 * All functions may be called from any thread.  A queue belongs to the process that
 * made it: after a fork, its calls are -ECHILD in the child.  A child that a loop forks
 * keeps only the queue's thread, and ends with it when the loop returns.
 *
 * A call waits, runs, and ends.  dray_event_cancel() ends a call that waits at once, as
 * -ECANCELED: also a call that waits for a packet which never arrives.  A call that runs
 * ends when its executor looks; the CPU finishes it.
 *
 * A library of its own may make executors of further devices: it needs no more than
 * this header, those of views and types, and dray_fail().  libdray-opencl is an example
 * (dray/opencl.h).
 */
#ifndef DRAY_EXECUTOR_H
#define DRAY_EXECUTOR_H

#include <dray/registers.h>
#include <dray/stream.h>
#include <dray/array/ufunc.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dray_executor;
struct dray_call_queue;

/** A call with its loop and shape.  Valid until it ends. */
struct dray_call {
	struct dray_ufunc *ufunc;
	const struct dray_ufunc_loop *loop;
	const dray_dtype *dtypes;	/* of the loop: inputs, then outputs */
	/*
	 * The inputs, then the outputs, all of the same shape; inputs that are
	 * stretched have strides of 0.  Types may differ from the loop's
	 */
	const struct dray_view *const *views;
	const struct dray_view *where;	/* of that shape; NULL: all elements */
	int32_t inputs;
	int32_t outputs;
	int64_t elements;	/* 1 or more */
};

/** The functions of an executor, called by threads of queues. */
DRAY_NAMESAKE_BEGIN
struct dray_executor_functions {
	size_t size;	/* of this structure; 0: the first version's */

	/**
	 * Tells whether it can run a call, by its loop, types and layouts:
	 * returns 0, or -EOPNOTSUPP with the reason as the sentence.  Waits for
	 * nothing, and touches no element.
	 */
	int (*check)(void *context, const struct dray_call *call);

	/**
	 * Starts a call, in the thread of its queue.  Memory is ready, and may be
	 * used until dray_call_end(), which this function may itself call.
	 *
	 * Returns 0, or a negative errno with a sentence.  An errno ends the call,
	 * unless dray_call_end() has ended it.
	 */
	int (*submit)(void *context, struct dray_call *call);

	/**
	 * Called with the last reference; may be NULL.  Queues drop theirs in their
	 * own threads, never in dray_call_end(): release() may join the threads
	 * that end calls.
	 */
	void (*release)(void *context);
};
DRAY_NAMESAKE_END

/**
 * Makes an executor of functions.
 *
 * @name: for sentences; copied
 * @functions: copied
 * @context: given to them, perhaps in several threads of queues at once; it lives
 *	until release()
 * @out: one reference
 *
 * Errors: -EINVAL (no name, or a function other than release is missing), -ENOMEM.
 */
DRAY_API int
dray_executor_create(const char *name,
		     const struct dray_executor_functions *functions,
		     void *context, struct dray_executor **out);

/** Returns the executor of the CPU, which is not counted. */
DRAY_API struct dray_executor *dray_cpu_executor(void);

/** One more reference; returns @executor. */
DRAY_API struct dray_executor *dray_executor_ref(struct dray_executor *executor);
/** One reference less; NULL is ignored. */
DRAY_API void dray_executor_unref(struct dray_executor *executor);
/** Returns the name of @executor, borrowed; NULL without an executor. */
DRAY_API const char *dray_executor_name(const struct dray_executor *executor);
/**
 * Returns the context of an executor that was made of these very functions, so
 * that the library that made it finds its own again; NULL for any other
 * executor, without a sentence.
 */
DRAY_API void *
dray_executor_context(const struct dray_executor *executor,
		      const struct dray_executor_functions *functions);

/**
 * Ends a call that an executor has started: nothing touches its memory any more.
 * From any thread.  The call is not valid after that; the queue's thread drops what it
 * has, the executor too.
 *
 * Once for each call: without it, the call and its queue never end, since the memory
 * may still be used.  Only within submit(), a second end is ignored.
 *
 * @status: 0, or a negative errno; then the thread's sentence is the event's.
 *	Others become -EIO
 */
DRAY_API void dray_call_end(struct dray_call *call, int status);

/**
 * Returns whether dray_event_cancel() or dray_call_queue_cancel() cancelled the
 * call.  An executor looks now and then, and may end the call as -ECANCELED.
 */
DRAY_API bool dray_call_is_cancelled(const struct dray_call *call);

/**
 * The time of a loop on an executor: two calls that were measured, of few and of
 * many elements.  Others lie on the line through both.
 */
struct dray_call_cost {
	int64_t elements[2];	/* 0: not measured; [0] <= [1] */
	uint64_t ns[2];
};

/**
 * Reads the measured time of a loop.
 *
 * @dtypes: the signature of the loop: inputs, then outputs
 *
 * Errors: -ENOENT (nothing is measured or set).
 */
DRAY_API int dray_executor_get_cost(struct dray_executor *executor,
				    const struct dray_ufunc *ufunc,
				    const dray_dtype *dtypes,
				    struct dray_call_cost *out);

/**
 * Sets it: measurements of later calls do not change it.
 * @cost: copied; NULL: forgets it, so that it is measured anew
 * Errors: -EINVAL (elements below 1 or not in order), -ENOMEM.
 */
DRAY_API int dray_executor_set_cost(struct dray_executor *executor,
				    struct dray_ufunc *ufunc,
				    const dray_dtype *dtypes,
				    const struct dray_call_cost *cost);

/* A submission to a full queue is -EAGAIN, and does not wait. */
#define DRAY_CALLS_NONBLOCK (1u << 0)

/** How a queue of calls is made; all zero is the default. */
struct dray_call_queue_options {
	size_t size;		/* of this structure; 0: the first version's */
	uint32_t depth;		/* calls that wait or run, up to 1048576; 0: 1024 */
	uint32_t flags;		/* DRAY_CALLS_NONBLOCK */
};

/**
 * Makes a queue and its thread.  Signals that the program is sent go to its other
 * threads; a fault of a loop or an executor arrives where it happens.
 *
 * @executors: @count of them, beside the CPU; counted up
 * @count: 0 to 16
 * @options: copied; NULL: the default
 * @out: ended by dray_call_queue_destroy()
 *
 * Errors: -EINVAL (too many executors or calls, unknown flags), -ENOMEM, -EAGAIN (no
 * thread can be made).
 */
DRAY_API int dray_call_queue_create(struct dray_executor *const *executors,
				    size_t count,
				    const struct dray_call_queue_options *options,
				    struct dray_call_queue **out);

/**
 * Waits for its calls, and ends it: no call uses memory, an executor or a ufunc any more.
 * From a call of its own it does not wait: the queue ends after the calls that it
 * has.  NULL is ignored.
 *
 * A call that waits for a packet which never arrives does not end by itself: cancel first.
 */
DRAY_API void dray_call_queue_destroy(struct dray_call_queue *queue);

/**
 * Cancels all calls of a queue, as dray_event_cancel() does each.  Calls that are
 * submitted later run.
 * Errors: -ECHILD.
 */
DRAY_API int dray_call_queue_cancel(struct dray_call_queue *queue);

/**
 * Returns the end of the oldest call of a full queue, with a reference, or NULL if
 * there is room: for programs that submit with DRAY_CALLS_NONBLOCK.
 */
DRAY_API struct dray_event *
dray_call_queue_full(struct dray_call_queue *queue);

/**
 * Submits a call, as of dray_ufunc_call(), and waits only if the queue is full.
 *
 * @inputs, @outputs, @options: are copied.  Blocks of pools are busy until the call
 *	ends; other memory, such as an array's of malloc(), must live until then
 * @out: as of dray_ufunc_call(); arrays may be used once the call has ended
 * @event: the end of the call, with a reference, for dray_event_wait() and its
 *	kin.  NULL waits for it
 *
 * The first calls of a loop go to each executor that can run it, in the order of the
 * queue and then to the CPU, and are measured: the first call may be slow.
 * dray_executor_set_cost() spares them.  Times of the 256 newest loops of each executor
 * are kept, and all that were set.  Errors of floating-point numbers are noted by
 * the thread that submits, as of dray_set_fp_state(); its function is called by the
 * queue's thread.  Outputs are made in the order of dray_ufunc_call().
 *
 * Errors: as dray_ufunc_call() before its loops, -ECHILD; of a full queue -EAGAIN
 * (DRAY_CALLS_NONBLOCK) or -EINTR, and nothing was submitted; if it waits for the call, also
 * the call's status; -EDEADLK (it would wait in a call of this queue).
 */
DRAY_API int dray_call_queue_submit(struct dray_call_queue *queue,
				    struct dray_ufunc *ufunc,
				    const struct dray_view *const *inputs,
				    const struct dray_view *const *outputs,
				    const struct dray_ufunc_options *options,
				    struct dray_array **out,
				    struct dray_event **event);

/** Which executor would run a call, and why. */
struct dray_call_explanation {
	size_t size;		/* of this structure; 0: the first version's */
	char executor[32];
	int64_t elements;
	uint64_t bytes;		/* of all operands */
	int32_t measured;	/* 1: the time below is known */
	int32_t reserved;
	uint64_t ns;		/* that it would take */
	char reason[256];	/* a sentence */
};

/**
 * Fills @out; computes nothing.  Outputs that are NULL are allocated
 * meanwhile, since executors look at their memory: a question that gives all outputs
 * allocates no array.  Errors as dray_call_queue_submit().
 */
DRAY_API int dray_explain_call(struct dray_call_queue *queue,
			       struct dray_ufunc *ufunc,
			       const struct dray_view *const *inputs,
			       const struct dray_view *const *outputs,
			       const struct dray_ufunc_options *options,
			       struct dray_call_explanation *out);

/** A loop that an IP between streams computes. */
struct dray_stream_executor_options {
	size_t size;		/* of this structure; 0: the first version's */
	struct dray_ufunc *ufunc;	/* counted up, as are the types */
	const dray_dtype *dtypes;	/* of the loop: inputs, then outputs */
	/*
	 * Streams that send, borrowed: for each input; or a single stream, which
	 * gets the inputs of a frame in turn, as a packet
	 */
	struct dray_stream *const *tx;
	uint32_t tx_count;
	/* streams that receive, borrowed: for each output */
	struct dray_stream *const *rx;
	uint32_t rx_count;
	/*
	 * bytes of a frame, of the widest operand; 0: 65536, or if all operands are
	 * contiguous 1 MiB, as far as the engines take so many in a packet
	 */
	uint64_t frame_bytes;
	uint32_t depth;		/* packets in flight, 1 to 32; 0: 8 */
	/*
	 * DRAY_PACKET_STAGE: the CPU may copy frames that an engine cannot reach.
	 * It also makes copies of operands of other types or byte order, and of
	 * outputs with a mask; the IP computes all elements then.
	 */
	uint32_t flags;
	/* nanoseconds that frames in flight may take, up to 600 s; 0: 10 s */
	uint64_t timeout_ns;
	/*
	 * The operands of @ring_count calls, call by call: inputs, then
	 * outputs, of the same shape.  The streams get rings over them (see
	 * dray_stream_ring()), and keep them.  Only calls with these very operands
	 * go to the streams then.  0: any operands.
	 */
	const struct dray_view *const *ring;
	uint32_t ring_count;
	uint32_t reserved;	/* 0 */
	/*
	 * Brings the IP to its first state after a call has failed, when nothing
	 * is in flight any more, or an engine keeps it: from a thread of a queue, or in
	 * dray_stream_executor_reset().  It has the streams: it must not wait for a
	 * call of another executor of them.  Returns 0, or a negative errno: calls
	 * stay refused.  NULL: none
	 */
	int (*reset)(void *context);
	void *context;
	/*
	 * The interrupt that the IP raises when it is done, counted up: a call forgets
	 * arrivals, and after its packets waits for an arrival since it began, at most
	 * @timeout_ns.  NULL: none
	 */
	struct dray_interrupt *done;
};

/**
 * Makes an executor of streams.  A call is cut into frames, each a packet for each
 * stream.  Memory that the engines reach is not copied.
 *
 * A call of several frames gives each stream a ring over its operand, passes all
 * frames, and removes the rings again.  Of few frames, frames that an engine does
 * not reach, or with several inputs in a stream, each frame is a packet, and up to
 * @depth are in flight.
 *
 * An engine that was cancelled, and keeps frames for a further timeout, does not keep
 * the call: it ends, and dray_view_wait() of the frames' memory is -EBUSY until they
 * end or the stream is closed.
 *
 * Frames in rings are looked at up to 128 at a time: a lost frame may be noticed after
 * the timeout, also if later frames have arrived.
 *
 * A frame that returns with other than its own number of bytes, too late or with
 * an error ends the call: with -EPROTO, -ETIMEDOUT, or the stream's error.  The IP
 * may still hold bytes of it then, so the executor refuses later calls until the IP
 * was reset: by @options.reset, or by dray_stream_executor_reset().  Executors may
 * share streams: a single call at a time uses them, and a failure concerns all.  Making
 * an executor says that the IP is in its first state.
 *
 * @options: copied
 * @out: with a reference; the streams are closed after the last reference is dropped
 *
 * Errors: -EINVAL (numbers of streams, a stream of the wrong direction, depth,
 * flags, frame_bytes below an element; with rings, a stream for several
 * inputs, operands of other types or shapes), -ENOMEM; with rings, errors of
 * dray_stream_ring(): the streams must be closed then.
 */
DRAY_API int
dray_stream_executor_create(const struct dray_stream_executor_options *options,
			    struct dray_executor **out);

/**
 * Lets an executor of streams accept calls again, after a failure.  Calls the
 * reset function that it was made with; without this function, the caller says that the IP
 * holds no byte of an earlier call.  Waits for a call that has the streams.
 *
 * Errors: -EINVAL (another kind of executor), errors of the reset function.
 */
DRAY_API int dray_stream_executor_reset(struct dray_executor *executor);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_EXECUTOR_H */
