// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A packet through a stream: a tile of a picture goes to "tx0", and comes back
 * from "rx0", upside down.
 *
 * On the host both are the ends of a loop.  On a board, they are channels of
 * its device tree, with logic between them that returns each packet.
 */
#include <dray/array.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 512
#define COLUMNS 1024
#define TILE 64

/* Sets each pixel to its row number. */
static void paint(const struct dray_view *picture)
{
	unsigned char *data = picture->data;
	int i;

	for (i = 0; i < ROWS * COLUMNS; i++)
		data[i] = (unsigned char)(i / COLUMNS);
}

/* Prints the packet's way before it is taken. */
static int explain(struct dray_stream *stream, const struct dray_view *view)
{
	struct dray_explanation said = { .size = sizeof(said) };
	int ret;

	ret = dray_stream_explain(stream, &view, 1, NULL, &said);
	if (ret)
		return ret;
	printf("%llu bytes in runs of %llu: %s\n",
	       (unsigned long long)said.bytes, (unsigned long long)said.run,
	       said.reason);
	return 0;
}

/* Receives into the tile's rows from the last to the first. */
static int move(struct dray_stream *tx, struct dray_stream *rx,
		const struct dray_view *picture, const struct dray_view *tile)
{
	const struct dray_index crop[] = { DRAY_SLICE(100, 100 + TILE, 1),
					   DRAY_SLICE(32, 32 + TILE, 1) };
	const struct dray_index upside_down[] = { DRAY_STEP(-1) };
	/* A stream may be silent for ever, so the program sets a limit. */
	struct dray_packet_options limit = { .deadline_ns = 10000000000 };
	struct dray_event *sent = NULL, *received = NULL;
	struct dray_view src, dst;
	struct dray_point point;
	int ret;

	ret = dray_view_index(picture, crop, 2, &src);
	if (!ret)
		ret = dray_view_index(tile, upside_down, 1, &dst);
	if (!ret)
		ret = explain(tx, &src);
	/* A receive that waits already loses nothing. */
	if (!ret)
		ret = dray_stream_recv(rx, &dst, &limit, &received);
	if (!ret)
		ret = dray_stream_send(tx, &src, &limit, &sent);
	/* The CPU is free for other work here. */
	if (!ret)
		ret = dray_event_wait(sent, -1);
	if (!ret)
		ret = dray_event_wait(received, -1);
	if (!ret)
		ret = dray_event_point(received, &point, sizeof(point));
	if (!ret)
		printf("packet %llu brought %llu bytes\n",
		       (unsigned long long)point.number,
		       (unsigned long long)point.bytes);
	dray_event_unref(sent);
	dray_event_unref(received);
	return ret;
}

int main(void)
{
	const int64_t whole[] = { ROWS, COLUMNS };
	const int64_t part[] = { TILE, TILE };
	struct dray_array *picture = NULL, *tile = NULL;
	struct dray_stream *tx = NULL, *rx = NULL;
	struct dray_pool *pool = NULL;
	struct dray_node *node = NULL;
	struct dray_view src, dst;
	int ret;

	ret = dray_node_open(NULL, &node);
	if (!ret)
		ret = dray_pool_create(node, NULL, &pool);
	if (!ret)
		ret = dray_stream_open(node, "tx0", NULL, &tx);
	if (!ret)
		ret = dray_stream_open(node, "rx0", NULL, &rx);
	if (!ret)
		ret = dray_array_create(pool, DRAY_UINT8, 2, whole, &picture);
	if (!ret)
		ret = dray_array_create(pool, DRAY_UINT8, 2, part, &tile);
	if (!ret) {
		paint(dray_array_view(picture, &src));
		ret = move(tx, rx, &src, dray_array_view(tile, &dst));
	}
	if (!ret) {
		const unsigned char *pixels = tile->data;

		printf("the tile's rows run from %d to %d\n", pixels[0],
		       pixels[TILE * (TILE - 1)]);
	}
	if (ret)
		fprintf(stderr, "stream: %s\n", dray_last_error());
	/* Each of these ignores NULL. */
	dray_stream_close(tx);
	dray_stream_close(rx);
	dray_array_unref(tile);
	dray_array_unref(picture);
	dray_pool_close(pool);
	dray_node_unref(node);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
