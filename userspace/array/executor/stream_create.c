// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * An executor of streams: its making and end, and each call on its way through.  A
 * single call at a time uses the streams.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "private.h"
#include "cast/options.h"
#include "executor/stream_executor.h"

#define WHOLE_BYTES (1u << 20)
#define PART_BYTES 65536u
#define DEPTH 8u
#define TIMEOUT_NS 10000000000u

static void take_streams(const struct dray_stream_executor *executor)
{
	uint32_t i;

	for (i = 0; i < executor->streams_count; i++)
		pthread_mutex_lock(&executor->streams[i]->calls);
}

static void give_streams(const struct dray_stream_executor *executor)
{
	uint32_t i;

	for (i = executor->streams_count; i > 0; i--)
		pthread_mutex_unlock(&executor->streams[i - 1]->calls);
}

static void set_stale(const struct dray_stream_executor *executor, bool stale)
{
	uint32_t i;

	for (i = 0; i < executor->streams_count; i++)
		atomic_store(&executor->streams[i]->stale, stale);
}

/* Asks the user for the IP's first state.  Keeps the sentence. */
static int stream_create_reset(struct dray_stream_executor *executor)
{
	const struct dray_stream_executor_options *options = &executor->options;
	int ret = options->reset(options->context);

	if (!ret)
		set_stale(executor, false);
	return ret;
}

/* In rings, as far as these can be made, and the rest as packets. */
static int run_frames(struct dray_stream_call *run)
{
	int64_t done = 0;
	int ret = 0;

	if (run->executor->options.ring_count)
		return dray_stream_run_rings(run);
	if (dray_stream_may_lend(run))
		ret = dray_stream_run_lent(run, &done);
	return ret ? ret : dray_stream_run_packets(run, done);
}

/* With the streams. */
static int run_streams(struct dray_stream_call *run)
{
	struct dray_stream_executor *executor = run->executor;
	struct dray_kept_failure kept;
	int ret;

	if (dray_stream_is_stale(executor))
		return dray_fail(-EIO, "the streams failed in an earlier call");
	ret = executor->options.done
		      ? dray_interrupt_clear(executor->options.done)
		      : 0;
	if (!ret)
		ret = run_frames(run);
	if (!ret && executor->options.done)
		ret = dray_stream_await_done(run);
	if (!ret)
		return 0;
	set_stale(executor, true);
	if (executor->options.reset) {
		dray_failure_keep(&kept);
		stream_create_reset(executor);
		dray_failure_restore(ret, &kept);
	}
	return ret;
}

static int create_run_call(struct dray_stream_call *run)
{
	struct dray_stream_executor *executor = run->executor;
	struct dray_view views[DRAY_UFUNC_MAX_OPERANDS];
	int o, ret;

	for (o = 0; o < run->call->inputs + run->call->outputs; o++)
		run->aside[o] = dray_stream_needs_aside(executor, run->call, o);
	ret = dray_stream_set_aside(run, views);
	if (ret)
		return ret;
	dray_stream_cut(executor, views, &run->frames);
	take_streams(executor);
	ret = run_streams(run);
	give_streams(executor);
	return ret ? ret : dray_stream_put_back(run);
}

static int stream_submit(void *context, struct dray_call *call)
{
	struct dray_stream_call *run = calloc(1, sizeof(*run));
	int ret;

	if (!run)
		return dray_fail(-ENOMEM, "no memory for frames");
	run->executor = context;
	run->call = call;
	ret = create_run_call(run);
	dray_stream_drop_aside(run);
	free(run);
	dray_call_end(call, ret);
	return 0;
}

static int stream_check(void *context, const struct dray_call *call)
{
	return dray_stream_check_call(context, call);
}

static void stream_release(void *context)
{
	struct dray_stream_executor *executor = context;
	int o;

	for (o = 0; o < dray_ufunc_operands(executor->options.ufunc); o++)
		dray_dtype_unref(executor->dtypes[o]);
	dray_ufunc_unref(executor->options.ufunc);
	dray_interrupt_unref(executor->options.done);
	free(executor->sets);
	free(executor);
}

static int check_streams(const struct dray_stream_executor_options *options)
{
	const uint32_t inputs = (uint32_t)options->ufunc->inputs;
	const uint32_t outputs = (uint32_t)options->ufunc->outputs;
	uint32_t i;

	if (options->tx_count != inputs && options->tx_count != 1)
		return dray_fail(
			-EINVAL,
			"%u inputs of %s take as many streams, or one, not %u",
			inputs, options->ufunc->name, options->tx_count);
	if (options->rx_count != outputs)
		return dray_fail(
			-EINVAL,
			"%u outputs of %s take as many streams, not %u",
			outputs, options->ufunc->name, options->rx_count);
	for (i = 0; i < options->tx_count; i++)
		if (!options->tx[i] || !options->tx[i]->sends)
			return dray_fail(-EINVAL,
					 "stream %u of tx does not send", i);
	for (i = 0; i < options->rx_count; i++)
		if (!options->rx[i] || options->rx[i]->sends)
			return dray_fail(-EINVAL,
					 "stream %u of rx does not receive", i);
	return 0;
}

