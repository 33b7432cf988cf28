// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A strided copy with a fence: every second row of a picture, upside down.
 *
 * Views describe both sides without touching a byte.  dray_explain() says
 * beforehand if an engine or the CPU copies, and why.
 */
#include <dray/array.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 512
#define COLUMNS 1024

/* Sets each pixel to its row number. */
static void paint(const struct dray_view *picture)
{
	unsigned char *data = picture->data;
	int i;

	for (i = 0; i < ROWS * COLUMNS; i++)
		data[i] = (unsigned char)(i / COLUMNS);
}

/* Prints the copy's way before it is taken. */
static int explain(struct dray_queue *queue, const struct dray_view *dst,
		   const struct dray_view *src)
{
	struct dray_explanation said = { .size = sizeof(said) };
	int ret;

	ret = dray_explain(queue, dst, src, 0, &said);
	if (ret)
		return ret;
	printf("%llu bytes in runs of %llu, by the %s: %s\n",
	       (unsigned long long)said.bytes, (unsigned long long)said.run,
	       said.engine ? "engine" : "CPU", said.reason);
	return 0;
}

/* Copies picture[::-2, :] to the small array. */
static int copy(struct dray_queue *queue, const struct dray_array *small,
		const struct dray_array *picture)
{
	const struct dray_index index[] = { DRAY_STEP(-2), DRAY_ALL };
	const unsigned char *rows = small->data;
	struct dray_view whole, src, dst;
	struct dray_fence *fence;
	int ret;

	ret = dray_view_index(dray_array_view(picture, &whole), index, 2, &src);
	if (!ret)
		ret = explain(queue, dray_array_view(small, &dst), &src);
	if (!ret)
		ret = dray_copy(queue, &dst, &src, 0, &fence);
	if (ret)
		return ret;
	/* The CPU is free for other work here, until it needs the bytes. */
	ret = dray_fence_wait(fence, 10000);
	dray_fence_unref(fence);
	if (ret)
		return ret;
	printf("the first row was row %d, the next one row %d\n", rows[0] + 256,
	       rows[COLUMNS] + 256);
	return 0;
}

int main(void)
{
	const int64_t whole[] = { ROWS, COLUMNS };
	const int64_t half[] = { ROWS / 2, COLUMNS };
	struct dray_array *picture = NULL, *small = NULL;
	struct dray_queue *queue = NULL;
	struct dray_pool *pool = NULL;
	struct dray_node *node = NULL;
	struct dray_view view;
	int ret;

	ret = dray_node_open(NULL, &node);
	if (!ret)
		ret = dray_pool_create(node, NULL, &pool);
	if (!ret)
		ret = dray_queue_create(node, NULL, &queue);
	if (!ret)
		ret = dray_array_create(pool, DRAY_UINT8, 2, whole, &picture);
	if (!ret)
		ret = dray_array_create(pool, DRAY_UINT8, 2, half, &small);
	if (!ret) {
		paint(dray_array_view(picture, &view));
		ret = copy(queue, small, picture);
	}
	if (ret)
		fprintf(stderr, "strided: %s\n", dray_last_error());
	/* Each of these ignores NULL. */
	dray_array_unref(small);
	dray_array_unref(picture);
	dray_queue_destroy(queue);
	dray_pool_close(pool);
	dray_node_unref(node);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
