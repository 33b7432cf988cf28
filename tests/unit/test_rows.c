// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * rows: against brute force over every byte, within random limits and in parts.
 */
#include <sys/uio.h>

#include "node.h"
#include "random_view.h"

#define ROOM 3000
#define MOST 3000 /* rows */

static unsigned char memory[ROOM];
static struct dray_row rows[MOST];

/* The bytes of a view's elements in C order, as offsets in the memory. */
static size_t list_elements(const struct dray_view *view, uint32_t *offsets)
{
	const uint32_t size = dray_dtype_itemsize(view->dtype);
	int64_t position[DRAY_MAX_NDIM] = { 0 };
	size_t count = 0;

	do {
		const unsigned char *at = walk_at(view, position);

		for (uint32_t i = 0; i < size; i++)
			offsets[count++] = (uint32_t)(at + i - memory);
	} while (walk_on(view, position));
	return count;
}

static size_t list_rows(size_t count, uint32_t *offsets)
{
	size_t bytes = 0;

	for (size_t i = 0; i < count; i++) {
		for (uint64_t k = 0; k < rows[i].count; k++) {
			uint64_t at = rows[i].address + k * rows[i].stride -
				      (uintptr_t)memory;

			for (uint64_t b = 0; b < rows[i].length; b++) {
				assert_true(bytes < ROOM);
				offsets[bytes++] = (uint32_t)(at + b);
			}
		}
	}
	return bytes;
}

static int compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void assert_within(const struct dray_row_limits *limits, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		assert_true(rows[i].length && rows[i].count);
		assert_true(rows[i].stride >= rows[i].length);
		if (limits->max_length)
			assert_true(rows[i].length <= limits->max_length);
		if (limits->max_count)
			assert_true(rows[i].count <= limits->max_count);
		if (rows[i].count == 1)
			assert_int_equal(rows[i].stride, rows[i].length);
		else if (limits->max_stride)
			assert_true(rows[i].stride <= limits->max_stride);
	}
}

/* The same bytes, each once, and of ordered rows in their order. */
static void assert_covers(const struct dray_view *view,
			  const struct dray_row_limits *limits, size_t count)
{
	static uint32_t wanted[ROOM], got[ROOM];
	size_t bytes = list_elements(view, wanted);

	assert_int_equal(list_rows(count, got), bytes);
	if (!(limits->flags & DRAY_ROWS_ORDERED)) {
		qsort(wanted, bytes, sizeof(*wanted), compare);
		qsort(got, bytes, sizeof(*got), compare);
	}
	assert_memory_equal(wanted, got, bytes * sizeof(*wanted));
}

/* Writes all rows, in parts of random lengths. */
static size_t ask_in_parts(struct dice *dice, const struct dray_view *view,
			   struct dray_row_limits limits)
{
	size_t count, again, part;

	assert_works(dray_view_rows(view, &limits, NULL, 0, &count));
	assert_true(count <= MOST);
	for (; limits.first < count; limits.first += part) {
		part = 1 + roll(dice, 9);
		if (part > count - limits.first)
			part = count - (size_t)limits.first;
		assert_works(dray_view_rows(view, &limits, rows + limits.first,
					    part, &again));
		assert_int_equal(again, count);
	}
	return count;
}

static uint64_t sometimes(struct dice *dice, uint64_t most)
{
	return roll(dice, 2) ? 1 + roll(dice, most) : 0;
}

FACT(random_views_within_random_limits_are_covered_exactly_once)
{
	struct dice dice = { 20261126 };
	struct dray_view view;
	int64_t shape[8];

	for (int i = 0; i < rounds(20000); i++) {
		struct dray_row_limits limits = {
			.max_length = sometimes(&dice, 12),
			.max_stride = sometimes(&dice, 60),
			.max_count = sometimes(&dice, 4),
			.flags = roll(&dice, 2) ? DRAY_ROWS_ORDERED : 0,
		};
		int ndim = random_shape(&dice, shape);
		size_t count;

		if (!random_view(&dice, &view, memory, ROOM, ndim, shape,
				 (uint32_t)(1 + roll(&dice, 9))))
			continue;
		count = ask_in_parts(&dice, &view, limits);
		assert_within(&limits, count);
		assert_covers(&view, &limits, count);
	}
}

/* Pieces of bytes that follow each other in memory, of at most @most bytes. */
static size_t fewest_pieces(const struct dray_view *view, uint64_t most)
{
	static uint32_t wanted[ROOM];
	size_t bytes = list_elements(view, wanted), count = 0, start = 0;

	qsort(wanted, bytes, sizeof(*wanted), compare);
	for (size_t i = 1; i <= bytes; i++) {
		if (i < bytes && wanted[i] == wanted[i - 1] + 1)
			continue;
		count += (i - start + most - 1) / most;
		start = i;
	}
	return count;
}

