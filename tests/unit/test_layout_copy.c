// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * layout copies: random layouts of all item sizes, orders, gaps, directions and
 * repeats, against a copy of element after element.  Nothing but the elements is
 * written.
 */
#include "layout/layout_tile.h"
#include "node.h"
#include "random_view.h"

#define ROOM 98304
#define AXES 5

static unsigned char from[ROOM], to[ROOM], expected[ROOM];

static void fill(struct dice *dice, unsigned char *memory)
{
	for (size_t i = 0; i < ROOM; i += sizeof(dice->state)) {
		roll(dice, 2);
		memcpy(memory + i, &dice->state, sizeof(dice->state));
	}
}

/* Lengths of axes: a few long ones, so that whole tiles and parts come up. */
static int random_lengths(struct dice *dice, int64_t *shape, int64_t most)
{
	static const int64_t longest[] = { 20, 100, 100, ROOM };
	int ndim = 1 + (int)roll(dice, AXES);

	for (int i = 0; i < ndim; i++) {
		int64_t limit = longest[roll(dice, 4)];

		if (limit > most)
			limit = most;
		shape[i] = 1 + (int64_t)roll(dice, (uint64_t)limit);
		most /= shape[i];
	}
	return ndim;
}

/*
 * Lays a view of @shape into ROOM bytes: axes in random order, with gaps,
 * backwards, and, if it @repeats, with strides of 0.  False if it does not fit.
 */
static bool lay(struct dice *dice, struct dray_view *view,
		unsigned char *memory, uint32_t itemsize, int ndim,
		const int64_t *shape, bool repeats)
{
	dray_dtype dtype = DRAY_DTYPE('V', '|', itemsize);
	bool gaps = roll(dice, 3) == 0, back = roll(dice, 3) == 0;
	int64_t strides[AXES], low = 0, stride = itemsize;
	int order[AXES];

	for (int i = 0; i < ndim; i++)
		order[i] = i;
	for (int i = ndim - 1; i > 0; i--) {
		int other = (int)roll(dice, (uint64_t)i + 1), held = order[i];

		order[i] = order[other];
		order[other] = held;
	}
	for (int i = 0; i < ndim; i++) {
		int axis = order[i];

		if (gaps && roll(dice, 2))
			stride += (int64_t)roll(dice, 40);
		strides[axis] = stride;
		if (repeats && roll(dice, 8) == 0) {
			strides[axis] = 0;
			continue;
		}
		if (back && roll(dice, 2)) {
			strides[axis] = -stride;
			low += stride * (shape[axis] - 1);
		}
		stride *= shape[axis];
		if (stride > ROOM - 64)
			return false;
	}
	return dray_view_init(view, memory + low + roll(dice, 64), dtype, ndim,
			      shape, strides) == 0;
}

static void reverse(unsigned char *bytes, size_t size)
{
	for (size_t i = 0; i < size / 2; i++) {
		unsigned char byte = bytes[i];

		bytes[i] = bytes[size - 1 - i];
		bytes[size - 1 - i] = byte;
	}
}

/* Copies in the order of the views; @swaps: with bytes in reverse. */
static void copy_slowly(const struct dray_view *dst,
			const struct dray_view *src, bool swaps)
{
	size_t size = dray_dtype_itemsize(dst->dtype);
	int64_t position[DRAY_MAX_NDIM] = { 0 };

	do {
		unsigned char *element =
			expected + (walk_at(dst, position) - to);

		memcpy(element, walk_at(src, position), size);
		if (swaps)
			reverse(element, size);
	} while (walk_on(dst, position));
}

static const uint32_t sizes[] = { 1, 2, 4, 8, 16, 3, 6, 12, 5, 24, 64, 100 };

/* Rolls a pair of views of an item size of the first @count. */
static void random_pair(struct dice *dice, size_t count, struct dray_view *dst,
			struct dray_view *src)
{
	int64_t shape[AXES];
	uint32_t size;
	int ndim;

