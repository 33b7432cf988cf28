/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * An executor of streams and a call that it runs, as the files share them.  Calls
 * pass as packets of their own, or in rings over memory that was named before.
 */
#ifndef DRAY_EXECUTOR_STREAM_EXECUTOR_H
#define DRAY_EXECUTOR_STREAM_EXECUTOR_H

#include "executor/executor.h"
#include "executor/stream_frames.h"

#define DRAY_STREAM_DEPTH 32u
/* frames of a call that makes its own rings: fewer are cheaper as packets */
#define DRAY_STREAM_LEAST 4

/* The operands of a call in rings. */
struct dray_ring_set {
	struct dray_call_frames frames;
	uint32_t first; /* frame of each ring */
};

struct dray_stream_executor {
	struct dray_stream_executor_options options; /* defaults filled in */
	dray_dtype dtypes[DRAY_UFUNC_MAX_OPERANDS]; /* a reference each */
	struct dray_stream *tx[DRAY_UFUNC_MAX_OPERANDS];
	struct dray_stream *rx[DRAY_UFUNC_MAX_OPERANDS];
	struct dray_ring_set *sets; /* options.ring_count */
	uint64_t whole_bytes; /* of frames of contiguous operands, if not wished */
	uint64_t part_bytes; /* of others */
	/* all of them, in the order in which a call acquires their locks */
	struct dray_stream *streams[DRAY_UFUNC_MAX_OPERANDS];
	uint32_t streams_count;
};

/* Whether a call failed, of this or another executor, and no reset followed. */
static inline bool
dray_stream_is_stale(const struct dray_stream_executor *executor)
{
	uint32_t i;

	for (i = 0; i < executor->streams_count; i++)
		if (atomic_load(&executor->streams[i]->stale))
			return true;
	return false;
}

/* A call, with operands that are contiguous copies where streams need them. */
struct dray_stream_call {
	struct dray_stream_executor *executor;
	const struct dray_call *call;
	bool aside[DRAY_UFUNC_MAX_OPERANDS];
	struct dray_array *arrays[DRAY_UFUNC_MAX_OPERANDS]; /* of these */
	struct dray_call_frames frames;
	/* of frames in flight; frame n at n modulo the depth */
	struct dray_event *received[DRAY_STREAM_DEPTH][DRAY_UFUNC_MAX_OPERANDS];
	struct dray_event *sent[DRAY_STREAM_DEPTH][DRAY_UFUNC_MAX_OPERANDS];
};

/*
 * Cuts operands.  Without a requested frame size, frames of contiguous operands are
 * larger: each costs as much as a small frame, and others may have too many pieces.
 */
static inline void dray_stream_cut(const struct dray_stream_executor *executor,
				   const struct dray_view *views,
				   struct dray_call_frames *frames)
{
	const int operands = dray_ufunc_operands(executor->options.ufunc);
	uint64_t bytes = executor->options.frame_bytes;
	bool whole = true;
	int o;

	for (o = 0; o < operands && !bytes; o++)
		whole = whole && dray_view_is_contiguous(&views[o]);
	if (!bytes)
		bytes = whole ? executor->whole_bytes : executor->part_bytes;
	dray_frames_cut(frames, views, operands, bytes);
}

/* -ECANCELED once the call is cancelled. */
int dray_stream_check_cancelled(const struct dray_stream_call *run);

/* Checks that streams can run a call: 0, or -EOPNOTSUPP with the reason. */
int dray_stream_check_call(struct dray_stream_executor *executor,
			   const struct dray_call *call);

/* Whether operand @o must be a copy, since its type, or a mask, asks for it. */
bool dray_stream_needs_aside(const struct dray_stream_executor *executor,
			     const struct dray_call *call, int o);

/* Makes the copies, and fills the copies of inputs. */
int dray_stream_set_aside(struct dray_stream_call *run,
			  struct dray_view *views);
/* Converts outputs back, by the mask. */
int dray_stream_put_back(const struct dray_stream_call *run);
void dray_stream_drop_aside(struct dray_stream_call *run);

/* Waits for the interrupt options.done, or -ETIMEDOUT, or until a cancel. */
int dray_stream_await_done(const struct dray_stream_call *run);

/* Runs frames from @first on as packets.  If it fails, nothing is in flight any more. */
int dray_stream_run_packets(struct dray_stream_call *run, int64_t first);

/* Frames of a call that are in rings at a time. */
struct dray_stream_turn {
	struct dray_stream_call *run;
	int64_t from; /* frame of the call */
	uint32_t first; /* its frame of the rings */
	uint32_t count;
	uint32_t frames; /* of each ring */
	bool held; /* all frames are; else the engines own them */
};

/*
 * Runs them.  All frames of the rings are held after that, unless the node is gone, or
 * an engine keeps them.
 */
int dray_stream_run_turn(const struct dray_stream_turn *turn);
/*
 * Acquires all @count frames of a ring.  -ETIMEDOUT: after the time limit of a call,
 * an engine still owns some; their memory is in use until the stream is closed, or
 * they end.
 */
int dray_stream_take_all(const struct dray_stream_executor *executor,
			 struct dray_stream *stream, uint32_t count);
/* The stream of operand @o. */
struct dray_stream *dray_stream_of(const struct dray_stream_executor *executor,
				   int o);

/* Whether the call may use rings of its own. */
bool dray_stream_may_lend(const struct dray_stream_call *run);
/*
 * Runs frames in rings made for them, which are removed after that.  Frames from
 * *@done on are left for packets.
 */
int dray_stream_run_lent(struct dray_stream_call *run, int64_t *done);

/* Makes the rings of streams, by the options. */
int dray_stream_make_rings(struct dray_stream_executor *executor);
/* Finds the set of a call; NULL: none. */
const struct dray_ring_set *
dray_stream_find_set(const struct dray_stream_executor *executor,
		     const struct dray_call_frames *frames);
/* Runs frames of rings; fails as a turn does. */
int dray_stream_run_rings(struct dray_stream_call *run);

/* The failure of a frame that came back with another count of bytes. */
int dray_stream_wrong_length(const struct dray_stream_call *run, int64_t number,
			     uint32_t stream, uint64_t bytes);

#endif /* DRAY_EXECUTOR_STREAM_EXECUTOR_H */