static int check_numbers(const struct dray_stream_executor_options *options)
{
	int o;

	if (options->ring_count &&
	    !dray_given(options->ring, "dray_stream_executor_create"))
		return -EINVAL;
	if (options->depth > DRAY_STREAM_DEPTH)
		return dray_fail(-EINVAL,
				 "at most %u frames are in flight, not %u",
				 DRAY_STREAM_DEPTH, options->depth);
	if (options->timeout_ns > DRAY_MAX_DEADLINE)
		return dray_fail(-EINVAL,
				 "a timeout of %" PRIu64
				 " ns, the longest is %llu ns",
				 options->timeout_ns, DRAY_MAX_DEADLINE);
	if (options->flags & ~DRAY_PACKET_STAGE)
		return dray_fail(
			-EINVAL,
			"flags 0x%x of an executor, of which only DRAY_PACKET_STAGE is known",
			options->flags);
	for (o = 0; o < dray_ufunc_operands(options->ufunc); o++)
		if (!options->dtypes[o] ||
		    (options->frame_bytes &&
		     options->frame_bytes <
			     dray_dtype_itemsize(options->dtypes[o])))
			return dray_fail(
				-EINVAL,
				"operand %d has no type, or a frame of %" PRIu64
				" bytes has none of its elements",
				o, options->frame_bytes);
	return 0;
}

/* As many bytes as @most that each stream transfers as a single packet. */
static uint64_t most_bytes(const struct dray_stream_executor_options *options,
			   uint64_t most)
{
	const uint32_t pieces =
		(uint32_t)options->ufunc->inputs / options->tx_count;
	uint32_t i;

	for (i = 0; i < options->tx_count; i++)
		if (options->tx[i]->max_bytes / pieces < most)
			most = options->tx[i]->max_bytes / pieces;
	for (i = 0; i < options->rx_count; i++)
		if (options->rx[i]->max_bytes < most)
			most = options->rx[i]->max_bytes;
	/* A number that engines with words accept, and a multiple of elements. */
	return most < 4096 ? 4096 : most & ~(uint64_t)4095;
}

static int by_address(const void *a, const void *b)
{
	const uintptr_t one = (uintptr_t) * (struct dray_stream *const *)a;
	const uintptr_t other = (uintptr_t) * (struct dray_stream *const *)b;

	return (one > other) - (one < other);
}

/* Sorts the streams, so that calls of executors that share some wait in turn. */
static int list_streams(struct dray_stream_executor *executor)
{
	const struct dray_stream_executor_options *options = &executor->options;
	uint32_t i, count = 0;

	for (i = 0; i < options->tx_count; i++)
		executor->streams[count++] = executor->tx[i];
	for (i = 0; i < options->rx_count; i++)
		executor->streams[count++] = executor->rx[i];
	qsort(executor->streams, count, sizeof(struct dray_stream *),
	      by_address);
	for (i = 1; i < count; i++)
		if (executor->streams[i] == executor->streams[i - 1])
			return dray_fail(-EINVAL,
					 "%s stands twice in tx, or in rx",
					 executor->streams[i]->name);
	executor->streams_count = count;
	return 0;
}

int dray_stream_executor_create(
	const struct dray_stream_executor_options *options,
	struct dray_executor **out)
{
	static const struct dray_executor_functions functions = {
		sizeof(functions), stream_check, stream_submit, stream_release
	};
	struct dray_stream_executor_options known;
	struct dray_stream_executor *executor;
	uint32_t i;
	int o, ret;

	if (!dray_given(options, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = DRAY_READ_OPTIONS(&known, options,
				DRAY_STREAM_EXECUTOR_OPTIONS_SIZE_FIRST);
	if (ret)
		return ret;
	options = &known;
	if (!dray_given(options->ufunc, __func__) ||
	    !dray_given(options->dtypes, __func__) ||
	    !dray_given(options->tx, __func__) ||
	    !dray_given(options->rx, __func__))
		return -EINVAL;
	ret = check_streams(options);
	if (!ret)
		ret = check_numbers(options);
	if (ret)
		return ret;
	executor = calloc(1, sizeof(*executor));
	if (!executor)
		return dray_fail(-ENOMEM, "no memory for an executor");
	executor->options = *options;
	executor->whole_bytes = most_bytes(options, WHOLE_BYTES);
	executor->part_bytes = most_bytes(options, PART_BYTES);
	if (!options->depth)
		executor->options.depth = DEPTH;
	if (!options->timeout_ns)
		executor->options.timeout_ns = TIMEOUT_NS;
	for (i = 0; i < options->tx_count; i++)
		executor->tx[i] = options->tx[i];
	for (i = 0; i < options->rx_count; i++)
		executor->rx[i] = options->rx[i];
	for (o = 0; o < dray_ufunc_operands(options->ufunc); o++)
		executor->dtypes[o] = dray_dtype_ref(options->dtypes[o]);
	dray_ufunc_ref(options->ufunc);
	dray_interrupt_ref(options->done);
	ret = list_streams(executor);
	if (!ret)
		ret = dray_stream_make_rings(executor);
	if (!ret)
		ret = dray_executor_create("streams", &functions, executor,
					   out);
	if (ret)
		stream_release(executor);
	else
		/* The caller says that the IP is in its first state. */
		set_stale(executor, false);
	return ret;
}

int dray_stream_executor_reset(struct dray_executor *executor)
{
	struct dray_stream_executor *streams;
	int ret;

	if (!dray_given(executor, __func__))
		return -EINVAL;
	if (executor->functions.submit != stream_submit)
		return dray_fail(-EINVAL, "%s is not an executor of streams",
				 executor->name);
	streams = executor->context;
	/* A child's locks are in calls of the parent. */
	ret = dray_stream_check(streams->streams[0]);
	if (ret)
		return ret;
	/* No call uses the streams meanwhile. */
	take_streams(streams);
	if (streams->options.reset)
		ret = stream_create_reset(streams);
	else
		set_stale(streams, false);
	give_streams(streams);
	return ret;
}