FACT(rows_of_one_piece_are_the_fewest_that_memory_allows)
{
	struct dice dice = { 19 };
	struct dray_view view;
	int64_t shape[8];

	for (int i = 0; i < rounds(20000); i++) {
		const struct dray_row_limits limits = {
			.max_length = 1 + roll(&dice, 30),
			.max_count = 1,
		};
		int ndim = random_shape(&dice, shape);
		size_t count;

		if (!random_view(&dice, &view, memory, ROOM, ndim, shape,
				 (uint32_t)(1 + roll(&dice, 9))))
			continue;
		assert_works(dray_view_rows(&view, &limits, NULL, 0, &count));
		assert_int_equal(count,
				 fewest_pieces(&view, limits.max_length));
	}
}

/* One view, its limits, and the rows that it has; offsets instead of addresses. */
struct known {
	const char *name;
	int ndim;
	int64_t shape[3], strides[3];
	uint32_t size;
	struct dray_row_limits limits;
	size_t count;
	struct dray_row rows[4];
};

static const struct known table[] = {
	{ "dense", 2, { 4, 5 }, { 10, 2 }, 2, { 0 }, 1, { { 0, 40, 40, 1 } } },
	{ "columns", 2, { 4, 3 }, { 20, 4 }, 4, { 0 }, 1, { { 0, 12, 20, 4 } } },
	{ "transposed",
	  2,
	  { 3, 4 },
	  { 4, 20 },
	  4,
	  { 0 },
	  1,
	  { { 0, 12, 20, 4 } } },
	{ "transposed_in_order",
	  2,
	  { 3, 2 },
	  { 4, 20 },
	  4,
	  { .flags = DRAY_ROWS_ORDERED },
	  3,
	  { { 0, 4, 20, 2 }, { 4, 4, 20, 2 }, { 8, 4, 20, 2 } } },
	{ "backwards",
	  1,
	  { 3 },
	  { -8 },
	  4,
	  { 0 },
	  1,
	  { { (uint64_t)-16, 4, 8, 3 } } },
	{ "backwards_in_order",
	  1,
	  { 3 },
	  { -8 },
	  4,
	  { .flags = DRAY_ROWS_ORDERED },
	  3,
	  { { 0, 4, 4, 1 },
	    { (uint64_t)-8, 4, 4, 1 },
	    { (uint64_t)-16, 4, 4, 1 } } },
	{ "repeated", 2, { 1000, 3 }, { 0, 8 }, 4, { 0 }, 1, { { 0, 4, 8, 3 } } },
	{ "repeated_in_order",
	  2,
	  { 2, 2 },
	  { 0, 8 },
	  4,
	  { .flags = DRAY_ROWS_ORDERED },
	  2,
	  { { 0, 4, 8, 2 }, { 0, 4, 8, 2 } } },
	{ "windows", 2, { 4, 3 }, { 4, 4 }, 4, { 0 }, 1, { { 0, 24, 24, 1 } } },
	{ "the_longer_axis_counts",
	  3,
	  { 2, 9, 2 },
	  { 900, 100, 20 },
	  4,
	  { 0 },
	  2,
	  { { 0, 4, 100, 18 }, { 20, 4, 100, 18 } } },
	{ "an_axis_above_the_stride_does_not",
	  2,
	  { 9, 2 },
	  { 100, 20 },
	  4,
	  { .max_stride = 99, .first = 8 },
	  9,
	  { { 800, 4, 20, 2 } } },
	{ "cut",
	  1,
	  { 20 },
	  { 1 },
	  1,
	  { .max_length = 8 },
	  2,
	  { { 0, 8, 8, 2 }, { 16, 4, 4, 1 } } },
	{ "cut_rows",
	  2,
	  { 5, 12 },
	  { 100, 1 },
	  1,
	  { .max_length = 8 },
	  2,
	  { { 0, 8, 100, 5 }, { 8, 4, 100, 5 } } },
	{ "cut_rows_in_order",
	  2,
	  { 2, 12 },
	  { 100, 1 },
	  1,
	  { .max_length = 8, .flags = DRAY_ROWS_ORDERED },
	  4,
	  { { 0, 8, 8, 1 },
	    { 8, 4, 4, 1 },
	    { 100, 8, 8, 1 },
	    { 108, 4, 4, 1 } } },
	{ "counted_in_parts",
	  1,
	  { 7 },
	  { 8 },
	  4,
	  { .max_count = 3 },
	  3,
	  { { 0, 4, 8, 3 }, { 24, 4, 8, 3 }, { 48, 4, 4, 1 } } },
	{ "pieces_that_touch",
	  2,
	  { 2, 2 },
	  { 14, 10 },
	  4,
	  { .max_count = 1 },
	  3,
	  { { 0, 4, 4, 1 }, { 10, 8, 8, 1 }, { 24, 4, 4, 1 } } },
	{ "empty", 2, { 0, 3 }, { 4, 4 }, 4, { 0 }, 0, { { 0 } } },
	{ "without_bytes", 1, { 3 }, { 4 }, 0, { 0 }, 0, { { 0 } } },
	{ "one_element", 0, { 0 }, { 0 }, 16, { 0 }, 1, { { 0, 16, 16, 1 } } },
};

