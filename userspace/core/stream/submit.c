// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Sends and receives: a call of the port for each packet.  Its event holds the
 * memory from before the submission until the end.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/options.h"
#include "stream/packet.h"

/* Decides on a copy.  The option that allows it is named by the caller's word. */
static int submit_choose(struct dray_packet *packet)
{
	int ret = dray_packet_choose(packet);

	return ret && dray_last_failure() == DRAY_FAILURE_STAGE
		       ? dray_fail_adding(ret, "; the packet allows no copy")
		       : ret;
}

/* The parts of a submission. */
struct packet_submission {
	struct dray_packet *packet;
	struct dray_event *event;
	struct dray_transfer transfers[DRAY_MAX_TRANSFERS];
	struct dray_buffer *buffers[DRAY_MAX_TRANSFERS];
	int32_t fences[DRAY_MAX_IN_FENCES];
	struct dray_axis rows; /* of a staging buffer to show */
	struct dray_port_job job;
};

static int fence_failed(uint32_t index)
{
	return dray_fail_adding(-ECANCELED, " (in-fence %u: nothing is done)",
				index);
}

/* Passes an in-fence on to the engine, or waits for it. */
static int take_fence(struct packet_submission *submission, uint32_t index,
		      bool wait)
{
	const struct dray_packet_options *options =
		&submission->packet->options;
	struct dray_fence *fence = options->fences[index];
	int ret;

	if (!fence)
		return dray_fail(-EINVAL, "in-fence %u is NULL", index);
	ret = dray_fence_status(fence);
	if (ret)
		return ret < 0 ? fence_failed(index) : 0;
	if (!wait) {
		submission->fences[submission->job.fence_count++] =
			dray_fence_fd(fence);
		return 0;
	}
	if (options->flags & DRAY_PACKET_NONBLOCK)
		return dray_fail(-EAGAIN, "the call would wait for in-fence %u",
				 index);
	ret = dray_fence_wait(fence, -1);
	return ret && ret != -EINTR ? fence_failed(index) : ret;
}

static int submit_take_fences(struct packet_submission *submission)
{
	const struct dray_packet *packet = submission->packet;
	bool wait = !packet->stream->port->ops->takes_fences ||
		    (packet->staged && packet->sends);
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < packet->options.fence_count; i++)
		ret = take_fence(submission, i, wait);
	return ret;
}

/* Adds contiguous or strided bytes of a buffer. */
static void add_transfer(struct packet_submission *submission,
			 struct dray_buffer *buffer,
			 const struct dray_packet_piece *piece)
{
	uint32_t index = submission->job.count++;

	submission->buffers[index] = buffer;
	submission->transfers[index] =
		dray_packet_transfer(submission->packet, buffer, piece);
}

/* Makes a staging buffer the packet; the event gets it. */
static int submit_stage(struct packet_submission *submission)
{
	struct dray_packet *packet = submission->packet;
	struct dray_stage *staging = &submission->event->stage;
	struct dray_packet_piece whole = {
		.run = packet->bytes / packet->rows,
		.axes_count = packet->rows > 1,
		.axes = &submission->rows,
	};
	int ret;

	submission->rows = (struct dray_axis){
		.count = packet->rows,
		.src_stride = (int64_t)whole.run,
	};

	ret = dray_stage_begin(staging, packet->stream->port->node,
			       packet->bytes);
	if (ret)
		return ret;
	whole.first = dray_buffer_data(staging->buffer);
	add_transfer(submission, staging->buffer, &whole);
	if (packet->sends) {
		dray_stage_fill(staging, packet->pieces, packet->count);
	} else {
		dray_stage_return_to(staging, packet->pieces, packet->count);
		packet->pieces = NULL;
	}
	return 0;
}

/* Waits for loans of memory that the CPU reads now. */
static int await_loans(const struct dray_packet *packet)
{
	struct dray_use_query query = { .before = UINT64_MAX,
					.sorts = 1 << DRAY_USE_LOAN };
	bool nonblock = packet->options.flags & DRAY_PACKET_NONBLOCK;
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < packet->count; i++) {
		query.reads = packet->views[i].operand.span;
		ret = dray_use_wait(&query, nonblock ? 0 : -1);
	}
	return ret == -ETIME ? -EAGAIN : ret;
}

