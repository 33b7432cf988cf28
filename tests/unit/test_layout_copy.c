// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * layout copies, as they are and by loops: random layouts of all item sizes, orders,
 * gaps, directions and repeats, against a copy of element after element.  Nothing but
 * the elements is written.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "layout/layout_row.h"
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

/* Copies one element between sizes: cut short, or filled with zeros. */
static void copy_resized(unsigned char *dst, size_t dst_size,
			 const unsigned char *src, size_t src_size)
{
	for (size_t i = 0; i < dst_size; i++)
		dst[i] = i < src_size ? src[i] : 0;
}

/* Copies in the order of the views. */
static void copy_slowly(const struct dray_view *dst,
			const struct dray_view *src)
{
	int64_t position[DRAY_MAX_NDIM] = { 0 };

	do {
		copy_resized(expected + (walk_at(dst, position) - to),
			     dray_dtype_itemsize(dst->dtype),
			     walk_at(src, position),
			     dray_dtype_itemsize(src->dtype));
	} while (walk_on(dst, position));
}

static const uint32_t sizes[] = { 1, 2, 4, 8, 16, 3, 6, 12, 5, 24, 64, 100 };

#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

/* Rolls a pair of views; if it @resizes, of two sizes. */
static void random_pair(struct dice *dice, bool resizes, struct dray_view *dst,
			struct dray_view *src)
{
	uint32_t to_size, from_size;
	int64_t shape[AXES];
	int ndim;

	do {
		to_size = sizes[roll(dice, SIZES)];
		from_size = resizes ? sizes[roll(dice, SIZES)] : to_size;
		ndim = random_lengths(
			dice, shape,
			40000 / (to_size > from_size ? to_size : from_size));
	} while (!lay(dice, dst, to, to_size, ndim, shape, false) ||
		 !lay(dice, src, from, from_size, ndim, shape, true));
}

/* Counts calls until it fails. */
struct resizing {
	size_t dst_size;
	size_t src_size;
	int calls_left;
};

static int resize(char *const *data, const int64_t *strides, int64_t count,
		  void *context)
{
	struct resizing *resizing = context;

	if (resizing->calls_left-- == 0)
		return -EDOM;
	for (int64_t i = 0; i < count; i++)
		copy_resized((unsigned char *)data[0] + i * strides[0],
			     resizing->dst_size,
			     (unsigned char *)data[1] + i * strides[1],
			     resizing->src_size);
	return 0;
}

static int apply(const struct dray_view *dst, const struct dray_view *src,
		 int calls)
{
	const struct dray_view *views[] = { [DRAY_DST] = dst, [DRAY_SRC] = src };
	struct resizing resizing = { dray_dtype_itemsize(dst->dtype),
				     dray_dtype_itemsize(src->dtype), calls };
	struct dray_layout layout;

	dray_layout_reduce_items(&layout, views, 2);
	return dray_layout_apply(&layout, resize, &resizing);
}

/* Copies some by tiles. */
static void copy_pair(const struct dray_view *dst, const struct dray_view *src,
		      int *tiled)
{
	struct dray_layout layout;

	dray_layout_pair(&layout, dst, src);
	if (dray_tile_may_pay(&layout) &&
	    dray_tile_copy(&layout, NULL, NULL, NULL))
		++*tiled;
	else
		dray_layout_copy(&layout);
}

/* @streams: tiles past the caches, though they are short */
static void copy_randomly(int cases, bool streams, bool resizes)
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
		struct dray_view dst, src;

		random_pair(&dice, resizes, &dst, &src);
		copy_slowly(&dst, &src);
		if (resizes)
			assert_works(apply(&dst, &src, -1));
		else
			copy_pair(&dst, &src, &tiled);
		assert_memory_equal(to, expected, ROOM);
	}
	if (!resizes)
		assert_true(tiled > cases / 20);
	dray_tile_stream_from = stream_from;
}

FACT(random_layouts_are_copied)
{
	copy_randomly(rounds(20000), false, false);
}

FACT(random_layouts_are_streamed)
{
	copy_randomly(rounds(20000), true, false);
}

FACT(a_source_may_begin_anywhere_in_a_line)
{
	static const uint32_t items[] = { 1, 2, 4, 8 };
	const uint64_t stream_from = dray_tile_stream_from;
	struct dice dice = { 42 };

	fill(&dice, from);
	fill(&dice, to);
	memcpy(expected, to, ROOM);
	for (size_t i = 0; i < 512; i++) {
		const uint32_t size = items[i / 64 % 4];
		const int64_t shape[] = { 96 / size, 832 };
		struct dray_view dst, src;
		int tiled = 0;

		if (i / 256)
			dray_tile_stream_from = 0;
		assert_works(dray_view_init(&src, from + i % 64,
					    DRAY_DTYPE('V', '|', size), 2,
					    shape, NULL));
		assert_works(dray_view_transpose(&src, NULL, &src));
		assert_works(dray_view_init(&dst, to + 7 * i % 64, src.dtype, 2,
					    src.shape, NULL));
		copy_slowly(&dst, &src);
		copy_pair(&dst, &src, &tiled);
		assert_int_equal(tiled, 1);
		assert_memory_equal(to, expected, ROOM);
	}
	dray_tile_stream_from = stream_from;
}

