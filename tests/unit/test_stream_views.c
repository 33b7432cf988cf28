// SPDX-License-Identifier: Apache-2.0 OR MIT
/* stream: views of any rank and stride are the bytes of their elements in order. */
#include "streams.h"

FACTS_ON(on_host)

static unsigned char *memory, *other;

static int views_setup(void **state)
{
	loop_setup(state);
	memory = take(loop.pool, STREAM_ROOM, 0);
	other = take(loop.pool, STREAM_ROOM, 0);
	for (size_t i = 0; i < STREAM_ROOM; i++) {
		memory[i] = (unsigned char)(i * 7 + (i >> 8) * 13);
		other[i] = 0xee;
	}
	return 0;
}

static int views_teardown(void **state)
{
	dray_pool_free(loop.pool, memory);
	dray_pool_free(loop.pool, other);
	return loop_teardown(state);
}

#define VIEWS_FACT(name) FACT_WITH(name, views_setup, views_teardown)

/* Writes the elements of a view one after the other; returns the bytes. */
static size_t flatten(const struct dray_view *view, unsigned char *out)
{
	int64_t position[DRAY_MAX_NDIM] = { 0 };
	size_t n = 0;

	do {
		memcpy(out + n, walk_at(view, position),
		       dray_dtype_itemsize(view->dtype));
		n += dray_dtype_itemsize(view->dtype);
	} while (walk_on(view, position));
	return n;
}

/* Checks that a transfer from @src to @dst keeps the order of all bytes. */
static void check_moved(const struct dray_view *src,
			const struct dray_view *dst)
{
	unsigned char *expected = malloc(STREAM_ROOM);
	unsigned char *seen = malloc(STREAM_ROOM);
	size_t sent = flatten(src, expected), got;

	dray_event_unref(send_view(src));
	ends_with(recv_view(dst), sent);
	got = flatten(dst, seen);
	assert_true(got >= sent);
	assert_memory_equal(seen, expected, sent);
	free(expected);
	free(seen);
}

struct shape {
	int ndim;
	uint32_t itemsize;
	int64_t shape[5];
	int64_t strides[5];
	int64_t at; /* bytes, of the element [0, 0, ...] */
};

static const struct shape shapes[] = {
	{ 0, 4, { 0 }, { 0 }, 12 },
	{ 1, 1, { 100 }, { 1 }, 0 },
	{ 1, 4, { 25 }, { -4 }, 400 },
	{ 1, 4, { 25 }, { 12 }, 3 },
	{ 2, 1, { 10, 10 }, { 10, 1 }, 0 },
	{ 2, 1, { 10, 10 }, { 64, 1 }, 5 },
	{ 2, 1, { 10, 10 }, { 1, 64 }, 5 },
	{ 2, 1, { 10, 10 }, { -64, -1 }, 1000 },
	{ 2, 2, { 10, 5 }, { -100, 2 }, 1000 },
	{ 3, 4, { 5, 1, 5 }, { 200, 77, 4 }, 0 },
	{ 3, 4, { 1, 5, 5 }, { 0, -20, -4 }, 1000 },
	{ 4, 1, { 5, 2, 5, 2 }, { 400, -90, 7, 3 }, 500 },
	{ 5, 2, { 2, 5, 1, 5, 1 }, { 1000, 100, 3, 10, 9 }, 8 },
	{ 5, 1, { 2, 5, 2, 5, 1 }, { -5000, 100, 50, -3, 9 }, 9000 },
};

static const struct shape broadcast[] = {
	{ 1, 1, { 100 }, { 0 }, 5 },
	{ 2, 1, { 10, 10 }, { 0, 1 }, 5 },
	{ 2, 1, { 10, 10 }, { 1, 0 }, 5 },
	{ 2, 1, { 10, 10 }, { 0, 0 }, 5 },
	{ 3, 4, { 5, 5, 1 }, { 0, -4, 0 }, 64 },
	{ 5, 1, { 2, 5, 2, 5, 1 }, { 0, 1, 0, -1, 0 }, 500 },
	{ 2, 1, { 10, 10 }, { 1, 1 }, 5 }, /* a sliding window */
};

static struct dray_view view_of(unsigned char *base, const struct shape *shape)
{
	dray_dtype dtype = DRAY_DTYPE('V', '|', shape->itemsize);
	struct dray_view view;

	assert_works(dray_view_init(&view, base + shape->at, dtype, shape->ndim,
				    shape->shape, shape->strides));
	return view;
}

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

VIEWS_FACT(views_of_all_ranks_are_sent)
{
	struct dray_view dst;

	assert_works(dray_view_init(&dst, other, u1, 1, DIMS(100), NULL));
	for (size_t i = 0; i < COUNT(shapes); i++) {
		struct dray_view src = view_of(memory, &shapes[i]);

		memset(other, 0xee, 100);
		check_moved(&src, &dst);
	}
}