static int submit_describe(struct packet_submission *submission)
{
	struct dray_packet *packet = submission->packet;
	uint32_t i;
	int ret = 0;

	if (packet->staged && packet->sends)
		ret = await_loans(packet);
	if (!ret && packet->staged)
		ret = submit_stage(submission);
	for (i = 0; !ret && i < packet->count; i++) {
		struct dray_operand *operand = &packet->views[i].operand;

		if (!packet->staged)
			add_transfer(submission, operand->location.buffer,
				     &packet->pieces[i]);
		/* The source of a staging copy was read. */
		if (!packet->staged || !packet->sends)
			dray_event_keep(submission->event, operand,
					!packet->sends);
	}
	return ret;
}

static int no_room(const struct dray_stream *stream,
		   const struct dray_event *oldest)
{
	return dray_fail(-EAGAIN,
			 "%s has no room for packet %" PRIu64
			 ": packet %" PRIu64
			 " is in flight, and the timeline has %u points",
			 stream->name, stream->number + 1, oldest->number,
			 stream->port->timeline->points);
}

/* Waits until there is a place in the timeline for the point of the next packet. */
static int await_place(struct dray_stream *stream, bool nonblock)
{
	struct dray_event *oldest;
	int ret = 0;

	while (!ret && (oldest = dray_stream_hindrance(stream))) {
		/* It would stay until the next packet replaces it. */
		if (stream->repeats)
			ret = dray_event_cancel(oldest);
		if (!ret)
			ret = dray_event_wait(oldest, nonblock ? 0 : -1);
		if (dray_use_has_ended(&oldest->use))
			ret = 0;
		else if (ret == -ETIME)
			ret = no_room(stream, oldest);
		else if (ret == -EINTR)
			ret = dray_fail_adding(ret, ", nothing was submitted");
		dray_event_unref(oldest);
	}
	return ret;
}

static int submit_hand_in(struct packet_submission *submission)
{
	struct dray_stream *stream = submission->packet->stream;
	uint32_t flags = submission->packet->options.flags;
	bool nonblock = flags & DRAY_PACKET_NONBLOCK;
	struct dray_port_job *job = &submission->job;
	int ret;

	job->flags = (nonblock ? DRAY_SUBMIT_NONBLOCK : 0) |
		     (flags & DRAY_PACKET_NO_SYNC ? DRAY_SUBMIT_NO_SYNC : 0);
	job->transfers = submission->transfers;
	job->buffers = submission->buffers;
	job->fences = submission->fences;
	job->deadline_ns = submission->packet->options.deadline_ns;
	ret = dray_stream_begin(stream, nonblock);
	if (ret)
		return ret;
	ret = await_place(stream, nonblock);
	if (!ret)
		ret = stream->port->ops->submit(stream->port, job);
	if (!ret)
		dray_event_append(submission->event, job->point);
	dray_stream_finish(stream);
	return ret;
}

static int packet_enqueue(struct dray_packet *packet, struct dray_event **out)
{
	struct packet_submission submission = { .packet = packet };
	int ret;

	ret = dray_event_create(packet->stream, packet->count,
				&submission.event);
	if (ret)
		return ret;
	ret = submit_take_fences(&submission);
	if (!ret)
		ret = submit_describe(&submission);
	if (!ret)
		ret = dray_use_claim(&submission.event->use,
				     packet->options.flags &
					     DRAY_PACKET_NONBLOCK);
	if (!ret)
		ret = submit_hand_in(&submission);
	if (ret)
		dray_event_abandon(submission.event);
	else
		*out = submission.event;
	return ret;
}

/*
 * Returns the event to the caller, or @waits if it wants none.  The transfer was
 * begun, so a signal does not end this wait.
 */
static int stream_submit_hand_over(struct dray_event *done, uint64_t *bytes,
				   struct dray_event **event, bool waits)
{
	int ret = 0;

	if (event) {
		*event = done;
		return 0;
	}
	while (waits && (ret = dray_event_wait(done, -1)) == -EINTR)
		;
	if (waits && bytes)
		*bytes = done->point.bytes;
	dray_event_unref(done);
	return ret;
}