/* Planes of pixels: @pixel elements of a pixel, of which @count are copied. */
struct some_planes {
	uint32_t size;
	int64_t pixel, count;
	int64_t pixels; /* of a row; there are two, with a gap */
	bool splits, back;
};

/* Describes rows of pixels, and as many rows of each plane. */
static void lay_planes(const struct some_planes *some, unsigned char *pixels,
		       unsigned char *planes, struct dray_view *of_pixels,
		       struct dray_view *of_planes)
{
	const dray_dtype dtype = DRAY_DTYPE('V', '|', some->size);
	const int64_t size = some->size, row = some->pixels;
	const int64_t *shape = DIMS(some->count, 2, row);
	const int64_t first = some->back ? some->count - 1 : 0;

	assert_works(dray_view_init(
		of_pixels, pixels + first * size, dtype, 3, shape,
		DIMS(some->back ? -size : size, (row + 1) * some->pixel * size,
		     some->pixel * size)));
	assert_works(dray_view_init(of_planes, planes, dtype, 3, shape,
				    DIMS((2 * row + 3) * size, (row + 1) * size,
					 size)));
}

static void copy_planes_once(const struct some_planes *some, size_t at)
{
	struct dray_view dst, src;
	struct dray_layout layout;

	if (some->splits)
		lay_planes(some, from + at, to + 3 * at % 64, &src, &dst);
	else
		lay_planes(some, to + at, from + 3 * at % 64, &dst, &src);
	copy_slowly(&dst, &src);
	dray_layout_pair(&layout, &dst, &src);
	dray_layout_copy(&layout);
	assert_memory_equal(to, expected, ROOM);
}

FACT(planes_of_pixels_are_copied_whole_or_in_part_and_nothing_beside_them)
{
	static const uint32_t items[] = { 1, 2, 4, 8 };
	const uint64_t stream_from = dray_tile_stream_from;
	struct dice dice = { 7 };

	fill(&dice, from);
	fill(&dice, to);
	memcpy(expected, to, ROOM);
	for (size_t i = 0; i < 2400; i++) {
		struct some_planes some = {
			.size = items[i % 4],
			.pixel = 2 + (int64_t)(i / 4 % 3),
			.splits = i / 12 % 2,
			.back = i / 24 % 2,
		};

		some.count = 1 + (int64_t)roll(&dice, (uint64_t)some.pixel);
		some.pixels = 1 + (int64_t)roll(&dice, 40000 / 4 / some.size);
		dray_tile_stream_from = i / 48 % 2 ? 0 : stream_from;
		copy_planes_once(&some, roll(&dice, 64));
	}
	dray_tile_stream_from = stream_from;
}

FACT(no_byte_behind_the_last_element_of_a_plane_is_read)
{
	static const uint32_t items[] = { 1, 2, 4, 8 };
	const size_t room = 65536, page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *memory = mmap(NULL, room + page, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char *end = memory + room;

	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_int_equal(mprotect(end, page, PROT_NONE), 0);
	for (size_t i = 0; i < 4 * 3 * 64; i++) {
		const int64_t size = items[i % 4];
		const int64_t step = (2 + (int64_t)(i / 4 % 3)) * size;
		const int64_t count = 3000 + (int64_t)i / 12;
		const dray_dtype dtype = DRAY_DTYPE('V', '|', (uint32_t)size);
		struct dray_view dst, src;
		struct dray_layout layout;

		if ((count - 1) * step + size > (int64_t)room)
			continue;
		assert_works(dray_view_init(&src,
					    end - size - (count - 1) * step,
					    dtype, 1, DIMS(count), DIMS(step)));
		assert_works(
			dray_view_init(&dst, to, dtype, 1, DIMS(count), NULL));
		dray_layout_pair(&layout, &dst, &src);
		dray_layout_copy(&layout);
		dray_layout_pair(&layout, &src, &dst);
		dray_layout_copy(&layout);
	}
	assert_int_equal(munmap(memory, room + page), 0);
}

FACT(random_layouts_are_resized_by_a_loop)
{
	copy_randomly(rounds(10000), false, true);
}

FACT(random_layouts_are_resized_and_streamed)
{
	copy_randomly(rounds(10000), true, true);
}

FACT(a_loop_that_fails_ends_the_copy)
{
	static const struct {
		int64_t rows, columns;
		bool transposes;
		int calls;
	} cases[] = {
		{ 1, 1, false, 0 },	 { 40, 30, false, 0 },
		{ 40, 30, false, 39 },	 { 150, 160, true, 0 },
		{ 150, 160, true, 149 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const int64_t rows = cases[i].rows, columns = cases[i].columns;
		struct dray_view dst, src;

		assert_works(dray_view_init(&src, from, DRAY_UINT16, 2,
					    DIMS(rows, columns), NULL));
		if (cases[i].transposes)
			assert_works(dray_view_transpose(&src, NULL, &src));
		assert_works(dray_view_init(
			&dst, to, DRAY_UINT8, 2, src.shape,
			cases[i].transposes ? NULL : DIMS(columns + 1, 1)));
		assert_int_equal(apply(&dst, &src, cases[i].calls), -EDOM);
	}
}