static unsigned char *const middle = memory + ROOM / 2;

static void describe(const struct known *known, struct dray_view *view)
{
	assert_works(dray_view_init(view, middle,
				    DRAY_DTYPE('V', '|', known->size),
				    known->ndim, known->shape, known->strides));
}

FACT(known_views_have_known_rows)
{
	struct dray_row got[4];
	struct dray_view view;
	size_t count, written;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const struct known *known = &table[i];

		describe(known, &view);
		memset(got, 0, sizeof(got));
		assert_works(
			dray_view_rows(&view, &known->limits, got, 4, &count));
		written = count - (size_t)known->limits.first;
		if (count != known->count || written > 4)
			fail_msg("%s: %zu rows", known->name, count);
		for (size_t k = 0; k < written; k++) {
			got[k].address -= (uintptr_t)middle;
			if (memcmp(&got[k], &known->rows[k], sizeof(got[k])))
				fail_msg(
					"%s: row %zu is %lld, %llu, %llu, %llu",
					known->name, k,
					(long long)got[k].address,
					(unsigned long long)got[k].length,
					(unsigned long long)got[k].stride,
					(unsigned long long)got[k].count);
		}
	}
}

FACT(no_row_is_written_beyond_the_room)
{
	const struct dray_row_limits limits = { .max_count = 1 };
	struct dray_row two[2] = { { 0 }, { 7, 7, 7, 7 } };
	const int64_t shape[] = { 5 }, strides[] = { 8 };
	struct dray_view view;
	size_t count;

	assert_works(
		dray_view_init(&view, memory, DRAY_INT32, 1, shape, strides));
	assert_works(dray_view_rows(&view, &limits, two, 1, &count));
	assert_int_equal(count, 5);
	assert_int_equal(two[0].length, 4);
	assert_int_equal(two[1].address, 7);
}

FACT(more_rows_than_the_limit_are_refused_and_counted)
{
	const struct dray_row_limits limits = { .max_count = 1, .max_rows = 4 };
	const int64_t shape[] = { 5 }, strides[] = { 8 };
	struct dray_view view;
	size_t count = 0;

	assert_works(
		dray_view_init(&view, memory, DRAY_INT32, 1, shape, strides));
	assert_fails(dray_view_rows(&view, &limits, rows, 5, &count), -E2BIG,
		     "5 rows, the limit is 4");
	assert_int_equal(count, 5);
}

FACT(interleaved_axes_are_rows_if_no_byte_is_shared)
{
	const int64_t shape[] = { 4, 3 }, apart[] = { 12, 30 },
		      shared[] = { 12, 24 };
	struct dray_view view;
	size_t count;

	assert_works(
		dray_view_init(&view, memory, DRAY_INT32, 2, shape, apart));
	assert_works(dray_view_rows(&view, NULL, rows, MOST, &count));
	assert_covers(&view, &(struct dray_row_limits){ 0 }, count);
	assert_works(
		dray_view_init(&view, memory, DRAY_INT32, 2, shape, shared));
	assert_fails(dray_view_rows(&view, NULL, rows, MOST, &count), -EINVAL,
		     "share bytes");
}

/* Numbers of a view that a stranger has filled in. */
FACT(hostile_views_are_refused)
{
	static const struct {
		int32_t ndim;
		int64_t extent, stride;
		int error;
	} cases[] = {
		{ -1, 1, 1, -EINVAL },
		{ DRAY_MAX_NDIM + 1, 1, 1, -EINVAL },
		{ INT32_MAX, 1, 1, -EINVAL },
		{ 1, -1, 4, -EINVAL },
		{ 1, INT64_MAX, 4, -EOVERFLOW },
		{ 1, 3, INT64_MAX, -EOVERFLOW },
		{ 1, 3, INT64_MIN, -EOVERFLOW },
		{ 2, INT64_MAX, 0, -EOVERFLOW },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dray_view view = {
			.data = memory,
			.dtype = DRAY_INT32,
			.ndim = cases[i].ndim,
			.flags = DRAY_READ,
			.shape = { cases[i].extent, cases[i].extent },
			.strides = { cases[i].stride, cases[i].stride },
		};
		struct iovec entry;
		size_t count;

		assert_int_equal(dray_view_rows(&view, NULL, rows, 1, &count),
				 cases[i].error);
		assert_int_equal(dray_view_iovec(&view, 0, &entry, 1, &count),
				 cases[i].error);
	}
}

