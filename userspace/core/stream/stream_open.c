// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Streams: opening a channel by its name, closing it, and the questions about
 * it.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/options.h"
#include "pool/busy.h"
#include "stream/ring.h"

#define MOST_BATCH 64 /* submissions; the kernel interface says so */
#define STREAM_FLAGS (DRAY_CHANNEL_SEND | DRAY_CHANNEL_RECV | DRAY_CHANNEL_SHOW)

/* The streams of this process: a pool short of memory asks them. */
static struct dray_stream *streams;

/* Lists the names of a node's streams in @names; "none" if there are none. */
static int open_list_names(struct dray_node *node, uint32_t count, char *names,
			   size_t size)
{
	size_t used = 0;
	uint32_t i;
	int ret;

	snprintf(names, size, "none");
	for (i = 0; i < count; i++) {
		struct dray_channel_info channel;

		ret = dray_node_channel(node, i, &channel, sizeof(channel));
		if (ret)
			return ret;
		if (channel.flags & STREAM_FLAGS && used < size)
			used += (size_t)snprintf(names + used, size - used,
						 "%s%.*s", used ? ", " : "",
						 DRAY_NAME_LEN, channel.name);
	}
	return 0;
}

static int not_found(struct dray_node *node, const struct dray_info *info,
		     const char *name, bool other_kind)
{
	char names[160];
	int ret = open_list_names(node, info->channel_count, names,
				  sizeof(names));

	if (ret)
		return ret;
	if (other_kind)
		return dray_fail(
			-EINVAL,
			"channel \"%s\" of %s serves no stream; those are: %s",
			name, info->name, names);
	return dray_fail(-EINVAL, "no stream \"%s\" on %s, which has: %s", name,
			 info->name, names);
}

/* Finds the stream's channel by its name. */
static int stream_open_find(struct dray_node *node,
			    const struct dray_info *info, const char *name,
			    struct dray_channel_info *channel)
{
	uint32_t i;
	int ret;

	for (i = 0; i < info->channel_count; i++) {
		ret = dray_node_channel(node, i, channel, sizeof(*channel));
		if (ret)
			return ret;
		if (strncmp(channel->name, name, DRAY_NAME_LEN))
			continue;
		return channel->flags & STREAM_FLAGS
			       ? 0
			       : not_found(node, info, name, true);
	}
	return not_found(node, info, name, false);
}

static int open_check_options(const struct dray_stream_options *options)
{
	if (options->flags)
		return dray_fail(-EINVAL, "unknown flags 0x%x of a stream",
				 options->flags);
	if (options->reserved)
		return dray_fail(
			-EINVAL,
			"reserved field of a stream's options is %u, not 0",
			options->reserved);
	if (options->points > DRAY_MAX_POINTS)
		return dray_fail(-EINVAL, "%u points, a stream has up to %u",
				 options->points, DRAY_MAX_POINTS);
	if (options->batch > MOST_BATCH)
		return dray_fail(-EINVAL, "a batch of %u packets, at most %u",
				 options->batch, MOST_BATCH);
	return 0;
}

/* Notes the limits of the engine; some are known only when it is open. */
static int stream_open_learn(struct dray_stream *stream,
			     const struct dray_info *info)
{
	struct dray_channel_info channel;
	int ret;

	ret = dray_node_channel(stream->port->node, stream->port->channel,
				&channel, sizeof(channel));
	if (ret)
		return ret;
	stream->max_bytes = info->max_bytes;
	stream->max_runs = info->max_runs;
	if (channel.max_pieces && channel.max_pieces < stream->max_runs)
		stream->max_runs = channel.max_pieces;
	stream->max_segment =
		channel.max_segment ? channel.max_segment : UINT64_MAX;
	stream->alignment = channel.alignment ? channel.alignment : 1;
	stream->first_alignment =
		channel.first_alignment ? channel.first_alignment : 1;
	stream->repeats = channel.flags & DRAY_CHANNEL_REPEAT;
	return 0;
}

/*
 * Settles ended events, and never waits: a stream may be silent for ever.
 * Implements dray_reap.
 */
static bool open_reap_for_pool(bool wait)
{
	uint32_t process = dray_fork_process();
	struct dray_stream *stream;
	bool any = false, more = true;

	(void)wait;
	dray_streams_lock();
	while (more) {
		more = false;
		for (stream = streams; stream && !more; stream = stream->next) {
			if (stream->process != process)
				continue;
			dray_stream_use(stream);
			more = dray_stream_reap(stream);
			dray_stream_leave(stream);
		}
		any = any || more;
	}
	dray_streams_unlock();
	return any;
}

static void add_to_streams(struct dray_stream *stream)
{
	dray_streams_lock();
	stream->next = streams;
	streams = stream;
	dray_streams_unlock();
}

/* With the lock. */
static void remove_from_streams(const struct dray_stream *stream)
{
	struct dray_stream **link = &streams;

	while (*link && *link != stream)
		link = &(*link)->next;
	if (*link)
		*link = stream->next;
}

static void free_stream(struct dray_stream *stream)
{
	pthread_mutex_destroy(&stream->calls);
	free(stream);
}

static struct dray_stream *make_stream(const struct dray_channel_info *channel)
{
	struct dray_stream *stream = calloc(1, sizeof(*stream));

