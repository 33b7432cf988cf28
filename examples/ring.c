// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Pictures without a gap: a ring of four frames fills from "rx0", and the
 * program looks at each picture in place.
 *
 * A thread is the camera here: it sends pictures to "tx0", a ring of two
 * frames.  On the host they come back from "rx0".  On a board, logic between
 * both returns them, or a real camera replaces the thread.
 */
#include <dray/array.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 48
#define COLUMNS 64
#define PICTURES 1000
#define FRAMES 4

/* A stream with a ring, and its pictures as [frame, row, column]. */
struct film {
	struct dray_stream *stream;
	struct dray_array *pictures;
};

static int open_film(struct dray_node *node, struct dray_pool *pool,
		     const char *name, int64_t count, struct film *film)
{
	const int64_t shape[] = { count, ROWS, COLUMNS };
	const struct dray_view *list[FRAMES];
	struct dray_view views[FRAMES];
	struct dray_view whole;
	int ret;

	ret = dray_stream_open(node, name, NULL, &film->stream);
	if (!ret)
		ret = dray_array_create(pool, DRAY_UINT8, 3, shape,
					&film->pictures);
	for (int64_t i = 0; !ret && i < count; i++) {
		const struct dray_index at[] = { DRAY_AT(i) };

		ret = dray_view_index(dray_array_view(film->pictures, &whole),
				      at, 1, &views[i]);
		list[i] = &views[i];
	}
	return ret ? ret
		   : dray_stream_ring(film->stream, list, (size_t)count, 0);
}

static void close_film(const struct film *film)
{
	/* Both ignore NULL. */
	dray_stream_close(film->stream);
	dray_array_unref(film->pictures);
}

static unsigned char *picture_at(const struct film *film, uint32_t frame)
{
	unsigned char *first = film->pictures->data;

	return first + (size_t)frame * ROWS * COLUMNS;
}

/* Fills and sends a frame whenever one is free. */
static void *run_camera(void *data)
{
	const struct film *film = data;
	struct dray_point point;

	for (int n = 1; n <= PICTURES; n++) {
		unsigned char *picture;

		if (dray_stream_acquire(film->stream, &point, 1, 10000) < 0)
			break;
		picture = picture_at(film, point.frame);
		for (int i = 0; i < ROWS * COLUMNS; i++)
			picture[i] = (unsigned char)n;
		if (dray_stream_release(film->stream, &point.frame, 1))
			break;
	}
	return NULL;
}

/* Looks at each picture, then gives its frame back. */
static int watch(const struct film *film)
{
	uint32_t back[FRAMES];
	struct dray_point points[FRAMES];
	unsigned long long sum = 0;
	int seen = 0, broken = 0, count = 0;

	while (seen + broken < PICTURES) {
		count = dray_stream_exchange(film->stream, back, (size_t)count,
					     points, FRAMES, 10000);
		if (count < 0)
			return count;
		for (int i = 0; i < count; i++) {
			back[i] = points[i].frame;
			if (points[i].status) {
				broken++; /* its picture is not whole */
				continue;
			}
			sum += *picture_at(film, points[i].frame);
			seen++;
		}
	}
	if (broken)
		printf("%d pictures broke off\n", broken);
	printf("%d pictures, the sum of their first pixels is %llu\n", seen,
	       sum);
	return 0;
}

int main(void)
{
	struct film camera = { NULL, NULL }, screen = { NULL, NULL };
	struct dray_pool *pool = NULL;
	struct dray_node *node = NULL;
	pthread_t thread;
	int ret;

	ret = dray_node_open(NULL, &node);
	if (!ret)
		ret = dray_pool_create(node, NULL, &pool);
	if (!ret)
		ret = open_film(node, pool, "rx0", FRAMES, &screen);
	if (!ret)
		ret = open_film(node, pool, "tx0", 2, &camera);
	if (!ret)
		ret = -pthread_create(&thread, NULL, run_camera, &camera);
	if (!ret) {
		ret = watch(&screen);
		pthread_join(thread, NULL);
	}
	if (ret)
		fprintf(stderr, "ring: %s\n", dray_last_error());
	close_film(&camera);
	close_film(&screen);
	dray_pool_close(pool);
	dray_node_unref(node);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