/* 2^61 repeats of one element take no time. */
FACT(endless_repeats_are_counted_not_walked)
{
	const struct dray_row_limits limits = { .first = UINT64_MAX / 8 - 2,
						.flags = DRAY_ROWS_ORDERED };
	const int64_t shape[] = { INT64_MAX / 4 }, strides[] = { 0 };
	struct dray_view view;
	size_t count;
	int ret;

	assert_works(
		dray_view_init(&view, memory, DRAY_INT32, 1, shape, strides));
	assert_works(dray_view_rows(&view, NULL, rows, 2, &count));
	assert_int_equal(count, 1);
	ret = dray_view_rows(&view, &limits, rows, 2, &count);
	if (SIZE_MAX < UINT64_MAX) {
		assert_int_equal(ret, -EOVERFLOW);
		return;
	}
	assert_works(ret);
	assert_int_equal(count, INT64_MAX / 4);
	assert_int_equal(rows[1].address, (uintptr_t)memory);
}

FACT(unknown_flags_and_a_reserved_number_are_refused)
{
	const struct dray_row_limits flags = { .flags = 6 },
				     reserved = { .reserved = 1 };
	struct dray_view view;
	size_t count;

	assert_works(dray_view_init(&view, memory, DRAY_INT32, 0, NULL, NULL));
	assert_fails(dray_view_rows(&view, &flags, rows, 1, &count), -EINVAL,
		     "0x6");
	assert_fails(dray_view_rows(&view, &reserved, rows, 1, &count), -EINVAL,
		     "reserved is 0x1");
}

static void fill_with_numbers(unsigned char *bytes)
{
	for (size_t i = 0; i < ROOM; i++)
		bytes[i] = (unsigned char)(i * 31 + i / 256);
}

/* Passes all entries to @pass, at most @most at a time; returns the bytes. */
static size_t pass_entries(int fd, const struct dray_view *view, int most,
			   ssize_t (*pass)(int fd, const struct iovec *entries,
					   int count, off_t offset))
{
	struct iovec entries[16];
	size_t count = 1, bytes = 0;

	for (size_t first = 0; first < count; first += (size_t)most) {
		ssize_t part;
		int n;

		assert_works(dray_view_iovec(view, first, entries, (size_t)most,
					     &count));
		n = count - first < (size_t)most ? (int)(count - first) : most;
		part = pass(fd, entries, n, (off_t)bytes);
		assert_true(part >= 0);
		bytes += (size_t)part;
	}
	return bytes;
}

/* The file of a view has its elements in C order, as NumPy writes them. */
FACT(a_view_goes_through_a_file_by_pwritev_and_preadv)
{
	static unsigned char file[ROOM], other[ROOM];
	static uint32_t offsets[ROOM];
	struct dice dice = { 7 };
	int64_t shape[8];
	int fd = memfd_create("rows", MFD_CLOEXEC);

	assert_true(fd >= 0);
	for (int i = 0; i < rounds(300); i++) {
		struct dray_view view;
		int ndim = random_shape(&dice, shape);
		int most = 1 + (int)roll(&dice, 16);
		size_t bytes;

		if (!random_view(&dice, &view, memory, ROOM, ndim, shape, 4))
			continue;
		fill_with_numbers(memory);
		bytes = list_elements(&view, offsets);
		assert_int_equal(pass_entries(fd, &view, most, pwritev), bytes);
		assert_int_equal(pread(fd, file, ROOM, 0), bytes);
		for (size_t b = 0; b < bytes; b++)
			assert_int_equal(file[b], memory[offsets[b]]);
		/* Back into zeros: elements come, and gaps stay zero. */
		memcpy(other, memory, ROOM);
		memset(memory, 0, ROOM);
		assert_int_equal(pass_entries(fd, &view, most, preadv), bytes);
		for (size_t b = 0; b < bytes; b++) {
			assert_int_equal(memory[offsets[b]], other[offsets[b]]);
			memory[offsets[b]] = 0;
		}
		for (size_t b = 0; b < ROOM; b++)
			assert_int_equal(memory[b], 0);
		assert_int_equal(ftruncate(fd, 0), 0);
	}
	close(fd);
}