	if (!stream) {
		dray_fail(-ENOMEM, "no memory for a stream");
		return NULL;
	}
	stream->process = dray_fork_process();
	stream->op = channel->flags & DRAY_CHANNEL_SHOW	  ? DRAY_OP_SHOW
		     : channel->flags & DRAY_CHANNEL_SEND ? DRAY_OP_SEND
							  : DRAY_OP_RECV;
	stream->sends = stream->op != DRAY_OP_RECV;
	stream->last = &stream->first;
	pthread_mutex_init(&stream->calls, NULL);
	memcpy(stream->name, channel->name, sizeof(stream->name) - 1);
	return stream;
}

/* The host's loops are of this process alone. */
static int open_already(struct dray_node *node, const char *name)
{
	return dray_fail(
		-EBUSY,
		"%s of %s is open already, %s; close it first, in Python "
		"by %s.close() or by its end",
		name, dray_node_name(node),
		strcmp(dray_node_backend(node), "host")
			? "here or in another process"
			: "by another object of this process",
		name);
}

static int open_channel(struct dray_node *node, const struct dray_info *info,
			const struct dray_channel_info *channel,
			const struct dray_stream_options *options,
			struct dray_stream **out)
{
	struct dray_timeline args = {
		.channel = channel->index,
		.points = options->points,
		.batch = options->batch,
	};
	struct dray_stream *stream = make_stream(channel);
	int ret;

	if (!stream)
		return -ENOMEM;
	ret = dray_port_open(node, &args, &stream->port);
	if (ret) {
		if (ret == -EBUSY && args.reason == DRAY_REASON_STREAM)
			ret = open_already(node, channel->name);
		free_stream(stream);
		return ret;
	}
	ret = stream_open_learn(stream, info);
	if (ret) {
		dray_port_close(stream->port);
		free_stream(stream);
		return ret;
	}
	add_to_streams(stream);
	*out = stream;
	return 0;
}

int dray_stream_open(struct dray_node *node, const char *name,
		     const struct dray_stream_options *options,
		     struct dray_stream **out)
{
	struct dray_stream_options known;
	struct dray_channel_info channel;
	struct dray_info info;
	int ret;

	if (!dray_given(node, __func__) || !dray_given(name, __func__) ||
	    !dray_given(out, __func__))
		return -EINVAL;
	ret = DRAY_READ_OPTIONS(&known, options,
				DRAY_STREAM_OPTIONS_SIZE_FIRST);
	if (!ret)
		ret = open_check_options(&known);
	if (!ret)
		ret = dray_node_info(node, &info, sizeof(info));
	if (!ret)
		ret = stream_open_find(node, &info, name, &channel);
	if (ret)
		return ret;
	dray_streams_enlist();
	dray_block_set_reap(open_reap_for_pool);
	return open_channel(node, &info, &channel, &known, out);
}

/*
 * Cancels all, and settles the events that end by that.  Lock held, dropped
 * meanwhile.
 */
static void end_all(struct dray_stream *stream)
{
	const struct dray_port_ops *ops = stream->port->ops;
	struct dray_point point;
	int ret;

	dray_streams_unlock();
	ret = ops->cancel(stream->port, 0);
	dray_streams_lock();
	dray_stream_reap(stream);
	while (!ret && stream->first) {
		uint64_t number = stream->first->number;

		/* The engine was stopped, so this ends. */
		dray_streams_unlock();
		ret = ops->wait(stream->port, number, UINT64_MAX, &point);
		dray_streams_lock();
		if (ret == -EINTR)
			ret = 0;
		dray_stream_reap(stream);
	}
}

void dray_stream_close(struct dray_stream *stream)
{
	DRAY_NO_CANCEL;
	bool own;

	if (!stream)
		return;
	own = stream->process == dray_fork_process();
	dray_streams_lock();
	remove_from_streams(stream);
	if (own) {
		dray_ring_close(stream);
		end_all(stream);
		dray_stream_drain(stream);
	}
	dray_streams_unlock();
	dray_port_close(stream->port);
	/* No engine holds the rest. */
	dray_streams_lock();
	while (stream->first)
		dray_event_end(stream->first, -ECANCELED);
	dray_streams_unlock();
	dray_ring_drop(stream);
	free_stream(stream);
}

int dray_stream_fd(const struct dray_stream *stream)
{
	return dray_given(stream, __func__) ? stream->port->fd : -1;
}

uint64_t dray_stream_ended(struct dray_stream *stream)
{
	if (!dray_given(stream, __func__) || dray_stream_check(stream))
		return 0;
	return stream->port->ops->ended(stream->port);
}

int dray_stream_counts(struct dray_stream *stream,
		       struct dray_stream_counts *counts)
{
	struct dray_stream_counts known;
	int ret;

	if (!dray_given(stream, __func__) || !dray_given(counts, __func__))
		return -EINVAL;
	ret = dray_stream_check(stream);
	if (ret)
		return ret;
	dray_streams_lock();
	dray_stream_use(stream);
	dray_stream_reap(stream);
	dray_stream_leave(stream);
	known = stream->counts;
	dray_streams_unlock();
	return DRAY_WRITE_RESULT(counts, &known, DRAY_STREAM_COUNTS_SIZE_FIRST);
}

int dray_stream_cancel(struct dray_stream *stream)
{
	int ret;

	if (!dray_given(stream, __func__))
		return -EINVAL;
	ret = dray_stream_check(stream);
	return ret ? ret : stream->port->ops->cancel(stream->port, 0);
}
