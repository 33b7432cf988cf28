// SPDX-License-Identifier: Apache-2.0 OR MIT
/* libdray: a ring that is held back. */
#include <errno.h>
#include <stdio.h>

#include <dray/dray.h>

#include "contender.h"

static struct {
	struct dray_stream *stream;
	struct dray_buffer *buffer;
	size_t frame_bytes;
	struct dray_point points[FRAMES];
	uint32_t seen[FRAMES];
	size_t count, at;
} dray;

/* The node of the engine for tests is the one with such a stream. */
static int open_stream(struct dray_node **node)
{
	const struct dray_stream_options options = {
		.batch = FRAMES / 2,
	};
	char spec[16];
	int i, ret = -ENODEV;

	for (i = 0; ret && i < 4; i++) {
		snprintf(spec, sizeof(spec), "kernel:dray%d", i);
		if (dray_node_open(spec, node))
			continue;
		ret = dray_stream_open(*node, "rx1", &options, &dray.stream);
		if (ret)
			dray_node_unref(*node);
	}
	return ret;
}

static int give_ring(struct dray_node *node)
{
	const dray_dtype byte = DRAY_DTYPE('u', '|', 1);
	const int64_t shape[] = { (int64_t)dray.frame_bytes };
	const struct dray_view *list[FRAMES];
	struct dray_view views[FRAMES];
	size_t i;
	int ret;

	ret = dray_buffer_alloc(node, FRAMES * dray.frame_bytes, NULL,
				&dray.buffer);
	for (i = 0; !ret && i < FRAMES; i++) {
		ret = dray_view_init(&views[i],
				     (char *)dray_buffer_data(dray.buffer) +
					     i * dray.frame_bytes,
				     byte, 1, shape, NULL);
		list[i] = &views[i];
	}
	return ret ? ret : dray_stream_ring(dray.stream, list, FRAMES, 0);
}

static void dray_close(void)
{
	dray_stream_close(dray.stream);
	dray_buffer_unref(dray.buffer);
	dray.stream = NULL;
	dray.buffer = NULL;
}

static int dray_open(size_t frame_bytes)
{
	struct dray_node *node;
	int ret;

	dray.frame_bytes = frame_bytes;
	dray.count = 0;
	dray.at = 0;
	ret = open_stream(&node);
	if (ret)
		goto complain;
	ret = give_ring(node);
	dray_node_unref(node);
	if (!ret)
		return 0;
	dray_close();
complain:
	fprintf(stderr, "%s\n", dray_last_error());
	return ret;
}

static int dray_next(struct frame *frame)
{
	const struct dray_point *point;
	int count;

	if (dray.at == dray.count) {
		count = dray_stream_exchange(dray.stream, dray.seen, dray.count,
					     dray.points, FRAMES, 10000);
		dray.count = count < 0 ? 0 : (size_t)count;
		dray.at = 0;
		if (count < 0)
			return count;
	}
	point = &dray.points[dray.at];
	dray.seen[dray.at++] = point->frame;
	frame->data = (const uint8_t *)dray_buffer_data(dray.buffer) +
		      point->frame * dray.frame_bytes;
	frame->bytes = point->bytes;
	frame->time_ns = point->time_ns;
	return point->status;
}

const struct contender contender_dray = {
	.name = "dray",
	.open = dray_open,
	.next = dray_next,
	.close = dray_close,
};