static int check_op(const struct dray_stream *stream, uint32_t op)
{
	static const char *const verbs[] = {
		[DRAY_OP_SEND] = "send",
		[DRAY_OP_RECV] = "receive",
		[DRAY_OP_SHOW] = "show",
	};

	if (op == stream->op)
		return 0;
	return dray_fail(-EINVAL, "%s %ss, it cannot %s", stream->name,
			 verbs[stream->op], verbs[op]);
}

static int submit_carry_out(struct dray_stream *stream, uint32_t op,
			    const struct dray_view *const *views, size_t count,
			    const struct dray_packet_options *options,
			    struct dray_event **event)
{
	struct dray_event *done = NULL;
	struct dray_packet packet;
	int ret;

	ret = dray_stream_check(stream);
	if (ret)
		return ret;
	ret = check_op(stream, op);
	if (ret)
		return ret;
	ret = dray_packet_init(&packet, stream, stream->sends, views, count,
			       options);
	if (!ret)
		ret = submit_choose(&packet);
	if (!ret)
		ret = packet_enqueue(&packet, &done);
	dray_packet_drop(&packet);
	return ret ? ret
		   : stream_submit_hand_over(done, packet.options.bytes, event,
					     op != DRAY_OP_SHOW);
}

int dray_stream_send(struct dray_stream *stream, const struct dray_view *view,
		     const struct dray_packet_options *options,
		     struct dray_event **event)
{
	if (!dray_given(stream, __func__) || !dray_given(view, __func__))
		return -EINVAL;
	return submit_carry_out(stream, DRAY_OP_SEND, &view, 1, options, event);
}

int dray_stream_recv(struct dray_stream *stream, const struct dray_view *view,
		     const struct dray_packet_options *options,
		     struct dray_event **event)
{
	if (!dray_given(stream, __func__) || !dray_given(view, __func__))
		return -EINVAL;
	return submit_carry_out(stream, DRAY_OP_RECV, &view, 1, options, event);
}

int dray_stream_show(struct dray_stream *stream, const struct dray_view *view,
		     const struct dray_packet_options *options,
		     struct dray_event **event)
{
	if (!dray_given(stream, __func__) || !dray_given(view, __func__))
		return -EINVAL;
	return submit_carry_out(stream, DRAY_OP_SHOW, &view, 1, options, event);
}

int dray_stream_send_pieces(struct dray_stream *stream,
			    const struct dray_view *const *views, size_t count,
			    const struct dray_packet_options *options,
			    struct dray_event **event)
{
	if (!dray_given(stream, __func__) || !dray_given(views, __func__))
		return -EINVAL;
	return submit_carry_out(stream, DRAY_OP_SEND, views, count, options,
				event);
}

int dray_stream_recv_pieces(struct dray_stream *stream,
			    const struct dray_view *const *views, size_t count,
			    const struct dray_packet_options *options,
			    struct dray_event **event)
{
	if (!dray_given(stream, __func__) || !dray_given(views, __func__))
		return -EINVAL;
	return submit_carry_out(stream, DRAY_OP_RECV, views, count, options,
				event);
}

int dray_stream_explain(struct dray_stream *stream,
			const struct dray_view *const *views, size_t count,
			const struct dray_packet_options *options,
			struct dray_explanation *out)
{
	struct dray_explanation whole = { 0 };
	struct dray_packet packet;
	int ret;

	if (!dray_given(stream, __func__) || !dray_given(views, __func__) ||
	    !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_stream_check(stream);
	if (ret)
		return ret;
	ret = dray_packet_init(&packet, stream, stream->sends, views, count,
			       options);
	if (!ret)
		ret = submit_choose(&packet);
	if (!ret) {
		whole.elements = packet.elements;
		whole.bytes = packet.bytes;
		whole.run = packet.pieces[0].run;
		whole.descriptors = packet.descriptors;
		whole.threshold = stream->max_runs;
		whole.axes = (int32_t)packet.pieces[0].axes_count;
		whole.engine = !packet.staged;
		memcpy(whole.reason, packet.reason, sizeof(whole.reason));
		ret = DRAY_WRITE_RESULT(out, &whole,
					DRAY_EXPLANATION_SIZE_FIRST);
	}
	dray_packet_drop(&packet);
	return ret;
}