VIEWS_FACT(a_broadcast_source_repeats_its_elements)
{
	struct dray_view dst;

	assert_works(dray_view_init(&dst, other, u1, 1, DIMS(100), NULL));
	for (size_t i = 0; i < COUNT(broadcast); i++) {
		struct dray_view src = view_of(memory, &broadcast[i]);

		check_moved(&src, &dst);
	}
}

VIEWS_FACT(views_of_all_ranks_are_received_and_no_other_byte_is_touched)
{
	unsigned char *before = malloc(STREAM_ROOM);
	struct dray_view src;

	assert_works(dray_view_init(&src, memory, u1, 1, DIMS(100), NULL));
	for (size_t i = 1; i < COUNT(shapes); i++) {
		struct dray_view dst = view_of(other, &shapes[i]), all;
		int64_t position[DRAY_MAX_NDIM] = { 0 };
		struct dray_view twin = view_of(before, &shapes[i]);

		memset(other, 0xee, STREAM_ROOM);
		memset(before, 0xee, STREAM_ROOM);
		check_moved(&src, &dst);
		/* put the elements where they belong, the slow way */
		do {
			memcpy(walk_at(&twin, position),
			       walk_at(&dst, position),
			       dray_dtype_itemsize(dst.dtype));
		} while (walk_on(&dst, position));
		assert_memory_equal(other, before, STREAM_ROOM);
		(void)all;
	}
	free(before);
}

VIEWS_FACT(any_view_reaches_any_other_of_as_many_bytes)
{
	struct dice dice = { 20261125 };
	int done = 0;

	while (done < rounds(2000)) {
		int64_t from[8], to[8];
		int rank_from = random_shape(&dice, from), rank_to;
		struct dray_view src, dst;
		int64_t elements = 1, left;

		for (int i = 0; i < rank_from; i++)
			elements *= from[i];
		/* as many elements in another shape */
		left = elements;
		rank_to = (int)roll(&dice, 3);
		for (int i = 0; i < rank_to; i++) {
			int64_t most = 1 + (int64_t)roll(&dice, 7);

			while (left % most)
				most--;
			to[i] = most;
			left /= most;
		}
		to[rank_to++] = left;
		if (!random_view(&dice, &src, memory, STREAM_ROOM, rank_from,
				 from, 1 + (uint32_t)roll(&dice, 4)))
			continue;
		if (!random_view(&dice, &dst, other, STREAM_ROOM, rank_to, to,
				 dray_dtype_itemsize(src.dtype)))
			continue;
		check_moved(&src, &dst);
		done++;
	}
}

VIEWS_FACT(several_views_are_one_packet)
{
	struct dray_view a = view_of(memory, &shapes[2]);
	struct dray_view b = view_of(memory, &shapes[6]);
	struct dray_view c = view_of(memory, &broadcast[4]);
	const struct dray_view *pieces[] = { &a, &b, &c };
	unsigned char expected[300];
	struct dray_event *event;
	struct dray_view dst;
	size_t n = flatten(&a, expected);

	n += flatten(&b, expected + n);
	n += flatten(&c, expected + n);
	assert_int_equal(n, 300);
	assert_works(dray_view_init(&dst, other, u1, 1, DIMS(1000), NULL));
	assert_works(dray_stream_send_pieces(loop.tx, pieces, 3, NULL, &event));
	ends_with(recv_view(&dst), 300);
	ends_with(event, 300);
	assert_memory_equal(other, expected, 300);
}

VIEWS_FACT(a_packet_fills_several_views)
{
	struct dray_view a = view_of(other, &shapes[2]);
	struct dray_view b = view_of(other + 2000, &shapes[6]);
	struct dray_view c = view_of(other + 4000, &shapes[13]);
	const struct dray_view *pieces[] = { &a, &b, &c };
	unsigned char seen[300];
	struct dray_event *event;
	struct dray_view src;
	size_t n;

	assert_works(dray_view_init(&src, memory, u1, 1, DIMS(250), NULL));
	dray_event_unref(send_view(&src));
	assert_works(dray_stream_recv_pieces(loop.rx, pieces, 3, NULL, &event));
	ends_with(event, 250);
	n = flatten(&a, seen);
	n += flatten(&b, seen + n);
	flatten(&c, seen + n);
	assert_memory_equal(seen, memory, 250);
	assert_true(all_bytes(seen + 250, 0xee, 50));
}

VIEWS_FACT(a_view_may_be_sent_to_itself)
{
	struct dray_view view;

	assert_works(dray_view_init(&view, memory, u1, 1, DIMS(1000), NULL));
	check_moved(&view, &view);
}
