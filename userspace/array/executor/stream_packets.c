// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Frames of a call as packets.  For each frame, receives are submitted before sends,
 * so that the IP can answer at once.  Half of the frames in flight are awaited
 * together: a single wait for many frames.
 */
#include <errno.h>
#include <string.h>

#include "private.h"
#include "executor/stream_executor.h"

/* Submits frame @number: its receives, then its sends. */
static int submit_frame(struct dray_stream_call *run, int64_t number)
{
	const struct dray_stream_executor *executor = run->executor;
	const struct dray_packet_options options = {
		.flags = executor->options.flags,
		.deadline_ns = executor->options.timeout_ns,
	};
	const int64_t place = number % executor->options.depth;
	const struct dray_view *pointers[DRAY_UFUNC_MAX_OPERANDS];
	struct dray_view views[DRAY_UFUNC_MAX_OPERANDS];
	uint32_t i, each, inputs = (uint32_t)run->call->inputs;
	int o, ret = 0;

	for (o = 0; o < run->frames.operands; o++) {
		dray_frames_view(&run->frames, number, o, &views[o]);
		pointers[o] = &views[o];
	}
	for (i = 0; !ret && i < executor->options.rx_count; i++)
		ret = dray_stream_recv(executor->rx[i], pointers[inputs + i],
				       &options, &run->received[place][i]);
	each = inputs / executor->options.tx_count;
	for (i = 0; !ret && i < executor->options.tx_count; i++)
		ret = dray_stream_send_pieces(executor->tx[i],
					      &pointers[(size_t)i * each], each,
					      &options, &run->sent[place][i]);
	return ret;
}

static void stream_packets_drop(struct dray_event **event)
{
	dray_event_unref(*event);
	*event = NULL;
}

/*
 * Waits for a transfer, which the streams end within the time limit; -ECANCELED if
 * the call is cancelled before.
 */
static int stream_packets_await(const struct dray_stream_call *run,
				struct dray_event *event)
{
	int ret;

	do {
		ret = dray_stream_check_cancelled(run);
		if (!ret)
			ret = dray_event_wait(event, DRAY_CALLS_LOOK_MS);
	} while (ret == -EINTR || ret == -ETIME);
	return ret;
}

/* Waits for the end of a transfer that was cancelled, and forgets it. */
static void stream_packets_end(struct dray_event **event)
{
	while (*event && dray_event_wait(*event, -1) == -EINTR)
		;
	stream_packets_drop(event);
}

/* Ends frame @number, and compares its lengths. */
static int collect_frame(struct dray_stream_call *run, int64_t number)
{
	const struct dray_stream_executor *executor = run->executor;
	const int64_t place = number % executor->options.depth;
	struct dray_point point;
	uint32_t i;
	int ret;

	for (i = 0; i < executor->options.rx_count; i++) {
		ret = stream_packets_await(run, run->received[place][i]);
		if (!ret)
			ret = dray_event_point(run->received[place][i], &point,
					       sizeof(point));
		if (!ret && point.bytes != dray_frames_bytes(
						   &run->frames, number,
						   run->call->inputs + (int)i))
			ret = dray_stream_wrong_length(run, number, i,
						       point.bytes);
		if (ret)
			return ret;
		stream_packets_drop(&run->received[place][i]);
	}
	for (i = 0; i < executor->options.tx_count; i++) {
		ret = stream_packets_await(run, run->sent[place][i]);
		if (ret)
			return ret;
		stream_packets_drop(&run->sent[place][i]);
	}
	return 0;
}

/*
 * Waits for frame @last, so that the frames before it are there without a wait.  Its
 * failure may be caused by an earlier frame: collect_frame() reports that.
 */
static void await_frame(struct dray_stream_call *run, int64_t last)
{
	(void)stream_packets_await(
		run, run->received[last % run->executor->options.depth][0]);
}

/* Cancels and ends all that is in flight.  Keeps the sentence. */
static void stream_packets_abandon(struct dray_stream_call *run, int ret)
{
	const struct dray_stream_executor *executor = run->executor;
	struct dray_kept_failure kept;
	uint32_t place, i;

	dray_failure_keep(&kept);
	for (i = 0; i < executor->options.tx_count; i++)
		dray_stream_cancel(executor->tx[i]);
	for (i = 0; i < executor->options.rx_count; i++)
		dray_stream_cancel(executor->rx[i]);
	for (place = 0; place < executor->options.depth; place++)
		for (i = 0; i < DRAY_UFUNC_MAX_OPERANDS; i++) {
			stream_packets_end(&run->received[place][i]);
			stream_packets_end(&run->sent[place][i]);
		}
	dray_failure_restore(ret, &kept);
}

int dray_stream_run_packets(struct dray_stream_call *run, int64_t first)
{
	const int64_t depth = run->executor->options.depth;
	int64_t submitted = first, collected = first, last;
	int ret = 0;

	DRAY_HOLDS(depth && run->executor->options.tx_count);
	while (!ret && collected < run->frames.count) {
		while (!ret && submitted < run->frames.count &&
		       submitted - collected < depth)
			ret = submit_frame(run, submitted++);
		if (!ret)
			ret = dray_stream_check_cancelled(run);
		if (ret)
			break;
		last = submitted < run->frames.count ? submitted - 1 - depth / 2
						     : submitted - 1;
		if (last > collected)
			await_frame(run, last);
		do {
			ret = collect_frame(run, collected++);
		} while (!ret && collected <= last);
	}
	if (ret)
		stream_packets_abandon(run, ret);
	return ret;
}