	do {
		size = sizes[roll(dice, count)];
		ndim = random_lengths(dice, shape, 40000 / size);
	} while (!lay(dice, dst, to, size, ndim, shape, false) ||
		 !lay(dice, src, from, size, ndim, shape, true));
}

/* Copies some by tiles.  @streams: these past the caches, though they are short */
static void copy_randomly(int cases, bool streams)
{
	const uint64_t stream_from = dray_tile_stream_from;
	struct dice dice = { 4711 };
	int tiled = 0;

	fill(&dice, from);
	fill(&dice, to);
	memcpy(expected, to, ROOM);
	if (streams)
		dray_tile_stream_from = 0;
	for (int i = 0; i < cases; i++) {
		struct dray_layout layout;
		struct dray_view dst, src;

		random_pair(&dice, sizeof(sizes) / sizeof(sizes[0]), &dst,
			    &src);
		copy_slowly(&dst, &src, false);
		dray_layout_pair(&layout, &dst, &src);
		if (dray_tile_copy(&layout, NULL, NULL))
			tiled++;
		else
			dray_layout_copy(&layout);
		assert_memory_equal(to, expected, ROOM);
	}
	assert_true(tiled > cases / 20);
	dray_tile_stream_from = stream_from;
}

FACT(random_layouts_are_copied)
{
	copy_randomly(rounds(20000), false);
}

FACT(random_layouts_are_streamed)
{
	copy_randomly(rounds(20000), true);
}

FACT(random_layouts_are_swapped)
{
	struct dice dice = { 815 };

	fill(&dice, from);
	fill(&dice, to);
	memcpy(expected, to, ROOM);
	for (int i = 0; i < rounds(10000); i++) {
		const struct dray_view *views[2];
		struct dray_layout layout;
		struct dray_view dst, src;

		do
			random_pair(&dice, 5, &dst, &src);
		while (dray_dtype_itemsize(dst.dtype) == 1);
		copy_slowly(&dst, &src, true);
		views[DRAY_DST] = &dst;
		views[DRAY_SRC] = &src;
		dray_layout_reduce_items(&layout, views, 2);
		dray_layout_apply(
			&layout,
			dray_layout_swap(dray_dtype_itemsize(dst.dtype)), NULL);
		assert_memory_equal(to, expected, ROOM);
	}
}

static void widen(unsigned char *dst, int64_t dst_stride,
		  const unsigned char *src, int64_t src_stride, size_t count,
		  const void *data)
{
	(void)data;
	for (size_t i = 0; i < count; i++) {
		dst[0] = src[0];
		dst[1] = src[1];
		dst[2] = 0;
		dst[3] = 0;
		dst += dst_stride;
		src += src_stride;
	}
}

FACT(functions_may_change_the_size)
{
	dray_dtype two = DRAY_DTYPE('u', '<', 2),
		   four = DRAY_DTYPE('u', '<', 4);
	const int64_t rows = 150, columns = 160;
	const struct dray_view *views[2];
	struct dray_layout layout;
	struct dray_view dst, src;
	struct dice dice = { 99 };

	fill(&dice, from);
	assert_works(
		dray_view_init(&src, from, two, 2, DIMS(rows, columns), NULL));
	assert_works(dray_view_transpose(&src, NULL, &src));
	assert_works(
		dray_view_init(&dst, to, four, 2, DIMS(columns, rows), NULL));
	views[DRAY_DST] = &dst;
	views[DRAY_SRC] = &src;
	dray_layout_reduce_items(&layout, views, 2);
	dray_layout_apply(&layout, widen, NULL);
	for (int64_t r = 0; r < rows; r++) {
		for (int64_t c = 0; c < columns; c++) {
			uint16_t small;
			uint32_t wide;

			memcpy(&small, from + (r * columns + c) * 2, 2);
			memcpy(&wide, to + (c * rows + r) * 4, 4);
			assert_int_equal(wide, small);
		}
	}
}
